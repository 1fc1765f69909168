package gotree

import (
	"maps"
	"reflect"
)

// Alike reports whether two functions differ at most in their own names and in the names of their
// parameters and variables. Comments on the functions do not count.
func Alike(a, b *Func) bool {
	if Lines(a.Body) != Lines(b.Body) {
		return false
	}
	own := [2]map[string]bool{declaredBy(a), declaredBy(b)}
	x := &alike{own: own, to: map[string]string{}, from: map[string]string{}}
	same := func(p, q any) bool { return x.same(reflect.ValueOf(p), reflect.ValueOf(q)) }
	return same(a.Recv, b.Recv) && same(a.Types, b.Types) && same(a.Params, b.Params) &&
		same(a.Results, b.Results) && same(a.Body, b.Body)
}

// alike compares two functions; to and from map their names to each other.
type alike struct {
	own      [2]map[string]bool
	to, from map[string]string
}

// name reports whether two names stand for the same.
func (x *alike) name(a, b string) bool {
	if !x.own[0][a] || !x.own[1][b] {
		return a == b && !x.own[0][a] && !x.own[1][b]
	}
	to, known := x.to[a]
	from, back := x.from[b]
	if known || back {
		return to == b && from == a
	}
	x.to[a], x.from[b] = b, a
	return true
}

func (x *alike) same(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return x.same(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !x.same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		if t := a.Type(); t == nameType || t == varType || t == paramType {
			if !x.name(a.FieldByName("Name").String(), b.FieldByName("Name").String()) {
				return false
			}
			return t == nameType || x.same(a.FieldByName("Type"), b.FieldByName("Type"))
		}
		for i := range a.NumField() {
			if !x.same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

var nameType, varType, paramType = reflect.TypeFor[Name](), reflect.TypeFor[Var](), reflect.TypeFor[Param]()

// declaredBy returns the names that a function declares.
func declaredBy(f *Func) map[string]bool {
	own := map[string]bool{}
	for _, p := range f.Params {
		own[p.Name] = true
	}
	Walk(f.Body, func(n any) bool {
		switch n := n.(type) {
		case Stmt:
			maps.Copy(own, declared([]Stmt{n}))
			if r, ok := n.(*Range); ok {
				for _, e := range []Expr{r.Key, r.Value} {
					if x, ok := e.(Name); ok {
						own[x.Name] = true
					}
				}
			}
		case Lambda:
			for _, p := range n.Params {
				own[p.Name] = true
			}
		}
		return true
	})
	return own
}

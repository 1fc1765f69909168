package gotest

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
)

// goType is the Go type of plain values of a type.
func goType(t *model.Type) string {
	switch t.Kind {
	case model.KindBool:
		return "bool"
	case model.KindEnum, model.KindBytes:
		return "string"
	}
	return "int64"
}

// has is a condition: whether a set has a value, which is a Go expression of a plain value,
// evaluated perhaps several times. A set that is computed is never written out; what it has is
// asked for.
func (x *translator) has(set core.Expr, v string) string {
	set = core.Bare(set)
	elem := set.Node().T.Elem
	switch e := set.(type) {
	case *core.Make:
		code := "false"
		for _, el := range e.Elems {
			code += " || " + v + " == " + x.plain(el)
		}
		return "(" + code + ")"
	case *core.Fold:
		head, with := x.loop(e)
		if e.Where != nil {
			with += x.plain(e.Where) + " && "
		}
		return fmt.Sprintf("func() bool { %s; return false }()",
			round(head, "if "+with+x.plain(e.Elem)+" == "+v+" { return true }"))
	case *core.If:
		return fmt.Sprintf("func() bool { if %s { return %s }; return %s }()",
			x.plain(e.Cond), x.has(e.Then, v), x.has(e.Else, v))
	case *core.Apply:
		switch e.Op {
		case core.Union:
			return "(" + x.has(e.Args[0], v) + " || " + x.has(e.Args[1], v) + ")"
		case core.Intersect:
			return "(" + x.has(e.Args[0], v) + " && " + x.has(e.Args[1], v) + ")"
		case core.Minus:
			return "(" + x.has(e.Args[0], v) + " && !" + x.has(e.Args[1], v) + ")"
		case core.With:
			return "(" + x.has(e.Args[0], v) + " || " + v + " == " + x.plain(e.Args[1]) + ")"
		case core.Without:
			return "(" + x.has(e.Args[0], v) + " && " + v + " != " + x.plain(e.Args[1]) + ")"
		}
	}
	t := x.term(set)
	if t.full == nil || t.full.Kind != model.KindSet {
		return x.no(set).code
	}
	return "(uint64(" + t.code + ")>>(" + x.place(v, t.full.Elem, elem, set) + ")&1 != 0)"
}

// place is where a plain value has its bit in a set of the generated package.
func (x *translator) place(v string, full, elem *model.Type, e core.Expr) string {
	switch full.Kind {
	case model.KindInt, model.KindNode:
		return fmt.Sprintf("%s-(%d)", v, full.Lo)
	case model.KindEnum:
		return fmt.Sprintf("slices.Index(%s, %s)", stringList(full.Names), v)
	case model.KindBool:
		return "map[bool]int{true: 1}[" + v + "]"
	}
	return x.no(e).code
}

// list writes out a computed list as a slice of plain values.
func (x *translator) list(e core.Expr) (string, bool) {
	e = core.Bare(e)
	elem := e.Node().T.Elem
	typ := goType(elem)
	if !elem.Scalar() {
		return "", false
	}
	switch e := e.(type) {
	case *core.Make:
		code := "[]" + typ + "{"
		for _, el := range e.Elems {
			code += x.plain(el) + ", "
		}
		return code + "}", true
	case *core.Fold:
		head, with := x.loop(e)
		if e.Where != nil {
			with += x.plain(e.Where) + " && "
		}
		return fmt.Sprintf("func() (l []%s) { %s; return }()", typ,
			round(head, "if "+with+"true { l = append(l, "+x.plain(e.Elem)+") }")), true
	}
	t := x.term(e)
	if t.full == nil || t.full.Kind != model.KindList {
		return "", false
	}
	x.w.loops++
	name := fmt.Sprintf("v%d", x.w.loops)
	return fmt.Sprintf("func() (l []%s) { for _, %s := range %s.Items[:%s.Len] { l = append(l, %s) }; return }()",
		typ, name, t.code, t.code, x.scalar(e, term{name, t.full.Elem})), true
}

// together compares two lists or sets of scalars, and says no for anything else.
func (x *translator) together(a, b core.Expr) (string, bool) {
	switch t, u := a.Node().T, b.Node().T; {
	case t.Kind == model.KindSet && u.Kind == model.KindSet:
		head, v := x.values(t.Elem, a)
		return fmt.Sprintf("func() bool { for %s { if %s != %s { return false } }; return true }()",
			head, x.has(a, v), x.has(b, v)), true
	case t.Kind == model.KindList && u.Kind == model.KindList:
		l, ok := x.list(a)
		r, fine := x.list(b)
		return "slices.Equal(" + l + ", " + r + ")", ok && fine
	}
	return "", false
}

// find writes first(x in T: C) as a call that gives what then makes of the value, or absent if
// there is none.
func (x *translator) find(e *core.Fold, then func(v string) string, typ, absent string) string {
	head, with := x.loop(e)
	v := x.scalar(e, x.locals[e.Local])
	return fmt.Sprintf("func() %s { %s; return %s }()", typ,
		round(head, "if "+with+x.plain(e.Where)+" { return "+then(v)+" }"), absent)
}

// found compares first(x in T: C) with none, or with a value.
func (x *translator) found(e *core.Fold, b core.Expr) string {
	if none(b) {
		return x.find(e, func(string) string { return "false" }, "bool", "true")
	}
	if value := some(b); value != nil {
		return x.find(e, func(v string) string { return v + " == " + x.plain(value) }, "bool", "false")
	}
	t := x.term(b)
	if t.full == nil || t.full.Kind != model.KindOptional {
		return x.find(e, func(v string) string { return v + " == " + x.plain(b) }, "bool", "false")
	}
	value := x.scalar(b, term{t.code + ".Value", t.full.Elem})
	same := func(v string) string { return t.code + ".Present && " + v + " == " + value }
	return x.find(e, same, "bool", "!"+t.code+".Present")
}

// loop is the head of a loop, in a function of its own, over the values of a type or what a list or
// set has, and a condition, ending in &&, without which a round is none.
func (x *translator) loop(e *core.Fold) (head, with string) {
	if e.Over == nil {
		head, v := x.values(e.Values, e)
		x.locals[e.Local] = term{code: v}
		return head, ""
	}
	over := core.Bare(e.Over)
	switch t := over.Node().T; t.Kind {
	case model.KindSet:
		head, v := x.values(t.Elem, e)
		with := x.has(over, v) + " && "
		x.locals[e.Local] = term{code: v}
		return head, with
	case model.KindList:
		if _, computed := over.(*core.Fold); computed {
			l, ok := x.list(over)
			if !ok {
				x.no(e)
			}
			x.w.loops++
			v := fmt.Sprintf("v%d", x.w.loops)
			x.locals[e.Local] = term{code: v}
			return fmt.Sprintf("_, %s := range %s", v, l), ""
		}
		t := x.term(over)
		if t.full == nil || t.full.Kind != model.KindList {
			x.no(e)
		}
		x.w.loops++
		v := fmt.Sprintf("v%d", x.w.loops)
		x.locals[e.Local] = term{v, t.full.Elem}
		return fmt.Sprintf("_, %s := range %s.Items[:%s.Len]", v, t.code, t.code), ""
	}
	x.no(e)
	return "", ""
}

// round is a loop. What its body does not look at has to be named all the same.
func round(head, body string) string {
	name := variables.FindString(head)
	if !slices.Contains(variables.FindAllString(body, -1), name) {
		body = "_ = " + name + "; " + body
	}
	return "for " + head + " { " + body + " }"
}

var variables = regexp.MustCompile(`\bv[0-9]+\b`)

// values is the head of a loop over all values of a type, and the name that it gives them.
func (x *translator) values(t *model.Type, e core.Expr) (head, name string) {
	x.w.loops++
	name = fmt.Sprintf("v%d", x.w.loops)
	switch t.Kind {
	case model.KindBool:
		return fmt.Sprintf("_, %s := range []bool{false, true}", name), name
	case model.KindEnum:
		return fmt.Sprintf("_, %s := range %s", name, stringList(t.Names)), name
	case model.KindInt, model.KindNode, model.KindOpaque:
		return fmt.Sprintf("%s := int64(%d); %s <= %d; %s++", name, t.Lo, name, t.Hi, name), name
	}
	x.no(e)
	return "", ""
}

// quantified translates all(…) and some(…) to a loop that ends at the first that decides.
func (x *translator) quantified(e *core.Fold) term {
	loop, with := x.loop(e)
	holds, decided, end := x.plain(e.Where), "true", "false"
	if e.How == core.All {
		holds, decided, end = "!"+holds, "false", "true"
	}
	found := "if " + with + holds + " { return " + decided + " }"
	return term{code: "func() bool { " + round(loop, found) + "; return " + end + " }()"}
}

package model

import "slices"

// Walk visits e and all expressions inside it, including those of part keys. It does nothing for a
// nil e.
func Walk(e Expr, visit func(Expr)) {
	if e == nil {
		return
	}
	visit(e)
	for _, c := range Operands(e) {
		Walk(c, visit)
	}
}

// Operands returns the operands of an expression in order, including the keys of parts.
func Operands(e Expr) []Expr {
	switch e := e.(type) {
	case *Some:
		return []Expr{e.X}
	case *Unwrap:
		return []Expr{e.X}
	case *VarRef:
		return keysOf(e.Path)
	case *StateTest:
		return keysOf(e.Path)
	case *TimerTest:
		return append(keysOf(e.Path), e.Keys...)
	case *FieldRef:
		return []Expr{e.X}
	case *Index:
		return []Expr{e.X, e.I}
	case *Unary:
		return []Expr{e.X}
	case *Binary:
		return []Expr{e.X, e.Y}
	case *Call:
		return e.Args
	case *RecordLit:
		return e.Fields
	case *ListLit:
		return e.Elems
	case *Build:
		return present(e.Over, e.If, e.Elem)
	case *Find:
		return present(e.Over, e.X)
	case *Quantified:
		return present(e.Over, e.X)
	}
	return nil
}

func present(list ...Expr) []Expr {
	return slices.DeleteFunc(list, func(e Expr) bool { return e == nil })
}

func keysOf(path Path) []Expr {
	var out []Expr
	for _, s := range path {
		out = append(out, s.Keys...)
	}
	return out
}

// Rewrite returns a copy of e whose operands are replaced by f, which is called for each in turn.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	with := replacement(f)
	switch e := e.(type) {
	case *Some:
		c := *e
		c.X = f(e.X)
		return &c
	case *Unwrap:
		c := *e
		c.X = f(e.X)
		return &c
	case *VarRef:
		c := *e
		c.Path = with.path(e.Path)
		return &c
	case *StateTest:
		c := *e
		c.Path = with.path(e.Path)
		return &c
	case *TimerTest:
		c := *e
		c.Path, c.Keys = with.path(e.Path), with.all(e.Keys)
		return &c
	case *FieldRef:
		c := *e
		c.X = f(e.X)
		return &c
	case *Index:
		c := *e
		c.X, c.I = f(e.X), f(e.I)
		return &c
	case *Unary:
		c := *e
		c.X = f(e.X)
		return &c
	case *Binary:
		c := *e
		c.X, c.Y = f(e.X), f(e.Y)
		return &c
	case *Call:
		c := *e
		c.Args = with.all(e.Args)
		return &c
	case *RecordLit:
		c := *e
		c.Fields = with.all(e.Fields)
		return &c
	case *ListLit:
		c := *e
		c.Elems = with.all(e.Elems)
		return &c
	case *Build:
		c := *e
		c.Over, c.If, c.Elem = with.maybe(e.Over), with.maybe(e.If), f(e.Elem)
		return &c
	case *Find:
		c := *e
		c.Over, c.X = with.maybe(e.Over), f(e.X)
		return &c
	case *Quantified:
		c := *e
		c.Over, c.X = with.maybe(e.Over), f(e.X)
		return &c
	}
	return e
}

// replacement maps operands to their replacements.
type replacement func(Expr) Expr

func (f replacement) all(list []Expr) []Expr {
	out := slices.Clone(list)
	for i := range out {
		out[i] = f(out[i])
	}
	return out
}

// maybe is for operands that may be missing.
func (f replacement) maybe(e Expr) Expr {
	if e == nil {
		return nil
	}
	return f(e)
}

func (f replacement) path(p Path) Path {
	out := slices.Clone(p)
	for i := range out {
		out[i].Keys = f.all(out[i].Keys)
	}
	return out
}

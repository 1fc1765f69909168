package model

import "slices"

// Walk visits e and all expressions inside it, those of part keys included. A nil e is nothing.
func Walk(e Expr, visit func(Expr)) {
	if e == nil {
		return
	}
	visit(e)
	for _, c := range operands(e) {
		Walk(c, visit)
	}
}

// operands lists what an expression is made of, in order.
func operands(e Expr) []Expr {
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
		return []Expr{e.Over, e.If, e.Elem}
	case *Find:
		return []Expr{e.Over, e.X}
	case *Quantified:
		return []Expr{e.Over, e.X}
	}
	return nil
}

func keysOf(path Path) []Expr {
	var out []Expr
	for _, s := range path {
		out = append(out, s.Keys...)
	}
	return out
}

// Observed lists the instances of a check that expressions look at; a nil one stands for channels.
func Observed(list ...Expr) []*Instance {
	var out []*Instance
	for _, e := range list {
		Walk(e, func(e Expr) {
			var i *Instance
			switch e := e.(type) {
			case *VarRef:
				i = e.Inst
			case *StateTest:
				i = e.Inst
			case *TimerTest:
				i = e.Inst
			case *Down:
				i = e.Inst
			case *ChanLen:
			default:
				return
			}
			if !slices.Contains(out, i) {
				out = append(out, i)
			}
		})
	}
	return out
}

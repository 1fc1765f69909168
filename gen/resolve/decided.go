package resolve

import (
	"github.com/parley-go/parley/gen/model"
)

// decided warns about a comparison of ranges that always has the same result.
func (s *scope) decided(e model.Expr, op model.Op, x, y model.Expr) {
	if e == nil || s.r.fromConst[e] {
		return
	}
	a, b := numeric(x), numeric(y)
	_, constant := evalConst(e)
	if a == nil || b == nil || constant {
		return
	}
	always, never := compareRanges(op, a, b)
	if always && isOptional(x, y) {
		return
	}
	word := ""
	switch {
	case always:
		word = "always"
	case never:
		word = "never"
	default:
		return
	}
	s.r.warnf("FSM058", e.Pos(), "this comparison is %s true: %s and %s", word, describeRange(a), describeRange(b))
}

func describeRange(t *model.Type) string { return describe(intType(t.Lo, t.Hi)) }

func numeric(x model.Expr) *model.Type {
	t := x.Type()
	if t != nil && t.Kind == model.KindOptional {
		t = t.Elem
		if some, ok := x.(*model.Some); ok {
			t = some.X.Type()
		}
	}
	if t == nil || !isNumber(t) {
		return nil
	}
	return t
}

func isOptional(x, y model.Expr) bool {
	return x.Type().Kind == model.KindOptional || y.Type().Kind == model.KindOptional
}

// compareRanges says whether a comparison holds for all values of two ranges, or for none.
func compareRanges(op model.Op, a, b *model.Type) (always, never bool) {
	apart := a.Hi < b.Lo || b.Hi < a.Lo
	one := a.Lo == a.Hi && b.Lo == b.Hi && a.Lo == b.Lo
	switch op {
	case model.OpEq:
		return one, apart
	case model.OpNe:
		return apart, one
	case model.OpLt:
		return a.Hi < b.Lo, a.Lo >= b.Hi
	case model.OpLe:
		return a.Hi <= b.Lo, a.Lo > b.Hi
	case model.OpGt:
		return a.Lo > b.Hi, a.Hi <= b.Lo
	case model.OpGe:
		return a.Lo >= b.Hi, a.Hi < b.Lo
	}
	return false, false
}

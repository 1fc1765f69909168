package convert

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
)

// Decided warns about a comparison of two ranges that always has the same result.
func (s *Scope) Decided(e model.Expr, op model.Op, x, y model.Expr) {
	if e == nil || s.Replaceable(e) {
		return
	}
	a, b := numeric(x), numeric(y)
	_, constant := types.Constant(e)
	if a == nil || b == nil || constant {
		return
	}
	always, never := types.CompareRanges(op, a, b)
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
	s.Warnf("FSM058", e.Pos(), "this comparison is %s true: %s and %s", word, describeRange(a),
		describeRange(b))
}

func describeRange(t *model.Type) string { return types.Describe(types.Int(t.Lo, t.Hi)) }

// numeric returns the range of a number, or nil. Of an optional it is that of the value inside.
func numeric(x model.Expr) *model.Type {
	t := x.Type()
	if t != nil && t.Kind == model.KindOptional {
		t = t.Elem
		if some, ok := x.(*model.Some); ok {
			t = some.X.Type()
		}
	}
	if t == nil || !types.IsNumber(t) {
		return nil
	}
	return t
}

func isOptional(x, y model.Expr) bool {
	return x.Type().Kind == model.KindOptional || y.Type().Kind == model.KindOptional
}

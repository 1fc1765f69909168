package types

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/model"
)

// Bounds returns the range of what an operation makes of two numbers. Where a result needs more than
// 64 bits the range is that of all numbers.
func Bounds(op core.Op, a, b *model.Type) (lo, hi int64) {
	r, _ := op.Info().Range(interval.Of(a), interval.Of(b))
	return r.Lo, r.Hi
}

// Constant computes a constant expression of numbers, booleans and names. ok is false if it is not
// constant.
func Constant(e model.Expr) (v int64, ok bool) {
	switch e := e.(type) {
	case *model.Lit:
		return e.Value, true
	case *model.Unary:
		if v, ok := Constant(e.X); ok {
			return core.OfOperator(e.Op).Compute(v, 0)
		}
	case *model.Binary:
		return evalBinary(e)
	case *model.Call:
		return evalCall(e)
	}
	return 0, false
}

func evalCall(e *model.Call) (int64, bool) {
	op := core.OfFunction(e.Fn)
	if e.Fn != model.FnIf && op.Info().Range == nil { // not of numbers
		return 0, false
	}
	v := make([]int64, len(e.Args))
	for i, a := range e.Args {
		x, ok := Constant(a)
		if !ok {
			return 0, false
		}
		v[i] = x
	}
	switch {
	case e.Fn != model.FnIf:
		return op.Compute(v[0], v[1])
	case v[0] != 0:
		return v[1], true
	}
	return v[2], true
}

func evalBinary(e *model.Binary) (int64, bool) {
	x, ok := Constant(e.X)
	switch {
	case ok && (e.Op == model.OpAnd && x == 0 || e.Op == model.OpOr && x == 1):
		return x, true
	case ok && e.Op == model.OpImplies && x == 0:
		return 1, true
	}
	y, ok2 := Constant(e.Y)
	switch {
	case !ok || !ok2:
		return 0, false
	case core.OfOperator(e.Op) == 0:
		return y, true
	}
	return core.OfOperator(e.Op).Compute(x, y)
}

// CompareRanges reports whether a comparison holds for all values of two ranges, and whether it
// holds for none.
func CompareRanges(op model.Op, a, b *model.Type) (always, never bool) {
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

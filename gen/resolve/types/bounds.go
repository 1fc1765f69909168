package types

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
)

// Bounds returns the range of an arithmetic result. It never overflows: where a result exceeds the
// limit, so do the bounds.
func Bounds(op model.Op, a, b *model.Type) (lo, hi int64) {
	switch op {
	case model.OpAdd:
		return a.Lo + b.Lo, a.Hi + b.Hi
	case model.OpSub:
		return a.Lo - b.Hi, a.Hi - b.Lo
	case model.OpMul:
		ps := []int64{mul(a.Lo, b.Lo), mul(a.Lo, b.Hi), mul(a.Hi, b.Lo), mul(a.Hi, b.Hi)}
		lo, hi = ps[0], ps[0]
		for _, p := range ps {
			lo, hi = min(lo, p), max(hi, p)
		}
		return lo, hi
	case model.OpDiv:
		m := max(abs(a.Lo), abs(a.Hi))
		if a.Lo >= 0 && b.Lo > 0 {
			return a.Lo / b.Hi, a.Hi / b.Lo
		}
		return -m, m
	}
	m := max(abs(b.Lo), abs(b.Hi)) - 1
	m = max(m, 0)
	lo, hi = -m, m
	if a.Lo >= 0 {
		lo, hi = 0, min(m, a.Hi)
	}
	return lo, hi
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

func mul(a, b int64) int64 {
	if a != 0 && b != 0 && abs(a) > pass.MaxNumber/abs(b) {
		if (a < 0) == (b < 0) {
			return pass.MaxNumber + 1
		}
		return -pass.MaxNumber - 1
	}
	return a * b
}

// Constant computes a constant expression of numbers, booleans and names. ok is false if it is not
// constant.
func Constant(e model.Expr) (v int64, ok bool) {
	switch e := e.(type) {
	case *model.Lit:
		return e.Value, true
	case *model.Unary:
		v, ok := Constant(e.X)
		if e.Op == model.OpNot {
			return 1 - v, ok
		}
		return -v, ok
	case *model.Binary:
		return evalBinary(e)
	case *model.Call:
		return evalCall(e)
	}
	return 0, false
}

func evalCall(e *model.Call) (int64, bool) {
	if e.Fn != model.FnMin && e.Fn != model.FnMax && e.Fn != model.FnIf {
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
	case e.Fn == model.FnMin:
		return min(v[0], v[1]), true
	case e.Fn == model.FnMax:
		return max(v[0], v[1]), true
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
	if !ok || !ok2 {
		return 0, false
	}
	truth := func(b bool) (int64, bool) {
		if b {
			return 1, true
		}
		return 0, true
	}
	switch e.Op {
	case model.OpAdd:
		return x + y, true
	case model.OpSub:
		return x - y, true
	case model.OpMul:
		return x * y, true
	case model.OpDiv, model.OpMod:
		if y == 0 {
			return 0, false
		}
		if e.Op == model.OpDiv {
			return x / y, true
		}
		return x % y, true
	case model.OpEq:
		return truth(x == y)
	case model.OpNe:
		return truth(x != y)
	case model.OpLt:
		return truth(x < y)
	case model.OpLe:
		return truth(x <= y)
	case model.OpGt:
		return truth(x > y)
	case model.OpGe:
		return truth(x >= y)
	}
	return y, true
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

package golang

import (
	"math"
	"math/bits"

	"github.com/parley-go/parley/gen/model"
)

// interval bounds the value of an integer expression. exact says that no
// operation inside can leave 64 bits.
type interval struct {
	lo, hi int64
	exact  bool
}

var everything = interval{math.MinInt64, math.MaxInt64, true}

// domain is the range of a type whose values are integers; enumerations count from 0.
func domain(t *model.Type) interval {
	switch t.Kind {
	case model.KindBool:
		return interval{0, 1, true}
	case model.KindEnum:
		return interval{0, int64(len(t.Names)) - 1, true}
	case model.KindInt, model.KindNode:
		return interval{t.Lo, t.Hi, true}
	}
	return everything
}

func (i interval) within(t *model.Type) bool {
	d := domain(t)
	return i.lo >= d.lo && i.hi <= d.hi
}

// bounds computes the interval of an integer expression from the types of
// what it reads.
func bounds(e model.Expr) interval {
	switch e := e.(type) {
	case *model.Lit:
		return interval{e.Value, e.Value, true}
	case *model.VarRef:
		return domain(e.Var.Type)
	case *model.LocalRef:
		return domain(e.Local.Type)
	case *model.FieldRef:
		return domain(e.Field.Type)
	case *model.Index:
		return domain(e.X.Type().Elem)
	case *model.Unwrap:
		return domain(e.X.Type().Elem)
	case *model.Unary:
		if e.Op == model.OpNeg {
			return arith(model.OpSub, interval{0, 0, true}, bounds(e.X))
		}
	case *model.Binary:
		return arith(e.Op, bounds(e.X), bounds(e.Y))
	case *model.Call:
		return callBounds(e)
	}
	if t := e.Type(); t != nil {
		return domain(t)
	}
	return everything
}

func callBounds(e *model.Call) interval {
	switch e.Fn {
	case model.FnMin, model.FnMax:
		a, b := bounds(e.Args[0]), bounds(e.Args[1])
		if e.Fn == model.FnMin {
			return interval{min(a.lo, b.lo), min(a.hi, b.hi), a.exact && b.exact}
		}
		return interval{max(a.lo, b.lo), max(a.hi, b.hi), a.exact && b.exact}
	case model.FnIf:
		a, b := bounds(e.Args[1]), bounds(e.Args[2])
		return interval{min(a.lo, b.lo), max(a.hi, b.hi), a.exact && b.exact}
	case model.FnFirst:
		return domain(e.Args[0].Type().Elem)
	case model.FnLen:
		if t := e.Args[0].Type(); t.Kind == model.KindSet {
			return interval{0, 64, true}
		} else {
			return interval{0, int64(t.Cap), true}
		}
	}
	return domain(e.T)
}

// arith computes with intervals; an operation that may leave 64 bits gives everything, not exact.
func arith(op model.Op, a, b interval) interval {
	exact := a.exact && b.exact
	wide := interval{math.MinInt64, math.MaxInt64, false}
	switch op {
	case model.OpAdd:
		lo, o1 := addOverflow(a.lo, b.lo)
		hi, o2 := addOverflow(a.hi, b.hi)
		if o1 || o2 {
			return wide
		}
		return interval{lo, hi, exact}
	case model.OpSub:
		if b.lo == math.MinInt64 {
			return wide
		}
		return arith(model.OpAdd, a, interval{-b.hi, -b.lo, b.exact})
	case model.OpMul:
		r := interval{math.MaxInt64, math.MinInt64, exact}
		for _, x := range [2]int64{a.lo, a.hi} {
			for _, y := range [2]int64{b.lo, b.hi} {
				p, over := mulOverflow(x, y)
				if over {
					return wide
				}
				r.lo, r.hi = min(r.lo, p), max(r.hi, p)
			}
		}
		return r
	case model.OpDiv:
		if a.lo == math.MinInt64 {
			return wide
		}
		most := max(a.hi, -a.lo)
		if a.lo >= 0 && b.lo > 0 {
			return interval{a.lo / b.hi, a.hi / b.lo, exact}
		}
		return interval{-most, most, exact}
	case model.OpMod:
		return modBounds(a, b, exact)
	}
	return interval{0, 1, exact} // comparisons and logic
}

func modBounds(a, b interval, exact bool) interval {
	if b.lo == math.MinInt64 || a.lo == math.MinInt64 {
		return interval{math.MinInt64, math.MaxInt64, exact}
	}
	most := max(b.hi, -b.lo, 1) - 1
	r := interval{-most, most, exact}
	if a.lo >= 0 {
		r.lo, r.hi = 0, min(most, a.hi)
	}
	return r
}

func addOverflow(a, b int64) (int64, bool) {
	r := a + b
	return r, (a > 0 && b > 0 && r <= 0) || (a < 0 && b < 0 && r >= 0)
}

func mulOverflow(a, b int64) (int64, bool) {
	if a == math.MinInt64 || b == math.MinInt64 {
		return 0, a != 0 && b != 0
	}
	hi, lo := bits.Mul64(uint64(abs(a)), uint64(abs(b)))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, true
	}
	return a * b, false
}

func abs(a int64) int64 {
	if a < 0 {
		return -a
	}
	return a
}

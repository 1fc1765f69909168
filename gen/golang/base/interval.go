package base

import (
	"math"
	"math/bits"

	"github.com/parley-go/parley/gen/model"
)

// Interval bounds the value of an integer expression. exact says that no
// operation inside can leave 64 bits.
type Interval struct {
	Lo, Hi int64
	Exact  bool
}

var Everything = Interval{math.MinInt64, math.MaxInt64, true}

// Domain is the range of a type whose values are integers; enumerations count from 0.
func Domain(t *model.Type) Interval {
	switch t.Kind {
	case model.KindBool:
		return Interval{0, 1, true}
	case model.KindEnum:
		return Interval{0, int64(len(t.Names)) - 1, true}
	case model.KindInt, model.KindNode:
		return Interval{t.Lo, t.Hi, true}
	}
	return Everything
}

func (i Interval) Within(t *model.Type) bool {
	d := Domain(t)
	return i.Lo >= d.Lo && i.Hi <= d.Hi
}

// Bounds computes the interval of an integer expression from the types of
// what it reads.
func Bounds(e model.Expr) Interval {
	return BoundsWith(e, func(_ model.Expr, in Interval) Interval { return in })
}

// BoundsWith is Bounds where more may be known of what is read: narrow gives the interval of an
// operand that has such an interval by its type.
func BoundsWith(e model.Expr, narrow func(e model.Expr, in Interval) Interval) Interval {
	bounds := func(e model.Expr) Interval { return BoundsWith(e, narrow) }
	switch e := e.(type) {
	case *model.Lit:
		return Interval{e.Value, e.Value, true}
	case *model.VarRef:
		return narrow(e, Domain(e.Var.Type))
	case *model.LocalRef:
		return narrow(e, Domain(e.Local.Type))
	case *model.FieldRef:
		return narrow(e, Domain(e.Field.Type))
	case *model.Index:
		return Domain(e.X.Type().Elem)
	case *model.Unwrap:
		return narrow(e, Domain(e.X.Type().Elem))
	case *model.Unary:
		if e.Op == model.OpNeg {
			return Arith(model.OpSub, Interval{0, 0, true}, bounds(e.X))
		}
	case *model.Binary:
		return Arith(e.Op, bounds(e.X), bounds(e.Y))
	case *model.Call:
		if in := callBounds(e, bounds); e.Fn == model.FnLen {
			return narrow(e, in)
		} else {
			return in
		}
	}
	if t := e.Type(); t != nil {
		return Domain(t)
	}
	return Everything
}

func callBounds(e *model.Call, bounds func(model.Expr) Interval) Interval {
	switch e.Fn {
	case model.FnMin, model.FnMax:
		a, b := bounds(e.Args[0]), bounds(e.Args[1])
		if e.Fn == model.FnMin {
			return Interval{min(a.Lo, b.Lo), min(a.Hi, b.Hi), a.Exact && b.Exact}
		}
		return Interval{max(a.Lo, b.Lo), max(a.Hi, b.Hi), a.Exact && b.Exact}
	case model.FnIf:
		a, b := bounds(e.Args[1]), bounds(e.Args[2])
		return Interval{min(a.Lo, b.Lo), max(a.Hi, b.Hi), a.Exact && b.Exact}
	case model.FnFirst:
		return Domain(e.Args[0].Type().Elem)
	case model.FnLen:
		if t := e.Args[0].Type(); t.Kind == model.KindSet {
			return Interval{0, 64, true}
		} else {
			return Interval{0, int64(t.Cap), true}
		}
	}
	return Domain(e.T)
}

// Arith computes with intervals; an operation that may leave 64 bits gives everything, not exact.
func Arith(op model.Op, a, b Interval) Interval {
	exact := a.Exact && b.Exact
	wide := Interval{math.MinInt64, math.MaxInt64, false}
	switch op {
	case model.OpAdd:
		lo, o1 := addOverflow(a.Lo, b.Lo)
		hi, o2 := addOverflow(a.Hi, b.Hi)
		if o1 || o2 {
			return wide
		}
		return Interval{lo, hi, exact}
	case model.OpSub:
		if b.Lo == math.MinInt64 {
			return wide
		}
		return Arith(model.OpAdd, a, Interval{-b.Hi, -b.Lo, b.Exact})
	case model.OpMul:
		r := Interval{math.MaxInt64, math.MinInt64, exact}
		for _, x := range [2]int64{a.Lo, a.Hi} {
			for _, y := range [2]int64{b.Lo, b.Hi} {
				p, over := mulOverflow(x, y)
				if over {
					return wide
				}
				r.Lo, r.Hi = min(r.Lo, p), max(r.Hi, p)
			}
		}
		return r
	case model.OpDiv:
		if a.Lo == math.MinInt64 {
			return wide
		}
		most := max(a.Hi, -a.Lo)
		if a.Lo >= 0 && b.Lo > 0 {
			return Interval{a.Lo / b.Hi, a.Hi / b.Lo, exact}
		}
		return Interval{-most, most, exact}
	case model.OpMod:
		return modBounds(a, b, exact)
	}
	return Interval{0, 1, exact} // comparisons and logic
}

func modBounds(a, b Interval, exact bool) Interval {
	if b.Lo == math.MinInt64 || a.Lo == math.MinInt64 {
		return Interval{math.MinInt64, math.MaxInt64, exact}
	}
	most := max(b.Hi, -b.Lo, 1) - 1
	r := Interval{-most, most, exact}
	if a.Lo >= 0 {
		r.Lo, r.Hi = 0, min(most, a.Hi)
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

// Sure is the interval of an operand that was checked already, so that nothing inside can leave 64
// bits any more.
func (i Interval) Sure() Interval { return Interval{i.Lo, i.Hi, true} }

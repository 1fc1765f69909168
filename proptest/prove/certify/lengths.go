package certify

import (
	"math"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Truth is what is known of a condition.
type Truth int8

// A condition that depends on lengths may hold of some of the configurations
// that are looked at together, and not of others.
const (
	No Truth = iota - 1
	Maybe
	Yes
)

// Lengths evaluates conditions where the lengths of channels are known as
// ranges only. The answers Yes and No are right for every length in the
// ranges; Maybe says nothing.
type Lengths struct {
	interp.Eval
	// Range gives the least and the greatest length; Endless if there is no greatest.
	Range func(*model.ChanLen) (lo, hi int64)

	vague   bool // an inexact length was asked for
	lowered map[model.Expr]core.Expr
}

// Endless is the greatest length of a channel that may hold any number of messages.
const Endless = math.MaxInt32

func (x *Lengths) exactly(e model.Expr, v interp.Value, locals []int64) (int64, error) {
	x.vague = false
	x.ChanLen = func(l *model.ChanLen) int64 {
		lo, hi := x.Range(l)
		x.vague = x.vague || lo != hi
		return lo
	}
	code := x.lowered[e]
	if code == nil {
		if x.lowered == nil {
			x.lowered = map[model.Expr]core.Expr{}
		}
		code = core.Of(e)
		x.lowered[e] = code
	}
	d := make([]int64, e.Type().Slots())
	err := x.Into(code, d, v, locals)
	return d[0], err
}

// Truth evaluates e over a machine's value v (nil in claims). The error says
// that it faults for some of the lengths, or that it may.
func (x *Lengths) Truth(e model.Expr, v interp.Value, locals []int64) (Truth, error) {
	value, err := x.exactly(e, v, locals)
	switch {
	case !x.vague && err != nil:
		return No, err
	case !x.vague && value == 0:
		return No, nil
	case !x.vague:
		return Yes, nil
	}
	switch e := e.(type) {
	case *model.Unary:
		t, err := x.Truth(e.X, v, locals)
		return -t, err
	case *model.Binary:
		switch e.Op {
		case model.OpAnd:
			return x.both(e.X, 1, e.Y, 1, v, locals)
		case model.OpOr: // a || b is !(!a && !b)
			t, err := x.both(e.X, -1, e.Y, -1, v, locals)
			return -t, err
		case model.OpImplies: // a => b is !(a && !b)
			t, err := x.both(e.X, 1, e.Y, -1, v, locals)
			return -t, err
		}
		return x.compare(e, v, locals)
	}
	return Maybe, nil
}

// both is the conjunction of a and b, each turned round if its sign is -1. b is not looked at where
// a decides.
func (x *Lengths) both(a model.Expr, signA Truth, b model.Expr, signB Truth, v interp.Value,
	locals []int64) (Truth, error) {
	t, err := x.Truth(a, v, locals)
	if t *= signA; err != nil || t == No {
		return t, err
	}
	u, err := x.Truth(b, v, locals)
	return min(t, signB*u), err
}

func (x *Lengths) compare(e *model.Binary, v interp.Value, locals []int64) (Truth, error) {
	a, b, err := x.span(e.X, v, locals)
	if err != nil {
		return Maybe, err
	}
	c, d, err := x.span(e.Y, v, locals)
	switch e.Op {
	case model.OpLt:
		return order(b < c, a >= d), err
	case model.OpLe:
		return order(b <= c, a > d), err
	case model.OpGt:
		return order(a > d, b <= c), err
	case model.OpGe:
		return order(a >= d, b < c), err
	case model.OpEq:
		return order(a == b && c == d && a == c, b < c || d < a), err
	case model.OpNe:
		return order(b < c || d < a, a == b && c == d && a == c), err
	}
	return Maybe, err
}

func order(yes, no bool) Truth {
	switch {
	case yes:
		return Yes
	case no:
		return No
	}
	return Maybe
}

// span bounds a number. Endless and beyond is no bound.
func (x *Lengths) span(e model.Expr, v interp.Value, locals []int64) (lo, hi int64, err error) {
	value, err := x.exactly(e, v, locals)
	if !x.vague {
		return value, value, err
	}
	switch e := e.(type) {
	case *model.ChanLen:
		lo, hi = x.Range(e)
		if hi >= Endless {
			hi = unbounded
		}
		return lo, hi, nil
	case *model.Binary:
		if e.Op == model.OpAdd {
			a, b, err := x.span(e.X, v, locals)
			if err != nil {
				return 0, 0, err
			}
			c, d, err := x.span(e.Y, v, locals)
			return max(a+c, -unbounded), min(b+d, unbounded), err
		}
	}
	return -unbounded, unbounded, nil
}

// unbounded stands for infinity; the sum of two does not overflow.
const unbounded = math.MaxInt64 / 4

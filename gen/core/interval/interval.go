// Package interval computes with ranges of 64-bit integers: from the ranges of operands the range
// of a result, and whether an operation can leave 64 bits. It says nothing of expressions; package
// core keeps an interval at each of them.
package interval

import (
	"math"
	"math/bits"

	"github.com/parley-go/parley/gen/model"
)

// Interval is the integers from Lo to Hi, both included.
type Interval struct{ Lo, Hi int64 }

// Everything is all integers of 64 bits.
var Everything = Interval{math.MinInt64, math.MaxInt64}

// Of returns the numbers that stand for values of t. Values that are carried and never computed
// with (opaque values, texts, sets) may have any.
func Of(t *model.Type) Interval {
	if t == nil {
		return Everything
	}
	switch t.Kind {
	case model.KindBool:
		return Interval{0, 1}
	case model.KindEnum:
		return Interval{0, int64(len(t.Names)) - 1}
	case model.KindInt, model.KindNode:
		return Interval{t.Lo, t.Hi}
	}
	return Everything
}

// In reports whether all of i lies in j.
func (i Interval) In(j Interval) bool { return i.Lo >= j.Lo && i.Hi <= j.Hi }

// Has reports whether v lies in i.
func (i Interval) Has(v int64) bool { return i.Lo <= v && v <= i.Hi }

// Union returns the least interval that has both.
func (i Interval) Union(j Interval) Interval { return Interval{min(i.Lo, j.Lo), max(i.Hi, j.Hi)} }

// Meet returns what both have in common; j if that is nothing.
func (i Interval) Meet(j Interval) Interval {
	if m := (Interval{max(i.Lo, j.Lo), min(i.Hi, j.Hi)}); m.Lo <= m.Hi {
		return m
	}
	return j
}

// Add returns the interval of sums. fits is false if a sum can leave 64 bits.
func Add(a, b Interval) (r Interval, fits bool) {
	lo, under := add(a.Lo, b.Lo)
	hi, over := add(a.Hi, b.Hi)
	if under || over {
		return Everything, false
	}
	return Interval{lo, hi}, true
}

// Sub returns the interval of differences.
func Sub(a, b Interval) (r Interval, fits bool) {
	if b.Lo == math.MinInt64 {
		return Everything, false
	}
	return Add(a, Interval{-b.Hi, -b.Lo})
}

// Mul returns the interval of products.
func Mul(a, b Interval) (r Interval, fits bool) {
	r = Interval{math.MaxInt64, math.MinInt64}
	for _, x := range [2]int64{a.Lo, a.Hi} {
		for _, y := range [2]int64{b.Lo, b.Hi} {
			p, over := mul(x, y)
			if over {
				return Everything, false
			}
			r.Lo, r.Hi = min(r.Lo, p), max(r.Hi, p)
		}
	}
	return r, true
}

// Div returns the interval of quotients, truncated toward zero; a division by zero has none.
func Div(a, b Interval) (r Interval, fits bool) {
	if a.Lo == math.MinInt64 {
		return Everything, !b.Has(-1)
	}
	if a.Lo >= 0 && b.Lo > 0 {
		return Interval{a.Lo / b.Hi, a.Hi / b.Lo}, true
	}
	most := max(a.Hi, -a.Lo)
	return Interval{-most, most}, true
}

// Mod returns the interval of remainders, which have the sign of the dividend and always fit.
func Mod(a, b Interval) (r Interval, fits bool) {
	if b.Lo == math.MinInt64 || a.Lo == math.MinInt64 {
		return Everything, true
	}
	most := max(b.Hi, -b.Lo, 1) - 1
	if a.Lo >= 0 {
		return Interval{0, min(most, a.Hi)}, true
	}
	return Interval{-most, most}, true
}

// Min returns the interval of the smaller one.
func Min(a, b Interval) (r Interval, fits bool) {
	return Interval{min(a.Lo, b.Lo), min(a.Hi, b.Hi)}, true
}

// Max returns the interval of the greater one.
func Max(a, b Interval) (r Interval, fits bool) {
	return Interval{max(a.Lo, b.Lo), max(a.Hi, b.Hi)}, true
}

func add(a, b int64) (r int64, over bool) {
	r = a + b
	return r, (a > 0 && b > 0 && r <= 0) || (a < 0 && b < 0 && r >= 0)
}

func mul(a, b int64) (r int64, over bool) {
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

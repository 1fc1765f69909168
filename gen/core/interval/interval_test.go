package interval

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestSound draws two intervals and a number of each: what is computed from the numbers lies in the
// interval of the result, and leaves 64 bits only where the interval says that it can.
func TestSound(t *testing.T) {
	ops := []struct {
		name  string
		of    func(a, b Interval) (Interval, bool)
		exact func(r, a, b *big.Int) *big.Int
	}{
		{"add", Add, (*big.Int).Add}, {"sub", Sub, (*big.Int).Sub}, {"mul", Mul, (*big.Int).Mul},
		{"div", Div, (*big.Int).Quo}, {"mod", Mod, (*big.Int).Rem},
		{"min", Min, func(r, a, b *big.Int) *big.Int { return pick(a, b, -1) }},
		{"max", Max, func(r, a, b *big.Int) *big.Int { return pick(a, b, 1) }},
	}
	number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-4, 4),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64}))
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (Interval, int64) {
			a, b := number.Draw(t, name), number.Draw(t, name)
			i := Interval{min(a, b), max(a, b)}
			return i, rapid.OneOf(rapid.Int64Range(i.Lo, i.Hi), rapid.SampledFrom([]int64{i.Lo, i.Hi})).Draw(t,
				name+" value")
		}
		a, x := draw("a")
		b, y := draw("b")
		op := rapid.SampledFrom(ops).Draw(t, "op")
		if y == 0 && (op.name == "div" || op.name == "mod") {
			return
		}
		r, fits := op.of(a, b)
		got := op.exact(new(big.Int), big.NewInt(x), big.NewInt(y))
		switch {
		case !got.IsInt64() && fits:
			t.Fatalf("%d %s %d = %s leaves 64 bits, which %v and %v do not say", x, op.name, y, got, a, b)
		case got.IsInt64() && !r.Has(got.Int64()):
			t.Fatalf("%d %s %d = %s is outside %v, the result of %v and %v", x, op.name, y, got, r, a, b)
		}
	})
}

func pick(a, b *big.Int, want int) *big.Int {
	if a.Cmp(b) == want {
		return a
	}
	return b
}

package wire

import (
	"math"
	"testing"
)

// TestFloats: a number comes back with all its bits, and what is none is equal to itself.
func TestFloats(t *testing.T) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1.5, -1e300, math.Inf(1)} {
		if got := MakeF64(v).Float(); got != v || math.Signbit(got) != math.Signbit(v) {
			t.Errorf("%v comes back as %v", v, got)
		}
		if got := MakeF32(float32(v)).Float(); got != float32(v) {
			t.Errorf("%v comes back as %v", float32(v), got)
		}
	}
	if nan, again := MakeF64(math.NaN()), MakeF64(math.NaN()); nan != again || !math.IsNaN(nan.Float()) {
		t.Error("the bits of NaN are not equal to themselves")
	}
	if MakeF32(0) == MakeF32(float32(math.Copysign(0, -1))) {
		t.Error("0 and -0 have the same bits")
	}
}

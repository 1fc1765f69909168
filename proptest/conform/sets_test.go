package conform

import (
	"testing"

	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/proptest/conform/sample/numbers"
	"github.com/parley-go/parley/runtime/fsm"
)

// TestSets: the methods of a set agree with its bits, and no value that it cannot have gets into it.
func TestSets(t *testing.T) {
	for v := range 256 {
		v := uint8(v)
		for _, s := range []numbers.Days{0, 1, 0b101, 1<<7 - 1} {
			if got, want := s.Has(v), v < 7 && s&(1<<v) != 0; got != want {
				t.Fatalf("%b has %d: %v", s, v, got)
			}
			want := s
			if v < 7 {
				want |= 1 << v
			}
			if got := s.With(v); got != want {
				t.Fatalf("%b with %d: %b", s, v, got)
			}
			if got := s.With(v).Without(v); got.Has(v) || got|s != s {
				t.Fatalf("%b without %d: %b", s, v, got)
			}
		}
	}
	if l := lockstep.Links(0); l.With(fsm.Broadcast) != 0 || l.Has(fsm.Broadcast) || !l.With(32).Has(32) {
		t.Error("nobody is in a set of instances")
	}
}

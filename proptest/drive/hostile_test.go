package drive

import (
	"testing"

	"github.com/parley-go/parley/proptest/race"
)

// TestHostile draws runs of each shipped check that has a hostile instance.
func TestHostile(t *testing.T) {
	var sum total
	each := draws(race.Draws(6, 12))
	for _, s := range allShipped(t, true) {
		for n := range each {
			o, err := s.play(t, plans.Example(n))
			if err != nil {
				t.Fatalf("run %d: %v", n, err)
			}
			sum.add(o)
		}
	}
	t.Log(&sum)
	for _, what := range []string{"forged messages", "refused messages", "hangups", "malformed frames"} {
		if sum.faults[what] == 0 {
			t.Errorf("there are no %s", what)
		}
	}
}

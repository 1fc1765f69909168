package check

import (
	"context"
	"testing"

	"github.com/parley-go/parley/proptest/explore"
)

// TestTimeCounts compares timed checks with models that were counted by hand; the files say how.
func TestTimeCounts(t *testing.T) {
	for _, m := range []struct {
		file, check string
		want        uint64
	}{
		{"lengths", "one", 14},
		{"lengths", "untimed", 5},
		{"lengths", "later", 2*2 + 3*2 + 2},
		{"delay", "one", 12},
		{"delay", "two", 16},
		{"delay", "three", 20},
		{"delay", "behind", 40},
	} {
		p, c := load(t, "testdata/time/"+m.file+".yaml", m.check)
		s, err := New(p, c)
		if err != nil {
			t.Fatal(err)
		}
		res, err := explore.Run(context.Background(), s.System, explore.Options{Checks: s.Checks, KeepGoing: true})
		if err != nil {
			t.Fatal(err)
		}
		if !res.Complete || res.Configurations != m.want {
			t.Errorf("%s, check %s: %d configurations, %d by hand (complete: %v)", m.file, m.check,
				res.Configurations, m.want, res.Complete)
		}
	}
}

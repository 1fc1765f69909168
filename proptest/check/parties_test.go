package check

import (
	"context"
	"slices"
	"testing"

	"github.com/parley-go/parley/proptest/explore"
)

// TestParties sees that claims over instances by number say the same as those written out.
func TestParties(t *testing.T) {
	var got [2][]explore.ClaimVerdict
	var size [2]uint64
	for i, name := range []string{"many", "written"} {
		p, c := load(t, "testdata/parties/spec.yaml", name)
		s, err := New(p, c)
		if err != nil {
			t.Fatal(err)
		}
		res, err := explore.Run(context.Background(), s.System, explore.Options{Checks: s.Checks, KeepGoing: true})
		if err != nil {
			t.Fatal(err)
		}
		got[i], size[i] = res.Claims, res.Configurations
		for k := range got[i] {
			got[i][k].Relevant = 0 // depends on how a condition is cut
		}
	}
	if !slices.Equal(got[0], got[1]) || size[0] != size[1] {
		t.Errorf("by number %v in %d configurations, written out %v in %d", got[0], size[0], got[1], size[1])
	}
	if p, c := load(t, "testdata/parties/spec.yaml", "many"); c.Instances[3].Name != "p[3]" ||
		c.Instances[3].Index != 3 {
		t.Errorf("%s has the instances %v", p.Name, c.Instances)
	}
}

package campaign

import (
	"slices"
	"testing"

	"github.com/parley-go/parley/gen/compile"
)

// TestJoint: runs give monitors of several instances what the checker gives them. What the checker has found
// to hold is never found violated, what is violated is found and told as the checker tells it.
func TestJoint(t *testing.T) {
	c := load(t, "../check/testdata/joint/spec.yaml", compile.Options{})
	r, err := c.Run(t.Context(), Options{Seed: 1, Runs: 600, Steps: 60, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, x := range r.Checks {
		for _, f := range x.Found {
			if !f.Expected || f.Trouble != "" {
				t.Errorf("%s, %s: %s", x.Name, f.Claim, f.Trouble)
			}
			found = append(found, f.Claim)
		}
		for _, s := range x.Reached {
			if s.Runs == 0 {
				t.Errorf("%s: no run has come to %s", x.Name, s.Claim)
			}
		}
	}
	slices.Sort(found)
	if want := []string{"both", "first", "twice"}; !slices.Equal(found, want) {
		t.Errorf("found %q, of %q", found, want)
	}
}

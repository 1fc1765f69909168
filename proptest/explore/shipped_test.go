package explore_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
)

// TestReachableOfShippedChecks decides the claims about what can still be reached of every shipped
// check by depth-first search and by passes, with one worker, since a check numbers its labels as
// it meets them. Large checks are left out, and two of three unless tests have all the time they want.
func TestReachableOfShippedChecks(t *testing.T) {
	race.Skip(t)
	if testing.Short() {
		t.Skip("searches many specifications twice")
	}
	files, err := filepath.Glob("../../specs/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checks, compared := 0, 0
	for _, file := range files {
		p, _ := compile.Load(file, compile.Options{})
		if p == nil {
			t.Errorf("%s cannot be compiled", file)
			continue
		}
		for _, c := range p.Checks {
			if c.HasHostile() && !race.Nightly() {
				continue // the steps of whoever sends anything take most of the time
			}
			states := func(c *model.Claim) bool { return c.Kind == model.Reachable }
			if !slices.ContainsFunc(c.Claims, states) {
				continue
			}
			if checks++; !race.Some(checks, 6) {
				continue
			}
			p, list := compile.Load(file, compile.Options{Check: c.Name})
			if p == nil {
				t.Errorf("%s, %s: %v", file, c.Name, list)
				continue
			}
			for _, c := range p.Checks {
				opt := explore.Options{Workers: 1, MaxConfigurations: 3000, KeepGoing: true}
				if race.Nightly() {
					opt.MaxConfigurations = 30000
				}
				run := func() string {
					s, err := check.New(p, c)
					if err != nil {
						t.Fatal(err)
					}
					opt.Checks = s.Checks
					if !slices.ContainsFunc(s.System.Claims,
						func(c explore.Claim) bool { return c.Kind == explore.Possible }) {
						return ""
					}
					r, err := explore.Run(context.Background(), s.System, opt)
					if err != nil {
						t.Fatal(err)
					}
					if !r.Complete {
						return ""
					}
					return explore.Outcomes(r)
				}
				got := run()
				if got == "" {
					continue
				}
				compared++
				explore.ByPasses(&opt)
				if want := run(); got != want {
					t.Errorf("%s, %s: depth-first search and passes differ\n%s\n%s", file, c.Name, got, want)
				}
			}
		}
	}
	if compared < race.Draws(2, 8) {
		t.Errorf("only %d checks were compared", compared)
	}
	t.Log(compared, "checks")
}

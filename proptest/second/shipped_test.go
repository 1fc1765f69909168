package second_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/proptest/second"
)

// bound is how many configurations a check may have for this checker, which is slow.
func bound() int {
	switch {
	case race.Nightly():
		return 200_000
	case race.Long():
		return 3_000
	}
	return 300
}

// TestShipped: of each shipped check that is small enough both checkers count the same configurations, find the same
// claims violated, and need as many steps to show it.
func TestShipped(t *testing.T) {
	race.Skip(t)
	most, same, refused, n := bound(), 0, map[string]int{}, 0
	for _, pattern := range []string{"../../specs/*/*.yaml", "../../specs/library/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if n++; !race.Some(n, 3) {
				continue
			}
			// Nothing is reduced, and each search stops where the other one is not asked any more.
			r, _, err := check.Suite(t.Context(), file,
				check.Config{Explore: explore.Options{MaxConfigurations: uint64(most)}})
			if err != nil || r == nil {
				continue // it has no checks
			}
			spec, err := second.Load(file)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, c := range r.Checks {
				if c.Ended != "" {
					continue
				}
				name := strings.TrimPrefix(filepath.ToSlash(file), "../../specs/") + " " + c.Check
				got, err := spec.Run(c.Check, second.Options{Most: 2 * most})
				if err != nil {
					why, _, _ := strings.Cut(err.Error(), "\n")
					refused[why]++
					continue
				}
				same++
				compare(t, name, c, got)
			}
		}
	}
	t.Logf("%d checks of at most %d configurations are the same", same, most)
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%d refused: %s", refused[why], why)
	}
	if same < 15 || race.Long() && same < 140 {
		t.Errorf("only %d checks were compared", same)
	}
}

// compare holds what the second checker says of a check against what the first one does.
func compare(t *testing.T, name string, first *report.Report, got *second.Result) {
	t.Helper()
	if n := int(first.Configurations); got.Configurations != n {
		t.Errorf("%s: %d configurations, and the first checker has %d", name, got.Configurations, n)
	}
	violated := map[string]bool{}
	for _, c := range first.Claims {
		if c.Result == "violated" {
			violated[c.Name] = true
			n, ok := got.Violated[c.Name]
			if !ok {
				t.Errorf("%s: %s is violated for the first checker alone", name, c.Name)
			} else if c.Counterexample != nil && n != 0 && n != len(c.Counterexample.Steps) {
				t.Errorf("%s: %s is violated in %d steps, and for the first checker in %d", name, c.Name, n,
					len(c.Counterexample.Steps))
			}
		}
		if c.Witness != nil && got.Witness[c.Name] != len(c.Witness.Steps) {
			t.Errorf("%s: %s is reached in %d steps, and for the first checker in %d", name,
				c.Name, got.Witness[c.Name],
				len(c.Witness.Steps))
		}
	}
	for claim := range got.Violated {
		if !violated[claim] {
			t.Errorf("%s: %s is violated for the second checker alone", name, claim)
		}
	}
}

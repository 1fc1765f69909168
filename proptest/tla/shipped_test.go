package tla_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	export "github.com/parley-go/parley/gen/export/tla"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/proptest/tla"
)

// bound is how many configurations a check may have for the evaluator, which is slow.
func bound() int {
	switch {
	case race.Nightly():
		return 50_000
	case race.Long():
		return 300
	}
	return 100
}

// failures are the built-in claims that a failed step violates.
var failures = []string{"unspecified-reception", "fault", "overflow", "deferred-overflow"}

// TestShipped: of each shipped check that is small enough the module has the configurations of the checker, and
// violates the same claims in runs that are as short.
func TestShipped(t *testing.T) {
	race.Skip(t)
	same, refused := 0, 0
	for n, file := range shipped(t) {
		if !race.Some(n, 9) {
			continue
		}
		t.Run(strings.TrimPrefix(file, "../../specs/"), func(t *testing.T) {
			a, b := shippedFile(t, file)
			same, refused = same+a, refused+b
		})
	}
	t.Logf("%d checks of at most %d configurations are the same, %d are refused", same, bound(), refused)
}

// shipped lists the specifications of the repository.
func shipped(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"../../specs/*/*.yaml", "../../specs/library/*/*.yaml"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	return files
}

// shippedFile compares the checks of a file that are small enough.
func shippedFile(t *testing.T, file string) (same, refused int) {
	// Nothing is reduced: a reduced search has fewer configurations than TLC.
	r, _, err := check.Suite(t.Context(), file,
		check.Config{Explore: explore.Options{MaxConfigurations: uint64(bound())}})
	if err != nil || r == nil {
		return 0, 0 // it has no checks
	}
	for _, c := range r.Checks {
		if c.Ended != "" || c.Steps > uint64(20*bound()) {
			continue // or hostile instances send so much that the evaluator takes minutes
		}
		p, _ := compile.Load(file, compile.Options{Check: c.Check})
		files, err := export.Export(p, p.Checks[0], "Model")
		if err != nil {
			refused++
			continue
		}
		same++
		compare(t, c.Check, c, files)
	}
	return same, refused
}

// compare holds a module against what the checker says.
func compare(t *testing.T, name string, first *report.Report, files *export.Files) {
	t.Helper()
	spec, err := tla.Parse(files.Module)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	o := tla.Options{Failing: "err", Most: 3 * bound(), Invariants: []string{"NoError", "NoDeadlock", "NoOrphan"}}
	for _, c := range files.Claims {
		o.Invariants = append(o.Invariants, c.Invariant)
	}
	got, err := spec.Search(o)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if n := int(first.Configurations); got.States-got.Failed != n {
		t.Errorf("%s: %d configurations, and the checker has %d", name, got.States-got.Failed, n)
	}
	verdict := func(claim string) (violated bool, length int) {
		for _, c := range first.Claims {
			if c.Name == claim && c.Result == "violated" {
				if c.Counterexample != nil {
					return true, len(c.Counterexample.Steps)
				}
				return true, 0
			}
		}
		return false, 0
	}
	same := func(claim string, is bool, length int) {
		t.Helper()
		want, long := verdict(claim)
		if is != want {
			t.Errorf("%s: %s is violated: %v, and for the checker: %v", name, claim, is, want)
		} else if is && long > 0 && length != long {
			t.Errorf("%s: %s is violated in %d steps, and for the checker in %d", name, claim, length, long)
		}
	}
	for _, claim := range failures {
		length, is := got.Failures[claim]
		same(claim, is, length)
	}
	for claim, invariant := range map[string]string{"deadlock": "NoDeadlock", "orphan-message": "NoOrphan"} {
		length, is := got.Violated[invariant]
		same(claim, is, length)
	}
	for _, c := range files.Claims {
		length, is := got.Violated[c.Invariant]
		if !c.Sometimes {
			same(c.Name, is, length)
			continue
		}
		i := slices.IndexFunc(first.Claims, func(x report.ClaimReport) bool { return x.Name == c.Name })
		witness := first.Claims[i].Witness
		if is != (witness != nil) || is && length != len(witness.Steps) {
			t.Errorf("%s: %s has a witness: %v (%d steps), and for the checker: %v", name, c.Name, is, length,
				witness != nil)
		}
	}
}

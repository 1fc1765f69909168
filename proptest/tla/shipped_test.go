package tla_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	export "github.com/parley-go/parley/gen/export/tla"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/opinions"
	"github.com/parley-go/parley/proptest/race"
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
	if o := opinions.Text(t.Context(), files, first); !o.Agrees {
		t.Errorf("%s: %v %s", name, o.Differs, o.Refused)
	}
}

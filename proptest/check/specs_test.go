package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
)

// maxTested is how many configurations a check may have to be searched whole
// in this test; with PARLEY_BIG=1 all are.
func maxTested() uint64 {
	if os.Getenv("PARLEY_BIG") != "" {
		return 1 << 40
	}
	return uint64(race.Draws(1<<15, 1<<17))
}

// TestSpecs runs the checks of every specification: each must find exactly
// what it expects, with the counterexamples kept in expected/ beside it. To keep new
// ones look at them and run `fsmgen check --update`.
func TestSpecs(t *testing.T) {
	race.Skip(t)
	var files []string
	for _, pattern := range []string{"../../specs/*/*.yaml", "testdata/*/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 10 {
		t.Fatalf("only %d specifications found", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			r, list, err := Suite(context.Background(), file,
				Config{Explore: explore.Options{MaxConfigurations: maxTested()}})
			if err != nil || r == nil {
				t.Fatal(err, list)
			}
			for _, c := range r.Checks {
				switch {
				case c.Configurations >= maxTested():
					t.Logf("%s has more than %d configurations", c.Check, maxTested())
				case !c.Passes:
					t.Errorf("%s", c.Text(false))
				}
			}
			if r.Complete && !r.Passes {
				t.Errorf("%s: never fires: %v; unreachable: %v", strings.Join(r.Why, "; "), r.NeverFires, r.Unreachable)
			}
			problems, err := r.CompareExpected()
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				t.Error(p)
			}
		})
	}
}

package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/scenario"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
)

// maxTested is how many configurations a check of a specification may have to be searched whole in
// this test: those of specs are whole in .ci/run, and here with PARLEY_BIG=1.
func maxTested(file string) uint64 {
	switch {
	case os.Getenv("PARLEY_BIG") != "":
		return 1 << 40
	case strings.HasPrefix(file, "testdata/"):
		return 1 << 15
	}
	return 1 << 10
}

// TestSpecs runs the checks of every specification, of specs a quarter of those without hostile
// instances unless tests have all the time they want: each must find exactly what it expects, with the
// counterexamples kept in expected/ beside it. To keep new ones look at them and run
// `fsmgen check --update`.
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
	checks := 0
	for _, file := range files {
		only := Only{}
		if base, _ := compiled(file, ""); base != nil {
			for _, c := range base.Checks {
				checks++
				if strings.HasPrefix(file, "testdata/") || race.Long() || checks%4 == 0 && !c.HasHostile() {
					only = append(only, c.Name)
				}
			}
			if len(base.Checks) > 0 && len(only) == 0 {
				continue
			}
		}
		name := strings.TrimSuffix(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			most := maxTested(file)
			r, list, err := Suite(context.Background(), file,
				Config{Only: only, Explore: explore.Options{MaxConfigurations: most}})
			if err != nil || r == nil {
				t.Fatal(err, list)
			}
			for _, c := range r.Checks {
				switch {
				case c.Configurations >= most:
					t.Logf("%s has more than %d configurations", c.Check, most)
				case !c.Passes:
					t.Errorf("%s", c.Text(false))
				}
				for i := range c.Claims {
					if x := c.Claims[i].Counterexample; x != nil {
						if _, err := scenario.Of(x, narrowedOf(file)); err != nil {
							t.Errorf("%s.%s: %v", c.Check, c.Claims[i].Name, err)
						}
					}
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

// narrowedOf gives the protocol of a file as a check has narrowed it.
func narrowedOf(file string) scenario.Load {
	return func(check string) (*model.Protocol, error) {
		p, list := compile.Load(file, compile.Options{Check: check})
		if p == nil {
			return nil, list
		}
		return p, nil
	}
}

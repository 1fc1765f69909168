package drive

import (
	"flag"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/conform"
	"github.com/parley-go/parley/proptest/conform/shipped"
	"github.com/parley-go/parley/proptest/race"
)

// load compiles a specification of the module.
func load(t testing.TB, spec, check string) *model.Protocol {
	t.Helper()
	p, list := compile.Load(filepath.Join("../..", spec), compile.Options{Check: check})
	if p == nil {
		t.Fatalf("%s: %v", spec, list)
	}
	return p
}

// withMachines compiles a specification of the module, and makes its generated machines, by role.
func withMachines(t testing.TB, spec string) (*model.Protocol, map[string]*conform.Pair) {
	t.Helper()
	full := load(t, spec, "")
	pairs := map[string]*conform.Pair{}
	for _, target := range shipped.Targets {
		if target.Spec != spec {
			continue
		}
		pair, err := conform.New(full, conform.Target(target))
		if err != nil {
			t.Fatal(err)
		}
		pairs[pair.Role.Name] = pair
	}
	return full, pairs
}

// allShipped lists the checks of all specifications that have generated packages, those with hostile
// instances or those without: all of them if many runs are drawn, one in six otherwise.
func allShipped(t testing.TB, hostile bool) []*Check {
	checks := 0
	var list []*Check
	var files []string
	for _, target := range shipped.Targets {
		if !slices.Contains(files, target.Spec) {
			files = append(files, target.Spec)
		}
	}
	for _, file := range files {
		full, pairs := withMachines(t, file)
		for _, c := range full.Checks {
			if c.HasHostile() != hostile {
				continue
			}
			if checks++; !allChecks() && checks%6 != 0 {
				continue
			}
			narrowed := load(t, file, c.Name)
			s, err := NewCheck(full, narrowed, narrowed.Checks[0], pairs)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
	}
	return list
}

// TestShipped draws runs of the generated machines.
func TestShipped(t *testing.T) {
	all := allShipped(t, false)
	flag.Set("rapid.checks", strconv.Itoa(draws(race.Draws(200, 400))))
	var sum total
	rapid.Check(t, func(rt *rapid.T) {
		p := plans.Draw(rt, "plan")
		o, err := rapid.SampledFrom(all).Draw(rt, "check").play(t, p)
		if err != nil {
			rt.Fatal(err)
		}
		sum.add(o)
	})
	t.Log(&sum)
}

// TestStreamsBeside draws runs over streams of a protocol with a second channel that has a format of its own:
// what is under way in each of them is cut into frames as that channel has them.
func TestStreamsBeside(t *testing.T) {
	const spec = "specs/gne/spec.yaml"
	full, pairs := withMachines(t, spec)
	narrowed := load(t, spec, "slow")
	s, err := NewCheck(full, narrowed, narrowed.Checks[0], pairs)
	if err != nil {
		t.Fatal(err)
	}
	var sum total
	for n := range race.Draws(20, 60) {
		set, err := s.setting()
		if err != nil {
			t.Fatal(err)
		}
		set.stream = true
		o, err := carryOut(t, set, plans.Example(n).Steps)
		if err != nil {
			t.Fatal(err)
		}
		sum.add(o)
	}
	t.Log(&sum)
}

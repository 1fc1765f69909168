package drive

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/conform"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// shipped is a check of a specification with a generated package.
type shipped struct {
	full, check *model.Protocol
	pairs       map[string]*conform.Pair // by role
	forged      forgeries
}

func (s *shipped) String() string { return s.full.Name + "/" + s.check.Checks[0].Name }

// load compiles a specification of the module.
func load(t testing.TB, spec, check string) *model.Protocol {
	t.Helper()
	p, list := compile.Load(filepath.Join("../..", spec), compile.Options{Check: check})
	if p == nil {
		t.Fatalf("%s: %v", spec, list)
	}
	return p
}

// allShipped lists the checks of all specifications that have generated packages, those with hostile
// instances or those without: all of them if many runs are drawn, one in six otherwise.
func allShipped(t testing.TB, hostile bool) []*shipped {
	checks := 0
	var list []*shipped
	var files []string
	for _, target := range conform.Targets {
		if !slices.Contains(files, target.Spec) {
			files = append(files, target.Spec)
		}
	}
	for _, file := range files {
		full := load(t, file, "")
		pairs := map[string]*conform.Pair{}
		for _, target := range conform.Targets {
			if target.Spec != file {
				continue
			}
			pair, err := conform.New(full, target)
			if err != nil {
				t.Fatal(err)
			}
			pairs[pair.Role.Name] = pair
		}
		for _, c := range full.Checks {
			if c.HasHostile() != hostile {
				continue
			}
			if checks++; !allChecks() && checks%6 != 0 {
				continue
			}
			s := &shipped{full: full, check: load(t, file, c.Name), pairs: pairs}
			var err error
			if s.forged, err = forgeriesOf(s.check, s.check.Checks[0]); err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
	}
	return list
}

// setting makes the world of the check. The drivers have generated machines.
func (s *shipped) setting() (*setting, error) {
	c := s.check.Checks[0]
	set, err := settle(s.full, c, 0)
	if err != nil {
		return nil, err
	}
	set.make = func(i int, machine string) (fsm.Runner, error) {
		pair := s.pairs[c.Instances[i].Role.Name]
		args, err := stage.Arguments(c.Instances[i], pair.Role, pair.Strings)
		if err != nil {
			return nil, err
		}
		r, err := pair.Make(args)
		if err != nil {
			return nil, err
		}
		if got := string(r.AppendMachine(nil)); got != machine {
			return nil, fmt.Errorf("the machine begins with %s, in the world with %s", got, machine)
		}
		return r, nil
	}
	set.forged = s.forged
	for i, inst := range c.Instances {
		if inst.IsHostile() {
			continue
		}
		r, err := set.make(i,
			string(interp.AppendMachine(nil, set.Strings, set.Parties[i].Machine, set.Parties[i].Begin)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", inst.Name, err)
		}
		if n := r.Info().Deferred; n > 0 {
			set.World.Rules.Deferred[i] = n
		}
	}
	return set, nil
}

// fault draws faults in addition to those of the check's channel.
func (s *setting) fault(r *rand.Rand) {
	rules := s.World.Rules
	if r.IntN(3) == 0 {
		rules.Faults.Break, rules.Faults.Return = 1, r.IntN(2)
	}
	if r.IntN(4) == 0 && rules.Instances <= 8 {
		rules.Faults.Partition, rules.Faults.Return = 1, -1
	}
	if r.IntN(3) == 0 {
		rules.Faults.Crash, rules.Faults.Torn = slices.Repeat([]int{1}, rules.Instances), r.IntN(3) > 0
	}
	if r.IntN(3) == 0 {
		s.coming(r)
	}
	if wire := s.protocol.Wire; rules.Channels[0].Order == world.Fifo {
		s.stream = r.IntN(2) == 0 && (wire.Lines || slices.ContainsFunc(wire.Header, func(it model.WireItem) bool {
			_, ok := it.(*model.WireLength)
			return ok
		}))
	}
	s.record = r.IntN(2) == 0
	if s.Check.HasHostile() && linkless(s.Check) && r.IntN(2) == 0 {
		s.keeping()
	}
}

// TestShipped draws runs of the generated machines.
func TestShipped(t *testing.T) {
	all := allShipped(t, false)
	flag.Set("rapid.checks", strconv.Itoa(draws(race.Draws(200, 400))))
	var sum total
	rapid.Check(t, func(rt *rapid.T) {
		p := plans.Draw(rt, "plan")
		s := rapid.SampledFrom(all).Draw(rt, "check")
		set, err := s.setting()
		if err != nil {
			rt.Fatalf("%v: %v", s, err)
		}
		set.fault(rand.New(rand.NewPCG(p.Seed, 2)))
		o, err := carryOut(t, set, p.Steps)
		if err != nil {
			rt.Fatalf("%v: %v\nwith %+v, links %+v, stream %v, record %v", s, err, set.World.Rules.Faults,
				set.World.Rules.Links, set.stream, set.record)
		}
		sum.add(o)
	})
	t.Log(&sum)
}

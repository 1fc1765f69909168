package proptest

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/scenario"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/campaign"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/conform"
	"github.com/parley-go/parley/proptest/drive"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
)

// Config says how much is done. The zero value is what [Verify] does.
type Config struct {
	// Configurations is how many of them the search of a check may find; 0: a million. A check that has
	// more is searched so far, and the test's log says so.
	Configurations uint64
	// Compared is in how many configurations of a check every step of the generated machines is
	// compared with the interpreter's; 0: 20,000.
	Compared uint64
	// Seeds is how many random runs of all checks are played; 0: 500.
	Seeds uint64
	// Scenarios is the folder into which a run that violates a claim is written; empty: scenarios beside the
	// specification.
	Scenarios string
}

// Verify is the zero [Config]'s method of that name.
func Verify(t *testing.T, spec string, runners ...any) {
	t.Helper()
	Config{}.Verify(t, spec, runners...)
}

// Verify holds a specification, and the machines that were generated from it, to what it says. A runner is
// the function that makes one, such as trade.NewBuyerRunner; of a role without one only the specification is
// looked at. In subtests of t
//
//   - checks: every check of the specification passes;
//   - machines: where a check gets to, the generated machines do what the specification says,
//     step by step: the same next value, effects, texts and bytes;
//   - seeds: random runs with the faults of each check, longer than the search is wide, violate no claim, and
//     the machines take every step of them as the specification does;
//   - drivers: real drivers with the generated machines, and a network that loses, breaks and comes back,
//     do what the checker's world does. Package rapid draws the runs: -rapid.checks says how many.
//
// What fails prints the shortest run that was found, as a chart. A run that violates a claim is written as a
// scenario, too: commit it, and fsmgen scenario repeats it.
//
// The test ends at once if the specification has errors, or if a runner is none of it, or of another text of it.
func (c Config) Verify(t *testing.T, spec string, runners ...any) {
	t.Helper()
	v, err := c.open(t, spec, runners)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("checks", v.checks)
	if len(v.makers) > 0 {
		t.Run("machines", v.machines)
	}
	t.Run("seeds", v.seeds)
	if len(v.makers) > 0 {
		t.Run("drivers", v.drivers)
	}
}

// verifier is a specification on trial.
type verifier struct {
	Config
	spec   string
	full   *model.Protocol
	makers map[string]any // by role
	models []*model.Protocol
	list   []*model.Check // of the models, one each
}

// open compiles the specification and finds the role of each runner.
func (c Config) open(t *testing.T, spec string, runners []any) (*verifier, error) {
	if c.Configurations == 0 {
		c.Configurations = 1_000_000
	}
	if c.Compared == 0 {
		c.Compared = 20_000
	}
	if c.Seeds == 0 {
		c.Seeds = 500
	}
	if c.Scenarios == "" {
		c.Scenarios = filepath.Join(filepath.Dir(spec), "scenarios")
	}
	v := &verifier{Config: c, spec: spec, makers: map[string]any{}}
	var list error
	if v.full, list = load(spec, ""); v.full == nil {
		return nil, list
	}
	for _, x := range v.full.Checks {
		p, err := load(spec, x.Name)
		if p == nil {
			return nil, err
		}
		i := slices.IndexFunc(p.Checks, func(y *model.Check) bool { return y.Name == x.Name })
		v.models, v.list = append(v.models, p), append(v.list, p.Checks[i])
	}
	for _, r := range runners {
		info, err := infoOf(r)
		if err != nil {
			return nil, err
		}
		switch {
		case info.Protocol != v.full.Name || !slices.ContainsFunc(v.full.Roles,
			func(m *model.Machine) bool { return m.Name == info.Role }):
			return nil, fmt.Errorf("%s has no role %s of a protocol %s, for which there is a runner", spec, info.Role,
				info.Protocol)
		case info.Hash != v.full.Hash:
			return nil, fmt.Errorf("the machine of %s was generated from another text of %s than is there now: run "+
				"fsmgen generate", info.Role, spec)
		case v.makers[info.Role] != nil:
			return nil, fmt.Errorf("there are two runners of %s", info.Role)
		}
		v.makers[info.Role] = r
	}
	for _, r := range v.full.Roles {
		if v.makers[r.Name] == nil && !r.External {
			t.Logf("no runner of %s is given: nothing generated is looked at there", r.Name)
		}
	}
	return v, nil
}

// load compiles a specification as a check narrows it, or as it is.
func load(spec, check string) (*model.Protocol, error) {
	p, list := compile.Load(spec, compile.Options{Check: check})
	if p == nil {
		return nil, list
	}
	return p, nil
}

// infoOf is what the runners say of themselves that a function makes.
func infoOf(maker any) (*fsm.Info, error) {
	f := reflect.TypeOf(maker)
	if f == nil || f.Kind() != reflect.Func || f.NumOut() == 0 || f.Out(0).Kind() != reflect.Pointer {
		return nil, fmt.Errorf("a runner is the function that makes it, such as trade.NewBuyerRunner, not %T", maker)
	}
	r, ok := reflect.New(f.Out(0).Elem()).Interface().(fsm.Runner)
	if !ok {
		return nil, fmt.Errorf("%v makes no runner of a generated machine", f)
	}
	return r.Info(), nil
}

// pairs makes a pair for each role that has a runner.
func (v *verifier) pairs() (map[string]*conform.Pair, error) {
	out := map[string]*conform.Pair{}
	for role, maker := range v.makers {
		pair, err := conform.New(v.full, conform.Target{Role: role, Runner: maker})
		if err != nil {
			return nil, fmt.Errorf("role %s: %w: run fsmgen generate", role, err)
		}
		out[role] = pair
	}
	return out, nil
}

// checks runs the checks.
func (v *verifier) checks(t *testing.T) {
	r, list, err := check.Suite(t.Context(), v.spec,
		check.Config{Explore: explore.Options{MaxConfigurations: v.Configurations}})
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		t.Fatal(list)
	}
	if len(r.Checks) == 0 {
		t.Errorf("%s has no checks, so nothing is verified", v.spec)
	}
	for _, c := range r.Checks {
		switch {
		case c.Open:
			t.Logf("check %s: nothing wrong in %d configurations, and there are more (%s)", c.Check,
				c.Configurations, c.Ended)
		case !c.Passes:
			for i := range c.Claims {
				if cl := &c.Claims[i]; cl.Result == check.Violated && !cl.Expected {
					t.Errorf("check %s: %s is violated%s", c.Check, cl.Name,
						v.told(c.Check, cl.Name, cl.Why, cl.Counterexample))
				}
			}
			t.Errorf("check %s does not pass: %s", c.Check, strings.Join(c.Why, "; "))
		}
	}
	for _, why := range r.Why {
		t.Errorf("%s: %s%s", v.spec, why, idle(r))
	}
}

// idle lists what no check comes to, each in a line of its own.
func idle(r *check.SuiteReport) string {
	var b strings.Builder
	for _, p := range r.NeverFires {
		fmt.Fprintf(&b, "\n  never fires in any check: %s: %s (%s)", p.Role, p.Name, p.Where)
	}
	for _, p := range r.Unreachable {
		fmt.Fprintf(&b, "\n  never reached in any check: %s: state %s (%s)", p.Role, p.Name, p.Where)
	}
	return b.String()
}

// told is a run as a person wants to see it, and where its scenario is now.
func (v *verifier) told(check, claim, why string, r *run.Run) string {
	out := ""
	if why != "" {
		out = ": " + why
	}
	if r == nil {
		return out
	}
	out += "\n\n" + r.Text()
	text, err := scenario.Of(r, func(check string) (*model.Protocol, error) { return load(v.spec, check) })
	if err != nil {
		return out + fmt.Sprintf("\nno scenario repeats it: %v", err)
	}
	name := filepath.Join(v.Scenarios, check+"."+claim+".txt")
	if err := files.WriteAll([]files.File{{Path: name, Content: []byte(text)}}); err != nil {
		return out + fmt.Sprintf("\nits scenario cannot be written: %v", err)
	}
	return out + "\nwrote " + name + ": commit it, and `fsmgen scenario` repeats this run"
}

// machines compares the generated machines where the checks get to.
func (v *verifier) machines(t *testing.T) {
	pairs, err := v.pairs()
	if err != nil {
		t.Fatal(err)
	}
	steps := map[string]int{}
	for n, c := range v.list {
		s, err := check.New(v.models[n], c)
		if err != nil {
			t.Fatalf("check %s: %v", c.Name, err)
		}
		system := *s.System
		system.Claims = nil // only what is reached matters here
		res, err := explore.Run(t.Context(), &system,
			explore.Options{Checks: s.Checks, KeepGoing: true, MaxConfigurations: v.Compared})
		if err != nil {
			t.Fatalf("check %s: %v", c.Name, err)
		}
		lifted := map[*model.Instance]func(interp.Value, interp.Event) error{}
		s.ForEachStep(res.Space, func(inst *model.Instance, value interp.Value, ev interp.Event) bool {
			pair := pairs[inst.Role.Name]
			if pair == nil {
				return true
			}
			if lifted[inst] == nil {
				lifted[inst] = pair.Lifted(s.Strings(), inst.Role)
			}
			steps[inst.Role.Name]++
			if err = lifted[inst](value, ev); err != nil {
				err = fmt.Errorf("role %s: %w", inst.Role.Name, err)
			}
			return err == nil
		})
		if err != nil {
			t.Errorf("check %s: a generated machine is not what the specification says: %v%s", c.Name, err,
				v.differs(n))
			return
		}
	}
	for role := range v.makers {
		if steps[role] == 0 {
			t.Errorf("nothing was compared of role %s: no check has it as an honest instance", role)
		}
	}
	t.Logf("steps compared: %v", steps)
}

// differs looks for a short run to where a generated machine differs, among random ones; empty if it finds none.
func (v *verifier) differs(n int) string {
	c := &campaign.Campaign{Models: v.models[n : n+1], Checks: v.list[n : n+1]}
	r, err := c.Run(context.Background(), campaign.Options{Seed: 1, Runs: 200, Compare: v.compare})
	if err != nil {
		return ""
	}
	for _, f := range r.Checks[0].Found {
		if f.Claim == campaign.DiffersClaim && f.Run != nil {
			return "\n\n" + f.Run.Text()
		}
	}
	return ""
}

// compare compares an instance with its generated machine.
func (v *verifier) compare(s *stage.Stage, i int) (campaign.Comparison, error) {
	role := s.Parties[i].Machine
	if v.makers[role.Name] == nil {
		return nil, nil
	}
	pair, err := conform.New(v.full, conform.Target{Role: role.Name, Runner: v.makers[role.Name]})
	if err != nil {
		return nil, err
	}
	return pair.Lifted(s.Strings, role), nil
}

// seeds plays random runs.
func (v *verifier) seeds(t *testing.T) {
	c := &campaign.Campaign{Models: v.models, Checks: v.list}
	if len(v.list) == 0 {
		t.Skip("there are no checks")
	}
	r, err := c.Run(t.Context(), campaign.Options{Seed: 1, Runs: v.Seeds, Compare: v.compare})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Checks {
		for _, f := range x.Found {
			switch {
			case f.Trouble != "" && f.Run != nil:
				t.Errorf("check %s, seed %d: %s\n\n%s", x.Name, f.Seed, f.Trouble, f.Run.Text())
			case f.Trouble != "":
				t.Errorf("check %s, seed %d: %s", x.Name, f.Seed, f.Trouble)
			case !f.Expected:
				t.Errorf("check %s, seed %d: %s is violated%s", x.Name, f.Seed, f.Claim,
					v.told(x.Name, f.Claim, "", f.Run))
			}
		}
	}
	t.Logf("%d runs, %d steps, %d different ones compared with generated machines", r.Runs, r.Steps, r.Compared)
}

// drivers runs real drivers with the generated machines.
func (v *verifier) drivers(t *testing.T) {
	pairs, err := v.pairs()
	if err != nil {
		t.Fatal(err)
	}
	list, names := map[string]*drive.Check{}, []string(nil)
	for n, c := range v.list {
		d, err := drive.NewCheck(v.full, v.models[n], c, pairs)
		if err != nil {
			t.Logf("check %s has no runs of drivers: %v", c.Name, err)
			continue
		}
		list[c.Name], names = d, append(names, c.Name)
	}
	if len(list) == 0 {
		t.Skip("no check has runs of drivers")
	}
	rapid.Check(t, func(rt *rapid.T) {
		if err := list[rapid.SampledFrom(names).Draw(rt, "check")].Run(t, rt); err != nil {
			rt.Fatal(err)
		}
	})
}

package conform

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
)

// maxSearched is how many configurations of a check are searched for local
// values. With the race detector, which finds nothing in values, few will do.
var maxSearched = map[bool]uint64{false: 1 << 9, true: 1 << 20}[race.Nightly() && !race.Enabled]

// maxCrossed is how many local values of a check are given every event, also those
// that cannot happen there.
const maxCrossed = 60

// TestReachable compares the implementations at every local value that a check
// reaches, with every event that can happen there: of every eighth check unless tests have all the time
// they want. The values of a check with smaller domains or constants are carried to the full model.
func TestReachable(t *testing.T) {
	roles := map[string][]Target{}
	var files []string
	answered, checks := 0, 0
	for _, target := range allTargets() {
		if roles[target.Spec] == nil {
			files = append(files, target.Spec)
		}
		roles[target.Spec] = append(roles[target.Spec], target)
	}
	for _, spec := range files {
		file := filepath.Join("../..", spec)
		full := load(t, file, compile.Options{})
		crossed := map[string]bool{}
		for _, c := range full.Checks {
			for _, inst := range c.Instances {
				if !slices.ContainsFunc(roles[spec], func(x Target) bool { return x.Role == inst.Role.Name }) {
					t.Errorf("role %s of %s is not in the table of targets", inst.Role.Name, spec)
				}
			}
			if checks++; !race.Some(checks, 8) {
				continue
			}
			t.Run(full.Name+"/"+c.Name, func(t *testing.T) {
				walks := map[string]*walk{}
				for _, target := range roles[spec] {
					pair, err := New(full, target)
					if err != nil {
						t.Fatal(err)
					}
					walks[pair.Role.Name] = &walk{t: t, pair: pair, values: map[string]bool{}, crossed: crossed}
				}
				if !t.Failed() {
					explored(t, walks, load(t, file, compile.Options{Check: c.Name}), c.Name)
				}
				for _, inst := range c.Instances {
					w := walks[inst.Role.Name]
					if w != nil && w.steps == 0 && !inst.IsHostile() {
						t.Errorf("nothing was compared of role %s", inst.Role.Name)
					}
				}
				for role, w := range walks {
					t.Logf("%s: %d values, %d steps compared", role, len(w.values), w.steps)
					answered += w.pair.Answered
				}
			})
		}
	}
	if answered == 0 {
		t.Error("no message given as a stream was answered")
	}
}

func load(t testing.TB, file string, o compile.Options) *model.Protocol {
	t.Helper()
	p, list := compile.Load(file, o)
	if p == nil {
		t.Fatal(list)
	}
	return p
}

// walk compares the steps of one check.
type walk struct {
	t      *testing.T
	pair   *Pair
	values map[string]bool
	// crossed are the values that were given every event, and the steps that were
	// compared, in this check or another.
	crossed map[string]bool
	steps   int
}

// explored searches a check and gives what it reaches to the walks of its roles.
func explored(t *testing.T, walks map[string]*walk, p *model.Protocol, name string) {
	for _, c := range p.Checks {
		if c.Name != name {
			continue
		}
		s, err := check.New(p, c)
		if err != nil {
			t.Fatal(err)
		}
		system := *s.System
		system.Claims = nil // only what is reached matters here
		most := maxSearched
		if c.HasHostile() && !race.Nightly() {
			most /= 64 // a thousand steps in each, nearly all of the hostile instance
		}
		res, err := explore.Run(t.Context(), &system,
			explore.Options{Checks: s.Checks, KeepGoing: true, MaxConfigurations: most})
		if err != nil {
			t.Fatal(err)
		}
		if !res.Complete {
			t.Logf("%d configurations searched: %s", res.Configurations, res.Why)
		}
		s.ForEachStep(res.Space, func(inst *model.Instance, v interp.Value, ev interp.Event) bool {
			w := walks[inst.Role.Name]
			return w.step(lifter{s.Strings(), w.pair.Strings}, inst, v, ev)
		})
	}
}

func (w *walk) step(l lifter, inst *model.Instance, v interp.Value, ev interp.Event) bool {
	role := w.pair.Role
	value := w.base(l, inst.Role, v)
	l.machine(inst.Role, role, v, value)
	event, err := l.event(role, ev)
	k := role.Name + " " + packed(value)
	// Other instances and checks may have been here.
	if at := k + packed(event.Args) + event.Event.Name + fmt.Sprint(event.Sender, event.At); err == nil &&
		!w.crossed[at] {
		w.crossed[at] = true
		_, err = w.pair.Compare(value, event)
	}
	w.steps++
	if err != nil {
		w.t.Error(err)
		return false
	}
	if w.values[k] {
		return true
	}
	w.values[k] = true
	if w.crossed[k] || len(w.values) > maxCrossed {
		return true
	}
	w.crossed[k] = true
	for _, ev := range Samples(w.pair.Role) {
		w.steps++
		if _, err := w.pair.Compare(value, ev); err != nil {
			w.t.Error(err)
			return false
		}
	}
	return true
}

// packed makes a key of slots.
func packed(slots []int64) string {
	b := make([]byte, 0, len(slots)+8)
	for _, v := range slots {
		b = binary.AppendVarint(b, v)
	}
	return string(b)
}

// base gives a fresh full machine with the parameters of v.
func (w *walk) base(l lifter, small *model.Machine, v interp.Value) interp.Value {
	base, err := w.pair.beginning(l, small, v)
	if err != nil {
		w.t.Fatal(err)
	}
	return append(interp.Value(nil), base...)
}

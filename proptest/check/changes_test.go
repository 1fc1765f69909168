package check

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/run"
)

// TestChangesLeadToTheEnd: what the steps of a run change, one after the other, is what the last
// configuration differs from the first one in: none is forgotten, and each begins with what the one
// before it left.
func TestChangesLeadToTheEnd(t *testing.T) {
	seen := 0
	for _, c := range []struct {
		file, check string
		reduce      string
	}{
		{"setup/coded", "all", "none"}, {"setup/coded", "all", "auto"}, {"lockstep/coded", "inTime", "none"},
		{"startup/documented", "two", "none"}, {"startup/documented", "two", "auto"},
		{"masterserver/documented", "hostile", "none"},
	}[:race.Draws(4, 6)] {
		p, ch := load(t, "../../specs/"+c.file+".yaml", c.check)
		s, err := New(p, ch)
		if err != nil {
			t.Fatal(err)
		}
		o := explore.Options{Checks: s.Checks, KeepGoing: true}
		if c.reduce == "auto" {
			o.Reduce = explore.ReduceSymmetry | explore.ReduceDead
			s.reduce(o.Reduce)
		}
		res, err := explore.Run(context.Background(), s.System, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range res.Witnesses {
			seen += compareChanges(t, s, s.run(w.Trace, nil, w.End, ""), w.End)
		}
		for _, v := range res.Violations {
			seen += compareChanges(t, s, s.run(v.Trace, v.Loop, v.End, ""), v.End)
		}
	}
	if seen < 30 {
		t.Errorf("only %d variables that differ were looked at", seen)
	}
}

func compareChanges(t *testing.T, s *System, r *run.Run, end explore.Configuration) int {
	t.Helper()
	n := 0
	for i, p := range s.Procs {
		want := map[string]run.Change{}
		for _, c := range interp.Changes(s.Texts, p.Role, p.Initial, p.Unpack(end.Locals[i]).Value) {
			want[c.Name] = run.Change{Name: c.Name, Before: c.Before, After: c.After}
		}
		got := map[string]run.Change{}
		for _, step := range r.Steps {
			if step.Mover() == i {
				gather(t, got, step.Changes)
			}
		}
		maps.DeleteFunc(got, func(_ string, c run.Change) bool { return c.Before == c.After })
		if !maps.Equal(got, want) {
			t.Errorf("%s changes %v, but differs from its beginning in %v\n%s", p.Inst.Name, got, want, r.Text())
		}
		n += len(want)
	}
	return n
}

// gather adds the changes of a step to those before it.
func gather(t *testing.T, all map[string]run.Change, list []run.Change) {
	t.Helper()
	for _, c := range list {
		before, ok := all[c.Name]
		if ok && before.After != c.Before {
			t.Errorf("%s is left at %s and begins at %s", c.Name, before.After, c.Before)
		}
		if ok {
			c.Before = before.Before
		}
		all[c.Name] = c
	}
}

// TestClaimReads: under a counterexample stands what of the claim is false, and the values that it
// reads there.
func TestClaimReads(t *testing.T) {
	for _, c := range []struct{ file, check, claim, want string }{
		{"startup/documented", "two", "own-slot", `
what of it is false here:
  a.connectionEstablished && b.connectionEstablished && some(s in Slot: b.table[s] == 0) => b.table[a.own] == 0

what that reads:
  a         connectionEstablished
  b         connectionEstablished
  b.table   [1, 0]
  a.own     0
`},
		{"setup/coded", "all", "same-values", `
what the claim reads here:
  a                 done
  b                 done
  a.update[0].own   0
  b.update[0].own   1
`},
		{"confirm/coded", "pair", "no-late-change", `
what the claim reads here:
  a                     done
  len(a -> b, CHANGE)   0
  len(b -> a, CHANGE)   1
`},
		{"lockstep/coded", "inTime", "removed", `
what the claim reads here:
  server           game
  server.playing   [0, 1]
  server.queues    [[], []]
  server.left      []
`},
	} {
		r := suite(t, "../../specs/"+c.file+".yaml", c.check)
		if b, err := json.Marshal(r); c.file == "setup/coded" &&
			!strings.Contains(string(b), `"changes":[{"name":"update[0].own","before":"0","after":"1"},`) {
			t.Errorf("%v %s", err, b)
		}
		for i := range r.Claims {
			if cl := &r.Claims[i]; cl.Name == c.claim &&
				(cl.Counterexample == nil || !strings.Contains(cl.Counterexample.Text(), c.want)) {
				t.Errorf("%s: %s", c.file, cl.Counterexample.Text())
			}
		}
	}
}

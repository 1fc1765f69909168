package check

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/explore"
)

// TestChangesLeadToTheEnd: what the steps of a run change, one after the other, is what the last configuration differs from the
// first one in: none is forgotten, and each begins with what the one before it left.
func TestChangesLeadToTheEnd(t *testing.T) {
	seen := 0
	for _, c := range []struct {
		file, check string
		reduce      string
	}{
		{"setup/coded", "all", "none"}, {"setup/coded", "all", "auto"}, {"lockstep/coded", "inTime", "none"},
		{"startup/documented", "two", "none"}, {"startup/documented", "two", "auto"}, {"masterserver/documented", "hostile", "none"},
	} {
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

func compareChanges(t *testing.T, s *System, r *Run, end explore.Configuration) int {
	t.Helper()
	n := 0
	for i, p := range s.procs {
		want := map[string]interp.Change{}
		for _, c := range interp.Changes(s.strs, p.role, p.init, p.unpack(end.Locals[i]).value) {
			want[c.Name] = c
		}
		got := map[string]interp.Change{}
		for _, step := range append(r.Steps, r.Loop...) {
			if step.Instance == p.inst.Name {
				gather(t, got, step.Changes)
			}
		}
		maps.DeleteFunc(got, func(_ string, c interp.Change) bool { return c.Before == c.After })
		if !maps.Equal(got, want) {
			t.Errorf("%s changes %v, but differs from its beginning in %v\n%s", p.inst.Name, got, want, r.Text())
		}
		n += len(want)
	}
	return n
}

// gather adds the changes of a step to those before it.
func gather(t *testing.T, all map[string]interp.Change, list []interp.Change) {
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

// TestClaimReads: under a counterexample stands what of the claim is false, and the values that it reads there.
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
		if b, err := json.Marshal(r); c.file == "setup/coded" && !strings.Contains(string(b), `"changes":[{"name":"update[0].own","before":"0","after":"1"},`) {
			t.Errorf("%v %s", err, b)
		}
		for i := range r.Claims {
			if cl := &r.Claims[i]; cl.Name == c.claim && (cl.Counterexample == nil || !strings.Contains(cl.Counterexample.Text(), c.want)) {
				t.Errorf("%s: %s", c.file, cl.Counterexample.Text())
			}
		}
	}
}

// TestChangeLines: many changes are wrapped and cut, and of long lists the elements that stay are left out, unless all is asked for.
func TestChangeLines(t *testing.T) {
	long := "[{sent: 3, commands: 0, sum: 0}, {sent: 2, commands: 0, sum: 0}"
	var many []interp.Change
	for _, name := range strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z") {
		many = append(many, interp.Change{Name: "player[" + name + "]", Before: "none", After: "orz"})
	}
	for _, c := range []struct {
		list []interp.Change
		all  bool
		want string
	}{
		{nil, false, ""},
		{[]interp.Change{{Name: "fleet[2]", Before: "none", After: "orz"}, {Name: "x", Before: "1", After: "2"}}, false, "fleet[2]: none → orz; x: 1 → 2"},
		{[]interp.Change{{Name: "q", Before: long + "]", After: long + ", {sent: 0, commands: 0, sum: 0}]"}}, false, "q: […] → […, {sent: 0, commands: 0, sum: 0}]"},
		{[]interp.Change{{Name: "q", Before: `["a, [", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]`, After: `["a, ["]`}}, false, `q: […, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"] → ["a, ["]`},
		{many[:5], false, "player[a]: none → orz; player[b]: none → orz; player[c]: none → orz; player[d]: none → orz\nplayer[e]: none → orz"},
	} {
		if got := strings.Join(changeLines(c.list, c.all), "\n"); got != c.want {
			t.Errorf("%s\nnot\n%s", got, c.want)
		}
	}
	if got := changeLines(many, false); len(got) != changesLines || !strings.HasSuffix(got[2], "; … 14 more") {
		t.Errorf("%q", got)
	}
	if got := changeLines(many, true); len(got) != 7 || strings.Contains(strings.Join(got, ""), "…") {
		t.Errorf("%q", got)
	}
}

package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/fsm"
)

// nested is a machine that reports where the shipped ones do not: in branches, loops, routines and entries.
const nested = `protocol: small
messages: {PING: {fields: {n: 0..3}}}
roles:
  peer:
    vars: {turn: bool}
    commands: {go: {fields: {n: 0..3}}}
    reports: {odd: {fields: {n: 0..3}}, even: {}, each: {fields: {i: 0..3}}, done: {}}
    routines:
      tell: {fields: {n: 0..3}, do: [{if: n % 2 == 1, then: [{report: "odd{n}"}], else: [{report: even}]}]}
    initial: idle
    states:
      idle:
        entry: [{report: done}]
        go: {do: [{send: "PING{n}"}, {call: "tell{n}"}], goto: idle}
        PING: {do: [{if: turn, then: [{call: "tell{n}"}]}, {each: {i: 0..1}, do: [{report: "each{i}"}]}, {set: {turn: "!turn"}}]}
checks:
  pair: {instances: {a: peer, b: peer}, environment: {go: {when: len(out) < 2}}, channel: {capacity: 3}}
`

// TestPast: what claims say of reports and commands is what the steps of the shipped machines did. The
// checks get claims about every command and report there is; each step of many runs is taken once
// more, and what it reports is counted by hand.
func TestPast(t *testing.T) {
	tree := fstest.MapFS{}
	files, err := filepath.Glob("../../specs/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(filepath.ToSlash(f), "../../")
		tree[name] = &fstest.MapFile{Data: text}
	}
	tree["specs/small/spec.yaml"] = &fstest.MapFile{Data: []byte(nested)}
	files = append(files, "specs/small/spec.yaml")
	asked, told, again := 0, 0, 0
	for _, f := range files {
		dir := filepath.Base(filepath.Dir(f))
		if filepath.Base(f) != "spec.yaml" {
			continue
		}
		full, list := compile.Load("specs/"+dir+"/spec.yaml", compile.Options{FS: tree})
		if full == nil {
			t.Fatal(list)
		}
		text := fmt.Sprintf("protocol: %s\nextends: spec.yaml\nchecks:\n", full.Name)
		for _, c := range full.Checks[:min(3, len(full.Checks))] {
			claims := pastClaims(c)
			asked += len(claims)
			text += fmt.Sprintf("  %s:\n    claims:\n%s", c.Name, strings.Join(claims, ""))
		}
		tree["specs/"+dir+"/past.yaml"] = &fstest.MapFile{Data: []byte(text)}
		c := load(t, "specs/"+dir+"/past.yaml", compile.Options{FS: tree})
		for i := range c.Checks[:min(3, len(c.Checks))] {
			text := fmt.Sprintf("%s, check %s", dir, c.Checks[i].Name)
			one := &Campaign{Models: c.Models[i : i+1], Checks: c.Checks[i : i+1]}
			_, err := one.Run(t.Context(), Options{Seed: 1, Runs: 2, Steps: 40, Workers: 1,
				Compare: func(s *stage.Stage, i int) (Comparison, error) {
					in := interp.New(s.Parties[i].Machine, s.Strings)
					return func(v interp.Value, ev interp.Event) error {
						next, effects, res, _ := in.Step(v, ev)
						if res.Code == fsm.Took {
							x := remembered(t, text, s.Parties[i].Machine, v, next, ev, effects)
							told, again = told+x.told, again+x.again
						}
						return nil
					}, nil
				}})
			if err != nil {
				t.Fatal(text, err)
			}
		}
	}
	if asked < 300 || told < 200 || again < 50 {
		t.Errorf("%d claims, %d commands and reports, %d of them not for the first time: too few", asked, told, again)
	}
}

// TestPastCrash: runs find of the past what the checker finds, over crashes too, and not more.
func TestPastCrash(t *testing.T) {
	c := load(t, "../check/testdata/past/spec.yaml", compile.Options{})
	r, err := c.Run(t.Context(), Options{Seed: 1, Runs: 400, Steps: 60, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	gone := false
	for _, x := range r.Checks {
		for _, f := range x.Found {
			if !f.Expected || f.Trouble != "" {
				t.Errorf("%s, %s: %s", x.Name, f.Claim, f.Trouble)
			}
		}
		gone = gone || x.Name == "gone" && x.Runs > 0
	}
	if !gone {
		t.Error("no run with a crash of the buyer")
	}
}

// pastClaims makes claims of a check that look at every command and report of its instances.
func pastClaims(c *model.Check) []string {
	var out []string
	add := func(form string, args ...any) {
		out = append(out, fmt.Sprintf("      past-%d: {always: \"%s\"}\n", len(out), fmt.Sprintf(form, args...)))
	}
	seen := map[*model.Machine]bool{}
	for _, in := range c.Instances {
		m, name := in.Role, in.Name
		if in.IsHostile() || seen[m] {
			continue
		}
		seen[m] = true
		var reports []string
		each := func(kind, x string, fields []*model.Field) {
			add("%[1]s(%[2]s.%[3]s, 3) => %[1]s(%[2]s.%[3]s)", kind, name, x)
			for _, f := range fields {
				if f.Type.Scalar() {
					add("last(%s(%s.%s).%s) == none || %[1]s(%[2]s.%[3]s)", kind, name, x, f.Name)
				}
			}
		}
		for _, r := range m.Reports {
			each("reported", r.Name, r.Fields)
			reports = append(reports, fmt.Sprintf("reported(%s.%s)", name, r.Name))
		}
		for _, ev := range m.Commands {
			each("commanded", ev.Name, ev.Fields)
			if len(reports) > 0 {
				add("pending(commanded(%s.%s), %s) => commanded(%[1]s.%[2]s)", name, ev.Name,
					strings.Join(reports, ", "))
			}
		}
	}
	return out
}

// steps is what TestPast has seen.
type steps struct{ told, again int }

// remembered compares the ghosts behind a step with what it did.
func remembered(t *testing.T, at string, m *model.Machine, v, next interp.Value, ev interp.Event,
	effects []interp.Effect) (seen steps) {
	t.Helper()
	want := slices.Clone(v)
	find := func(name string) *model.Var {
		i := slices.IndexFunc(m.Vars, func(x *model.Var) bool { return x.Ghost != model.NoGhost && x.Name == name })
		if i < 0 {
			return nil
		}
		return m.Vars[i]
	}
	happens := func(kind, name string, fields []*model.Field, slots []int64) {
		seen.told++
		upper := strings.ToUpper(name[:1]) + name[1:]
		count := find(kind + upper)
		if count == nil {
			t.Errorf("%s: nothing counts %s of %s", at, name, m.Name)
			return
		}
		if v[count.Offset] > 0 {
			seen.again++
		}
		want[count.Offset] = min(want[count.Offset]+1, count.Type.Hi)
		for _, f := range fields {
			if x := find("last" + upper + strings.ToUpper(f.Name[:1]) + f.Name[1:]); x != nil {
				n, to := f.Type.Slots(), x.Offset
				if f.Type.Kind != model.KindOptional {
					want[to] = 1
					to++
				}
				copy(want[to:to+n], slots[f.Offset:f.Offset+n])
			}
		}
		for _, x := range m.Vars {
			switch {
			case x.Ghost == model.NoGhost || !strings.HasPrefix(x.Name, "pending"):
			case !waitsForAnswer(m, x.Name): // a claim of the specification's own, which names the reports that end it
				want[x.Offset] = next[x.Offset]
			case kind == "reported":
				want[x.Offset] = 0
			case x.Name == "pending"+upper:
				want[x.Offset] = 1
			}
		}
	}
	if ev.Event.Kind == model.EventCommand {
		happens("commanded", ev.Event.Name, ev.Event.Fields, ev.Args)
	}
	for _, e := range effects {
		if e.Kind == fsm.Report {
			happens("reported", e.Report.Name, e.Report.Fields, e.Slots)
		}
	}
	for _, x := range m.Vars {
		if x.Ghost != model.NoGhost {
			end := x.Offset + x.Type.Slots()
			if a, b := next[x.Offset:end], want[x.Offset:end]; !slices.Equal(a, b) {
				t.Errorf("%s: %s of %s is %v behind %s, not %v", at, x.Name, m.Name, a, ev.Event.Name, b)
			}
		}
	}
	return seen
}

// waitsForAnswer reports whether a ghost says that a command waits for an answer.
func waitsForAnswer(m *model.Machine, ghost string) bool {
	return slices.ContainsFunc(m.Commands, func(ev *model.Event) bool {
		return ghost == "pending"+strings.ToUpper(ev.Name[:1])+ev.Name[1:]
	})
}

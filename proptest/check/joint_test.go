package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/run"
)

// TestJoint: a monitor of several instances sees what each program sees and does, in the order in which it
// happens. Of one instance it is what a monitor of the role is, over crashes too.
func TestJoint(t *testing.T) {
	for name, want := range map[string]string{"apart": Holds, "turns": Violated} {
		r := suite(t, "testdata/joint/spec.yaml", name)
		if !r.Passes || r.Verdict != want {
			t.Errorf("%s: passes %v, %s\n%s", name, r.Passes, r.Verdict, r.Text(false))
		}
	}
}

// TestJointCosts: a monitor that remembers nothing makes no configuration more, whatever it hears.
func TestJointCosts(t *testing.T) {
	var sizes []uint64
	for _, monitors := range []bool{true, false} {
		p, c := load(t, "testdata/joint/spec.yaml", "turns")
		if c.Claims = nil; !monitors {
			c.Monitors = nil
		} else {
			forgetful(c.Monitors[0].Inst.Role)
		}
		s, err := New(p, c)
		if err != nil {
			t.Fatal(err)
		}
		res, err := explore.Run(t.Context(), s.System, explore.Options{Checks: s.Checks, KeepGoing: true})
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, res.Configurations)
	}
	if sizes[0] != sizes[1] {
		t.Errorf("%d configurations with a monitor that stays as it is, %d without", sizes[0], sizes[1])
	}
}

// forgetful makes a machine one that does nothing.
func forgetful(m *model.Machine) {
	for _, tr := range m.Transitions {
		tr.To, tr.Body = nil, nil
	}
}

// TestJointTold: counterexamples tell what a monitor makes of each step, where it is at the end, and what the
// claim reads of it.
func TestJointTold(t *testing.T) {
	r := suite(t, "testdata/joint/spec.yaml", "turns")
	for _, c := range r.Claims {
		if c.Name != "twice" {
			continue
		}
		cx := c.Counterexample
		last := cx.Steps[len(cx.Steps)-1]
		if !slices.Contains(last.Changes, run.Change{Name: "floor", Before: "sold", After: "twice",
			Monitor: true}) {
			t.Errorf("the last step does not tell of the monitor: %+v", last)
		}
		text := cx.Text()
		for _, want := range []string{"floor.last: none → ", "floor: twice{last: ", "floor   twice"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		return
	}
	t.Error("no counterexample")
}

// insideStates is a protocol whose check has monitors with states within states, one of each peer and one of both.
const insideStates = `protocol: within
messages: {PUT: {fields: {n: 0..3}}}
channel: {capacity: 2}
roles:
  peer:
    commands: {go: {fields: {v: 0..3}}}
    reports: {told: {fields: {n: 0..3}}}
    initial: idle
    states:
      idle:
        go: {send: "PUT{n: v}"}
        PUT: {report: "told{n}"}
checks:
  two:
    instances: {a: peer, b: peer}
    environment: {go: {when: len(out) < 1}}
    monitors:
      own: {of: peer, initial: on, states: {on: {initial: x, entry: [], go: {goto: off}, states: {x: {}}}, off: {}}}
      m:
        of: [a, b]
        vars: {n: 0..3, came: 0..3, who: "instance?"}
        initial: on
        states:
          on:
            initial: x
            entry: [{set: {came: came + 1}}]
            states:
              x: {"a.go, b.go": {when: v > 1, set: {n: v, who: sender}, goto: y}}
              y: {a.told: {resume: on}, b.told: {goto: off}}
          off: {a.go: {resume: on}}
    claims:
      own: {always: "a.own.off == commanded(a.go)"}
      inside: {always: "m.on == (m.x || m.y) && m.on != m.off"}
      back: {always: "m.y => m.n > 1 && m.who != none", why: "what is resumed is y, in which on was left"}
      first: {always: "m.x => m.came == 0", why: nobody has come into on before it was left}
      clamped: {sometimes: "m.came == 3 && m.y"}
      both: {sometimes: "m.y && m.who == 1"}
`

// TestJointNested: a monitor may have states within states. The entry of those in which it begins does not run.
func TestJointNested(t *testing.T) {
	if r := checked(t, insideStates); !r.Passes || r.Verdict != Holds {
		t.Errorf("%s", r.Text(true))
	}
}

package probe

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/model"
)

// planted is a mistake in a program: its machine is that of another text.
type planted struct {
	name     string
	old, new string
	kind     Kind
}

// TestPlanted: mistakes in a program that an honest peer can see are found, with a script that shows them again.
func TestPlanted(t *testing.T) {
	t.Parallel()
	const path = "specs/confirm/spec.yaml"
	list := []planted{
		{"CONFIRM2 is not sent", "CONFIRM1: {send: CONFIRM2, goto: committed}", "CONFIRM1: {goto: committed}", Hung},
		{"CONFIRM1 instead of CONFIRM2", "confirm: {send: CONFIRM2, goto: committed}",
			"confirm: {send: CONFIRM1, goto: committed}", Left},
		{"CANCELACK is not sent", "CANCEL: {send: CANCELACK, goto: waiting}", "CANCEL: {goto: waiting}", Hung},
		{"CANCEL is answered by CANCEL", "CANCEL: {send: CANCELACK, goto: waiting}",
			"CANCEL: {send: CANCEL, goto: waiting}", Left},
		{"CONFIRM1 is refused", "        CONFIRM1: {goto: remoteOk}\n", "", Left},
		{"CHANGE is refused",
			"        CHANGE: {doc: the data changes and nothing else}\n      localOk", "      localOk", Left},
		{"a second CANCELACK", "CANCEL: {send: CANCELACK, goto: waiting}",
			"CANCEL: {do: [{send: CANCELACK}, {send: CANCELACK}], goto: waiting}", Left},
		{"CANCEL does not go back", "CANCEL: {send: CANCELACK, goto: waiting}", "CANCEL: {send: CANCELACK}", Left},
		{"a change does not take the agreement back", "CHANGE: {send: CANCEL, report: cancelled, goto: cancelWaiting}",
			"CHANGE: {report: cancelled, goto: cancelWaiting}", Hung},
		{"CANCEL is refused in committed", "        CANCEL: {send: CANCELACK, goto: localOk}\n", "", Left},
	}
	for _, x := range list {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			right := load(t, path)
			v := &server{p: load(t, path, x.old, x.new), seed: 3}
			o := options()
			o.Findings, o.Patience, o.Sessions = 1, patienceWith(x.kind), 400
			r, err := Run(t.Context(), right, v.listen(t), o)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Findings) == 0 {
				t.Errorf("not found: %+v", r)
				return
			}
			f := r.Findings[0]
			t.Logf("%d sessions, %.1fs: %s: %s, steady %t, script %q", r.Sessions, r.Seconds, f.Kind, f.Why,
				f.Steady, f.Script)
		})
	}
}

// answer is a protocol whose messages have values.
const answer = `protocol: answer
messages:
  ASK: {fields: {number: 0..9}}
  ANSWER: {fields: {number: 0..9}}
roles:
  asker:
    commands: {ask: {fields: {number: 0..9}}}
    initial: idle
    states:
      idle: {ask: {send: "ASK{number}", goto: waiting}}
      waiting: {ANSWER: {goto: idle}}
  answerer:
    initial: idle
    states:
      idle: {ASK: {send: "ANSWER{number}"}}
checks:
  one: {instances: {a: asker, b: answerer}}
`

// TestValues: a wrong value is found. If the role is external, so that a specification says of it what others rely on,
// only names of messages count, unless values are asked for. A value that is given is used.
func TestValues(t *testing.T) {
	t.Parallel()
	right := loadText(t, answer)
	outside := loadText(t, answer, "  answerer:\n", "  answerer:\n    external: true\n")
	wrong := loadText(t, answer, "ANSWER{number}", "ANSWER{number: if(number == 7, 6, number)}")
	for _, x := range []struct {
		name         string
		spec, target *model.Protocol
		exact        bool
		number       string
		found        bool
	}{
		{"right", right, right, false, "7", false},
		{"wrong", right, wrong, false, "7", true},
		{"not tried", right, wrong, false, "8", false},
		{"external", outside, wrong, false, "7", false},
		{"exact", outside, wrong, true, "7", true},
	} {
		v := &server{p: x.target, quiet: true}
		o := options()
		o.Hostile, o.Exact, o.Values = -1, x.exact, map[string][]string{"number": {x.number}}
		r, err := Run(t.Context(), x.spec, v.listen(t), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Failed() != x.found || !x.found && r.Transitions[0] != 1 {
			t.Errorf("%s: %v, %d findings", x.name, r.Transitions, len(r.Findings))
		}
		for _, f := range r.Findings {
			if f.Kind != Left || !strings.Contains(f.Why, "b sends ANSWER{number: 6}") ||
				!strings.Contains(f.Why, "would be answered by ANSWER{number: 7}") ||
				!slices.Equal(f.Script, []string{"a ask{number: 7}"}) {
				t.Errorf("%s: %s %q", x.name, f.Why, f.Script)
			}
		}
	}
}

// pulse is a protocol in which the program says something by a timer.
const pulse = `protocol: pulse
tick: 10ms
messages: {BEGIN: , PULSE: , STOP: }
roles:
  heart:
    timers: {beat: {ticks: 5}}
    initial: idle
    states:
      idle: {BEGIN: {start: beat, goto: beating}}
      beating: {beat: {send: PULSE, start: beat}, STOP: {stop: beat, goto: idle}}
  doctor:
    commands: {begin: , stop: }
    initial: idle
    states:
      idle: {begin: {send: BEGIN, goto: listening}, PULSE: {doc: late}}
      listening: {PULSE: {}, stop: {send: STOP, goto: idle}}
checks:
  one: {instances: {d: doctor, h: heart}}
`

// TestTimers: a program that lets a timer pass hangs; one that does not is right.
func TestTimers(t *testing.T) {
	t.Parallel()
	p := loadText(t, pulse)
	for _, alive := range []bool{true, false} {
		v := &server{p: p, quiet: true, timers: alive}
		o := options()
		o.Findings, o.Hostile, o.Sessions = 1, -1, 20
		if !alive {
			o.Patience = patienceWith(Hung)
		}
		r, err := Run(t.Context(), p, v.listen(t), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if alive || f.Kind != Hung || !strings.Contains(f.Why, "timer beat of h has run out after 50ms at most") ||
				!slices.Equal(f.Script, []string{"d begin", "wait h"}) {
				t.Errorf("%s: %s %q", f.Kind, f.Why, f.Script)
			}
		}
		if r.Failed() == alive || alive && r.Transitions[0] != r.Transitions[1] {
			t.Errorf("alive %t: %v, %v, %d findings", alive, r.Transitions, r.Uncovered, len(r.Findings))
		}
	}
}

package check

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/explore"
)

// TestConfluentPairs: all pairs of events are compared but for two commands of one instance.
func TestConfluentPairs(t *testing.T) {
	const spec = `protocol: pairs
tick: 10ms
messages: {D: , I: }
roles:
  c:
    vars: {v: {type: 0..20, init: 1}}
    timers: {k: {ticks: 3}, l: {ticks: 3}}
    commands: {add: , triple: , arm: }
    initial: up
    states:
      up:
        final: true
        D: {set: {v: v * 2}}
        I: {set: {v: v + 1}}
        add: {when: v < 5, set: {v: v + 3}}
        triple: {when: v < 5, set: {v: v * 3}}
        arm: {do: [{start: k}, {start: l}]}
        k: {set: {v: v + 1}}
        l: {set: {v: v * 2}}
  s:
    params: {d: bool, both: bool}
    commands: {go: }
    initial: a
    states:
      a:
        final: true
        go:
          - {when: both, do: [{send: D, to: 0}, {send: I, to: 0}], goto: b}
          - {when: d, send: D, to: 0, goto: b}
          - {send: I, to: 0, goto: b}
      b: {final: true}
checks:
  one: {instances: {a: c, INSTANCES}, environment: {ENV}, CHANNEL claims: {order: {confluent: all}}}
`
	for _, x := range []struct{ instances, environment, channel, conflict string }{
		{"x: \"s(d: true, both: false)\", y: \"s(d: false, both: false)\"", "add: false, triple: false, arm: false", "",
			"a in up: D then I differs from I then D"},
		{"x: \"s(d: true, both: false)\"", "add: {times: 1}, triple: false, arm: false", "",
			"a in up: add then D differs from D then add"},
		{"x: \"s(d: true, both: false)\"", "add: {times: 1}, triple: {times: 1}, arm: false, go: false", "",
			""},
		{"x: \"s(d: true, both: false)\"", "add: false, triple: false, arm: {times: 1}, go: false", "",
			"a in up: k then l differs from l then k"},
		{"x: \"s(d: true, both: false)\"", "add: false, triple: {times: 1}, arm: {times: 1}, go: false, l: false",
			"",
			"a in up: triple then k differs from k then triple"},
		{"x: \"s(d: true, both: true)\"", "add: false, triple: false, arm: false", "channel: {order: any},",
			"a in up: D then I differs from I then D"},
		{"x: \"s(d: true, both: true)\"", "add: false, triple: false, arm: false", "", ""},
	} {
		text := strings.NewReplacer("INSTANCES", x.instances, "ENV", x.environment, "CHANNEL ", x.channel).Replace(spec)
		r, err := suiteSystem(t, text).Run(context.Background(), explore.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch got := r.Claims[0].Conflicts; {
		case x.conflict == "" && len(got) > 0,
			x.conflict != "" && (len(got) != 1 || !strings.Contains(got[0], x.conflict)):
			t.Errorf("%s, %s: %q, want %q", x.instances, x.environment, got, x.conflict)
		}
	}
}

// TestConfluentExceptions: a claim leaves out events by their names, and transitions by theirs. What is left out in
// one state counts in another.
func TestConfluentExceptions(t *testing.T) {
	const spec = `protocol: exceptions
messages: {M: }
channel: {capacity: 2}
roles:
  c:
    vars: {v: {type: 0..20, init: 1}}
    commands: {add: , turn: }
    initial: up
    states:
      up:
        M: {set: {v: v * 2}}
        add: {when: v < 5, set: {v: v + 3}}
        turn: {goto: down}
      down:
        final: true
        M: {set: {v: v * 3}}
        add: {when: v < 5, set: {v: v + 3}}
  s:
    commands: {go: }
    initial: a
    states:
      a: {final: true, go: {send: M, goto: b}}
      b: {final: true}
checks:
  one: {instances: {a: c, b: s}, environment: {add: {times: 1}}, claims: {order: {confluent: all, except: [EXCEPT]}}}
`
	for except, want := range map[string]int{"": 3, "turn": 2, "add": 1, "M": 0, "up add, turn": 1, "down M, turn": 1,
		"up add, down add, turn": 0, "up turn": 2} {
		r, err := suiteSystem(t, strings.Replace(spec, "EXCEPT", except, 1)).Run(context.Background(),
			explore.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Claims[0].Conflicts; len(got) != want {
			t.Errorf("except [%s]: %d pairs, want %d: %q", except, len(got), want, got)
		}
	}
}

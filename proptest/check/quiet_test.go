package check

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/explore"
)

// crossing are two machines that answer what they get with two messages, and may rest anywhere.
const crossing = `protocol: crossing
messages: {A: , B: }
roles:
  peer:
    vars: {n: 0..3}
    initial: up
    commands: {go: }
    states:
      up:
        go: {when: n < 3, do: [{set: {n: n + 1}}, {send: A}]}
        A: {do: [{send: B}, {send: B}]}
        B: ignore
checks:
  main: {instances: {a: peer, b: peer}, channel: {capacity: 2, full: FULL}, quiet: "true"}
`

// holding is a machine that defers a message for ever.
const holding = `protocol: holding
messages: {A: }
roles:
  s: {initial: up, commands: {go: }, states: {up: {go: {send: A, goto: done}}, done: }}
  r: {initial: up, deferred: 2, states: {up: {A: defer}}}
checks:
  main: {instances: {s: s, r: r}, quiet: "true"}
`

// TestQuietIsNoExcuse: where machines may rest, messages that nobody can take are violations.
func TestQuietIsNoExcuse(t *testing.T) {
	for _, x := range []struct{ spec, violated, says string }{
		{strings.Replace(crossing, "FULL", "wait", 1), Deadlock, "messages are under way that nobody takes"},
		{strings.Replace(crossing, "FULL", "lose", 1), "", ""},
		{holding, OrphanMessage, "nothing can happen any more, and a message is still under way or held"},
	} {
		r, err := suiteSystem(t, x.spec).Run(context.Background(), explore.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Claims {
			if (c.Result == Violated) != (c.Name == x.violated) {
				t.Errorf("%s: %s\n%s", c.Name, c.Result, r.Text(false))
			}
		}
		if text := r.Text(false); !strings.Contains(text, x.says) ||
			!strings.Contains(text, "machines may rest if `quiet` holds (true) and no message waits to be taken") {
			t.Errorf("it does not say %q:\n%s", x.says, text)
		}
	}
}

// deserted is a machine that closes its link to a hostile one, and then waits for nobody.
const deserted = `protocol: deserted
messages: {A: }
roles:
  one:
    initial: s0
    states:
      s0: {up: {do: [{close: }], goto: s1}, lost: ignore, A: ignore}
      s1: {lost: ignore, A: ignore}
  two: {initial: s0, states: {s0: {up: {send: A}, lost: ignore}}}
checks:
  main: {instances: {a: one, b: two}, hostile: [b], quiet: a.s0}
`

// TestHostileIsNoExcuse: that the end of a hostile instance waits for its link is nothing that can still happen.
func TestHostileIsNoExcuse(t *testing.T) {
	r, err := suiteSystem(t, deserted).Run(context.Background(), explore.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Claims {
		if (c.Result == Violated) != (c.Name == Deadlock) {
			t.Errorf("%s: %s\n%s", c.Name, c.Result, r.Text(false))
		}
	}
}

// apart are three machines that have nothing left to do but to lose their links.
const apart = `protocol: apart
parties: 3
tick: 1s
messages: {A: }
roles:
  peer:
    initial: s0
    states:
      s0: {start: {send: A, to: all}, lost: {goto: s1}, A: ignore}
      s1: {lost: ignore, A: ignore}
checks:
  main: {instances: {a: peer, b: peer, c: peer}, time: {beat: 1, delay: 1}, faults: {break: 1}}
`

// TestBreakIsNoExcuse: with time, that a link might break is nothing that can still happen, least of all if it has
// broken as often as it may.
func TestBreakIsNoExcuse(t *testing.T) {
	r, err := suiteSystem(t, apart).Run(context.Background(), explore.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Claims {
		if (c.Result == Violated) != (c.Name == Deadlock) {
			t.Errorf("%s: %s\n%s", c.Name, c.Result, r.Text(false))
		}
	}
}

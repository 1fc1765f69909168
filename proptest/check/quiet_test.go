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

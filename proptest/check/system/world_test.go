package system

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// keeping is a machine whose values last.
type keeping struct{ stepper }

func (k keeping) Step(v interp.Value, ev world.Event[string]) world.Outcome[interp.Value, string] {
	if ev.Kind == world.Command {
		for _, c := range k.stepper.Process.Commands {
			if c.Event.Name == ev.Message {
				k.last.ev = interp.Event{Event: c.Event}
			}
		}
	}
	out := k.stepper.Step(v, ev)
	out.Value = slices.Clone(out.Value)
	if ev.Kind == world.Command && out.Code != 0 {
		out.Code = 3 // the check gives no command that is ignored
	}
	return out
}

func (k keeping) Commands(interp.Value) (names []string) {
	for _, c := range k.stepper.Process.Commands {
		names = append(names, c.Event.Name)
	}
	return names
}

// TestAgainstWorld counts what can be reached with World.Moves: the explorer, with its own form of
// queues and steps by look-up, has to find as many configurations.
func TestAgainstWorld(t *testing.T) {
	const roles = `protocol: w
tick: 1s
messages: {A: , B: , X: }
channel: {capacity: 2}
roles:
  talker:
    vars: {n: 0..2}
    timers: {t: {ticks: 7}}
    commands: {go: , say: , off: }
    initial: s
    states:
      s: {go: {when: n < 2, set: {n: n + 1}, send: A, start: t}, say: {when: n < 2, set: {n: n + 1}, send: B}, off: {close: , goto: shut}, t: {send: A}, X: ignore, up: {}, lost: {goto: alone}}
      shut: {t: ignore, X: {goto: s}, lost: {goto: s}}
      alone: {t: {goto: shut}, X: {goto: s}, up: {goto: s}}
  hearer:
    deferred: 2
    commands: {wake: }
    timers: {u: {ticks: 12}}
    initial: s
    states:
      s: {defer: [A], B: {goto: awake}, wake: {start: u, goto: awake}, lost: {goto: s}, u: ignore}
      awake: {A: {send: X, goto: s}, B: ignore, u: {send: X}, lost: {goto: s}}
checks:
  c:
    instances: {a: talker, b: hearer}
    quiet: "true"
    %s
`
	for _, how := range []string{"doc: no faults", "faults: {break: 1}", "faults: {crash: {a: 1, b: 1}, restart: {a: 1}}", "faults: {crash: {b: 1}, restart: {b: 1}, break: 1}",
		"time: {beat: 5}", "channel: {capacity: 2, full: wait}", "channel: {capacity: 1, full: lose}",
		"channel: {capacity: 1, full: lose}\n    faults: {crash: {a: 1, b: 1}, restart: {a: 1}}"} {
		text := fmt.Sprintf(roles, how)
		p, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}}, Check: "c"})
		if p == nil {
			t.Fatal(list)
		}
		s, err := New(p, p.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		s.System.Claims = nil
		res, err := explore.Run(t.Context(), s.System, explore.Options{KeepGoing: true})
		if err != nil || !res.Complete {
			t.Fatal(err)
		}
		w := &world.World[interp.Value, string]{Rules: &s.Rules}
		var values []interp.Value
		for _, q := range s.Procs {
			w.Machines = append(w.Machines, keeping{stepper{q}})
			values = append(values, q.Initial)
		}
		first := w.Begin(values)
		for i, q := range s.Procs {
			first.Ends[i].Started = q.noStart
		}
		if got := reachable(w, first, s); got != int(res.Configurations) {
			t.Errorf("%s: the explorer finds %d configurations, the world %d", how, res.Configurations, got)
		}
	}
}

func reachable(w *world.World[interp.Value, string], c *world.Configuration[interp.Value, string], s *Machines) int {
	seen := map[string]bool{}
	queue := []*world.Configuration[interp.Value, string]{}
	add := func(c *world.Configuration[interp.Value, string]) {
		for i, q := range s.Procs { // a start that does nothing is no step
			if c.Ends[i].Restarts > 0 && !c.Ends[i].Down && q.noStart {
				c.Ends[i].Started = true
			}
		}
		for _, q := range c.Queues { // ages are no part of what is compared
			for i := range q {
				if q[i].Age != 0 {
					panic("a message of an age where the delay is one beat")
				}
			}
		}
		if k := fmt.Sprintf("%+v", *c); !seen[k] {
			seen[k] = true
			queue = append(queue, c)
		}
	}
	add(c)
	for len(queue) > 0 {
		c, queue = queue[0], queue[1:]
		for _, taken := range w.Moves(c) {
			if taken.Fault == world.NoFault {
				add(taken.Next)
			}
		}
	}
	return len(seen)
}

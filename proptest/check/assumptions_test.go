package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/proptest/explore"
)

// counting is a protocol in which A counts and B must see all of it.
const counting = `protocol: counter
messages:
  ONE: {}
  TWO: {}
channel: {order: fifo, capacity: 3}
roles:
  sender:
    vars: {n: 0..2}
    commands: {go: }
    initial: run
    states:
      run:
        go: [{when: n == 0, send: ONE, set: {n: 1}}, {when: n == 1, send: TWO, set: {n: 2}, goto: end}]
      end: {final: true}
  receiver:
    vars: {seen: 0..2}
    initial: run
    states:
      run:
        final: true
        ONE: {RULE_ONE}
        TWO: {RULE_TWO}
checks:
  main:
    instances: {a: sender, b: receiver}
    claims:
      agree:
        always: "a.end && empty() => b.seen == 2"
`

// needsOf runs it with the receptions given, and says what is needed.
func needsOf(t *testing.T, one, two string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "counter.yaml")
	text := strings.NewReplacer("{RULE_ONE}", one, "{RULE_TWO}", two).Replace(counting)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, list := compile.Load(file, compile.Options{Check: "main"})
	if p == nil {
		t.Fatal(list)
	}
	s, err := New(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), explore.Options{}, nil)
	if err != nil || !r.Passes {
		t.Fatal(err, r.Text(false))
	}
	needs, err := s.Needs(context.Background(), explore.Options{}, r)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, n := range needs {
		line := n.Assumption + ": " + n.Result
		for _, c := range n.Broken {
			line += fmt.Sprintf(" %s in %d", c.Name, len(c.Counterexample.Steps))
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestNeeds(t *testing.T) {
	for _, x := range []struct{ name, one, two, want string }{
		{"it counts what arrives", "{when: seen < 2, set: {seen: seen + 1}}", "{when: seen < 2, set: {seen: seen + 1}}",
			"messages arrive in order: not needed\nnothing is lost: needed agree in 4\nnothing arrives " +
				"twice: needed unspecified-reception in 5"},
		{"it takes them in turn", "{when: seen == 0, set: {seen: 1}}", "{when: seen == 1, set: {seen: 2}}",
			"messages arrive in order: needed unspecified-reception in 4\nnothing is lost: needed agree in " +
				"4 unspecified-reception in 4\nnothing arrives twice: needed unspecified-reception in 3"},
		{"it does not care for the first", "{}", "{set: {seen: 2}}",
			"messages arrive in order: not needed\nnothing is lost: needed agree in 4\nnothing arrives " +
				"twice: not needed"},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := needsOf(t, x.one, x.two); got != x.want {
				t.Errorf("got\n%s\nwant\n%s", got, x.want)
			}
		})
	}
}

// overtaking lets a message be first that was sent last of three.
const overtaking = `protocol: over
messages: {A: , B: , C: }
roles:
  s:
    initial: go
    commands: {fire: }
    states:
      go: {fire: {do: [{send: A}, {send: B}, {send: C}], goto: done}}
      done: {final: true}
  r:
    vars: {any: bool, first: bool}
    initial: up
    states:
      up:
        final: true
        A: {set: {any: true}}
        B: {set: {any: true}}
        C: {set: {first: "first || !any"}}
checks:
  main:
    instances: {s: s, r: r}
    claims: {last: {always: "!r.first"}}
`

// TestOvertakesTwo: with enough of it, overtaking gives every order, and an assumption that two
// exchanges break is needed.
func TestOvertakesTwo(t *testing.T) {
	for _, x := range []struct{ how, want string }{
		{"faults: {overtake: 1}", "holds"},
		{"faults: {overtake: 2}", "violated"},
		{"faults: {overtake: 255}", "violated"},
		{"channel: {order: any}", "violated"},
	} {
		s := suiteSystem(t, overtaking+"    "+x.how+"\n")
		r, err := s.Run(context.Background(), explore.Options{}, nil)
		if err != nil || r.Claims[0].Name != "last" || r.Claims[0].Result != x.want {
			t.Errorf("%s: %v, want %s\n%s", x.how, err, x.want, r.Text(false))
		}
	}
	for _, add := range []string{"", "    faults: {duplicate: 1}\n"} {
		s := suiteSystem(t, overtaking+add)
		r, err := s.Run(context.Background(), explore.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		needs, err := s.Needs(context.Background(), explore.Options{}, r)
		if err != nil || needs[0].Result != "needed" || needs[0].Fault != "messages arrive in any order" {
			t.Errorf("%q: %v, %+v, want that order is needed", add, err, needs[0])
		}
	}
}

// TestRulesNameRoles: an assumption about a command says of which role it is, since several may
// have one of that name.
func TestRulesNameRoles(t *testing.T) {
	s := suiteSystem(t, `protocol: p
tick: 1s
messages: {A: }
roles:
  left: {commands: {go: }, initial: x, states: {x: {go: {send: A}, A: ignore}}}
  right: {commands: {go: }, timers: {t: {ticks: 1}}, initial: x, states: {x: {go: {send: A, start: t}, A: ignore, t: ignore}}}
checks: {pair: {instances: {a: left, b: right}, environment: {go: {when: len(out) < 1, times: 2}, t: "false"}}}
`)
	r, err := s.Run(context.Background(), explore.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(r.Assumptions, "\n")
	for _, want := range []string{
		"left.go is given only where len(out) < 1, at most 2 times by each instance",
		"right.go is given only where len(out) < 1, at most 2 times by each instance",
		"right.t never expires",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestLostBesides: what a partition takes is said to be lost where nothing else is, and not where
// everything may be.
func TestLostBesides(t *testing.T) {
	for channel, want := range map[string]string{
		"{lossy: false}": "nothing is lost but what goes with a partition,",
		"{lossy: true}":  "any message may be lost, nothing arrives twice",
	} {
		s := suiteSystem(t, `protocol: p
messages: {A: }
roles:
  left: {commands: {go: }, initial: x, states: {x: {go: {send: A}, A: ignore, lost: ignore}}}
channel: {order: any, full: lose, lossy: true}
checks: {pair: {instances: {a: left, b: left}, faults: {partition: 1}, channel: `+channel+`}}
`)
		r, err := s.Run(context.Background(), explore.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(r.Assumptions, "\n"); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", channel, want, text)
		}
	}
}

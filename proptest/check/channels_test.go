package check

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/proptest/explore"
)

// classes is a game with two classes of messages on one connection: a player joins over the reliable one and
// moves over the other. ALONE is what its host does with a move before the join.
const classes = `protocol: game
channels:
  control: {order: fifo, capacity: 5}
  state: {order: any, lossy: true, capacity: 2, full: lose}
messages:
  JOIN:
  LEAVE:
  MOVE: {channel: state, fields: {n: 0..3}}
roles:
  player:
    vars: {n: 0..3}
    commands: {join: , move: , leave: }
    initial: outside
    states:
      outside: {join: {send: JOIN, goto: inside}}
      inside:
        move: {when: n < 3, set: {n: n + 1}, send: "MOVE{n}"}
        leave: {send: LEAVE, goto: away}
      away: {final: true}
  host:
    deferred: 3
    vars: {last: 0..3}
    initial: alone
    states:
      alone: {JOIN: {goto: playing}ALONE}
      playing:
        MOVE: [{when: n > last, set: {last: n}}, {}]
        LEAVE: {goto: over}
      over: {final: true, ignore: [MOVE]}
checks:
  pair:
    instances: {p: player, h: host}
    claims:
      two: {sometimes: "len(p -> h, state) == 2 && len(p -> h) == 3 && len(p -> h, MOVE) == 2"}
      late: {sometimes: "h.over && !empty(p -> h, state) && empty(p -> h, control)"}
      newer: {sometimes: h.last == 2 && len(p -> h) == 0}
      stays: {always: "h.over => len(p -> h, control) == 0"}
      counts: {always: "len() == len(p -> h, control) + len(p -> h, state)"}
      CLAIM
    quiet: true
    HOW
`

// judged runs the check of a text and returns what is violated.
func judged(t *testing.T, text string) map[string]string {
	t.Helper()
	p, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}}, Check: "pair"})
	if p == nil {
		t.Fatal(list)
	}
	s, err := New(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), explore.Options{MaxConfigurations: 200_000, Checks: s.Checks}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range r.Claims {
		if c.Counterexample != nil && c.Result == Violated {
			out[c.Name] = strings.Join(c.Counterexample.End, "; ")
		}
	}
	return out
}

func game(alone, claim, how string) string {
	return strings.NewReplacer("ALONE", alone, "CLAIM", claim, "HOW", how).Replace(classes)
}

// TestClasses: an unreliable move overtakes the reliable join, and a host that knows better repairs that. With one
// channel in the place of the two nothing is found.
func TestClasses(t *testing.T) {
	none := "doc: plain"
	for _, x := range []struct{ name, text, violated string }{
		{"overtaken", game("", "", none), "unspecified-reception"},
		{"ignored", game(", ignore: [MOVE]", "", none), ""},
		{"kept", game(", defer: [MOVE]", "", none), ""},
		{"one fifo", strings.NewReplacer("channels:\n  control:", "channel:", "  state: {order: any, lossy: true, "+
			"capacity: 2, full: lose}\n", "", "channel: state, ", "", "len(p -> h, state) == 2 && ", "",
			"!empty(p -> h, state) && empty(p -> h, control)", "true", "len(p -> h, control) == 0", "true",
			"len(p -> h, control) + len(p -> h, state)", "len(p -> h)").Replace(game("", "", none)), ""},
		{"crash", game(", ignore: [MOVE]", "", "faults: {crash: {p: 1}}"), ""},
	} {
		got := judged(t, x.text)
		if x.violated == "" && len(got) > 0 || x.violated != "" && got[x.violated] == "" {
			t.Errorf("%s: %v is violated, not %q", x.name, got, x.violated)
		}
	}
	end := judged(t, game("", "", none))["unspecified-reception"]
	if !strings.Contains(end, "p -> h (control): JOIN; p -> h (state): MOVE{n: 1}") {
		t.Errorf("the run ends with %q", end)
	}
}

// told are diagnostics with their hints.
func told(list diag.List) string {
	var lines []string
	for _, d := range list {
		lines = append(lines, d.Message+": "+d.Hint)
	}
	return strings.Join(lines, "\n")
}

// TestChannelsRefused: what several channels leave open is an error, and what cannot tell them apart says so.
func TestChannelsRefused(t *testing.T) {
	for how, want := range map[string]string{
		"faults: {overtake: 1}":                        "leaves open in which messages overtake",
		"faults: {duplicate: 1}":                       "none does",
		"channels: {stat: {capacity: 1}}":              "there is no channel `stat`",
		"channel: {capacity: 1}":                       "which it means",
		"faults: {overtake: 2}":                        "channels: {state: {order: any}}",
		"faults: {duplicate: 2}":                       "channels: {state: {duplicates: true}}",
		"channels: {state: {full: wait, capacity: 0}}": "capacity",
	} {
		text := []byte(game("", "", how))
		_, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: text}}})
		if !strings.Contains(told(list), want) {
			t.Errorf("%s: %v", how, told(list))
		}
	}
	for claim, want := range map[string]string{
		"x: {always: \"len(p -> h, stat) < 9\"}":  "there is no message or channel `stat`: did you mean `state`?",
		"x: {always: \"empty(p -> h, udp)\"}":     "the channels are `control`, `state`",
		"x: {always: \"len(p -> h, MOVES) < 9\"}": "there is no message `MOVES`: did you mean `MOVE`?",
	} {
		text := []byte(game("", claim, "doc: plain"))
		_, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: text}}})
		if !strings.Contains(told(list), want) {
			t.Errorf("%s: %v", claim, told(list))
		}
	}
	two := strings.NewReplacer("{order: any, lossy: true, capacity: 2, full: lose}", "{capacity: 2}", "over: {final",
		"over: {lost: ignore, final").Replace(game("", "", "faults: {crash: 1, restart: 1}"))
	_, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(two)}}})
	if !strings.Contains(list.Error(), "2 channels of this check are reliable") {
		t.Error(list)
	}
}

// players are alike, and tell all others that they are there and that they move.
const players = `protocol: symmetric
doc: Players who are alike tell all others that they are there, and then how often they move.
messages:
  HELLO: null
  MOVE: {channel: state}
channels:
  control: {order: fifo, capacity: 1}
  state: {order: any, lossy: true, capacity: 1, full: lose}
parties: 3
roles:
  player:
    vars: {met: 0..2}
    commands: {join: null, move: null}
    initial: out
    states:
      out:
        join: {send: HELLO, to: all, goto: there}
        MOVE: {when: met == 0, doc: it overtakes the greeting}
        HELLO: {set: {met: met + 1}}
      there:
        move: {send: MOVE, to: all, goto: done}
        HELLO: {set: {met: met + 1}}
        ignore: [MOVE]
      done:
        final: true
        HELLO: {set: {met: met + 1}}
        ignore: [MOVE]
checks:
  three:
    instances: {"p[1..3]": player}
    claims:
      meet: {sometimes: "all(x in p: x.met == 2)", why: all may meet}
      early: {sometimes: "some(x in p: x.out && x.met == 0 && some(y in p: y.done))", why: a move may overtake the greeting}
    expect: [unspecified-reception]
`

// TestChannelsSymmetric: instances that are alike change places with their channels, each with that of its own class.
func TestChannelsSymmetric(t *testing.T) {
	p, list := compile.Load("s.yaml", compile.Options{Check: "three",
		FS: fstest.MapFS{"s.yaml": {Data: []byte(players)}}})
	if p == nil {
		t.Fatal(list)
	}
	s, err := New(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	if why := s.FindSymmetry(); s.System.Symmetry == nil {
		t.Fatal(why)
	}
	if err := explore.CheckSymmetry(t.Context(), s.System, 300); err != nil {
		t.Error(err)
	}
	left := agrees(t, s, 1<<20)
	if left["symmetry"] == 0 {
		t.Errorf("not reduced: %v", left)
	}
}

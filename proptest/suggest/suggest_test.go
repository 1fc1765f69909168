package suggest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/race"
)

// handler is a handler of a state that is written on a line of its own.
type handler struct {
	state, event string
	from, to     int // bytes of the line
}

// handlers lists the handlers of the states of a specification.
func handlers(text string) []handler {
	var out []handler
	at, state, inside := 0, "", false
	for _, line := range strings.SplitAfter(text, "\n") {
		key, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case strings.HasPrefix(line, "    states:"):
			inside = true
		case indent == 0:
			inside = false
		case inside && indent == 6:
			state = key
		case inside && indent == 8 && key != "doc" && key != "final":
			out = append(out, handler{state, key, at, at + len(line)})
		}
		at += len(line)
	}
	return out
}

// confirm is the specification, with one change under way instead of two unless whole: the same
// claims in a quarter of the configurations.
func confirm(t testing.TB, whole bool) string {
	t.Helper()
	b, err := os.ReadFile("../../specs/confirm/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if whole {
		return string(b)
	}
	return strings.Replace(string(b), "len(out, CHANGE) < 2", "len(out, CHANGE) < 1", 1)
}

func search(t testing.TB, text string, o Options) *Report {
	t.Helper()
	o.FS = fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text)}}
	r, err := Search(context.Background(), "spec.yaml", o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// does returns what the state does with the event, without reports: no claim is about them.
func does(t testing.TB, text string, h handler) string {
	t.Helper()
	p, list := compile.Load("spec.yaml",
		compile.Options{FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text)}}})
	if p == nil {
		t.Fatal(list)
	}
	m := p.Roles[0]
	st := m.States[slices.IndexFunc(m.States, func(s *model.State) bool { return s.Name == h.state })]
	ev := slices.IndexFunc(m.Events, func(e *model.Event) bool { return e.Name == h.event })
	x := st.Handlers[ev]
	if x == nil {
		return "nothing is said"
	}
	var out []string
	for _, s := range x.Branches[0].Body {
		if _, is := s.(*model.ReportStmt); !is {
			out = append(out, model.StmtString(s))
		}
	}
	if to := x.Branches[0].To; to != nil && to != st {
		out = append(out, "goto "+to.Name)
	}
	return strings.Join(out, ", ")
}

// slow are the transitions without which some claim has no counterexample that would say where to look.
var slow = []string{"waiting confirm", "committed CONFIRM2", "cancelWaiting confirm"}

// TestRecovers takes every transition of Confirm away, one after the other. Unless the checks pass
// without it, the transition is among the suggestions, with the same effects. PARLEY_LONG=1 takes
// all but the slow ones instead of every fourth, PARLEY_BIG=1 those, too.
func TestRecovers(t *testing.T) {
	race.Skip(t)
	whole := os.Getenv("PARLEY_BIG") != ""
	text := confirm(t, whole)
	all := handlers(text)
	if len(all) != 32 {
		t.Fatalf("the specification has %d handlers: %v", len(all), all)
	}
	ranks := map[int]int{}
	passes, worst := 0, 0
	for i, h := range all {
		if !whole && slices.Contains(slow, h.state+" "+h.event) || i%race.Draws(4, 1) != 0 {
			continue
		}
		// No edit makes a report, so what programs hear is left out.
		r := search(t, text[:h.from]+text[h.to:], Options{MaxEdits: 1, Only: check.Only{"pair", "stranger"}})
		if r.Passes {
			passes++
			continue
		}
		want := does(t, text, h)
		rank := 1 + slices.IndexFunc(r.Suggestions, func(s Suggestion) bool {
			return does(t, string(s.Changes[0].New), h) == want
		})
		if rank == 0 || r.Complete != 1 {
			t.Errorf("%s %s: not among the suggestions: %s", h.state, h.event,
				r.Text(func(c Change) string { return "" }))
		}
		ranks[rank]++
		worst = max(worst, rank)
	}
	t.Logf("%d transitions: without %d all checks pass; the others are recovered at rank %v", len(all), passes, ranks)
	if worst > 6 || ranks[1] < race.Draws(2, 12) {
		t.Errorf("the transitions come late: %v", ranks)
	}
}

// TestPair takes two transitions away and finds both.
func TestPair(t *testing.T) {
	text := confirm(t, false)
	all := handlers(text)
	a := all[slices.IndexFunc(all, func(h handler) bool { return h.state == "waiting" && h.event == "CONFIRM1" })]
	b := all[slices.IndexFunc(all, func(h handler) bool {
		return h.state == "cancelRemoteOk" && h.event == "CANCELACK"
	})]
	r := search(t, text[:a.from]+text[a.to:b.from]+text[b.to:],
		Options{Most: 3, Only: check.Only{"pair", "stranger"}})
	if len(r.Suggestions) != 3 || r.Suggestions[0].Size != 2 || r.Complete != 1 || r.Tried[1] == 0 {
		t.Fatal(r.Text(func(Change) string { return "" }))
	}
	found := false
	for _, s := range r.Suggestions {
		text := string(s.Changes[0].New)
		found = found || does(t, text, a) == "goto remoteOk" && does(t, text, b) == "goto remoteOk"
	}
	if !found {
		t.Error(r.Text(func(Change) string { return "" }))
	}
}

// TestChanged changes what a transition does: the suggestions change it back.
func TestChanged(t *testing.T) {
	race.Skip(t)
	text := confirm(t, false)
	for _, c := range [][3]string{
		{"CONFIRM2: {send: CONFIRM2, goto: done}", "CONFIRM2: {send: CONFIRM2, goto: waiting}",
			"after CONFIRM2 go to done"},
		{"CANCEL: {send: CANCELACK, goto: waiting}", "CANCEL: {goto: waiting}", "on CANCEL also send CANCELACK"},
		{"CONFIRM1: {goto: remoteOk}", "CONFIRM1: {send: CANCELACK, goto: remoteOk}",
			"on CONFIRM1 do not send: CANCELACK"},
	} {
		if strings.Count(text, c[0]) != 1 {
			t.Fatal(c[0])
		}
		r := search(t, strings.Replace(text, c[0], c[1], 1), Options{MaxEdits: 1})
		i := slices.IndexFunc(r.Suggestions, func(s Suggestion) bool {
			return strings.Contains(s.Edits[0].Words, c[2])
		})
		if i < 0 {
			t.Errorf("%s: %s", c[1], r.Text(func(Change) string { return "" }))
			continue
		}
		if s := r.Suggestions[i]; !strings.Contains(string(s.Changes[0].New), c[0]) {
			t.Errorf("%s is written otherwise:\n%s", c[0], s.Changes[0].New)
		}
	}
}

// TestStops: a search whose time is up says how far it came.
func TestStops(t *testing.T) {
	text := confirm(t, false)
	h := handlers(text)[2]
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	r, err := Search(ctx, "spec.yaml",
		Options{FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text[:h.from] + text[h.to:])}}})
	if err != nil || r.Complete != 0 || r.Why == "" || len(r.Suggestions) != 0 {
		t.Error(r, err)
	}
}

func BenchmarkSuggestConfirm(b *testing.B) {
	text := confirm(b, true)
	h := handlers(text)[2]
	text = text[:h.from] + text[h.to:]
	for b.Loop() {
		if r := search(b, text, Options{MaxEdits: 1}); len(r.Suggestions) == 0 {
			b.Fatal("nothing was found")
		}
	}
}

// TestHoldMore: a role that has to hold more deferred messages than it may gets the least bound with
// which all checks pass, in place of the one that it has or as a line of its own.
func TestHoldMore(t *testing.T) {
	const spec = `protocol: early
consts: {first: %d}
channel: {capacity: 12}
messages: {START: , SPAWN: , LOADED: }
roles:
  host:
    vars: {said: 0..first}
    commands: {begin: , spawn: }
    initial: lobby
    states:
      lobby: {begin: {send: START, goto: ahead}}
      ahead:
        spawn: {when: said < first, set: {said: said + 1}, send: SPAWN}
        LOADED: {goto: playing}
      playing: {final: true}
  guest:
    %s
    commands: {loaded: }
    initial: lobby
    states:
      lobby: {START: {goto: loading}}
      loading:
        SPAWN: defer
        loaded: {send: LOADED, goto: playing}
      playing: {final: true, SPAWN: ignore}
checks:
  pair:
    instances: {h: host, g: guest}
    claims:
      can-play: {reachable: h.playing && g.playing, why: loading ends}
`
	for _, c := range []struct {
		first     int
		old, want string
	}{
		{3, "deferred: 1", "    deferred: 3\n"},
		{10, "doc: holds as many as it may without more", "    deferred: 10\n    initial: lobby\n"},
	} {
		r := search(t, fmt.Sprintf(spec, c.first, c.old), Options{MaxEdits: 1})
		i := slices.IndexFunc(r.Suggestions, func(s Suggestion) bool {
			return strings.Contains(s.Edits[0].Words, "guest may hold")
		})
		if i < 0 || !strings.Contains(string(r.Suggestions[i].Changes[0].New), c.want) {
			t.Errorf("up to %d: %s", c.first, r.Text(func(c Change) string { return string(c.New) }))
		}
		for _, s := range r.Suggestions[i+1:] {
			if strings.Contains(s.Edits[0].Words, "guest may hold") {
				t.Errorf("a greater bound than needed: %s", s.Edits[0].Words)
			}
		}
	}
}

// TestLost: that a link is lost is an event that a state may be missing.
func TestLost(t *testing.T) {
	const spec = `protocol: asks
messages: {ASK: , ANSWER: }
roles:
  client:
    commands: {ask: }
    initial: idle
    states:
      idle: {final: true, ask: {send: ASK, goto: waiting}, ANSWER: ignore, lost: {goto: gone}}
      waiting:
        ANSWER: {goto: idle}
      gone: {final: true, ANSWER: ignore}
  server:
    initial: up
    states:
      up: {final: true, ASK: {send: ANSWER}}
checks:
  dies:
    instances: {c: client, s: server}
    faults: {crash: {s: 1}}
    environment: {ask: {times: 2}}
    quiet: c.idle || c.gone
`
	r := search(t, spec, Options{MaxEdits: 1})
	if len(r.Suggestions) == 0 ||
		!strings.Contains(string(r.Suggestions[0].Changes[0].New), "\n        lost: {goto: gone}\n") {
		t.Errorf("%+v", r.Suggestions)
	}
}

// fewer has a check in which a type has fewer names than in the other.
const fewer = `protocol: fewer
types: {V: {enum: [x, y, z]}}
messages: {A: {fields: {v: V}}}
roles:
  r:
    commands: {go: {fields: {v: V}}}
    vars: {own: V}
    initial: s
    states:
      s: {go: {send: "A{v}", goto: t}, A: {set: {own: x}, goto: t}}
      t: {final: true, A: {set: {own: v}}}
checks:
  few:
    instances: {a: r, b: r}
    domains: {V: [x, z]}
    claims: {c: {always: "a.own == x"}, e: {sometimes: "a.own == z"}}
  all: {instances: {a: r, b: r}, claims: {d: {sometimes: "a.own == y"}}}
`

// TestFewerNames: an edit that writes a name which a check leaves out changes nothing in that check.
func TestFewerNames(t *testing.T) {
	r := search(t, fewer, Options{MaxEdits: 1})
	if r.Tried[0] == 0 {
		t.Errorf("%+v", r)
	}
}

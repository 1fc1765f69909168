package suggest

import (
	"context"
	"os"
	"path/filepath"
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

// TestCoded: the game records the received value as sent where it should be its own, and for names it compares the
// other way as well. The first suggestion is what the sound specification says.
func TestCoded(t *testing.T) {
	race.Skip(t)
	const sent = "state open, branch 1: on UPDATE set sent to own instead of value"
	for _, x := range []struct {
		file string
		want []string
	}{
		{"coded-ships", []string{sent}},
		{"coded-names", []string{sent, "state open: on UPDATE ask value == sent instead of value != sent"}},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		r, err := Search(ctx, "../../specs/update/"+x.file+".yaml", Options{Only: check.Only{"duel"},
			IgnoreExpect: []string{"same-value"}})
		cancel()
		if err != nil || len(r.Suggestions) == 0 {
			t.Fatalf("%s: %+v %v", x.file, r, err)
		}
		first := r.Suggestions[0]
		var words []string
		for _, e := range first.Edits {
			words = append(words, e.Words)
		}
		if strings.Join(words, "; ") != strings.Join(x.want, "; ") || first.Keeps < 0.9 {
			t.Errorf("%s: %v keeps %v", x.file, words, first.Keeps)
		}
		if text := string(first.Changes[0].New); !strings.Contains(text, "set: {sent: own}") {
			t.Errorf("%s: %s", x.file, text)
		}
		for _, s := range r.Suggestions[1:] {
			if s.Size < first.Size {
				t.Errorf("%s: %v comes later", x.file, s.Edits)
			}
		}
	}
}

// TestIgnoreExpect: what checks expect is nothing to repair, unless that is asked for. One claim that cannot hold with
// one state in the place of two takes the repair away.
func TestIgnoreExpect(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"spec.yaml", "coded-ships.yaml"} {
		text, err := os.ReadFile("../../specs/update/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "strict.yaml")
	if err := os.WriteFile(file, []byte(`protocol: update
extends: coded-ships.yaml
checks:
  duel:
    claims:
      answered: {leadsTo: "!a.open", when: a.open, fair: weak, why: a turn ends}
    expect: [same-value, answered]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Search(context.Background(), file, Options{Only: check.Only{"duel"}})
	if err != nil || !r.Passes {
		t.Errorf("%v %v", r.Violated, err)
	}
	all := Options{Only: check.Only{"duel"}, MaxEdits: 1, IgnoreExpect: []string{check.AllClaims}}
	r, err = Search(context.Background(), file, all)
	if err != nil || len(r.Violated) != 1 || !strings.Contains(r.Violated[0], "same-value, answered") {
		t.Errorf("%v %v", r.Violated, err)
	}
	for _, s := range r.Suggestions {
		if strings.Contains(s.Edits[0].Words, "set sent to own") {
			t.Error("answered is violated with it")
		}
	}
	r, err = Search(context.Background(), filepath.Join(dir, "coded-ships.yaml"), all)
	if err != nil || len(r.Suggestions) == 0 || !strings.Contains(r.Suggestions[0].Edits[0].Words, "set sent to own") {
		t.Errorf("%v %v", r.Violated, err)
	}
}

const adder = `protocol: adder
types: {Number: 0..2}
messages: {ASK: {fields: {n: Number}}, ANSWER: {fields: {n: Number, last: bool}}}
roles:
  client:
    vars: {asked: Number}
    commands: {ask: {fields: {n: Number}}}
    initial: idle
    states:
      idle: {ask: {set: {asked: n}, send: "ASK{n}", goto: waiting}}
      waiting: {ANSWER: [{when: n == asked && last, goto: done}, {goto: wrong}]}
      done: {final: true}
      wrong: {}
  server:
    vars: {seen: Number}
    initial: up
    states:
      up:
        ASK: {ANSWER}
      down:
        final: true
        ASK: {send: "ANSWER{n, last: true}", goto: down}
checks:
  one:
    instances: {c: client, s: server}
    quiet: c.idle || c.done
    claims: {right: {always: "!c.wrong"}, ends: {sometimes: c.done}}
    expect: [unreachable-state, never-fires]
`

// TestFields: a message with fields is sent with what is in scope, and an event may be stored.
func TestFields(t *testing.T) {
	for _, x := range []struct{ old, want string }{
		{"        ASK: {set: {seen: n}, goto: up}", `ASK: {set: {seen: n}, send: "ANSWER{n: n, last: true}", goto: up}`},
		{"        doc: answers\n", `ASK: {send: "ANSWER{n: n, last: true}", goto: down}`},
	} {
		r := search(t, strings.Replace(adder, "        ASK: {ANSWER}", x.old, 1), Options{MaxEdits: 1})
		found := false
		for _, s := range r.Suggestions {
			text := strings.ReplaceAll(string(s.Changes[0].New), "ANSWER{n,", "ANSWER{n: n,")
			found = found || strings.Contains(text, x.want)
		}
		if !found {
			t.Errorf("%s: %s", x.old, r.Text(func(c Change) string { return string(c.New) }))
		}
	}
}

// TestKept: all runs of a check stay possible without an edit; without a transition fewer, without the only one none.
func TestKept(t *testing.T) {
	text := confirm(t, false)
	load := func() *check.System {
		p, list := compile.Load("spec.yaml", compile.Options{Check: "pair",
			FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text)}}})
		if p == nil {
			t.Fatal(list)
		}
		s, err := check.New(p, p.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole := load()
	if k := kept(whole, load()); k != 1 {
		t.Errorf("the same keeps %v", k)
	}
	all := handlers(text)
	last := 1.0
	for _, h := range []handler{all[len(all)-1], all[0]} {
		full := text
		text = text[:h.from] + text[h.to:]
		k := kept(whole, load())
		if k >= last || k < 0 {
			t.Errorf("without %s %s it keeps %v", h.state, h.event, k)
		}
		text, last = full, 1
	}
}

// TestKeptValues: a run in which another value arrives is another run.
func TestKeptValues(t *testing.T) {
	load := func(answer string) *check.System {
		text := strings.Replace(adder, "        ASK: {ANSWER}", "        ASK: {send: \""+answer+"\", goto: up}", 1)
		p, list := compile.Load("spec.yaml", compile.Options{Check: "one",
			FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text)}}})
		if p == nil {
			t.Fatal(list)
		}
		s, err := check.New(p, p.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole := load("ANSWER{n, last: true}")
	if k := kept(whole, load("ANSWER{n: seen, last: true}")); k <= 0.3 || k >= 0.95 {
		t.Errorf("with another value it keeps %v", k)
	}
	if k := kept(whole, load("ANSWER{n, last: true}")); k != 1 {
		t.Errorf("with the same values it keeps %v", k)
	}
}

// TestLittle: an edit after which nothing goes wrong because little happens comes last, with a note.
func TestLittle(t *testing.T) {
	r, err := Search(context.Background(), "../../specs/update/coded-ships.yaml", Options{MaxEdits: 1,
		Only: check.Only{"duel"}, IgnoreExpect: []string{"same-value"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Rejected != 0 {
		t.Errorf("%d candidates passed with what is still expected", r.Rejected)
	}
	doubtful := false
	for _, s := range r.Suggestions {
		little := strings.Contains(strings.Join(s.Notes, " "), "most of what was possible")
		if little != (s.Keeps < littleKept) || doubtful && !little && s.doubt < leavesLittle {
			t.Errorf("%v keeps %v: %v", s.Edits, s.Keeps, s.Notes)
		}
		doubtful = doubtful || little
	}
	if !doubtful {
		t.Error(r.Text(func(Change) string { return "" }))
	}
}

// TestOrder: what keeps clearly more comes first, then what is simpler; doubt comes before both.
func TestOrder(t *testing.T) {
	list := []Suggestion{
		{Size: 1, Keeps: 0.98, Cost: 3}, {Size: 1, Keeps: 0.99, Cost: 4}, {Size: 1, Keeps: 0.8, Cost: 1},
		{Size: 2, Keeps: 1, Cost: 2}, {Size: 1, Keeps: 1, Cost: 1, doubt: leavesUnused},
		{Size: 1, Keeps: 0.2, Cost: 1, doubt: leavesLittle},
	}
	for i := range list[1:] {
		if better(list[i], list[i+1]) >= 0 || better(list[i+1], list[i]) <= 0 {
			t.Errorf("%+v does not come before %+v", list[i], list[i+1])
		}
	}
}

// TestFlip: a comparison is turned both ways, and nothing else is.
func TestFlip(t *testing.T) {
	p, list := compile.Load("spec.yaml", compile.Options{FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{
		Data: []byte(strings.Replace(adder, "        ASK: {ANSWER}", "        ASK: {goto: up}", 1))}}})
	if p == nil {
		t.Fatal(list)
	}
	var guard model.Expr
	for _, tr := range p.Roles[0].Transitions {
		if tr.When != nil {
			guard = tr.When
		}
	}
	const as, turned = "n == asked", "n != asked"
	once := flipped(guard, as)
	if got := model.ExprString(once); got != turned+" && last" || contrary(as) != turned || contrary(turned) != as {
		t.Error(got)
	}
	if got := model.ExprString(flipped(once, turned)); got != model.ExprString(guard) {
		t.Error(got)
	}
	if got := model.ExprString(flipped(guard, "n == seen")); got != as+" && last" {
		t.Error(got)
	}
}

// TestMonitors: the models of a check with monitors have statements that the author did not write; an edit does the
// same in all models.
func TestMonitors(t *testing.T) {
	var models []*model.Protocol
	for _, name := range []string{"", "told"} {
		p, list := compile.Load("../../specs/update/coded-names.yaml", compile.Options{Check: name})
		if p == nil {
			t.Fatal(list)
		}
		models = append(models, p)
	}
	g := newGuide(models[0])
	g.all = true
	edits := 0
	for _, e := range g.edits() {
		if e.kind != setValue && e.kind != dropStmt {
			continue
		}
		edits++
		var bodies []string
		for _, p := range models {
			undo := e.apply(p)
			body := slices.Clone(p.Roles[e.role].States[e.state].Handlers[e.event].Branches[e.branch].Body)
			body = slices.DeleteFunc(body, model.Watches)
			bodies = append(bodies, model.StmtsString(body))
			undo()
		}
		if bodies[0] != bodies[1] {
			t.Errorf("%s: %s, and with a monitor %s", e.words(models[0]), bodies[0], bodies[1])
		}
	}
	if edits < 10 {
		t.Errorf("%d edits", edits)
	}
}

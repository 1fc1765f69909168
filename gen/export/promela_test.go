package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

var update = flag.Bool("update", false, "write the expected exports")

// load compiles a specification in testdata for one of its checks.
func load(t testing.TB, file, check string) (*model.Protocol, *model.Check) {
	t.Helper()
	p, list := compile.Load("specs/"+file, compile.Options{Check: check, FS: os.DirFS("testdata")})
	if p == nil {
		t.Fatal(list)
	}
	return p, p.Checks[0]
}

// golden compares with a file in testdata; -update writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is exported now; look at it and run go test ./gen/export -update",
			path)
	}
}

// TestPromelaGolden keeps two models in full: one of a plain machine, one with parts. Exported
// twice they are the same bytes.
func TestPromelaGolden(t *testing.T) {
	for _, x := range []struct{ file, check, golden string }{
		{"confirm/spec.yaml", "pair", "confirm-pair.pml"},
		{"setup/spec.yaml", "all", "setup-all.pml"},
	} {
		p, c := load(t, x.file, x.check)
		got, err := Promela(p, c)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, x.golden, got)
		if p, c = load(t, x.file, x.check); true {
			if again, err := Promela(p, c); err != nil || !bytes.Equal(got, again) {
				t.Errorf("%s: exported again it is another text (%v)", x.file, err)
			}
		}
	}
}

// TestJSONGolden keeps the JSON of a protocol with parts.
func TestJSONGolden(t *testing.T) {
	p, list := compile.Load("specs/setup/spec.yaml", compile.Options{FS: os.DirFS("testdata")})
	if p == nil {
		t.Fatal(list)
	}
	got, err := JSON(p)
	if err != nil || !json.Valid(got) {
		t.Fatal(err)
	}
	golden(t, "setup.json", got)
}

// TestPromelaOfAll exports every check of the specifications, or a third of them unless tests have all
// the time they want: each is a model or a refusal with a reason.
func TestPromelaOfAll(t *testing.T) {
	files, err := filepath.Glob("../../specs/*/spec.yaml")
	if err != nil || len(files) < 8 {
		t.Fatal(err, files)
	}
	step, n, models, refused := 3, 0, 0, 0
	if os.Getenv("PARLEY_LONG") != "" {
		step = 1
	}
	for _, file := range files {
		whole, list := compile.Load(file, compile.Options{})
		if whole == nil {
			t.Fatal(list)
		}
		for _, c := range whole.Checks {
			if n++; n%step != 0 {
				continue
			}
			p, list := compile.Load(file, compile.Options{Check: c.Name})
			if p == nil {
				t.Fatal(list)
			}
			text, err := Promela(p, p.Checks[0])
			var why *Unsupported
			switch {
			case err == nil && bytes.Contains(text, []byte("active proctype ")):
				models++
			case errors.As(err, &why) && why.What != "":
				refused++
			default:
				t.Errorf("%s, check %s: %v", file, c.Name, err)
			}
		}
	}
	if models < 15/step {
		t.Errorf("%d models, %d refusals", models, refused)
	}
}

// TestPromelaRefusesRulesOfParts: the rule for the timer of a part would be over the part's
// variables; a rule for the same role by itself is exported.
func TestPromelaRefusesRulesOfParts(t *testing.T) {
	const text = `protocol: nested
tick: 1ms
messages: {A: }
channel: {capacity: 2}
roles:
  inner: {vars: {n: 0..1}, timers: {late: {ticks: 4}}, commands: {begin: }, initial: here, states: {here: {begin: {start: late}, A: {set: {n: 1}}, late: {send: A}}}}
  outer: {parts: {q: {machine: inner}}, initial: here, states: {here: {start: {run: q.begin}, A: {run: q.A}}}}
checks:
  whole: {instances: {a: outer, b: outer}, quiet: "true", environment: {inner.late: {when: n == 0}}}
  alone: {instances: {a: inner, b: inner}, quiet: "true", environment: {late: {when: n == 0}}}
`
	for check, want := range map[string]string{
		"whole": "a rule for late, a timer of a part (leave the rule out", "alone": "",
	} {
		files := fstest.MapFS{"spec.yaml": {Data: []byte(text)}}
		p, list := compile.Load("spec.yaml", compile.Options{FS: files, Check: check})
		if p == nil {
			t.Fatal(list)
		}
		at := slices.IndexFunc(p.Checks, func(c *model.Check) bool { return c.Name == check })
		_, err := Promela(p, p.Checks[at])
		why := (*Unsupported)(nil)
		if want == "" && err != nil ||
			want != "" && (!errors.As(err, &why) || !strings.Contains(why.What, want)) {
			t.Errorf("%s: got %v, want %q", check, err, want)
		}
	}
}

// TestPromelaRefuses asks for what Promela cannot say; the error names it.
func TestPromelaRefuses(t *testing.T) {
	const spec = `protocol: little
tick: 1ms
types: {Big: 0..5000000000, Small: 0..1, Many: 0..40, Set: {set: Many}}
messages: {A: , B: {fields: {n: Small}}}
channel: CHANNEL
roles:
  one:
    vars: {big: Big, s: Set}
    timers: {late: {ticks: 4}}
    commands: {go: {fields: {n: Small}}}
    initial: here
    states:
      here: {go: {do: [STATEMENT, {start: late}]}, A: ignore, B: ignore, late: ignore, lost: ignore}
checks:
  pair: {instances: {a: one, b: one}, CHECK}
`
	for _, x := range []struct{ channel, check, statement, want string }{
		{"{full: wait}", "quiet: true", "send: A", "channels that wait"},
		{"{capacity: 300}", "quiet: true", "send: A", "more than 255 messages"},
		{"{capacity: 2}", "faults: {crash: {b: 1}}", "send: A", "crashes of b in the course of a step"},
		{"{capacity: 2}", "faults: {crash: {a: 1, b: 1}, atomic: true}", "send: A", "crashes of a and b between steps"},
		{"{capacity: 2}", "faults: {break: 1}", "send: A", "links that break ("},
		{"{capacity: 2}", "faults: {break: 1, return: 1}", "send: A", "links that break and links that come back"},
		{"{capacity: 2}", "faults: {partition: 1}", "send: A", "partitions"},
		{"{capacity: 2}", "time: {beat: 2}", "send: A", "time"},
		{"{capacity: 2}", "quiet: true", "set: {big: 4000000000}", "more than 31 bits"},
		{"{capacity: 2}", "quiet: true", "set: {s: \"with(s, 3)\"}", "set of more than 31"},
	} {
		text := strings.NewReplacer("CHANNEL", x.channel, "CHECK", x.check, "STATEMENT",
			"{"+x.statement+"}").Replace(spec)
		if !strings.Contains(x.want, "set of") {
			text = strings.Replace(text, ", s: Set}", "}", 1)
		}
		p, list := compile.Load("spec.yaml", compile.Options{
			FS:    fstest.MapFS{"spec.yaml": {Data: []byte(text)}},
			Check: "pair",
		})
		if p == nil {
			t.Fatalf("%s: %v", x.want, list)
		}
		_, err := Promela(p, p.Checks[0])
		if why := (*Unsupported)(nil); !errors.As(err, &why) || !strings.Contains(why.What, x.want) {
			t.Errorf("want a refusal because of %s, got %v", x.want, err)
		}
	}
}

// TestPromelaFairness: a claim about fair runs is left out, and the model says under which fairness
// it is to be decided, and by what.
func TestPromelaFairness(t *testing.T) {
	const file = "../../proptest/check/testdata/arq/gobackn.yaml"
	for check, want := range map[string]string{
		"pair": "Not in this model, claim slides: what must come in the end is no assertion, " +
			"and Spin is not fair to each message; fsmgen check decides it.",
		"channels": "and Spin is not fair to each transition and channel; fsmgen check decides it.",
	} {
		p, list := compile.Load(file, compile.Options{Check: check})
		if p == nil {
			t.Fatal(list)
		}
		c := p.Checks[slices.IndexFunc(p.Checks, func(c *model.Check) bool { return c.Name == check })]
		text, err := Promela(p, c)
		if err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: %v, the model does not say %q:\n%.600s", check, err, want, text)
		}
	}
}

// TestTerms holds the small laws that the code of a step rests on.
func TestTerms(t *testing.T) {
	x, y := read(&variable{name: "x", hi: 5}), read(&variable{name: "y", lo: 7, hi: 9})
	b := read(&variable{name: "b", hi: 1})
	sum, _ := arith("+", x, y)
	_, tooBig := arith("*", number(1<<20), number(1<<20))
	for _, c := range []struct {
		got  *term
		want string
	}{
		{compare("<", x, y), "1"}, {compare("==", x, y), "0"},
		{compare("<", number(3), x), "x > 3"}, {not(compare("<=", x, number(3))), "x > 3"},
		{compare("==", b, yes), "b"}, {compare("==", b, no), "!b"},
		{and(b, or(compare("==", x, number(2)), compare("==", x, number(3)))),
			"b && (x == 2 || x == 3)"},
		{or(not(b), b), "1"}, {pick(b, yes, no), "b"}, {pick(b, x, y), "(b -> x : y)"},
		{compare(">", sum, number(9)), "x + y > 9"}, {compare(">", sum, number(14)), "0"},
		{not(or(b, compare("==", x, no))), "!(b || x == 0)"},
		{sum.subst(map[*variable]*term{x.v: number(2), y.v: number(8)}), "10"},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	if tooBig {
		t.Error("a product of more than 31 bits was taken")
	}
}

// TestPossible is the condition of a command whose second statement depends on the first.
func TestPossible(t *testing.T) {
	x, y := &variable{name: "x", hi: 5}, &variable{name: "y", hi: 5}
	list := []stmt{
		&choice{exclusive: true,
			arms: []arm{
				{cond: compare("==", read(y), no), body: []stmt{&assign{x, number(3)}}},
				{cond: compare("==", read(y), yes)},
			},
			otherwise: []stmt{&failure{faultFlag, ""}}},
		&require{cond: compare("<", read(x), number(2))},
	}
	if got, want := possible(list, yes).String(), "y == 1 && x < 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

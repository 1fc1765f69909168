package scenario_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/scenario"
)

func load(spec string) scenario.Load {
	return func(check string) (*model.Protocol, error) {
		p, diags := compile.Load(spec, compile.Options{Check: check})
		if p != nil && check == "" && len(p.Checks) > 0 {
			p, diags = compile.Load(spec, compile.Options{Check: p.Checks[0].Name})
		}
		if p == nil {
			return nil, diags
		}
		return p, nil
	}
}

const session = `protocol: small
roles:
  session:
    vars: {number: 0..9}
    commands: {accept: {fields: {n: 0..9}}, leave: }
    reports: {left: , gone: {fields: {n: 0..9}}}
    initial: fresh
    states:
      fresh:
        entry: [{set: {number: 0}}]
        accept: {set: {number: n}, goto: listed}
      listed:
        leave: {do: [{report: left}, {report: "gone{n: number}"}], goto: fresh}
  server:
    commands: {enter: {fields: {n: 0..9}}, leave: }
    reports: {left: {fields: {id: 0..9}}, gone: {fields: {id: 0..9}}}
    parts: {session: {machine: session}}
    initial: up
    states:
      up:
        enter: {run: "session.accept{n}"}
        leave: {run: session.leave}
        session.left: {report: "left{id: session.number}"}
        session.gone: {report: "gone{id: n}"}
checks: {one: {instances: {a: server}}}
`

// A part's report is handled behind the entry of the part's new state: what is read then is what is
// there afterwards, and what the report carries is as it was.
func TestReportsComeBehindTheEntry(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(spec, []byte(session), 0o644); err != nil {
		t.Fatal(err)
	}
	blocks, err := scenario.Parse(strings.NewReader("a enter{n: 7}\na leave\n----\na: enter{n: 7}  up " +
		"(session fresh → listed)\na: leave  up (session listed → fresh), report left{id: 0}, report gone{id: 7}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, wrong, err := scenario.Run(blocks, load(spec))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(cmp.Diff(w.Want, w.Got))
	}
}

// Every scenario beside a specification says what happens.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../../specs/*/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			blocks, err := scenario.Parse(f)
			if err != nil {
				t.Fatal(err)
			}
			_, wrong, err := scenario.Run(blocks, load(filepath.Join(filepath.Dir(name), "..", "spec.yaml")))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range wrong {
				t.Errorf("line %d (- as the file says, + as it is)\n%s", w.Block.Line, cmp.Diff(w.Want, w.Got))
			}
		})
	}
}

const story = `# one side
a ready
----
a: ready  notReady → localReady, send READY

deliver a -> b
show
----
b: READY  notReady → remoteReady
a: localReady
b: remoteReady
`

func run(t *testing.T, text string) (string, []scenario.Mismatch, error) {
	t.Helper()
	blocks, err := scenario.Parse(strings.NewReader(text))
	if err != nil {
		return "", nil, err
	}
	got, wrong, err := scenario.Run(blocks, load("../../specs/ready/spec.yaml"))
	return scenario.Format(got), wrong, err
}

func TestAStoryThatIsRightStaysAsItIs(t *testing.T) {
	got, wrong, err := run(t, story)
	if err != nil || len(wrong) > 0 {
		t.Fatal(err, wrong)
	}
	if diff := cmp.Diff(story, got); diff != "" {
		t.Error(diff)
	}
}

func TestAWrongOutcomeIsFound(t *testing.T) {
	_, wrong, err := run(t, strings.Replace(story, "b: remoteReady", "b: localReady", 1))
	if err != nil || len(wrong) != 1 || wrong[0].Block.Line != 6 {
		t.Fatalf("%v %+v", err, wrong)
	}
}

func TestInputThatIsNoScenario(t *testing.T) {
	for text, want := range map[string]string{
		"----\n":                         "without input",
		"a ready\n":                      "without ----",
		"c ready\n----\n":                `no instance "c"`,
		"a redy\n----\n":                 "redy",
		"deliver a\n----\n":              "A -> B",
		"deliver a -> b\n----\n":         "nothing is under way",
		"deliver a -> b x\n----\n":       "no count",
		"a ready\ncheck pair\n----\n":    "before everything else",
		"check nowhere\n----\n":          "nowhere",
		"a ready\ndrop a -> b 2\n----\n": "nothing is under way",
	} {
		if _, _, err := run(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, wanted one with %q", text, err, want)
		}
	}
}

// TestNewsOfLinks: `up` and `lost` come from somebody, who need not be named where there are two.
func TestNewsOfLinks(t *testing.T) {
	run := func(check, line string) (string, error) {
		blocks, err := scenario.Parse(strings.NewReader("check " + check + "\n" + line + "\n----\n"))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := scenario.Run(blocks, load("../../specs/masterserver/spec.yaml"))
		if err != nil {
			return "", err
		}
		return got[0].Want, nil
	}
	for _, c := range []struct{ check, line, want, err string }{
		{"three", "master lost from p[2]", "master: lost from p[2]  up\n", ""},
		{"three", "master lost", "", "say whose link it is: `master lost from NAME`"},
		{"three", "master lost from p[9]", "", "no instance \"p[9]\""},
		{"three", "p[1] end from master", "", "only `up` and `lost` come from somebody"},
		{"replies", "a lost", "a: lost  closed → over, report unlisted\n", ""},
		{"hostile", "s[2] sayOther{text: \" from \"}",
			"s[2]: sayOther{text: \" from \"}  here → waiting, send OTHER{text: \" from \"} to master\n", ""},
	} {
		got, err := run(c.check, c.line)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v", c.line, got, err)
		}
	}
}

const patient = `protocol: patient
tick: 1s
messages: {A: , B: , GO: }
roles:
  talker:
    commands: {a: , b: , go: , end: }
    initial: on
    states:
      on: {a: {send: A}, b: {send: B}, go: {send: GO}, end: {do: [{close: }], goto: off}, lost: {goto: off}}
      off: {}
  hearer:
    timers: {t: {ticks: 1}}
    initial: first
    states:
      first:
        start: {start: t}
        A: defer
        B: ignore
        GO: {goto: second}
        t: ignore
      second: {A: {doc: at last}, t: {doc: never}}
      third: {lost: {doc: so that there are links}}
checks: {one: {instances: {x: talker, y: hearer}}}
`

// A story goes as the drivers do: what is deferred is handled when the state has changed, an expiry
// is spent, who closes hears nothing, and what cannot happen is an error.
func TestStoriesOfOneWorld(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(spec, []byte(patient), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ input, want, err string }{
		{input: "x a; x b; x go; deliver x -> y 2; show; deliver x -> y",
			want: "x: a  on, send A; x: b  on, send B; x: go  on, send GO; y: A  deferred in first; y: B  " +
				"ignored in first; " +
				"x: on; y: first, holds A from x; x -> y: GO; y: GO  first → second; y: A, deferred before  second"},
		{input: "y t; y t", err: "the timer t is not armed"},
		{input: "x a; x end; x lost; y lost; deliver x -> y; y lost",
			want: "x: a  on, send A; x: end  on → off, close; x: lost  not heard, for the link to y is " +
				"closed; y: lost  ignored in first; " +
				"y: A  not heard, for the link to x is closed; y: lost  not heard, for the link to x is closed"},
		{input: "x a; crash y; deliver x -> y; restart y; y t",
			want: "x: a  on, send A; y: crashes; y: A  not heard, for the link to x is closed; y: begins " +
				"anew; y: t  ignored in first"},
		{input: "x a; crash y; restart y; deliver x -> y; y t",
			want: "x: a  on, send A; y: crashes; y: begins anew; y: A  not heard, for it was sent before y " +
				"began anew; y: t  ignored in first"},
		{input: "restart y", err: "it has not crashed"},
		{input: strings.Repeat("x a; ", 8) + "x a",
			err: "x: a channel that it sends into is full: it holds 8 messages"},
		{input: strings.Repeat("x a; deliver x -> y; ", 9),
			want: strings.Repeat("x: a  on, send A; y: A  deferred in first; ", 8) +
				"x: a  on, send A; y: A  refused: as many messages as the role may defer are held already"},
	}
	for _, test := range tests {
		blocks, err := scenario.Parse(strings.NewReader(strings.ReplaceAll(test.input, "; ", "\n") + "\n----\n"))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := scenario.Run(blocks, load(spec))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.input, err, test.err)
		}
		if err != nil {
			continue
		}
		if text := strings.ReplaceAll(strings.TrimSpace(got[0].Want), "\n", "; "); text != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.input, text, test.want)
		}
	}
}

const faulty = `protocol: faulty
messages: {A: {fields: {n: 0..9}}, B: }
channel: {capacity: 4}
roles:
  one:
    commands: {go: {fields: {n: 0..9}}, twice: }
    initial: s
    states:
      s:
        go: {send: "A{n: n}"}
        twice: {do: [{send: "A{n: 1}"}, {send: "A{n: 2}"}]}
        B: ignore
        lost: ignore
        up: ignore
  two:
    initial: s
    states:
      s: {A: [{when: n < 5, goto: small}, {}], lost: {goto: alone}, up: ignore}
      small: {A: {when: n > 5, goto: s}, lost: {goto: alone}, up: ignore}
      alone: {up: {goto: s}, A: ignore}
checks:
  two: {instances: {a: one, b: two}, faults: {crash: 1, restart: 1, break: 1, partition: 1, return: 1}}
  stranger: {instances: {a: one, b: two}, hostile: {a: malformed}}
`

// TestFaults tells stories of every fault, by hand and exactly.
func TestFaults(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(spec, []byte(faulty), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ lines, want string }{
		{"a go{n: 1}\na go{n: 7}\nswap a -> b\nshow", "a: go{n: 1}  s, send A{n: 1}\na: go{n: 7}  s, send A{n: 7}\n" +
			"a -> b: the first two messages change places\na: s\nb: s\na -> b: A{n: 7}, A{n: 1}\n"},
		{"a go{n: 7}\ncopy a -> b\ndeliver a -> b\nshow", "a: go{n: 7}  s, send A{n: 7}\n" +
			"a -> b: A{n: 7} stays under way\nb: A{n: 7}  s\nb: A{n: 7}  s\na: s\nb: s\n"},
		{"crash after 1: a twice\ndeliver a -> b\nb lost\nshow",
			"a: twice  crashes in the course of it, has sent A{n: 1} to b\n" +
				"b: A{n: 1}  s → small\nb: lost  small → alone\na: crashed in s\nb: alone\n"},
		{"partition a\nheal", "a and b do not hear each other\nall hear each other again\n"},
		{"break b -> a\nreturn b -> a\nshow", "b: lost  s → alone\nb: wants the link to a back\na: s\nb: alone\n"},
		{"check stranger\nforge a -> b A{n: 3}\nmalformed a -> b\nshow", "b: A{n: 3}  s → small\n" +
			"b: lost  small → alone\na: hostile\nb: alone\n"},
		{"check stranger\nhangup a -> b", "b: lost  s → alone\n"},
		{"check two exactly\nb up from a\na up from b\na go{n: 1}\ndeliver a -> b\ncrash a\nb lost from a\nshow",
			"b: up  ignored in s\na: up  ignored in s\na: go{n: 1}  s, send A{n: 1}\nb: A{n: 1}  s → small\n" +
				"a: crashes\nb: lost  small → alone\na: crashed in s\nb: alone\n"},
		// The error of the last line.
		{"check two\ncrash a\na go{n: 1}", "line 3: a has crashed: it can do that again after `restart a`"},
		{"check two\na go{n: 1}\nb A{n: 1}", "line 3: b: A is a message, which its sender sends: " +
			"say `deliver a -> b` when it is under way"},
		{"check two exactly\ncopy a -> b", "line 2: nothing is under way from a to b"},
		{"check two exactly\ncrash a\nrestart a\ncrash a", "line 4: a: there have been all crashes that there may be"},
		{"check two exactly\nb up from a\na twice\ndeliver a -> b at 3",
			"line 4: from a to b there is no such message; " +
				"under way are A{n: 1}, A{n: 2}"},
		{"tick", "line 1: "},
		{"beat a", "line 1: "},
		{"offer a", "line 1: "},
		{"forge a -> b A{n: 3}", "line 1: "},
		{"forge a -> b NONE", "line 1: "},
		{"a t{p: 1}", "line 1: "},
	} {
		blocks := []scenario.Block{{Line: 1, Input: strings.Split(x.lines, "\n")}}
		got, _, err := scenario.Run(blocks, load(spec))
		switch {
		case strings.HasPrefix(x.want, "line ") && err != nil && strings.HasPrefix(err.Error(), x.want):
		case err != nil:
			t.Errorf("%s: %v", x.lines, err)
		case got[0].Want != x.want:
			t.Errorf("%s: %s", x.lines, cmp.Diff(x.want, got[0].Want))
		}
	}
}

// TestBridge tells of a partition that leaves one out.
func TestBridge(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "spec.yaml")
	text := `protocol: told
messages: {NEWS: }
roles:
  peer: {commands: {tell: }, initial: idle, states: {idle: {tell: {send: NEWS, to: all}, NEWS: ignore}}}
channel: {order: any, capacity: 2}
checks:
  c: {instances: {a: peer, b: peer, s: peer}, quiet: "true", faults: {partition: 1, bridge: s}}
`
	if err := os.WriteFile(spec, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for lines, want := range map[string]string{
		"check c\npartition a\nheal": "a and b do not hear each other\nall hear each other again\n",
		"check c exactly\npartition b\ncutoff a\na tell\nshow": "b and a do not hear each other\n" +
			"a: hears of the partition, or of its end\na: tell  idle, send NEWS to all\n" +
			"a: idle\nb: idle\ns: idle\na -> s: NEWS\n",
		"check c exactly\npartition b\ncutoff s": "line 3: s: there is nothing to hear of a partition",
		"check c exactly\npartition s":           "line 2: partition: a partition has no side for who hears both",
	} {
		got, _, err := scenario.Run([]scenario.Block{{Line: 1, Input: strings.Split(lines, "\n")}}, load(spec))
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", lines, err)
			}
		} else if got[0].Want != strings.TrimSuffix(want, "\n") && got[0].Want != want {
			t.Errorf("%s:\n%s\nnot\n%s", lines, got[0].Want, want)
		}
	}
}

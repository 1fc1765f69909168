package lint_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/lint"
)

const frame = `protocol: demo
tick: 1ms
consts: {most: 9}
types: {N: 0..9, Color: {enum: [red, green, blue]}, Wide: u32, Tag: opaque u32, Name: text 8, R: {record: {n: N, c: Color}}}
messages:
  M: {fields: {n: N, c: Color, w: Wide, tag: Tag, name: Name, opt: "N?"}}
  GO: {}
roles:
  peer:
    params: {first: bool}
    vars: {total: N, wide: Wide, last: Wide, mine: Tag, known: Name, seen: "Color?", r: R, list1: {list: N, max: 3}, set1: {set: N}, grid: {array: N, of: N}}
    timers: {tick1: {ticks: 2}}
    commands: {go: {fields: {k: N}}, send: {}}
    reports: {}
    initial: idle
    states:
      idle:
        start: {send: "M{n: 0, c: red, w: 0, tag: mine, name: known, opt: none}"}
        send: {send: GO}
        GO: {goto: other}
%s
      other: {tick1: ignore, GO: ignore}
%s`

// lints compiles a state's lines and what comes behind, and returns the warnings of this package.
func lints(t *testing.T, lines, more string) []string {
	t.Helper()
	text := fmt.Sprintf(frame, indent(lines, "        "), more)
	p, l := compile.Load("spec.yaml", compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
	if p == nil {
		t.Fatalf("%s\n%s", l.Error(), text)
	}
	var out []string
	for _, d := range lint.Protocol(p) {
		if info, ok := diag.Lookup(d.Code); !ok || !info.Warning || d.Severity != diag.Warning {
			t.Errorf("%s is no warning of the table", d)
		}
		out = append(out, d.Code+" "+d.Message)
	}
	return out
}

func indent(lines, by string) string {
	if lines == "" {
		return ""
	}
	return by + strings.ReplaceAll(lines, "\n", "\n"+by)
}

func TestGuards(t *testing.T) {
	for _, c := range []struct{ handler, want string }{
		// Left out.
		{`M: {when: n < 9}`, "FSM066 no guard holds with n = 9: state `idle` then refuses `M`"},
		{`M: [{when: n < 5}, {when: n > 5}]`, "FSM066 no guard holds with n = 5"},
		{`M: [{when: n < 5}, {when: n >= 5}]`, ""},
		{`M: [{when: n < total}, {when: n == total}, {when: n > total}]`, ""},
		{`M: [{when: c == red}, {when: "c in [green]"}]`, "FSM066 no guard holds with c = blue"},
		{`M: [{when: c == red}, {when: "c in [green, blue]"}]`, ""},
		{`M: [{when: opt == none}, {when: opt != none}]`, ""},
		{`M: [{when: opt == none}, {when: opt == 3}]`, "FSM066 no guard holds with opt = 0"},
		{`M: [{when: first}, {when: "!first && tick1"}]`,
			"FSM066 no guard holds with first = false and tick1 = false"},
		{`M: [{when: "all(x in N: x in set1)"}, {when: "some(x in N: !(x in set1))"}]`, ""},
		{`M: [{when: r.n == 3 && r.c == red}, {when: r.n != 3}]`, "FSM066 no guard holds with r = "},
		{`tick1: {when: first}`, "FSM066 no guard holds with first = false"},
		{`go: {when: k > 3}`, ""}, // a command is then not available
		// Many values, decided all the same.
		{`M: [{when: w < wide}, {when: w > wide}]`, "FSM066 no guard holds with w = 0 and wide = 0"},
		{`M: [{when: w < wide}, {when: w >= wide}]`, ""},
		{`M: [{when: w < 1000000}, {when: w > 1000000}]`, "FSM066 no guard holds with w = 1000000"},
		{`M: [{when: w < wide && wide < last}, {when: w >= wide}, {when: wide >= last && w < wide}]`, ""},
		{`M: [{when: tag == mine}, {when: tag != mine}]`, ""},
		{`M: [{when: tag == mine}, {when: tag == 7 && tag != mine}]`,
			"FSM066 no guard holds with tag = 0 and mine = 1"},
		{`M: [{when: "name == 'abc'"}, {when: "name == known && name != 'abc'"}]`,
			"FSM066 no guard holds with name = "},
		// Too many to be decided: nothing is said.
		{`M: [{when: "grid[n] == 1"}, {when: "grid[n] != 1"}]`, ""},
		{`M: [{when: w + wide < 4}, {when: w + wide >= 4}]`, ""},
		// Never taken.
		{`M: [{when: n < 5}, {when: n == 3}, {}]`, "FSM067 this branch is never taken"},
		{`M: [{when: n < 5}, {when: n == 7}, {}]`, ""},
		{`M: [{when: n < 5 && n > 7}, {}]`, "FSM067 this guard never holds"},
		{`M: [{when: n < 5}, {when: n >= 5}, {}]`, "FSM067 this branch is never taken"},
		{`M: [{when: w < 5 && w > 70000}, {}]`, "FSM067 this guard never holds"},
		{`M: [{when: w * 2 == 7}, {}]`, ""},               // not decided
		{`M: [{when: most > 20}, {when: first}, {}]`, ""}, // a check may replace the constant
		// Overlapping.
		{`M: [{when: n < 5}, {when: n > 3}]`, "FSM068 this guard and an earlier one both hold with n = 4"},
		{`M: [{when: n < 5}, {when: n > 3 && n < 9}, {}]`, ""}, // in order, with an else
		{`M: [{when: first}, {when: "!first"}]`, ""},
		{`M: [{when: w <= wide}, {when: w >= wide}]`,
			"FSM068 this guard and an earlier one both hold with w = 0 and wide = 0"},
		{`go: [{when: first}, {when: k > 3}]`,
			"FSM068 this guard and an earlier one both hold with first = true and k = 4"},
	} {
		got := strings.Join(lints(t, c.handler, ""), "\n")
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s\n gives %q, not %q", c.handler, got, c.want)
		}
	}
}

func TestAssignments(t *testing.T) {
	for _, c := range []struct{ handler, want string }{
		{`M: {set: {total: total + 1}}`, "FSM069 with total = 9: total: 10 is outside N, 0..9"},
		{`M: [{when: total < 9, set: {total: total + 1}}, {}]`, ""},
		{`M: {set: {total: "min(total + n, 9)"}}`, ""},
		{`M: {set: {total: total + n}}`, "FSM069 with total = 1 and n = 9"},
		{`M: {set: {total: "total - 1"}}`, "FSM069 with total = 0: total: -1 is outside"},
		{`M: {do: [{if: total < 9, then: [{set: {total: total + 1}}]}]}`, ""},
		{`M: {do: [{if: total < 9, then: [{set: {total: total + 2}}]}]}`,
			"FSM069 with total = 8: total: 10"},
		{`M: {do: [{set: {total: 3}}, {set: {total: total + 6}}]}`, ""},
		{`M: {do: [{set: {total: 3}}, {set: {total: total + 7}}]}`, "FSM069 "},
		{`M: {set: {wide: wide + 1}}`, "FSM069 with wide = 4294967295"},
		{`M: [{when: wide < 100, set: {wide: wide + 1}}, {}]`, ""},
		{`M: {set: {"r.n": r.n + 1}}`, "FSM069 with r = "},
		{`go: {set: {total: k * 2}}`, "FSM069 with k = 5: total: 10"},
		{`M: {do: [{each: {x: N}, do: [{set: {total: total + 1}}]}]}`,
			"FSM069 with total = 0: total: 10"},
		{`M: {set: {total: opt}}`, ""}, // none is no number out of range; the guard is for that
	} {
		got := strings.Join(lints(t, c.handler, ""), "\n")
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s\n gives %q, not %q", c.handler, got, c.want)
		}
	}
}

func TestFlow(t *testing.T) {
	for _, c := range []struct{ lines, more, want string }{
		{"tick1: ignore\nM: {start: tick1, goto: third}", "      third: {}",
			"FSM047 the timer `tick1` can still run in `third`"},
		{"tick1: ignore\nM: {start: tick1, goto: third}", "      third: {tick1: ignore}", ""},
		{"tick1: ignore\nM: {start: tick1, goto: third}", "      third: {entry: [{stop: tick1}]}", ""},
		{"tick1: {goto: third}\nM: {start: tick1}", "      third: {}", ""}, // the expiry ends it
		{"tick1: {goto: third}\nM: {do: [{start: tick1}, {stop: tick1}], goto: third}",
			"      third: {}", ""},
		{"tick1: {goto: third}\nM: {do: [{start: tick1}, {if: first, then: [{stop: tick1}]}], goto: third}",
			"      third: {}", "FSM047 "},
		{"tick1: {goto: third}\nM: {do: [{start: tick1}, {call: 'off{q: 1}'}], goto: third}",
			"      third: {}\n    routines: {off: {fields: {q: N}, do: [{stop: tick1}]}}", ""},
		{"tick1: {goto: third}\nM: {do: [{call: 'off{q: 1}'}, {start: tick1}], goto: third}",
			"      third: {}\n    routines: {off: {fields: {q: N}, do: [{stop: tick1}]}}", "FSM047 "},
		{"tick1: {goto: third}\nM: {do: [{start: tick1}, {each: {x: \"[x for x in N if first]\"}, do: " +
			"[{stop: tick1}]}], goto: third}", "      third: {}", "FSM047 "},
		{"M: {start: tick1, goto: other}", "      third: {tick1: {goto: idle}}", ""}, // in no reachable state
		{"", "      third: {M: {start: tick1, goto: third}}", ""},
		{"M: {do: [{start: tick1}, {refuse: no}], goto: third}", "      third: {}", ""},
	} {
		got := strings.Join(lints(t, c.lines, c.more), "\n")
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s\n%s\n gives %q, not %q", c.lines, c.more, got, c.want)
		}
	}
	const text = "protocol: demo\nmessages: {A: {}, B: {}, C: {}, D: {}}\nroles:\n  peer: {initial: s, " +
		"states: {s: {entry: [{send: B}], start: {send: A}, A: ignore, B: ignore, C: {goto: s}, D: ignore}}}\n"
	p, l := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}}})
	if p == nil {
		t.Fatal(l.Error())
	}
	if found := lint.Protocol(p); len(found) != 1 || found[0].Code != "FSM048" ||
		found[0].Span.Start != (diag.Pos{Line: 2, Col: 26}) {
		t.Errorf("one message is never sent, but: %v", found)
	}
}

// TestBeginnings: a range that has 0 and begins below it wants an init.
func TestBeginnings(t *testing.T) {
	for _, c := range []struct{ variable, want, hint string }{
		{"sum: -48..48", "FSM032 the variable `sum` begins at -48, the low bound of -48..48, and not at 0",
			"write `{type: -48..48, init: 0}`; if it is meant so, `init: -48` says it"},
		{"sum: Low", "FSM032 the variable `sum` begins at -5, the low bound of Low, and not at 0",
			"write `{type: Low, init: 0}`"},
		{"sum: {type: -48..48, init: 0}", "", ""},
		{"sum: {type: -48..48, init: -48}", "", ""},
		{"sum: {type: -48..48, kept: true}", "FSM032 the variable `sum` begins at -48", "write `{type: "},
		{"sum: 0..48", "", ""},
		{"sum: 3..48", "", ""},
		{"sum: -48..-1", "", ""},
		{"sum: Low?", "", ""},
		{"sum: {list: Low, max: 3}", "", ""},
		{"sum: {array: Low, of: bool}", "", ""},
		{"sum: {map: bool, of: Low}", "", ""},
		{"sum: {array: Side, of: Low}", "FSM032 `sum[…]` begins at -5, the low bound of Low, and not at 0",
			"write `init: \"[0 for k in Side]\"`"},
		{"sum: {array: Side, of: Way}", "FSM032 `sum[…].point.y` begins at -5",
			"say with `init` what it begins with"},
		{"sum: Way", "FSM032 `sum.point.y` begins at -5", "say with `init` what it begins with"},
	} {
		text := "protocol: demo\ntypes: {Low: -5..0, Side: 0..1, Point: {record: {x: 0..3, y: Low}}, Way: " +
			"{record: {name: bool, point: Point}}}\n" +
			"roles:\n  peer:\n    vars: {" + c.variable + "}\n    initial: s\n    states: {s: {}}\n"
		p, l := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}}})
		if p == nil {
			t.Fatal(l.Error())
		}
		got, hint := "", ""
		for _, d := range lint.Protocol(p) {
			got, hint = got+d.Code+" "+d.Message, hint+d.Hint
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || !strings.HasPrefix(hint, c.hint) {
			t.Errorf("%s\n gives %q, %q, not %q, %q", c.variable, got, hint, c.want, c.hint)
		}
	}
}

// TestOnce: a common handler stands for several states; what is wrong with it is said once.
func TestOnce(t *testing.T) {
	got := lints(t, "", "    common: [{on: {M: {when: n > 3}}}]")
	if len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestBounded: many large variables and loops end without an answer, soon.
func TestBounded(t *testing.T) {
	deep := "all(a in N: all(b in N: all(d in N: all(e in N: all(f in N: all(h in N: a + b + d + e + f + h " +
		"+ n + total < 100))))))"
	if got := lints(t, "M: [{when: \""+deep+"\"}, {when: \"w > 3 && wide > 4 && last > 5 && grid[3] == 1\"}]",
		""); len(got) > 1 {
		t.Errorf("%q", got)
	}
}

// TestVariant: what a variant no longer sends is not said of the file that it extends.
func TestVariant(t *testing.T) {
	files := fstest.MapFS{
		"s.yaml": {Data: []byte("protocol: demo\nmessages: {A: {}}\nroles:\n  peer: {initial: s, states: " +
			"{s: {start: {send: A}, A: {goto: s}}}}\n")},
		"v.yaml": {Data: []byte("protocol: demo\nextends: s.yaml\nmessages: {B: {}}\nroles: {peer: {states: " +
			"{s: {start: {goto: s}, B: {goto: s}}}}}\n")},
	}
	p, l := compile.Load("v.yaml", compile.Options{FS: files})
	if p == nil {
		t.Fatal(l.Error())
	}
	if found := lint.Protocol(p); len(found) != 1 || found[0].Code != "FSM048" || found[0].Span.File != "v.yaml" {
		t.Errorf("B is never sent, and nothing is to be said of A: %v", found)
	}
}

// A role that is nothing but a part cannot defer; one that an instance of a check plays can.
func TestPartDefers(t *testing.T) {
	const text = "protocol: demo\nmessages: {A: , B: }\nroles:\n" +
		"  inner: {initial: s, states: {s: {defer: [A], B: {goto: t}}, t: {A: ignore, B: ignore}}}\n" +
		"  outer: {parts: {p: {machine: inner}}, initial: s, states: {s: {start: {do: [{send: A}, {send: " +
		"B}]}, forward: {p: [A, B]}}}}\n"
	const warning = "FSM091 a part cannot defer `A`, and `inner` is a part of `outer`"
	for more, want := range map[string]string{
		"": warning,
		"checks: {c: {instances: {a: outer, b: outer}}}\n": warning,
		"checks: {c: {instances: {a: outer, b: inner}}}\n": "",
	} {
		p, list := compile.Load("spec.yaml",
			compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text + more)}}})
		if p == nil {
			t.Fatal(list.Error())
		}
		got := ""
		for _, d := range lint.Protocol(p) {
			got += d.Code + " " + d.Message
		}
		if got != want {
			t.Errorf("%s: %q, want %q", more, got, want)
		}
	}
}

func TestLostUnheard(t *testing.T) {
	spec := func(states string) string {
		return "protocol: demo\ntick: 1ms\nmessages: {JOIN: {}, FULL: {}, IN: {}}\nroles:\n  client:\n" +
			"    timers: {wait: {ticks: 2}}\n" +
			"    commands: {join: {}, next: {}}\n    initial: away\n    states:\n" + indent(states, "      ") + "\n" +
			"  server:\n    initial: up\n    states:\n      up: {JOIN: {send: FULL}}\n"
	}
	const asking = "\nasking: {FULL: {goto: away}, lost: {goto: gone}}\ngone: {final: true}"
	const warning = "a link that is lost in `away` is lost unheard, and nobody tells `asking`, which counts on " +
		"it and comes behind `join`"
	for _, c := range []struct{ states, want string }{
		{"away: {join: {send: JOIN, goto: asking}}" + asking, warning},
		{"away: {lost: {goto: gone}, join: {send: JOIN, goto: asking}}" + asking, ""},
		{"away: {lost: ignore, join: {send: JOIN, goto: asking}}" + asking, ""}, // said so
		// It is the state that did not hear it which is named, wherever the machine goes from there.
		{"away: {next: {goto: there}}\n" +
			"there: {lost: {goto: gone}, join: {send: JOIN, goto: asking}}" + asking, warning},
		{"away: {next: {goto: there}}\nthere: {join: {goto: asking}}\n" +
			"asking: {entry: [{send: JOIN}], lost: {goto: gone}}\ngone: {final: true}", warning},
		// The link is not there yet, or comes up and goes unnoticed.
		{"away: {up: {goto: there}}\nthere: {lost: {goto: gone}, join: {send: JOIN, goto: asking}}" + asking, ""},
		{"away: {up: {goto: there}, join: {send: JOIN, goto: asking}}\n" +
			"there: {lost: {goto: gone}}\nasking: {lost: {goto: gone}}\ngone: {final: true}", ""},
		{"away: {up: {goto: there}, join: {send: JOIN, goto: asking}}\n" +
			"there: {lost: {goto: gone}}" + asking, warning}, // it comes back
		{"away: {next: {goto: there}}\n" +
			"there: {up: {goto: asking}, join: {send: JOIN, goto: asking}}" + asking, warning},
		{"away: {up: {goto: there}}\nthere: {FULL: {goto: on}, lost: ignore}\n" +
			"on: {join: {send: JOIN, goto: asking}}" + asking,
			strings.Replace(warning, "`away`", "`on`", 1)},
		// Who has heard of it knows it.
		{"away: {FULL: {goto: on}, lost: {goto: other}}\n" +
			"other: {join: {send: JOIN, goto: asking}}\non: {lost: ignore}" + asking, ""},
		// Nothing was asked, somebody is there who asks, or it ends by time.
		{"away: {join: {goto: asking}}" + asking, ""},
		{"away: {FULL: {send: JOIN, goto: asking}}" + asking, ""},
		{"away: {join: {send: JOIN, start: wait, goto: asking}}\n" +
			"asking: {wait: {goto: away}, lost: {goto: gone}}\ngone: {wait: ignore}", ""},
		{"away: {join: {send: JOIN, goto: asking}}\n" +
			"asking: {FULL: {goto: away}, lost: {}}", ""}, // nothing happens there
	} {
		var got string
		text := spec(c.states)
		p, list := compile.Load("spec.yaml", compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
		if p == nil {
			t.Fatalf("%s\n%s", list.Error(), text)
		}
		for _, d := range lint.Protocol(p) {
			if d.Code == "FSM105" {
				got += d.Message
			}
		}
		if got != c.want {
			t.Errorf("%s\n gives %q, not %q", c.states, got, c.want)
		}
	}
}

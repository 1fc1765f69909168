package parse

import (
	"fmt"
	"strings"
	"testing"
)

// TestSlips: what people get wrong in YAML is told in their words, where they did it.
func TestSlips(t *testing.T) {
	tests := []struct{ name, text, want, hint string }{
		{"tab", "protocol: p\nroles:\n\tpeer:\n", "3:1: a tab; indent with spaces", "two spaces"},
		{"tab behind spaces", "protocol: p\nroles:\n  \tpeer: {}\n",
			"3:3: a tab; indent with spaces", ""},
		{"second colon", "protocol: p\ndoc: Two: bidders\n",
			"2:9: quote the text: a colon followed by a space starts a value",
			"write `doc: \"Two: bidders\"`"},
		{"second colon in braces", "messages:\n  A: {doc: Two: bidders}\n",
			"2:15: quote the text: a colon", "write `doc: \"Two: bidders\"`"},
		{"colon before another key", "claims:\n  full: {sometimes: h.playing && some(x in g: x.out), why: " +
			"somebody is refused}\n", "2:45: quote the text: a colon",
			"write `sometimes: \"h.playing && some(x in g: x.out)\"`"},
		{"colon before a quoted value", "claims:\n  c: {always: all(i in 0..1: true), why: \"x: y\"}\n",
			"2:28: quote the text: a colon", "write `always: \"all(i in 0..1: true)\"`"},
		{"colon behind commas in brackets",
			"c: {always: a, when: x && some(i in s: max(i, f[i, x]) in [1, {2, 3}]), why: no}\n",
			"1:38: quote the text: a colon", "write `when: \"x && some(i in s: max(i, f[i, x]) in [1, {2, 3}])\"`"},
		{"an expression in brackets", "a: {when: [v in [1, 2]], goto: t}\n",
			"1:17: quote the expression: `[` begins a list", "write `\"v in [1, 2]\"`"},
		{"colon in brackets", "a: [x: all(i in s: i), b]\n", "1:18: quote the text: a colon",
			"write `x: \"all(i in s: i)\"`"},
		{"colon and quotes", "doc: say \"a\": it's\n", "1:13: quote the text: a colon",
			"write `doc: 'say \"a\": it''s'`"},
		{"no space", "protocol: p\ndoc:Two\nroles: {}\n", "2:1: a space is missing after `doc:`", ""},
		{"no space at first", "roles:\n  peer:\n    doc:Two\n    initial: a\n",
			"3:5: a space is missing after `doc:`", ""},
		{"no space and nothing else", "roles:\n  peer:\n    doc:Two\n",
			"3:5: a role: a map is needed here", "a space is missing after `doc:`"},
		{"no space in braces", "messages: {A: {doc:Two}}\n", "1:16: a message has no key `doc:Two`",
			"a space is missing after `doc:`"},
		{"no colon", "roles:\n  peer\n  initial: x\n", "2:3: a colon is missing", ""},
		{"indented between", "roles:\n  peer:\n    initial: a\n   states: {}\n",
			"4:4: a line indented by 3 spaces fits none of the lines above, which are indented by 0, 2, 4",
			"exactly below"},
		{"indented below a value", "roles:\n  peer:\n    initial: a\n      states:\n",
			"4:7: this line is indented deeper than line 3, whose key `initial` has a value already",
			"4 spaces, like line 3"},
		{"comments only", "# nothing\n\n  # here\n", "1:1: the file is empty", "protocol: name"},
		{"open quote at the end", "protocol: p\ndoc: \"Two\nroles: {}\n",
			"2:6: the closing quote \" of this text is missing", ""},
		{"open quote closed by the next", "protocol: p\ndoc: \"Two\nroles:\n  peer:\n    doc: \"x\"\n",
			"2:6: the closing quote \" of this text is missing", ""},
		{"open single quote", "protocol: p\ndoc: 'Two\n",
			"2:6: the closing quote ' of this text is missing", ""},
		{"behind a quote", "doc: \"a\" b\n", "1:10: nothing may stand behind the closing quote",
			"whole text"},
		{"escape", "doc: \"a\\qb\"\n", "1:8: a backslash in double quotes", `\\`},
		{"open brace", "messages: {A: {doc: x}\nroles: {}\n",
			"1:11: the closing `}` of this { is missing", ""},
		{"wrong bracket", "doc: [a}\n", "1:8: `]` is needed here, which closes the [ of column 6", ""},
		{"unquoted braces", "messages: {A: {send: B{x}}}\n", "1:23: quote the text: in braces, `{` ends",
			"write `send: \"B{x}\"`"},
		{"unquoted index", "messages: {A: {when: x[1] == 2, goto: y}}\n", "1:23: quote the text: in braces, `[` ends",
			"write `when: \"x[1] == 2\"`"},
		{"unquoted braces with a colon", "messages: {A: {when: x && !y, send: M{a: 1, b: 2}}}\n",
			"1:38: quote the text: in braces, `{` ends", "write `send: \"M{a: 1, b: 2}\"`"},
		{"unquoted in a list", "messages: {A: {do: [{send: X{a}}, {goto: b}]}}\n",
			"1:29: quote the text: in braces", "write `send: \"X{a}\"`"},
		{"element without braces", "messages: {A: {set: q[i]: 5}}\n", "1:22: quote the text: in braces",
			"write `{\"q[i]\": 5}`"},
		{"behind a quote in braces", "messages: {A: {when: \"x\" == y, goto: z}}\n",
			"1:26: nothing may stand behind the closing quote", "write `when: '\"x\" == y'`"},
		{"two commas", "messages: {A: , B: {}, , C: {}}\n", "1:24: nothing stands before this comma", "remove one"},
		{"no comma behind braces", "messages: {A: {doc: x} B: {}}\n", "1:24: a comma is missing before `B`",
			"write `, B: {}}`"},
		{"no colon before braces", "messages: {A {doc: x}}\n", "1:14: a colon is missing behind `A`",
			"write `A: {doc: x}}`"},
		{"one brace too many", "messages: {A: {doc: x}}}\n", "1:24: `}` closes nothing", ""},
		{"exclamation mark", "messages: {A: {when: !x, goto: y}}\n", "1:22: a text that begins with `!`",
			"write `when: \"!x\"`"},
		{"kept letter", "doc: @x\n", "1:6: a text that begins with `@` must be quoted", ""},
		{"dash among keys", "roles:\n  peer:\n    initial: a\n    - b\n",
			"4:5: an item of a list among the keys of a map", ""},
		{"key among dashes", "roles:\n  - peer\n  x: 1\n",
			"3:3: this stands in line with the dashes of a list", "begin it with `- `"},
		{"index as a key", "messages: {A: {set: {x[i + 1].y: 2}, goto: b}}\n",
			"1:22: quote the key: in braces, `[` begins a list", "write `\"x[i + 1].y\": 2`"},
		{"index with a comma as a key", "messages: {A: {set: {who[first(s in Seat, !(s in x))]: sender}}}\n",
			"1:22: quote the key: in braces, `[` begins a list",
			"write `\"who[first(s in Seat, !(s in x))]\": sender`"},
		{"list without a colon", "messages: {A: {ignore [B, C]}}\n",
			"1:23: a colon is missing behind `ignore`",
			"write `ignore: [B, C]"},
		{"semicolon", "messages: {A: {doc: x; id: 1}}\n", "1:22: a comma parts the entries here, not `;`",
			"write `, id:`"},
		{"semicolon behind braces", "messages: {A: {}; B: {}}\n", "1:17: a comma parts the entries here, not `;`",
			"write `, B:`"},
		{"no colon before a map", "messages:\n  A {doc: x}\n", "2:3: a colon is missing behind `A`",
			"write `A: {doc: x}`"},
		{"no colon before a map of more", "messages:\n  A {doc: x, id: 1}\n", "2:3: a colon is missing behind `A`",
			"write `A: {doc: x, id: 1}`"},
		{"no colon before a map in a list", "roles: {p: {common: [\n]}}\nallow:\n  FSM092 {x: y, z: 1}\n",
			"4:3: a colon is missing behind `FSM092`", ""},
		{"no space before a map", "messages:\n  A:{doc: x, id: 1}\n", "2:3: a space is missing after `A:`",
			"write `A: {doc: x, id: 1}`"},
		{"no colon before a word", "messages: {A: {doc x}}\n", "1:16: a message has no key `doc x`",
			"a colon is missing: write `doc: x`"},
		{"equals for a colon", "messages: {A: {id: 1, doc = x}}\n", "1:23: a message has no key `doc = x`",
			"a colon is missing: write `doc: x`"},
		{"no braces around a branch", "roles:\n  p:\n    states:\n      a:\n        B: send: C, goto: d\n",
			"5:12: what is done with `B` stands in braces",
			"write `B: {send: C, goto: d}`"},
		{"list for a map", "messages: [A, B]\n", "1:11: messages: a map is needed here, not a list",
			"write `messages: {A: , B: }`"},
		{"list with dashes for a map", "messages:\n  - A\n  - B\n", "2:3: messages: a map is needed here, not a list",
			"write `messages: {A: , B: }`"},
		{"list of what cannot be left out", "checks: {c: {instances: [a, b]}}\n", "1:25: instances: a map is needed",
			"write `instances: {a: ROLE, b: ROLE}`"},
		{"list of faults", "checks: {c: {faults: [crash]}}\n", "1:22: what may go wrong: a map is needed",
			"write `faults: {crash: 1}`"},
		{"faults as a word", "checks: {c: {faults: crash}}\n", "1:22: what may go wrong: a map is needed",
			"`faults: {crash: 1}`"},
		{"list of parties", "parties: [a, b]\n", "1:10: how many instances take part: a single value is needed",
			"`parties: 2`"},
		{"how often for never", "checks: {c: {environment: {go: 0}}}\n",
			"1:32: `0` must be false, or a map: {times: 2}", ""},
		{"two sends", "roles: {p: {states: {a: {B: {send: A, send: \"B{n: 1}\"}}}}}\n", "1:39: `send` is here twice",
			"`do: [{send: A}, {send: \"B{n: 1}\"}]`"},
		{"two conditions", "roles: {p: {states: {a: {B: {when: x, when: y}}}}}\n", "1:39: `when` is here twice",
			"`when: x && y`"},
		{"too long", strings.Repeat("#", MaxBytes+1), "the file has more than 1 MB", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, found := File("f", []byte(test.text))
			if len(found) != 1 {
				t.Fatalf("%d findings: %v", len(found), found)
			}
			got := strings.TrimPrefix(strings.TrimPrefix(found[0].String(), "f:"), " ")
			if !strings.HasPrefix(got, test.want) || !strings.Contains(found[0].Hint, test.hint) {
				t.Errorf("got %s\n%s\nwant %s\n%s", got, found[0].Hint, test.want, test.hint)
			}
		})
	}
}

// TestManySlips: what is wrong in one line does not hide what is wrong in others, and says nothing
// about lines that are right.
func TestManySlips(t *testing.T) {
	text := `protocol: p
doc: Two: bidders
messages:
  A: {doc: x
  B: {doc: one,
    three: [1, 2}
  }
  C: {}
roles:
  peer:
    initial: a
    vars: {n: "0..3}
    states:
      a:
        A: {send: B{x}}
        C: {goto: a}
      b: @x
      c: {A: {send: "B{x}"}}
`
	want := []string{"2:9", "4:6", "6:17", "12:15", "15:20", "17:10"}
	_, found := File("f", []byte(text))
	var got []string
	for _, d := range found {
		got = append(got, fmt.Sprintf("%d:%d", d.Span.Start.Line, d.Span.Start.Col))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %v, want %v\n%v", got, want, found)
	}
	// How lines belong together: one wrong indentation makes others.
	if _, found = File("f", []byte("roles:\n  peer:\n    a: 1\n   b: 2\n  c: x: y\n")); len(found) != 1 {
		t.Errorf("%d findings: %v", len(found), found)
	}
	if _, found = File("f", []byte(strings.Repeat("a: b: c\n", 50))); len(found) != maxSyntax {
		t.Errorf("%d findings, want %d", len(found), maxSyntax)
	}
}

// FuzzSlips: whatever is wrong, the explanation stays inside the text.
func FuzzSlips(f *testing.F) {
	for _, s := range []string{"a: \"\n", "a:b\n  c: d", "\ta: {[", "a: 'x\n'b'", "- a\nb: c: d",
		"\"", "'\n:", "x\n \t: y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, found := File("f", []byte(text))
		for _, d := range found {
			if d.Message == "" || d.Span.Start.Line > strings.Count(text, "\n")+1 {
				t.Errorf("%+v", d)
			}
		}
	})
}

package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/diag"
)

// place makes columns of offsets.
func place(i, j int) diag.Span {
	return diag.Span{File: "x", Start: diag.Pos{Line: 1, Col: i + 1}, End: diag.Pos{Line: 1, Col: j + 1}}
}

// show writes an expression with all its parentheses.
func show(n Node) string {
	list := func(ns []Node) string {
		var out []string
		for _, n := range ns {
			out = append(out, show(n))
		}
		return strings.Join(out, ", ")
	}
	switch n := n.(type) {
	case *Ident:
		return n.Name
	case *Number:
		return fmt.Sprint(n.Value)
	case *String:
		return fmt.Sprintf("%q", n.Value)
	case *Unary:
		return n.Op + show(n.X)
	case *Binary:
		return "(" + show(n.X) + " " + n.Op + " " + show(n.Y) + ")"
	case *Select:
		return show(n.X) + "." + n.Name
	case *Index:
		return show(n.X) + "[" + list(n.Args) + "]"
	case *Call:
		return n.Fn + "(" + list(n.Args) + ")"
	case *Arrow:
		return show(n.X) + "->" + show(n.Y)
	case *Literal:
		var fs []string
		for _, f := range n.Fields {
			fs = append(fs, f.Name+": "+show(f.Value))
		}
		return show(n.X) + "{" + strings.Join(fs, ", ") + "}"
	case *List:
		return "[" + list(n.Elems) + "]"
	case *Build:
		s := "[" + show(n.Elem) + " for " + n.Var + " in " + show(n.Over)
		if n.If != nil {
			s += " if " + show(n.If)
		}
		return s + "]"
	case *Quantified:
		return n.Fn + "(" + n.Var + " in " + show(n.Over) + ": " + show(n.X) + ")"
	case *Range:
		return show(n.Lo) + ".." + show(n.Hi)
	}
	return fmt.Sprintf("%T", n)
}

func TestParse(t *testing.T) {
	for src, want := range map[string]string{
		"1 + 2 * 3 - 4":                              "((1 + (2 * 3)) - 4)",
		"a == 1 && b || !c && -d < e % 2":            "(((a == 1) && b) || (!c && (-d < (e % 2))))",
		"a => b => c":                                "(a => (b => c))",
		"a || b => c && d":                           "((a || b) => (c && d))",
		"(a || b) && c":                              "((a || b) && c)",
		"x in [a, b] && y":                           "((x in [a, b]) && y)",
		"a.fleet[true, 0].own == none":               "(a.fleet[true, 0].own == none)",
		"len(a -> b, CHANGE) + len()":                "(len(a->b, CHANGE) + len())",
		"len(in) < len(out, X)":                      "(len(in) < len(out, X))",
		"all(s in 0..slots-1: some(e in l: e.s==s))": "all(s in 0..(slots - 1): some(e in l: (e.s == s)))",
		"[E{s, t: u+1} for s in Slot]":               "[E{s: s, t: (u + 1)} for s in Slot]",
		"[x for x in l if x.y in s && z]":            "[x for x in l if ((x.y in s) && z)]",
		"first(x in 1..n: x > 1) == first(l)":        "(first(x in 1..n: (x > 1)) == first(l))",
		"count(x in p: x.y) <= if(a, 1, 2)":          "(count(x in p: x.y) <= if(a, 1, 2))",
		"fleet[true, slot].change{ship}":             "fleet[true, slot].change{ship: ship}",
		"[]":                                         "[]",
		"f(g(), 'it\\'s', \"a\\\\b\")":               `f(g(), "it's", "a\\b")`,
		`"a\n\t\x41\"" == 'b"\r'`:                    `("a\n\tA\"" == "b\"\r")`,
		"0x1F":                                       "31",
		"a  ==\n  b":                                 "(a == b)",
	} {
		n, err := Parse(src, place)
		if err != nil {
			t.Errorf("%s: %s at %s", src, err.Message, err.Span)
		} else if got := show(n); got != want {
			t.Errorf("%s: got %s, want %s", src, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for src, want := range map[string]string{
		"":                                "1 an expression is missing",
		"a +":                             "4 an expression is missing",
		"a b":                             "3 `b` is not expected here",
		"a = b":                           "3 = is not an operator",
		"a & b":                           "3 & is not an operator",
		"a < b < c":                       "7 comparisons cannot be chained",
		"(a":                              "3 `)` is missing",
		"f(a":                             "4 `)` is missing",
		"x[1":                             "4 `]` is missing",
		"N{a: }":                          "6 an expression is missing before `}`",
		"N{1}":                            "3 a field's name is missing",
		"a.":                              "3 the name after the dot is missing",
		"n + 2.5":                         "5 `2.5` is not a whole number",
		"in":                              "1 a value is missing before `in`",
		`"a\d"`:                           "3 a backslash stands before",
		`"a\x4"`:                          "3 a backslash stands before",
		`"a\`:                             "3 a backslash stands before",
		"'abc":                            "1 the text has no closing quote",
		"1 << 2":                          "3 there are no shifts",
		"010":                             "1 a number does not begin with 0",
		"9999999999999999999":             "1 numbers go up to",
		"3x":                              "1 `3x` is not a number",
		"all(x y: z)":                     "7 `in` is missing here",
		"1..2":                            "2 `..` is not expected here",
		"a § b":                           "3 '§' means nothing",
		strings.Repeat("(", 200):          "101 the expression is nested too deeply",
		strings.Repeat("-", 200):          "100 the expression is nested too deeply",
		strings.Repeat("1+", 20000) + "1": " the expression is too long",
	} {
		_, err := Parse(src, place)
		if err == nil {
			t.Errorf("%.40q: no error", src)
			continue
		}
		if got := fmt.Sprintf("%d %s", err.Span.Start.Col, err.Message); !strings.HasPrefix(got,
			want) && !strings.HasSuffix(got, want) {
			t.Errorf("%.40q: %s, want %s", src, got, want)
		}
	}
}

func TestParseType(t *testing.T) {
	for src, want := range map[string]string{
		"Slot": "0 Slot false", "Slot?": "0 Slot true", "0..13": "1 0..13 false",
		"-1..slots - 1?": "1 -1..(slots - 1) true",
		"opaque u32":     "2 u32 false", "opaque": "2  false", "text 30": "3 30 false",
		"text n+1": "3 (n + 1) false",
	} {
		x, err := ParseType(src, place)
		if err != nil {
			t.Errorf("%s: %s", src, err.Message)
			continue
		}
		body := x.Name
		if x.Form == Interval {
			body = show(x.Lo) + ".." + show(x.Hi)
		} else if x.Form == Text {
			body = show(x.Hi)
		}
		if got := fmt.Sprintf("%d %s %v", x.Form, body, x.Optional); got != want {
			t.Errorf("%s: got %s, want %s", src, got, want)
		}
	}
	for _, src := range []string{"", "3", "a.b", "0..", "Slot??", "text", "opaque 3", "Slot x"} {
		if _, err := ParseType(src, place); err == nil {
			t.Errorf("%q: no error", src)
		}
	}
}

// TestBounds: texts and bytes without a bound are told what is missing.
func TestBounds(t *testing.T) {
	for src, want := range map[string]string{"text": "`text 30`", "text?": "`text 30`", "bytes": "`bytes 16`",
		"bytes up to": "`bytes up to 16`"} {
		if _, err := ParseType(src, place); err == nil || !strings.Contains(err.Message, want) {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestParseInstance(t *testing.T) {
	in, err := ParseInstance("peer(wins: true, level: 1+2)", place)
	if err != nil || in.Role != "peer" || len(in.Args) != 2 || in.Args[1].Name != "level" ||
		show(in.Args[1].Value) != "(1 + 2)" || in.Args[1].NamePos.Start.Col != 18 {
		t.Errorf("got %+v, %v", in, err)
	}
	for _, src := range []string{"", "peer(", "peer(a)", "peer(a: 1", "peer x", "peer(a: 1) b"} {
		if _, err := ParseInstance(src, place); err == nil {
			t.Errorf("%q: no error", src)
		}
	}
}

// FuzzParse: no panic, no hang, errors stand inside the text.
func FuzzParse(f *testing.F) {
	f.Add("all(x in T: a.b[1, 2].c{d: e} => [f for g in h] == none)")
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 10000 {
			return
		}
		n, err := Parse(src, place)
		if (n == nil) == (err == nil) {
			t.Fatalf("node %v, error %v", n, err)
		}
		if err != nil && (err.Span.Start.Col < 1 || err.Span.End.Col > len(src)+1 ||
			err.Span.End.Col < err.Span.Start.Col) {
			t.Errorf("%q: the error stands at %v", src, err.Span)
		}
		ParseType(src, place)
		ParseInstance(src, place)
		ParseOver(src, place)
	})
}

package gotree_test

import (
	"fmt"
	"go/format"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/golang/gotree"
)

// TestPrint: what is written as a template comes out again, with only the parentheses that Go needs.
func TestPrint(t *testing.T) {
	for in, want := range map[string]string{
		"(a + b) * c":          "(a + b) * c",
		"(a * b) + (c)":        "a*b + c",
		"a - (b - c)":          "a - (b - c)",
		"(a - b) - c":          "a - b - c",
		"!(a && b)":            "!(a && b)",
		"-(a + b)":             "-(a + b)",
		"x.y[i].f(a, b...)":    "x.y[i].f(a, b...)",
		"[...]string{\"a\"}":   "[...]string{\"a\"}",
		"T{A: 1, B: *p}":       "T{A: 1, B: *p}",
		"b[i : j+1]":           "b[i : j+1]",
		"uint64(1) << (a | b)": "uint64(1) << (a | b)",
		"map[int][]T{1: {}}":   "map[int][]T{1: {}}",
	} {
		if got := gotree.Text(gotree.X(in)); got != want {
			t.Errorf("%s prints as %s", in, got)
		}
	}
}

// TestHead: a literal in the head of a statement needs parentheses, since its brace would be the
// statement's.
func TestHead(t *testing.T) {
	f := gotree.F("func f() {\n$1\n}", gotree.S("if x == $1 {\nreturn\n}\nfor i := range f($1) {\n}", gotree.X("T{}")))
	got := fmt.Sprintf("%#v", f.Code())
	if !strings.Contains(got, "if x == (T{}) {") || !strings.Contains(got, "range f(T{}) {") {
		t.Error(got)
	}
}

// TestFunction: a function with comments and all kinds of statements is printed as it was written.
func TestFunction(t *testing.T) {
	const text = `// f does something.
func (m *T) f(a, b int, c string) (n int, ok bool) {
	// first
	var x [4]byte
	n, ok = a+b, c != "\n" // behind
	switch y := g(x[:]); y {
	case 1, 'x':
		n++
	default:
		return 0, false
	}
	for i := 0; i < 3; i++ {
		if i > a {
			break
		} else if i == b {
			continue
		}
		m.g(func() int { return i })
	}
	for _, e := range x {
		{
			n |= int(e)
		}
	}
	return n, ok
}`
	want, err := format.Source([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%#v", gotree.F(text).Code()); got != string(want) {
		t.Errorf("printed\n%s", got)
	}
}

// TestConstructors: negations, chains and sums are composed as one would write them.
func TestConstructors(t *testing.T) {
	x := func(s string) gotree.Expr { return gotree.X(s) }
	for want, e := range map[string]gotree.Expr{
		"a != b":               gotree.Not(x("a == b")),
		"a >= b || !c":         gotree.Not(x("a < b && c")),
		"a":                    gotree.Not(x("!a")),
		"a && b && c":          gotree.And(x("a && b"), x("b"), x("c")),
		"a || b && c":          gotree.Or(x("a"), x("b && c"), x("a")),
		"(a || b) && c":        gotree.And(x("a || b"), x("c")),
		"true":                 gotree.And(),
		"x - 3":                gotree.Plus(x("x"), -3),
		"4":                    gotree.Plus(gotree.Int(7), -3),
		"int8(x)":              gotree.Conv(x("int8"), gotree.Conv(x("int8"), x("x"))),
		"-9223372036854775808": gotree.Int(int64(-1 << 63)),
	} {
		if got := gotree.Text(e); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestQuestions: members, keys of structs and comments are no use of an object.
func TestQuestions(t *testing.T) {
	code := gotree.S("// at\nx.at = T{at: 1}\nm.send(fx.at())")
	if gotree.Uses(code, "at") || !gotree.Uses(code, "T") || !gotree.Uses(code, "fx") {
		t.Error("Uses")
	}
	if !gotree.Calls(code, "m", "send") || gotree.Calls(code, "fx", "send") || gotree.Calls(code, "", "send") {
		t.Error("Calls")
	}
	if !gotree.Uses(gotree.X("[...]T{at: 1}"), "at") {
		t.Error("the key of an array is a constant")
	}
	if n := gotree.Lines(gotree.S("if a {\nb()\n} else {\nc()\n}\nreturn")); n != 6 {
		t.Errorf("%d lines", n)
	}
	loop := gotree.Continued(gotree.S("if a {\ncontinue\n}\nfor {\ncontinue\n}"), gotree.Returns(gotree.X("true")))
	if got := fmt.Sprintf("%#v", gotree.F("func f() bool {\n$1\n}", loop).Code()); strings.Count(got,
		"continue") != 1 || !strings.Contains(got, "return true") {
		t.Error(got)
	}
}

func TestAlike(t *testing.T) {
	text := "func a(x, y int) int {\nn := x\nfor i := range y {\nn += i - x\n}\nreturn g(n)\n}"
	for _, c := range []struct {
		other string
		want  bool
	}{
		{text, true},
		{"func b(p, q int) int {\nz := p\nfor k := range q {\nz += k - p\n}\nreturn g(z)\n}", true},
		{"func a(y, x int) int {\nn := y\nfor i := range x {\nn += i - y\n}\nreturn g(n)\n}", true},
		{"func a(x, y int) int {\nn := y\nfor i := range y {\nn += i - x\n}\nreturn g(n)\n}", false},
		{"func a(x, y int) int {\nn := x\nfor i := range y {\nn += n - x\n}\nreturn g(n)\n}", false},
		{"func a(x, y int) int {\nn := x\nfor i := range y {\nn += i - x\n}\nreturn h(n)\n}", false},
		{"func a(x, g int) int {\nn := x\nfor i := range g {\nn += i - x\n}\nreturn g(n)\n}", false},
		{"func a(x int, y uint) int {\nn := x\nfor i := range y {\nn += i - x\n}\nreturn g(n)\n}", false},
		{"func a(x, y int) int {\nn := x\nfor i := range y {\nn += i + x\n}\nreturn g(n)\n}", false},
	} {
		if got := gotree.Alike(gotree.F(text), gotree.F(c.other)); got != c.want {
			t.Errorf("%v, want %v:\n%s", got, c.want, c.other)
		}
	}
}

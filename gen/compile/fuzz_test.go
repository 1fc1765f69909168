package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/lint"
	"github.com/parley-go/parley/gen/symbols"
)

// FuzzLoad feeds the whole front end. Whatever the text: no panic, no hang, every
// diagnostic has a code of the table and a place inside a file that was read, and
// without an error there is a protocol.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/errors/*.yaml", "testdata/kitchen/*.yaml", "../../specs/*/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			if len(text) < 12000 {
				f.Add(string(text))
			}
		}
	}
	for _, i := range diag.Codes() {
		f.Add("protocol: demo\nextends: base.yaml\n" + i.Example)
	}
	base, err := os.ReadFile("testdata/errors/lib/inner.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fsys := fstest.MapFS{
			"spec.yaml":      {Data: []byte(text)},
			"base.yaml":      {Data: []byte(diag.Base)},
			"lib/inner.yaml": {Data: base},
		}
		p, l := Load("spec.yaml", Options{FS: fsys, Symbols: symbols.New(), More: lint.Protocol})
		if (p == nil) != l.HasErrors() {
			t.Fatalf("protocol %v with these findings:\n%s", p != nil, l.Error())
		}
		for _, d := range l {
			if err := wellPlaced(d, fsys); err != "" {
				t.Errorf("%s: %s", d, err)
			}
		}
	})
}

// wellPlaced says what is wrong with the places of a diagnostic, or "".
func wellPlaced(d diag.Diagnostic, fsys fstest.MapFS) string {
	if _, ok := diag.Lookup(d.Code); !ok || d.Message == "" {
		return "no such code, or no message"
	}
	spans := []diag.Span{d.Span}
	for _, r := range d.Related {
		spans = append(spans, r.Span)
	}
	for _, s := range spans {
		file := fsys[s.File]
		if file == nil {
			return "no such file: " + s.String()
		}
		lines := strings.Split(string(file.Data), "\n")
		for _, p := range []diag.Pos{s.Start, s.End} {
			if p.Line < 1 || p.Line > len(lines) || p.Col < 1 || p.Col > len(lines[p.Line-1])+1 {
				return fmt.Sprintf("line %d, column %d is outside of %s", p.Line, p.Col, s.File)
			}
		}
		if s.End.Line < s.Start.Line || s.End.Line == s.Start.Line && s.End.Col < s.Start.Col {
			return "the end is before the beginning"
		}
	}
	return ""
}

// TestHostile are inputs that would be expensive without limits.
func TestHostile(t *testing.T) {
	deepParts := fstest.MapFS{"p0.yaml": {Data: []byte("protocol: p0\nroles: {m: {initial: a, states: {a: {}}}}\n")}}
	for i := 1; i <= 12; i++ {
		deepParts[fmt.Sprintf("p%d.yaml", i)] = &fstest.MapFile{
			Data: []byte(fmt.Sprintf("protocol: p%d\nimport: {q: p%d.yaml}\n"+
				"roles: {m: {parts: {a1: {machine: q.m}, a2: {machine: q.m}, a3: {machine: q.m}, a4: {machine: "+
				"q.m}}, initial: a, states: {a: {}}}}\n", i, i-1))}
	}
	one := func(text string) fstest.MapFS { return fstest.MapFS{"spec.yaml": {Data: []byte(text)}} }
	for name, c := range map[string]struct {
		files fstest.MapFS
		main  string
		code  string
	}{
		"large":      {one("protocol: x # " + strings.Repeat("x", 1<<20)), "spec.yaml", "FSM002"},
		"deep":       {one("doc: " + strings.Repeat("[", 100000)), "spec.yaml", "FSM004"},
		"deep block": {one("protocol: x\ndoc:\n" + nested(3000)), "spec.yaml", "FSM004"},
		"aliases":    {one("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"), "spec.yaml", "FSM005"},
		"parens": {one("protocol: x\nconsts: {c: " + strings.Repeat("(", 50000) + "1}\n"),
			"spec.yaml", "FSM020"},
		"minus": {one("protocol: x\nconsts: {c: \"" + strings.Repeat("- ", 50000) + "1\"}\n"),
			"spec.yaml", "FSM020"},
		"sum": {one("protocol: x\nconsts: {c: \"" + strings.Repeat("1 + ",
			50000) + "1\"}\n"), "spec.yaml", "FSM020"},
		"wide": {one("protocol: x\ntypes: {A: {array: u16, of: {array: u16, of: {array: u16, of: " +
			"bool}}}}\n"), "spec.yaml", "FSM042"},
		"many": {one("protocol: x\ntypes: {A: {list: {list: {list: u32, max: 4000}, max: 4000}, max: " +
			"4000}}\n"), "spec.yaml", "FSM042"},
		"parts": {deepParts, "p12.yaml", "FSM042"},
		"dots": {one("protocol: x\ntypes: {A: {record: {b: bool}}}\nwire: {header: [type: u8], max: 9}\n" +
			"messages: {M: {id: 1, fields: {a: A}, wire: [" + strings.Repeat("a.", 250000) + "b: u8, " +
			strings.Repeat("b.", 200000) + "b: u8]}}\n"), "spec.yaml", "FSM076"},
		"records": {one(recordChain(3000)), "spec.yaml", "FSM072"},
		"folder":  {fstest.MapFS{"spec.yaml/x": {}}, "spec.yaml", "FSM001"},
	} {
		t.Run(name, func(t *testing.T) {
			_, l := Load(c.main, Options{FS: c.files})
			for _, d := range l {
				if d.Code == c.code {
					return
				}
			}
			t.Errorf("no %s: %.300s", c.code, l.Error())
		})
	}
}

// recordChain is a record in a record in a record, of the innermost of which one field is on the wire.
func recordChain(n int) string {
	var b strings.Builder
	b.WriteString("protocol: x\ntypes:\n  T0: {record: {a: bool, b: bool}}\n")
	for i := range n {
		fmt.Fprintf(&b, "  T%d: {record: {a: T%d}}\n", i+1, i)
	}
	path := strings.Repeat("a.", n+1)
	fmt.Fprintf(&b, "wire: {header: [type: u8], max: 9}\nmessages: {M: {id: 1, fields: {a: T%d}, wire: "+
		"[%sa: u8, %sc: u8]}, N: {id: 2, fields: {a: T%d}, wire: [%sa: u8]}}\n", n, path, path, n, path)
	return b.String()
}

// nested is a list in a list in a list, without brackets.
func nested(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i+1) + "-\n")
		if b.Len() > 900000 {
			break
		}
	}
	return b.String()
}

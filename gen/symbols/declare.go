package symbols

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
)

// Declarations enters all names that a specification's tree declares, those of the file it
// extends included.
func (t *Table) Declarations(root *ast.Node) {
	if t == nil || root == nil {
		return
	}
	t.section(root, "consts", Const, "")
	t.types(root.Get("types"))
	t.section(root, "import", Import, "")
	t.section(root, "channels", Channel, "")
	t.section(root, "messages", Message, "")
	t.inner(root.Get("messages"), "fields", Field)
	t.section(root, "roles", Role, "")
	for _, e := range entries(root.Get("roles")) {
		t.role(e)
	}
	t.section(root, "checks", Check, "")
	for _, e := range entries(root.Get("checks")) {
		t.instances(e.Value.Get("instances"), e.Key.Text)
		t.section(e.Value, "claims", Claim, e.Key.Text)
	}
}

func (t *Table) role(e ast.Entry) {
	name := e.Key.Text
	for _, s := range []struct {
		key  string
		kind Kind
	}{{"params", Param}, {"vars", Var}, {"timers", Timer}, {"commands", Command}, {"reports", Report},
		{"parts", Part}, {"routines", Routine}, {"states", State}} {
		t.section(e.Value, s.key, s.kind, name)
	}
	t.inside(e.Value.Get("states"), name)
	t.inner(e.Value.Get("commands"), "fields", Field)
	t.inner(e.Value.Get("reports"), "fields", Field)
	t.inner(e.Value.Get("routines"), "fields", Field)
	t.inner(e.Value.Get("parts"), "key", Field)
}

// inside enters the states that are in states.
func (t *Table) inside(states *ast.Node, owner string) {
	for _, e := range entries(states) {
		t.section(e.Value, "states", State, owner)
		t.inside(e.Value.Get("states"), owner)
	}
}

// types enters the named types with their fields and values.
func (t *Table) types(n *ast.Node) {
	for _, e := range entries(n) {
		t.enter(e, Type, "")
		v := e.Value
		for v.Get("type") != nil && v.Get("enum") == nil && v.Get("record") == nil {
			v = v.Get("type")
		}
		for _, f := range entries(v.Get("record")) {
			t.enter(f, Field, e.Key.Text)
		}
		if en := v.Get("enum"); en != nil {
			for _, f := range en.Entries {
				t.enter(f, EnumValue, e.Key.Text)
			}
			for _, it := range en.Items {
				t.enter(ast.Entry{Key: it, Value: it}, EnumValue, e.Key.Text)
			}
		}
	}
}

// section enters the keys of one section.
func (t *Table) section(n *ast.Node, key string, kind Kind, owner string) {
	for _, e := range entries(n.Get(key)) {
		t.enter(e, kind, owner)
	}
}

// instances enters the instances of a check. What stands in brackets behind the name of several is
// not part of it.
func (t *Table) instances(n *ast.Node, check string) {
	for _, e := range entries(n) {
		if name, _, several := strings.Cut(e.Key.Text, "["); several {
			key := *e.Key
			at := e.Key.Part(0, len(name))
			key.Text = name
			key.Places = nil
			key.Start, key.End = e.Key.Offset(0), e.Key.Offset(0)+at.End.Col-at.Start.Col
			e.Key = &key
		}
		t.enter(e, Instance, check)
	}
}

// inner enters the keys of one section of each of a map's values.
func (t *Table) inner(n *ast.Node, key string, kind Kind) {
	for _, e := range entries(n) {
		t.section(e.Value, key, kind, e.Key.Text)
	}
}

func entries(n *ast.Node) []ast.Entry {
	if n == nil {
		return nil
	}
	return n.Entries
}

func (t *Table) enter(e ast.Entry, kind Kind, owner string) {
	s := Symbol{Kind: kind, Name: e.Key.Text, Owner: owner, At: e.Key.Span(), Body: e.Key.Span()}
	if v := e.Value; v != nil && v != e.Key {
		if v.Src == e.Key.Src && v.End > e.Key.Start {
			s.Body = v.Src.Span(e.Key.Start, v.End)
		}
		if d := v.Get("doc"); d != nil {
			s.Doc = d.Text
		}
		s.Text = oneLine(string(v.Src.Text[v.Start:v.End]))
	}
	t.Declare(s)
}

// maxText bounds the text shown of a declaration.
const maxText = 100

func oneLine(s string) string {
	first, rest, more := strings.Cut(strings.TrimSpace(s), "\n")
	first = strings.TrimSpace(first)
	if r := []rune(first); len(r) > maxText {
		return string(r[:maxText]) + "…"
	}
	if more && strings.TrimSpace(rest) != "" {
		return first + " …"
	}
	return first
}

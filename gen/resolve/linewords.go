package resolve

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// without gives a text the bytes that it does not contain.
func (r *resolver) without(t *model.Type, n *ast.Node) *model.Type {
	e := n.Entry("without")
	if e == nil || t == nil {
		return t
	}
	if t.Kind != model.KindBytes {
		r.Errorf("FSM041", e.Key.Span(), "`without` belongs to a text")
		return t
	}
	for i := range len(e.Value.Text) {
		if b := e.Value.Text[i]; b < ' ' || b > '~' {
			r.Errorf("FSM041", e.Value.Span(), "`without` lists ASCII characters, not %q", b)
			return t
		}
	}
	c := *t
	c.Without = e.Value.Text
	return &c
}

// words gives an enumeration what its values are in lines.
func (r *resolver) words(t *model.Type, n *ast.Node, form string) *model.Type {
	e := n.Entry("words")
	switch {
	case e == nil || t == nil:
		return t
	case form != "enum":
		r.Errorf("FSM041", e.Key.Span(), "`words` belongs to an enumeration").With("write it beside `enum`")
		return t
	}
	words := slices.Clone(t.Names)
	for _, w := range e.Value.Entries {
		i := slices.Index(t.Names, w.Key.Text)
		switch {
		case i < 0:
			r.unknown("FSM021", w.Key, "value of this enumeration named", t.Names)
			return t
		case w.Value.Text == "" || strings.ContainsAny(w.Value.Text, "\r\n"):
			r.Errorf("FSM041", w.Value.Span(), "%s has the word %q, which no line can have", diag.Quote(w.Key.Text), w.Value.Text)
			return t
		}
		words[i] = w.Value.Text
		r.refer(w.Key.Span(), enumPlace(n.Get("enum"), w.Key.Text))
	}
	for _, w := range e.Value.Entries {
		for i, name := range t.Names {
			if name != w.Key.Text && words[i] == w.Value.Text {
				r.Errorf("FSM041", w.Value.Span(), "%s and %s are both %s in a line", diag.Quote(w.Key.Text), diag.Quote(name), diag.Quote(w.Value.Text)).
					With("give each value a word of its own; a value without one is its name")
				return t
			}
		}
	}
	t.Words = words
	return t
}

// enumPlace finds where a name of an enumeration is declared.
func enumPlace(en *ast.Node, name string) diag.Span {
	for _, it := range en.Items {
		if it.Text == name {
			return it.Span()
		}
	}
	for _, e := range en.Entries {
		if e.Key.Text == name {
			return e.Key.Span()
		}
	}
	return diag.Span{}
}

package wire

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// named resolves the rows of a list that are no elements: each begins with a name and says that an optional field
// is there.
func (w *writer) named(item *model.WireEach, n *ast.Node) bool {
	if n.Kind != ast.List {
		w.r.Errorf("FSM076", n.Span(), "`named` lists rows: [\"Name:\": [if field: [items]]]")
		return false
	}
	for _, one := range n.Items {
		if len(one.Entries) != 1 {
			return false
		}
		e := one.Entries[0]
		row := model.WireNamed{Name: e.Key.Text}
		for _, old := range item.Named {
			if begins(old.Name, row.Name) || begins(row.Name, old.Name) {
				w.r.Errorf("FSM074", e.Key.Span(),
					"the name %q begins like %q, so a row may be either; "+
						"small and capital letters are the same here", row.Name, old.Name).
					With("end the names with what follows them, \":\"")
				return false
			}
		}
		if len(row.Name) > 64 || len(e.Value.Items) != 1 || len(e.Value.Items[0].Entries) != 1 {
			w.r.Errorf("FSM076", one.Span(), "a row with a name of at most 64 bytes has one item: "+
				"\"Name:\": [if field: [items]]")
			return false
		}
		if !w.namedRow(&row, e.Value.Items[0].Entries[0]) {
			return false
		}
		if it := item.Until; wordOf(it) != "" && (begins(wordOf(it), row.Name) || begins(row.Name, wordOf(it))) {
			w.r.Errorf("FSM074", e.Key.Span(), "the name %q and the end of the list begin alike", row.Name)
			return false
		}
		item.Named = append(item.Named, row)
	}
	return true
}

// wordOf returns the bytes of a constant number.
func wordOf(c *model.WireConst) string {
	b := make([]byte, c.Bits/8)
	for i := range b {
		k := len(b) - 1 - i
		if c.Little {
			k = i
		}
		b[i] = byte(c.Value >> (8 * k))
	}
	return string(b)
}

// begins reports whether a text begins with another one, where capital letters are as good as small ones.
func begins(text, with string) bool {
	return len(text) >= len(with) && strings.EqualFold(text[:len(with)], with)
}

// namedRow resolves `if FIELD: [items]` of a row that begins with a name. Its items may place the field, or only
// count it: then `if FIELD` behind the list places it.
func (w *writer) namedRow(row *model.WireNamed, e ast.Entry) bool {
	word, name, _ := strings.Cut(e.Key.Text, " ")
	f := w.fields[name]
	switch {
	case word != "if" || f == nil || f.Type.Kind != model.KindOptional:
		w.r.Errorf("FSM076", e.Key.Span(), "a row with a name says that an optional field is there: "+
			"`if FIELD: [items]`")
		return false
	case w.flagged[name] || w.placed[name] > 0:
		w.r.Errorf("FSM072", e.Key.Span(), "something else says already whether %s is there", diag.Quote(name))
		return false
	}
	w.refer(e.Key, len(e.Key.Text)-len(name), f)
	w.flagged[name] = true
	row.Field = f
	sub := w.inside()
	sub.fields, sub.nested = map[string]*model.Field{name: w.value(f)}, true
	before := w.r.Len()
	row.Items = sub.part(name, e)
	if before != w.r.Len() {
		return false
	}
	if sub.begun(name) {
		w.placed[name]++
		sub.complete([]*model.Field{w.value(f)}, e.Key.Span())
	}
	w.max = sub.max + int64(len(row.Name))
	return before == w.r.Len()
}

package resolve

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

func (w *wireWriter) count(name string, e ast.Entry, base model.WireBase) model.WireItem {
	f := w.fields[name]
	switch {
	case f == nil:
		w.r.unknownAt("FSM076", e.Key.Span(), name, "field", sortedKeys(w.fields))
		return nil
	case f.Type.Kind != model.KindList && f.Type.Kind != model.KindBytes:
		w.r.Errorf("FSM076", e.Key.Span(), "only lists and texts are counted; %s is %s", diag.Quote(name), describe(f.Type))
		return nil
	case w.counted[name] != nil:
		w.r.Errorf("FSM072", e.Key.Span(), "%s is counted twice", diag.Quote(name))
		return nil
	case w.placed[name] > 0:
		w.r.Errorf("FSM074", e.Key.Span(), "the count of %s must come before it", diag.Quote(name))
		return nil
	}
	w.referWire(e.Key, len(e.Key.Text)-len(name), f)
	form, ok := w.form(e.Value)
	if !ok {
		return nil
	}
	if !fits(int64(f.Type.Cap), form.bits) {
		w.r.Errorf("FSM073", form.n.Span(), "%d bits cannot count up to %d", form.bits, f.Type.Cap)
		return nil
	}
	c := &model.WireCount{WireBase: base, Field: f, Bits: form.bits, Little: form.little}
	w.counted[name] = c
	w.grow(int64(form.bits/8), int64(form.bits/8))
	return c
}

func (w *wireWriter) each(name string, e ast.Entry, base model.WireBase, index int) model.WireItem {
	f := w.fields[name]
	switch {
	case f == nil:
		w.r.unknownAt("FSM076", e.Key.Span(), name, "field", sortedKeys(w.fields))
		return nil
	case f.Type.Kind != model.KindList:
		w.r.Errorf("FSM076", e.Key.Span(), "`each` is for lists; %s is %s", diag.Quote(name), describe(f.Type))
		return nil
	case !w.place(name, e, index):
		return nil
	case w.counted[name] == nil:
		w.r.Errorf("FSM074", e.Key.Span(), "the list %s has no count before it", diag.Quote(name)).
			With("add an item `count " + name + ": u16`")
		return nil
	}
	w.referWire(e.Key, len(e.Key.Text)-len(name), f)
	elem := f.Type.Elem
	item := &model.WireEach{WireBase: base, Field: f}
	fields := elem.Fields
	where := describe(elem)
	list := e.Value
	if elem.Kind != model.KindRecord {
		// The elements of a list of single values have no name; their only item is a width.
		fields = []*model.Field{{Type: elem, Span: f.Span}}
		where = "an element of " + diag.Quote(name)
	}
	sub := newWireWriter(w.r, w.little, where, fields)
	sub.nested = true
	if elem.Kind == model.KindRecord {
		if list.Kind != ast.List {
			w.r.Errorf("FSM076", list.Span(), "`each %s` is a list of the items of %s", name, where)
			return nil
		}
		before := w.r.Len()
		item.Items = sub.items(list)
		if before == w.r.Len() {
			sub.complete(fields, e.Key.Span())
		}
	} else if x := sub.field(fields[0], ast.Entry{Key: e.Key, Value: list}, model.WireBase{Span: list.Span()}, 0); x != nil {
		item.Items = []model.WireItem{x}
	}
	w.grow(0, int64(f.Type.Cap)*sub.max)
	return item
}

func (w *wireWriter) text(f *model.Field, e ast.Entry, base model.WireBase) model.WireItem {
	b := &model.WireBytes{WireBase: base, Field: f}
	as := e.Value
	if as.Kind == ast.Map {
		if !w.onlyKeys(as, []string{"as", "cut"}) {
			return nil
		}
		b.Cut = isTrue(as.Get("cut"))
		as = as.Get("as")
	}
	form := ""
	if as != nil {
		form = as.Text
	}
	limit := int64(f.Type.Cap)
	switch form {
	case "nul":
		b.Nul = true
		w.grow(0, limit+1)
	case "counted":
		b.Count = true
		if w.counted[f.Name] == nil {
			w.r.Errorf("FSM074", e.Key.Span(), "the text %s has no count before it", diag.Quote(f.Name)).
				With("add an item `count " + f.Name + ": u8`, or end the text with a zero byte: `" + f.Name + ": nul`")
			return nil
		}
		w.grow(0, limit)
	case "rest":
		if w.nested {
			w.r.Errorf("FSM074", e.Key.Span(), "an element of a list cannot take the rest of the frame")
			return nil
		}
		b.Rest, w.rest = true, true
		w.grow(0, limit)
	default:
		w.r.Errorf("FSM076", e.Value.Span(), "a text is written as nul, counted or rest")
		return nil
	}
	if !b.Count && w.counted[f.Name] != nil {
		w.r.Errorf("FSM074", e.Key.Span(), "%s is counted and also %s", diag.Quote(f.Name), form)
	}
	return b
}

package resolve

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

func (w *wireWriter) count(name string, e ast.Entry, base model.WireBase) model.WireItem {
	f := w.lookup(name)
	late := false
	switch {
	case f == nil:
		if !w.noRecord(e, name) {
			w.r.unknownAt("FSM076", e.Key.Span(), name, "field", w.known(name))
		}
		return nil
	case f.Type.Kind != model.KindList && f.Type.Kind != model.KindBytes && !optionalArray(f.Type):
		w.r.Errorf("FSM076", e.Key.Span(), "only lists, texts and arrays of optional values are counted; %s is %s", diag.Quote(name), describe(f.Type))
		return nil
	case w.counted[name] != nil:
		w.r.Errorf("FSM072", e.Key.Span(), "%s is counted twice", diag.Quote(name))
		return nil
	case w.placed[name] > 0 && f.Type.Kind != model.KindArray:
		if late = w.eachOf[name] != nil && w.min == w.max; !late {
			w.r.Errorf("FSM074", e.Key.Span(), "the count of %s must come before it", diag.Quote(name))
			return nil
		}
	}
	w.referWire(e.Key, len(e.Key.Text)-len(name), f)
	form, ok := w.form(e.Value)
	if !ok {
		return nil
	}
	most := int64(f.Type.Cap)
	if f.Type.Kind == model.KindArray {
		most = f.Type.Index.Count()
	}
	if !fits(most, form.bits) {
		w.r.Errorf("FSM073", form.n.Span(), "%d bits cannot count up to %d", form.bits, most)
		return nil
	}
	c := &model.WireCount{WireBase: base, Field: f, Bits: form.bits, Little: form.little, Late: late}
	w.counted[name] = c
	if late {
		w.eachOf[name].Count, w.eachOf[name].AheadOf = c, int(w.max-w.eachAt[name])
	}
	w.grow(int64(form.bits/8), int64(form.bits/8))
	return c
}

func optionalArray(t *model.Type) bool {
	return t.Kind == model.KindArray && t.Elem.Kind == model.KindOptional
}

func (w *wireWriter) each(name string, e ast.Entry, base model.WireBase, index int) model.WireItem {
	f := w.lookup(name)
	switch {
	case f == nil:
		if !w.noRecord(e, name) {
			w.r.unknownAt("FSM076", e.Key.Span(), name, "field", w.known(name))
		}
		return nil
	case f.Type.Kind != model.KindList && f.Type.Kind != model.KindArray:
		w.r.Errorf("FSM076", e.Key.Span(), "`each` is for lists and arrays; %s is %s", diag.Quote(name), describe(f.Type))
		return nil
	}
	item := &model.WireEach{WireBase: base, Field: f, Count: w.counted[name]}
	list, ok := w.rows(item, e)
	first := w.eachOf[name]
	switch {
	case !ok:
		return nil
	case item.Rows > 0 && first != nil && f.Type.Elem.Kind == model.KindRecord:
		// Another column of the same rows.
	case !w.place(name, e, index):
		return nil
	case f.Type.Kind == model.KindList && item.Count == nil && (item.Rows == 0 || w.min != w.max):
		w.r.Errorf("FSM074", e.Key.Span(), "the list %s has no count before it", diag.Quote(name)).
			With("add an item `count " + name + ": u16`")
		return nil
	}
	w.referWire(e.Key, len(e.Key.Text)-len(name), f)
	if first == nil {
		w.eachOf[name], w.eachAt[name] = item, w.max
	}
	if !w.elements(item, name, list, e) {
		return nil
	}
	return item
}

// rows reads how many rows a list or array always has, and returns the items of one.
func (w *wireWriter) rows(item *model.WireEach, e ast.Entry) (list *ast.Node, ok bool) {
	t := item.Field.Type
	list = e.Value
	if t.Kind == model.KindArray {
		item.Rows = int(t.Index.Count())
	}
	if list.Kind != ast.Map || list.Get("row") == nil {
		return list, true
	}
	if !w.onlyKeys(list, []string{"row", "rows"}) {
		return nil, false
	}
	n := list.Get("rows")
	if n == nil || t.Kind == model.KindArray {
		w.r.Errorf("FSM076", list.Span(), "a list with a fixed number of rows is {rows: number, row: [items]}; an array has as many as elements")
		return nil, false
	}
	v, ok := w.r.constIn(n, 1, 65535, "the number of rows")
	if !ok {
		return nil, false
	}
	if v < int64(t.Cap) {
		w.r.Errorf("FSM073", n.Span(), "%s can have %d elements, more than %d rows", diag.Quote(item.Field.Name), t.Cap, v)
		return nil, false
	}
	item.Rows = int(v)
	return list.Get("row"), true
}

// elements resolves the items of one element.
func (w *wireWriter) elements(item *model.WireEach, name string, list *ast.Node, e ast.Entry) bool {
	f := item.Field
	elem := f.Type.Elem
	fields, where := elem.Fields, describe(elem)
	single := elem.Kind != model.KindRecord
	if single {
		// The elements of a list of single values have no name; in a row of several items they are `item`.
		fields = []*model.Field{{Type: elem, Span: f.Span}}
		where = "an element of " + diag.Quote(name)
	}
	sub := newWireWriter(w.r, w.little, where, fields)
	sub.nested = true
	before := w.r.Len()
	switch {
	case list.Kind == ast.List:
		if single {
			sub.fields = map[string]*model.Field{"item": fields[0]}
		}
		item.Items = sub.items(list)
	case !single:
		w.r.Errorf("FSM076", list.Span(), "`each %s` is a list of the items of %s", name, where)
		return false
	default:
		if x := sub.field(fields[0], ast.Entry{Key: e.Key, Value: list}, model.WireBase{Span: list.Span()}, 0); x != nil {
			item.Items = []model.WireItem{x}
		}
	}
	if before != w.r.Len() {
		return false
	}
	if hasAddress(item.Items) && (item.Rows == 0 || w.nested || w.min != w.max) {
		w.r.Errorf("FSM074", e.Key.Span(), "an address stands at a fixed place: in rows, behind items of fixed sizes")
		return false
	}
	if item.Rows == 0 {
		sub.complete(fields, e.Key.Span())
		w.grow(0, int64(f.Type.Cap)*sub.max)
		return true
	}
	if sub.min != sub.max {
		w.r.Errorf("FSM074", e.Key.Span(), "rows need items of fixed sizes")
		return false
	}
	if w.parts[name] == nil {
		w.parts[name] = map[string]int{}
	}
	for k, n := range sub.placed {
		w.parts[name][k] += n
	}
	item.RowBytes = int(sub.max)
	w.grow(int64(item.Rows)*sub.max, int64(item.Rows)*sub.max)
	return true
}

func hasAddress(items []model.WireItem) bool {
	for _, it := range items {
		switch it := it.(type) {
		case *model.WireAddress:
			return true
		case *model.WireEach:
			if hasAddress(it.Items) {
				return true
			}
		}
	}
	return false
}

// completeRows reports fields of records that no column places, or two do, and lists whose rows are never counted.
func (w *wireWriter) completeRows(at diag.Span) {
	for name, parts := range w.parts {
		f := w.lookup(name)
		if f.Type.Kind == model.KindList && w.counted[name] == nil {
			w.r.Errorf("FSM074", at, "the list %s has rows but no count", diag.Quote(name)).With("add an item `count " + name + ": u16`")
		}
		if f.Type.Elem.Kind != model.KindRecord {
			continue
		}
		times := func(part string, p *model.Field) {
			w.r.Errorf("FSM072", at, "the rows of %s place the field %s %d times", diag.Quote(name), diag.Quote(part), parts[part]).See(p.Span, "declared here")
		}
		for _, part := range sortedKeys(parts) {
			if p := fieldAt(f.Type.Elem.Fields, part); parts[part] > 1 {
				times(part, p)
			}
		}
		unplaced(f.Type.Elem.Fields, parts, times)
	}
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

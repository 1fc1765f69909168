package wire

import (
	"maps"
	"slices"
	"strconv"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
)

func (w *writer) count(name string, e ast.Entry, base model.WireBase) model.WireItem {
	f := w.lookup(name)
	late := false
	switch {
	case f == nil:
		if !w.noRecord(e, name) {
			w.r.UnknownAt("FSM076", e.Key.Span(), name, "field", w.known(name))
		}
		return nil
	case f.Type.Kind != model.KindList && f.Type.Kind != model.KindBytes && !types.IsMap(f.Type):
		w.r.Errorf("FSM076", e.Key.Span(), "only lists, texts and arrays of optional values are counted; %s "+
			"is %s", diag.Quote(name), types.Describe(f.Type))
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
	w.refer(e.Key, len(e.Key.Text)-len(name), f)
	form, ok := w.form(e.Value)
	if !ok {
		return nil
	}
	most := int64(f.Type.Cap)
	if f.Type.Kind == model.KindArray {
		most = f.Type.Index.Count()
	}
	if !fits(0, most, form.Number) {
		d := w.r.Errorf("FSM073", form.n.Span(), "%s cannot count up to %d", describe(form.Number), most)
		if most < 1<<16 {
			d.With("write `count " + name + ": u16`")
		}
	}
	c := &model.WireCount{WireBase: base, Field: f, Number: form.Number, Late: late}
	w.counted[name] = c
	if late {
		w.eachOf[name].Count, w.eachOf[name].AheadOf = c, int(w.max-w.eachAt[name])
	}
	w.growBy(form.Number)
	return c
}

func (w *writer) each(name string, e ast.Entry, base model.WireBase, index int) model.WireItem {
	f := w.lookup(name)
	switch {
	case f == nil:
		if !w.noRecord(e, name) {
			w.r.UnknownAt("FSM076", e.Key.Span(), name, "field", w.known(name))
		}
		return nil
	case f.Type.Kind != model.KindList && f.Type.Kind != model.KindArray:
		w.r.Errorf("FSM076", e.Key.Span(), "`each` is for lists and arrays; %s is %s",
			diag.Quote(name), types.Describe(f.Type))
		return nil
	}
	item := &model.WireEach{WireBase: base, Field: f, Count: w.counted[name]}
	list, ok := w.rows(item, e)
	first, part := w.eachOf[name], f.Type.Kind == model.KindArray && list != e.Value
	switch {
	case !ok:
		return nil
	case item.Rows > 0 && first != nil && f.Type.Elem.Kind == model.KindRecord:
		// Another column of the same rows.
	case part && w.rowsOf[name] > item.Rows:
		// The next rows.
		w.names[name] = index
	case !w.place(name, e, index):
		return nil
	case f.Type.Kind == model.KindList && item.Count == nil && !item.ToEnd && item.Until == nil &&
		(item.Rows == 0 || w.min != w.max):
		if !w.wrong[name] { // else its count is there, but wrong
			w.r.Errorf("FSM074", e.Key.Span(), "the list %s has no count before it", diag.Quote(name)).
				With("add an item `count " + name + ": u16`")
		}
		return nil
	}
	w.refer(e.Key, len(e.Key.Text)-len(name), f)
	if first == nil || part {
		w.eachOf[name], w.eachAt[name] = item, w.max
	}
	if !w.elements(item, name, list, e) {
		return nil
	}
	return item
}

// rows reads how many rows a list or array always has, and returns the items of one row.
func (w *writer) rows(item *model.WireEach, e ast.Entry) (list *ast.Node, ok bool) {
	t := item.Field.Type
	list = e.Value
	if t.Kind == model.KindArray {
		item.Rows = int(t.Index.Count())
	}
	if list.Kind != ast.Map || list.Get("row") == nil {
		return list, true
	}
	if list.Get("to") != nil || list.Get("until") != nil {
		return list.Get("row"), w.ends(item, list, e)
	}
	if !w.onlyKeys(list, []string{"row", "rows"}) {
		return nil, false
	}
	n := list.Get("rows")
	if n == nil || t.Kind == model.KindArray && t.Elem.Kind == model.KindRecord {
		w.r.Errorf("FSM076", list.Span(),
			"a list with a fixed number of rows is {rows: number, row: [items]}; "+
				"an array of records has as many as elements")
		return nil, false
	}
	v, ok := w.r.ConstIn(n, 1, 65535, "the number of rows")
	if !ok {
		return nil, false
	}
	if t.Kind == model.KindArray {
		item.Rows, item.From = int(v), w.rowsOf[item.Field.Name]
		w.rowsOf[item.Field.Name] += int(v)
		return list.Get("row"), true
	}
	if v < int64(t.Cap) {
		w.r.Errorf("FSM073", n.Span(), "%s can have %d elements, more than %d rows",
			diag.Quote(item.Field.Name), t.Cap, v)
		return nil, false
	}
	item.Rows = int(v)
	return list.Get("row"), true
}

// elements resolves the items of one element.
func (w *writer) elements(item *model.WireEach, name string, list *ast.Node, e ast.Entry) bool {
	f := item.Field
	elem := f.Type.Elem
	fields, where := elem.Fields, types.Describe(elem)
	single := elem.Kind != model.KindRecord
	if single {
		// The elements of a list of single values have no name; in a row of several items they are
		// `item`.
		fields = []*model.Field{{Type: elem, Span: f.Span}}
		where = "an element of " + diag.Quote(name)
	}
	sub := newWriter(w.r, w.little, where, fields)
	sub.nested, sub.varies, sub.frame, sub.self = true, w.varies, w.frame, w.self
	if item.ToEnd {
		sub.last = &item.Last
	}
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
		if x := sub.field(fields[0], ast.Entry{Key: e.Key, Value: list}, model.WireBase{Span: list.Span()},
			0); x != nil {
			item.Items = []model.WireItem{x}
		}
	}
	if before != w.r.Len() {
		return false
	}
	w.ended = w.ended || sub.ended
	if hasAddress(item.Items) && (item.Rows == 0 || w.nested || w.min != w.max) {
		w.r.Errorf("FSM074", e.Key.Span(), "an address stands at a fixed place: in rows, behind items of fixed sizes")
		return false
	}
	if item.Rows == 0 {
		sub.complete(fields, e.Key.Span())
		if item.ToEnd || item.Until != nil {
			least := int64(1)
			if item.Until != nil {
				least = int64(item.Until.Bits / 8)
				w.grow(least, least)
			}
			if sub.min < least && !(item.ToEnd && hasText(item.Items)) {
				w.r.Errorf("FSM074", e.Key.Span(), "an element of %s may have %d bytes, so nobody can tell where "+
					"the list ends", diag.Quote(name), sub.min).
					With("each element needs at least " + strconv.Itoa(int(least)))
				return false
			}
			if item.ToEnd {
				w.takesRest(&item.Behind)
			}
		}
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

// hasText reports whether items have a text that ends with a zero byte: one of them is there whenever a
// byte is.
func hasText(items []model.WireItem) bool {
	return slices.ContainsFunc(items, func(it model.WireItem) bool {
		b, ok := it.(*model.WireBytes)
		return ok && b.Nul
	})
}

// completeRows reports fields of records that no column places, or that two columns do. It also
// reports lists whose rows are not counted.
func (w *writer) completeRows(at diag.Span) {
	for name, parts := range w.parts {
		f := w.lookup(name)
		if f.Type.Kind == model.KindList && w.counted[name] == nil {
			w.r.Errorf("FSM074", at, "the list %s has rows but no count", diag.Quote(name)).
				With("add an item `count " + name + ": u16`")
		}
		if f.Type.Elem.Kind != model.KindRecord {
			continue
		}
		times := func(part string, p *model.Field) {
			w.r.Errorf("FSM072", at, "the rows of %s place the field %s %d times", diag.Quote(name),
				diag.Quote(part), parts[part]).See(p.Span, "declared here")
		}
		for _, part := range slices.Sorted(maps.Keys(parts)) {
			if p := fieldAt(f.Type.Elem.Fields, part); parts[part] > 1 {
				times(part, p)
			}
		}
		unplaced(f.Type.Elem.Fields, parts, times)
	}
}

// present resolves the column that tells which elements of an array are there.
func (w *writer) present(name string, e ast.Entry, base model.WireBase) model.WireItem {
	f, first := w.lookup(name), w.eachOf[name]
	if f != nil && f.Type.Kind == model.KindOptional {
		return w.flag(name, f, e, base)
	}
	switch {
	case f == nil:
		if !w.noRecord(e, name) {
			w.r.UnknownAt("FSM076", e.Key.Span(), name, "field", w.known(name))
		}
		return nil
	case f.Unwrapped:
		w.decided("present", name, e)
		return nil
	case !types.IsMap(f.Type):
		w.r.Errorf("FSM076", e.Key.Span(), "`present` is for optional fields and arrays of optional values; %s is %s",
			diag.Quote(name), types.Describe(f.Type))
		return nil
	case first == nil || first.Present != nil || w.min != w.max:
		w.r.Errorf("FSM074", e.Key.Span(),
			"`present %s` comes once, behind `each %s`, with items of fixed sizes between them", name, name)
		return nil
	}
	if form, ok := w.form(e.Value); !ok || form.Bits != 8 || form.Signed {
		w.r.Errorf("FSM076", e.Value.Span(), "`present` has one byte for each element: u8")
		return nil
	}
	w.refer(e.Key, len(e.Key.Text)-len(name), f)
	p := &model.WirePresent{WireBase: base, Field: f, Of: first}
	first.Present, first.AheadOf = p, int(w.max-w.eachAt[name])
	w.grow(int64(first.Rows), int64(first.Rows))
	return p
}

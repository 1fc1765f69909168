package wire

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

// writer resolves the items of one header or message.
type writer struct {
	r      *resolver
	little bool
	where  string // for messages: the message or record
	// fields by name, and for each how often it was placed and counted.
	fields  map[string]*model.Field
	order   []*model.Field
	placed  map[string]int
	counted map[string]*model.WireCount
	names   map[string]int // index of the item that places a field, for `since`
	header  bool
	heads   []headPlace
	bodies  []*model.WireLength        // of a header; what they leave out is known behind it
	eachOf  map[string]*model.WireEach // the first of a list or array, where each element has a fixed size
	eachAt  map[string]int64           // and where it is
	rowsOf  map[string]int             // for how many elements of an array there were rows
	parts   map[string]map[string]int  // how often the fields of a list's record are placed
	nested  bool
	rest    bool            // a text took all the rest
	region  bool            // the items are in a region, which has an end of its own
	flagged map[string]bool // the optional fields of which something before says whether they are there
	tail    *model.Field    // the optional field that is there if bytes remain; only such can follow
	inBits  bool            // the items are parts of a number
	varies  bool            // the size of what is before the items varies
	min     int64
	max     int64
}

func newWriter(r *resolver, little bool, where string, fields []*model.Field) *writer {
	w := &writer{r: r, little: little, where: where, fields: map[string]*model.Field{},
		placed:  map[string]int{},
		counted: map[string]*model.WireCount{}, names: map[string]int{},
		eachOf: map[string]*model.WireEach{}, eachAt: map[string]int64{}, rowsOf: map[string]int{},
		parts: map[string]map[string]int{}, flagged: map[string]bool{}}
	for _, f := range fields {
		w.fields[f.Name] = f
	}
	w.order = fields
	return w
}

// complete reports fields that no item places.
func (w *writer) complete(fields []*model.Field, at diag.Span) {
	w.completeRows(at)
	for _, name := range slices.Sorted(maps.Keys(w.rowsOf)) {
		if n, all := w.rowsOf[name], int(w.lookup(name).Type.Index.Count()); n < all {
			w.r.Errorf("FSM072", at, "the rows of %s have room for %d of its %d elements", diag.Quote(name), n, all)
		}
	}
	unplaced(fields, w.placed, func(name string, f *model.Field) {
		w.r.Errorf("FSM072", at, "the wire of %s does not place the field %s", w.where, diag.Quote(name)).
			See(f.Span, "declared here")
	})
}

// items resolves a list of wire items in order.
func (w *writer) items(n *ast.Node) []model.WireItem {
	var out []model.WireItem
	if n == nil {
		return nil
	}
	for _, it := range n.Items {
		if len(it.Entries) != 1 {
			continue
		}
		e := it.Entries[0]
		if w.rest {
			w.r.Errorf("FSM074", e.Key.Span(), "nothing can follow what takes the rest of the frame").
				With("of the bytes 01 02 nobody could tell which are the rest; a count, or `sized u16: […]`, " +
					"gives it an end")
			return out
		}
		if word, _, _ := strings.Cut(e.Key.Text, " "); w.tail != nil && word != "if" {
			w.r.Errorf("FSM074", e.Key.Span(), "%s is there if bytes remain, so only other such parts can follow it",
				diag.Quote(w.tail.Name)).
				With("say before it whether it is there: `present " + w.tail.Name + ": u8`")
			return out
		}
		if m := w.item(e, it, len(out)); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// item resolves one item; index is its position in the list.
func (w *writer) item(e ast.Entry, it *ast.Node, index int) model.WireItem {
	base := model.WireBase{Span: it.Span()}
	word, rest, _ := strings.Cut(e.Key.Text, " ")
	rest = strings.TrimSpace(rest)
	if f := w.lookup(e.Key.Text); f != nil {
		w.refer(e.Key, 0, f)
		return w.field(f, e, base, index)
	}
	switch e.Key.Text {
	case "pad":
		v, ok := w.r.ConstIn(e.Value, 1, 65535, "the padding")
		if ok && w.inBits && v > 63 {
			w.r.Errorf("FSM073", e.Value.Span(), "a number has at most 64 bits, %d are too many for padding", v)
			return nil
		}
		if !ok {
			return nil
		}
		w.grow(v, v)
		return &model.WirePad{WireBase: base, Bytes: int(v)}
	case "align":
		return w.align(e.Value, base)
	case "const":
		return w.constItem(e.Value, base)
	case "bits":
		return w.bits(e, base, index)
	case "length", "body length", "rest length", "type", "sequence":
		if w.header && w.inBits && e.Key.Text != "type" {
			w.r.Errorf("FSM076", e.Key.Span(), "%s cannot be a part of a number", diag.Quote(e.Key.Text))
			return nil
		}
		if w.header {
			return w.headerItem(e, base)
		}
	case "checksum":
		if w.header {
			return w.checksum(e, base)
		}
	}
	switch {
	case word == "count" && rest != "":
		return w.count(rest, e, base)
	case word == "each" && rest != "":
		return w.each(rest, e, base, index)
	case word == "present" && rest != "":
		return w.present(rest, e, base)
	case word == "sized" && rest != "":
		return w.sized(rest, e, base)
	case word == "if" && rest != "":
		return w.optional(rest, e, base, index)
	case word == "case" && rest != "":
		return w.choice(rest, e, base, index)
	}
	if w.header && word == e.Key.Text && w.r.carried(e.Key.Text) {
		return w.head(e, base)
	}
	if w.noRecord(e, e.Key.Text) {
		return nil
	}
	known := append([]string{"pad", "align", "const", "bits", "sized u16"}, w.known(e.Key.Text)...)
	if w.header {
		known = append(known, "length", "body length", "rest length", "type", "sequence", "checksum")
	}
	w.r.Errorf("FSM076", e.Key.Span(), "%s has no item or field %s", w.where, diag.Quote(e.Key.Text)).
		With(diag.DidYouMean(e.Key.Text, known))
	return nil
}

func (w *writer) headerItem(e ast.Entry, base model.WireBase) model.WireItem {
	f, ok := w.form(e.Value)
	if !ok {
		return nil
	}
	if f.Bits > 32 && f.Varint == model.Fixed || f.Signed {
		w.r.Errorf("FSM076", f.n.Span(), "the header's numbers are unsigned and have at most 32 bits")
		return nil
	}
	at := int(w.max)
	fixed := w.min == w.max
	w.growBy(f.Number)
	switch e.Key.Text {
	case "sequence":
		if !fixed || f.Varint != model.Fixed {
			w.r.Errorf("FSM074", e.Key.Span(), "the sequence has a fixed size and place, which links know")
			return nil
		}
		return &model.WireSequence{WireBase: base, Number: f.Number, Offset: at}
	case "type":
		return &model.WireType{WireBase: base, Number: f.Number}
	}
	it := &model.WireLength{WireBase: base, Number: f.Number}
	switch e.Key.Text {
	case "rest length":
		it.Less, it.Of = int(w.max), model.LengthOfRest
	case "body length":
		it.Of = model.LengthOfBody
		w.bodies = append(w.bodies, it)
	default:
		if f.Varint != model.Fixed {
			w.r.Errorf("FSM074", f.n.Span(), "a length of varying size cannot count itself").
				With("write `rest length` or `body length`")
			return nil
		}
	}
	return it
}

func (w *writer) align(n *ast.Node, base model.WireBase) model.WireItem {
	a := &model.WireAlign{WireBase: base, Since: -1}
	to := n
	if n.Kind == ast.Map {
		if !w.onlyKeys(n, []string{"to", "since"}) {
			return nil
		}
		to = n.Get("to")
		if since := n.Get("since"); since != nil {
			i, ok := w.names[since.Text]
			if !ok {
				w.r.Unknown("FSM076", since, "earlier item for", slices.Sorted(maps.Keys(w.names)))
				return nil
			}
			if f := w.lookup(since.Text); f != nil {
				w.refer(since, 0, f)
			}
			a.Since = i
		}
	}
	if to == nil {
		w.r.Errorf("FSM076", n.Span(), "`align` needs `to: n`")
		return nil
	}
	v, ok := w.r.ConstIn(to, 2, 4096, "the alignment")
	if !ok {
		return nil
	}
	a.To = int(v)
	if w.varies && a.Since < 0 {
		w.r.Errorf("FSM074", n.Span(), "the header has no fixed size, so nothing can be aligned to the frame's start").
			With("{to: n, since: an item}")
		return nil
	}
	if w.header {
		pad := (v - w.max%v) % v
		w.grow(pad, pad)
	} else {
		// Padding missing at the end is no error, and what precedes may vary.
		w.grow(0, v-1)
	}
	return a
}

// place notes that an item places a field, and reports the second one that does.
func (w *writer) place(name string, e ast.Entry, index int) bool {
	w.placed[name]++
	w.names[name] = index
	if w.placed[name] > 1 {
		w.r.Errorf("FSM072", e.Key.Span(), "the field %s is placed twice", diag.Quote(name))
		return false
	}
	return true
}

func (w *writer) field(f *model.Field, e ast.Entry, base model.WireBase, index int) model.WireItem {
	if !w.place(f.Name, e, index) {
		return nil
	}
	t := f.Type
	switch {
	case t.Kind == model.KindBytes && w.inBits:
		w.r.Errorf("FSM076", e.Key.Span(), "a text has no bits; only scalars are parts of a number")
		return nil
	case t.Kind == model.KindBytes:
		return w.text(f, e, base)
	case t.Kind == model.KindList:
		w.r.Errorf("FSM074", e.Key.Span(), "a list is laid out as `count %s: u16` and `each %s: [items]`",
			f.Name, f.Name)
		return nil
	case t.Kind == model.KindOptional:
		t = t.Elem
	}
	if word, bytes, ok := addressForm(e.Value); ok {
		return w.address(f, t, word, bytes, e, base)
	}
	if !types.IsDiscrete(t) && t.Kind != model.KindOpaque && t.Kind != model.KindSet {
		d := w.r.Errorf("FSM073", e.Key.Span(), "%s has no form on the wire as a field of its own",
			types.Describe(f.Type))
		if t.Kind == model.KindRecord && f.Type == t && f.Name != "" && len(t.Fields) > 0 {
			d.With("name its fields, each by an item: `" + f.Name + "." + t.Fields[0].Name + ": …`")
		}
		return nil
	}
	var extra []string
	if f.Type.Kind == model.KindOptional {
		extra = []string{"none"}
	}
	form, ok := w.form(e.Value, extra...)
	if !ok {
		return nil
	}
	if form.Signed && t.Kind != model.KindInt {
		w.r.Errorf("FSM073", form.n.Span(), "%s has no sign", types.Describe(t)).With("write an unsigned width")
		return nil
	}
	item := &model.WireInt{WireBase: base, Field: f, Number: form.Number}
	if extra != nil && !w.none(item, t, e) {
		return nil
	}
	if lo, hi := codeRange(t); t.Kind == model.KindSet && !fits(lo, hi, form.Number) {
		w.r.Errorf("FSM073", form.n.Span(), "%s has %d possible values, one bit for each, which do not fit "+
			"into %s", types.Describe(t), t.Elem.Count(), describe(form.Number)).
			See(f.Span, "declared here")
		return nil
	} else if !fits(lo, hi, form.Number) || t.Kind == model.KindOpaque && t.Bits > form.Bits {
		d := w.r.Errorf("FSM073", form.n.Span(), "%s has values from %d to %d, which do not fit into %s",
			types.Describe(t), lo, hi, describe(form.Number)).
			See(f.Span, "declared here")
		if lo < 0 && !form.Signed {
			d.With("negative numbers need a signed width: i8, i16, i32, zigzag, …")
		}
		return nil
	}
	w.growBy(form.Number)
	return item
}

func hasCode(t *model.Type, v int64) bool {
	if t.Kind == model.KindEnum {
		for _, c := range t.Codes {
			if c == v {
				return true
			}
		}
		return false
	}
	lo, hi := codeRange(t)
	return v >= lo && v <= hi
}

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
		w.r.Errorf("FSM073", form.n.Span(), "%s cannot count up to %d", describe(form.Number), most)
		return nil
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
		w.r.Errorf("FSM074", e.Key.Span(), "the list %s has no count before it", diag.Quote(name)).
			With("add an item `count " + name + ": u16`")
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
	sub.nested, sub.varies = true, w.varies
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
			w.rest = w.rest || item.ToEnd
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

func (w *writer) text(f *model.Field, e ast.Entry, base model.WireBase) model.WireItem {
	b := &model.WireBytes{WireBase: base, Field: f}
	name := f.Name
	if name == "" {
		name = e.Key.Text // `item`
	}
	as := e.Value
	if as.Kind == ast.Map {
		if !w.onlyKeys(as, []string{"as", "cut"}) {
			return nil
		}
		b.Cut = pass.IsTrue(as.Get("cut"))
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
		if w.counted[name] == nil {
			w.r.Errorf("FSM074", e.Key.Span(), "the text %s has no count before it", diag.Quote(name)).
				With("add an item `count " + name + ": u8`, or end the text with a zero byte: `" + name + ": nul`")
			return nil
		}
		w.grow(0, limit)
	case "whole":
		b.Whole = true
		w.grow(limit, limit)
	case "rest":
		if w.nested && !w.region {
			w.r.Errorf("FSM074", e.Key.Span(), "an element of a list cannot take the rest of the frame")
			return nil
		}
		b.Rest, w.rest = true, true
		w.grow(0, limit)
	default:
		w.r.Errorf("FSM076", e.Value.Span(), "a text is written as nul, counted, rest or whole")
		return nil
	}
	if !b.Count && w.counted[name] != nil {
		w.r.Errorf("FSM074", e.Key.Span(), "%s is counted and also %s", diag.Quote(name), form)
	}
	return b
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

// addressForm reads `address 6`.
func addressForm(n *ast.Node) (word *ast.Node, bytes string, ok bool) {
	if n.Kind == ast.Map {
		n = n.Get("as")
	}
	if n == nil || n.Kind != ast.Scalar {
		return nil, "", false
	}
	first, rest, _ := strings.Cut(n.Text, " ")
	return n, strings.TrimSpace(rest), first == "address"
}

func (w *writer) address(f *model.Field, t *model.Type, word *ast.Node, bytes string, e ast.Entry,
	base model.WireBase) model.WireItem {
	n, err := strconv.Atoi(bytes)
	switch {
	case e.Value.Kind == ast.Map && !w.onlyKeys(e.Value, []string{"as"}):
		return nil
	case err != nil || n < 1 || n > 32:
		w.r.Errorf("FSM076", word.Span(), "an address has a size of 1 to 32 bytes").With("address 6")
		return nil
	case t.Kind != model.KindNode:
		w.r.Errorf("FSM073", e.Key.Span(), "only an instance has an address; %s is %s",
			diag.Quote(e.Key.Text), types.Describe(f.Type))
		return nil
	case !w.nested && w.min != w.max:
		w.r.Errorf("FSM074", e.Key.Span(), "an address stands at a fixed place, behind items of fixed sizes")
		return nil
	}
	w.grow(int64(n), int64(n))
	return &model.WireAddress{WireBase: base, Field: f, Bytes: n}
}

func (w *writer) checksum(e ast.Entry, base model.WireBase) model.WireItem {
	if w.min != w.max {
		w.r.Errorf("FSM074", e.Key.Span(), "the checksum stands at a fixed place, which links know")
		return nil
	}
	if e.Value.Kind != ast.Scalar || e.Value.Text != "crc32" {
		w.r.Errorf("FSM076", e.Value.Span(), "a checksum is crc32")
		return nil
	}
	at := int(w.max)
	w.grow(4, 4)
	return &model.WireChecksum{WireBase: base, Little: w.little, Offset: at}
}

// refer notes the field that an item mentions; prefix is the length of what stands before its
// name.
func (w *writer) refer(key *ast.Node, prefix int, f *model.Field) {
	if f.Name == "" {
		return
	}
	for _, step := range pathOf(f) {
		w.r.Refer(key.Part(prefix, prefix+len(step.Name)), step.Span)
		prefix += len(step.Name) + 1
	}
}

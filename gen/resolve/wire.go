package resolve

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// items resolves a list of wire items in order.
func (w *wireWriter) items(n *ast.Node) []model.WireItem {
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
			w.r.Errorf("FSM074", e.Key.Span(), "nothing can follow a text that takes the rest of the frame")
			return out
		}
		if m := w.item(e, it, len(out)); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// form is the right-hand side of an item: a width and what else is said.
type form struct {
	bits   int
	little bool
	n      *ast.Node
}

// form reads `u16` or `{as: u16, …}`; extra are the keys allowed beside as and order.
func (w *wireWriter) form(n *ast.Node, extra ...string) (f form, ok bool) {
	f = form{little: w.little, n: n}
	as := n
	if n.Kind == ast.Map {
		as = n.Get("as")
		if as == nil {
			w.r.Errorf("FSM076", n.Span(), "the item has no `as`, its width")
			return f, false
		}
		if !w.onlyKeys(n, append([]string{"as", "order"}, extra...)) {
			return f, false
		}
		if o := textOf(n, "order"); o != "" {
			f.little = o == "little"
		}
	}
	if as.Kind == ast.Scalar {
		f.bits = widths[as.Text]
	}
	if f.bits == 0 {
		w.r.unknown("FSM076", as, "width", []string{"u8", "u16", "u24", "u32", "u64"})
		return f, false
	}
	return f, true
}

func (w *wireWriter) onlyKeys(n *ast.Node, keys []string) bool {
	ok := true
	for _, e := range n.Entries {
		if !containsString(keys, e.Key.Text) {
			w.r.Errorf("FSM076", e.Key.Span(), "%s does not belong to this item", diag.Quote(e.Key.Text))
			ok = false
		}
	}
	return ok
}

func containsString(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (w *wireWriter) grow(minBytes, maxBytes int64) {
	w.min += minBytes
	w.max = min(w.max+maxBytes, 1<<40)
}

// item resolves one item; index is its place in the list.
func (w *wireWriter) item(e ast.Entry, it *ast.Node, index int) model.WireItem {
	base := model.WireBase{Span: it.Span()}
	word, rest, _ := strings.Cut(e.Key.Text, " ")
	rest = strings.TrimSpace(rest)
	if f := w.lookup(e.Key.Text); f != nil {
		w.referWire(e.Key, 0, f)
		return w.field(f, e, base, index)
	}
	switch e.Key.Text {
	case "pad":
		v, ok := w.r.constIn(e.Value, 1, 65535, "the padding")
		if !ok {
			return nil
		}
		w.grow(v, v)
		return &model.WirePad{WireBase: base, Bytes: int(v)}
	case "align":
		return w.align(e.Value, base)
	case "const":
		return w.constItem(e.Value, base)
	case "length", "body length", "rest length", "type", "sequence":
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
	}
	if w.noRecord(e, e.Key.Text) {
		return nil
	}
	known := append([]string{"pad", "align", "const"}, w.known(e.Key.Text)...)
	if w.header {
		known = append(known, "length", "body length", "rest length", "type", "sequence", "checksum")
	}
	w.r.Errorf("FSM076", e.Key.Span(), "%s has no item or field %s", w.where, diag.Quote(e.Key.Text)).
		With(diag.DidYouMean(e.Key.Text, known))
	return nil
}

func (w *wireWriter) headerItem(e ast.Entry, base model.WireBase) model.WireItem {
	f, ok := w.form(e.Value)
	if !ok {
		return nil
	}
	if f.bits > 32 {
		w.r.Errorf("FSM076", f.n.Span(), "the header's numbers have at most 32 bits")
		return nil
	}
	at := int(w.max)
	w.grow(int64(f.bits/8), int64(f.bits/8))
	switch e.Key.Text {
	case "sequence":
		return &model.WireSequence{WireBase: base, Bits: f.bits, Little: f.little, Offset: at}
	case "type":
		return &model.WireType{WireBase: base, Bits: f.bits, Little: f.little}
	}
	it := &model.WireLength{WireBase: base, Bits: f.bits, Little: f.little}
	switch e.Key.Text {
	case "rest length":
		it.Less = int(w.max)
	case "body length":
		w.bodies = append(w.bodies, it)
	}
	return it
}

func (w *wireWriter) constItem(n *ast.Node, base model.WireBase) model.WireItem {
	v := n.Get("value")
	if n.Kind != ast.Map || v == nil {
		w.r.Errorf("FSM076", n.Span(), "`const` is {as: width, value: number}")
		return nil
	}
	f, ok := w.form(n, "value")
	if !ok {
		return nil
	}
	c, ok := w.r.constIn(v, 0, 1<<40, "the number")
	if !ok {
		return nil
	}
	if !fits(c, f.bits) {
		w.r.Errorf("FSM073", v.Span(), "%d does not fit into %d bits", c, f.bits)
		return nil
	}
	w.grow(int64(f.bits/8), int64(f.bits/8))
	return &model.WireConst{WireBase: base, Bits: f.bits, Little: f.little, Value: c}
}

func (w *wireWriter) align(n *ast.Node, base model.WireBase) model.WireItem {
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
				w.r.unknown("FSM076", since, "earlier item for", sortedKeys(w.names))
				return nil
			}
			if f := w.lookup(since.Text); f != nil {
				w.referWire(since, 0, f)
			}
			a.Since = i
		}
	}
	if to == nil {
		w.r.Errorf("FSM076", n.Span(), "`align` needs `to: n`")
		return nil
	}
	v, ok := w.r.constIn(to, 2, 4096, "the alignment")
	if !ok {
		return nil
	}
	a.To = int(v)
	if w.header {
		pad := (v - w.max%v) % v
		w.grow(pad, pad)
	} else {
		// Padding missing at the end is no error, and what precedes may vary.
		w.grow(0, v-1)
	}
	return a
}

// place counts that a field was laid out, and reports the second time.
func (w *wireWriter) place(name string, e ast.Entry, index int) bool {
	w.placed[name]++
	w.names[name] = index
	if w.placed[name] > 1 {
		w.r.Errorf("FSM072", e.Key.Span(), "the field %s is placed twice", diag.Quote(name))
		return false
	}
	return true
}

func (w *wireWriter) field(f *model.Field, e ast.Entry, base model.WireBase, index int) model.WireItem {
	if !w.place(f.Name, e, index) {
		return nil
	}
	t := f.Type
	switch {
	case t.Kind == model.KindBytes:
		return w.text(f, e, base)
	case t.Kind == model.KindList:
		w.r.Errorf("FSM074", e.Key.Span(), "a list is laid out as `count %s: u16` and `each %s: [items]`", f.Name, f.Name)
		return nil
	case t.Kind == model.KindOptional:
		t = t.Elem
	}
	if word, bytes, ok := addressForm(e.Value); ok {
		return w.address(f, t, word, bytes, e, base)
	}
	if !isDiscrete(t) && t.Kind != model.KindOpaque && t.Kind != model.KindSet {
		d := w.r.Errorf("FSM073", e.Key.Span(), "%s has no form on the wire as a field of its own", describe(f.Type))
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
	item := &model.WireInt{WireBase: base, Field: f, Bits: form.bits, Little: form.little}
	if extra != nil && !w.none(item, t, e) {
		return nil
	}
	if lo, hi := codeRange(t); t.Kind == model.KindSet && !fits(hi, form.bits) {
		w.r.Errorf("FSM073", form.n.Span(), "%s has %d possible values, one bit for each, which do not fit into %d bits", describe(t), t.Elem.Count(), form.bits).
			See(f.Span, "declared here")
		return nil
	} else if lo < 0 || !fits(hi, form.bits) {
		w.r.Errorf("FSM073", form.n.Span(), "%s has values from %d to %d, which do not fit into %d bits", describe(t), lo, hi, form.bits).
			See(f.Span, "declared here")
		return nil
	}
	w.grow(int64(form.bits/8), int64(form.bits/8))
	return item
}

// none resolves the number that stands for an absent value.
func (w *wireWriter) none(item *model.WireInt, t *model.Type, e ast.Entry) bool {
	n := e.Value.Get("none")
	if n == nil {
		w.r.Errorf("FSM076", e.Value.Span(), "%s is optional; say which number stands for none", diag.Quote(item.Field.Name)).
			With("{as: u16, none: 65535}")
		return false
	}
	v, ok := w.r.constIn(n, 0, 1<<40, "the number for none")
	if !ok {
		return false
	}
	if !fits(v, item.Bits) {
		w.r.Errorf("FSM073", n.Span(), "%d does not fit into %d bits", v, item.Bits)
		return false
	}
	if hasCode(t, v) {
		w.r.Errorf("FSM073", n.Span(), "%d stands for none, but is also a value of %s", v, describe(t))
		return false
	}
	item.HasNone, item.None = true, v
	return true
}

// codeRange returns the least and greatest number of t on the wire.
func codeRange(t *model.Type) (lo, hi int64) {
	switch t.Kind {
	case model.KindBool:
		return 0, 1
	case model.KindEnum:
		lo, hi = t.Codes[0], t.Codes[0]
		for _, c := range t.Codes {
			lo, hi = min(lo, c), max(hi, c)
		}
		return lo, hi
	case model.KindOpaque:
		if t.Bits == 64 {
			return 0, 1<<63 - 1
		}
		return 0, 1<<t.Bits - 1
	case model.KindSet: // bit i says whether the type's value number i is in it
		return 0, 1<<t.Elem.Count() - 1
	}
	return t.Lo, t.Hi
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

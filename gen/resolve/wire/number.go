package wire

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

// form is the right-hand side of an item: how its number is written.
type form struct {
	model.Number
	n *ast.Node
}

// form reads `u16` or `{as: u16, …}`. extra lists the keys that are allowed beside `as`, `order` and
// `overlong`.
func (w *writer) form(n *ast.Node, extra ...string) (f form, ok bool) {
	as := n
	overlong, little := false, w.little
	if n.Kind == ast.Map {
		as = n.Get("as")
		if as == nil {
			w.r.Errorf("FSM076", n.Span(), "the item has no `as`, its width")
			return f, false
		}
		if !w.onlyKeys(n, append([]string{"as", "order", "overlong", "end"}, extra...)) {
			return f, false
		}
		if o := pass.TextOf(n, "order"); o != "" {
			little = o == "little"
		}
		overlong = pass.TextOf(n, "overlong") == "accept"
	}
	f = form{n: n}
	if as.Kind == ast.Scalar {
		f.Number = width(as.Text, w.inBits)
	}
	switch {
	case f.Bits == 0 && w.inBits:
		w.r.Errorf("FSM076", as.Span(), "among bits a width is u1 to u64, or i2 to i64 for signed numbers, not %s",
			diag.Quote(as.Text))
	case f.Bits == 0:
		w.r.Unknown("FSM076", as, "width", widthNames)
	case f.Varint == model.Fixed && overlong:
		w.r.Errorf("FSM076", n.Entry("overlong").Key.Span(), "only a number of varying length can be longer than it "+
			"has to be; %s always has %d bytes", as.Text, f.Bits/8)
	case w.inBits && n.Kind == ast.Map && n.Get("order") != nil:
		w.r.Errorf("FSM076", n.Entry("order").Key.Span(), "all bits of a number have its byte order").
			With("bits: {high: […], order: little}")
	default:
		f.Little, f.Overlong = little && f.Varint == model.Fixed, overlong
		return f, w.digits(&f, as.Text)
	}
	return f, false
}

func (w *writer) onlyKeys(n *ast.Node, keys []string) bool {
	ok := true
	for _, e := range n.Entries {
		if !slices.Contains(keys, e.Key.Text) {
			w.r.Errorf("FSM076", e.Key.Span(), "%s does not belong to this item", diag.Quote(e.Key.Text))
			ok = false
		}
	}
	return ok
}

func (w *writer) grow(minBytes, maxBytes int64) {
	if w.inBits {
		return
	}
	w.min += minBytes
	w.max = min(w.max+maxBytes, 1<<40)
}

// growBy counts the bytes of an item.
func (w *writer) growBy(n model.Number) {
	least, most := n.Bytes()
	w.grow(int64(least), int64(most))
}

func (w *writer) constItem(n *ast.Node, base model.WireBase) model.WireItem {
	if end, ok := endNames[n.Text]; ok && n.Kind == ast.Scalar && !w.inBits {
		w.grow(int64(len(end)), int64(len(end)))
		return &model.WireLiteral{WireBase: base, Bytes: end}
	}
	if n.Kind == ast.Map && (n.Get("text") != nil || n.Get("hex") != nil) {
		return w.literal(n, base)
	}
	v := n.Get("value")
	if n.Kind != ast.Map || v == nil {
		w.r.Errorf("FSM076", n.Span(), "`const` is {as: width, value: number}, {text: ABC}, {hex: 00ff}, crlf, cr "+
			"or lf")
		return nil
	}
	f, ok := w.form(n, "value")
	if !ok {
		return nil
	}
	c, ok := w.r.ConstIn(v, -1<<40, 1<<40, "the number")
	if !ok {
		return nil
	}
	if !fits(c, c, f.Number) {
		w.r.Errorf("FSM073", v.Span(), "%d does not fit into %s", c, describe(f.Number))
		return nil
	}
	w.growBy(f.Number)
	name := ""
	for _, k := range w.r.Protocol.Consts {
		if v.Kind == ast.Scalar && k.Name == v.Text {
			name = k.Name
		}
	}
	return &model.WireConst{WireBase: base, Number: f.Number, Value: c, Name: name}
}

// literal resolves bytes that are always the same, as a text or in hexadecimal.
func (w *writer) literal(n *ast.Node, base model.WireBase) model.WireItem {
	if len(n.Entries) != 1 || w.inBits {
		w.r.Errorf("FSM076", n.Span(), "a constant of bytes is {text: ABC} or {hex: 00ff}, and stands among items of "+
			"whole bytes")
		return nil
	}
	e := n.Entries[0]
	b := []byte(e.Value.Text)
	if e.Key.Text == "hex" {
		var err error
		if b, err = hex.DecodeString(strings.ReplaceAll(e.Value.Text, " ", "")); err != nil {
			w.r.Errorf("FSM076", e.Value.Span(), "%s is not hexadecimal: two digits for each byte",
				diag.Quote(e.Value.Text))
			return nil
		}
	}
	if len(b) == 0 || len(b) > 256 {
		w.r.Errorf("FSM076", e.Value.Span(), "a constant has 1 to 256 bytes, not %d", len(b))
		return nil
	}
	w.grow(int64(len(b)), int64(len(b)))
	return &model.WireLiteral{WireBase: base, Bytes: string(b)}
}

// none resolves the number that stands for an absent value.
func (w *writer) none(item *model.WireInt, t *model.Type, e ast.Entry) bool {
	n := e.Value.Get("none")
	if n == nil {
		hint, what := "{as: u16, none: 65535}", diag.Quote(cmp.Or(item.Field.Name, e.Key.Text))
		if name := item.Field.Name; w.flagged[name] {
			width := cmp.Or(pass.TextOf(e.Value, "as"), e.Value.Text)
			hint = "there is `present " + name + "`; write `if " + name + ": " + width + "`"
		} else if name != "" && !w.nested {
			width := cmp.Or(pass.TextOf(e.Value, "as"), e.Value.Text)
			hint += ", or say before it whether it is there: `present " + name + ": u8` and `if " + name + ": " +
				width + "`"
		} else if name == "" && e.Key.Text != "item" {
			what = w.where // `each m: u16`, where nothing names the element
		}
		w.r.Errorf("FSM076", e.Value.Span(), "%s is optional; say which number stands for none", what).With(hint)
		return false
	}
	v, ok := w.r.ConstIn(n, -1<<40, 1<<40, "the number for none")
	if !ok {
		return false
	}
	if !fits(v, v, item.Number) {
		w.r.Errorf("FSM073", n.Span(), "%d does not fit into %s", v, describe(item.Number))
		return false
	}
	if hasCode(t, v) {
		w.r.Errorf("FSM073", n.Span(), "%d stands for none, but is also a value of %s", v,
			types.Describe(t))
		return false
	}
	item.HasNone, item.None = true, v
	return true
}

// bits resolves a number whose bits are several items.
func (w *writer) bits(e ast.Entry, base model.WireBase, index int) model.WireItem {
	list, low := e.Value, false
	b := &model.WireBits{WireBase: base}
	b.Little = w.little
	if list.Kind == ast.Map {
		if !w.onlyKeys(list, []string{"high", "low", "order"}) {
			return nil
		}
		if o := pass.TextOf(list, "order"); o != "" {
			b.Little = o == "little"
		}
		low = list.Get("low") != nil
		if both := low && list.Get("high") != nil; both {
			w.r.Errorf("FSM076", list.Span(), "bits begin either with the highest or with the lowest")
			return nil
		}
		if list = list.Get("high"); low {
			list = e.Value.Get("low")
		}
	}
	if list == nil || list.Kind != ast.List || w.inBits {
		w.r.Errorf("FSM076", e.Value.Span(), "bits are a list of items, from the highest bit on: "+
			"bits: [version: u4, pad: 4]; or {low: […]}, from the lowest on")
		return nil
	}
	w.inBits = true
	before := w.r.Len()
	for _, it := range list.Items {
		if len(it.Entries) != 1 {
			continue
		}
		part := it.Entries[0]
		item, bits := w.bit(part, it, index)
		if item != nil {
			b.Parts = append(b.Parts, model.WireBit{Item: item, Shift: b.Bits, Bits: bits})
			b.Bits += bits
		}
	}
	w.inBits = false
	if before != w.r.Len() {
		return nil
	}
	if b.Bits%8 != 0 || b.Bits > 64 || b.Bits == 0 {
		w.r.Errorf("FSM073", list.Span(), "these are %d bits, not a whole number of bytes up to 8", b.Bits).
			With("fill them up with `pad: " + strconv.Itoa(8-b.Bits%8) + "`")
		return nil
	}
	if !low {
		for i := range b.Parts {
			p := &b.Parts[i]
			p.Shift = b.Bits - p.Shift - p.Bits
		}
	}
	w.growBy(b.Number)
	return b
}

// bit resolves one item among bits, and returns how many it has.
func (w *writer) bit(e ast.Entry, it *ast.Node, index int) (model.WireItem, int) {
	if word, _, _ := strings.Cut(e.Key.Text, " "); w.lookup(e.Key.Text) == nil &&
		!(w.header && w.r.carried(e.Key.Text)) && !slices.Contains([]string{"pad", "const", "type", "present"}, word) {
		if !w.noRecord(e, e.Key.Text) {
			w.r.Errorf("FSM076", e.Key.Span(), "%s has no field %s, and among bits are fields, pad, const, "+
				"present and type", w.where, diag.Quote(e.Key.Text)).
				With(diag.DidYouMean(e.Key.Text, w.known(e.Key.Text)))
		}
		return nil, 0
	}
	switch item := w.item(e, it, index).(type) {
	case *model.WireInt:
		return item, item.Bits
	case *model.WireConst:
		return item, item.Bits
	case *model.WireType:
		return item, item.Bits
	case *model.WirePad:
		return item, item.Bytes
	case *model.WireHead:
		return item, item.Bits
	case *model.WirePresent:
		return item, item.Bits
	case nil:
	default:
		w.r.Errorf("FSM076", e.Key.Span(), "this item cannot be a part of a number")
	}
	return nil, 0
}

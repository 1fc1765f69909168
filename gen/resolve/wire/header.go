package wire

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
)

// carried reports whether some message has a field of a name.
func (r *resolver) carried(name string) bool {
	for _, m := range r.Protocol.Messages {
		if types.FieldNamed(m.Fields, name) != nil {
			return true
		}
	}
	return false
}

// head resolves a place of the header that the messages with a field of its name fill in.
func (w *writer) head(e ast.Entry, base model.WireBase) model.WireItem {
	if w.min != w.max {
		w.r.Errorf("FSM074", e.Key.Span(), "a field stands before what has no fixed size in the header")
		return nil
	}
	form, ok := w.form(e.Value, "none")
	if !ok {
		return nil
	}
	if form.Varint != model.Fixed {
		w.r.Errorf("FSM074", form.n.Span(), "a field of the header has a fixed size")
		return nil
	}
	at := w.max
	w.growBy(form.Number)
	h := &model.WireHead{WireBase: base, Number: form.Number, Name: e.Key.Text}
	w.heads = append(w.heads, headPlace{h, e, at})
	return h
}

// headPlace is where a place of the header stands.
type headPlace struct {
	item *model.WireHead
	e    ast.Entry
	at   int64
}

// headFields finds what a message has in the header. Messages without such a field have there the number
// that they state under `header`, or 0.
func (r *resolver) headFields(m *model.Message, header []model.WireItem, heads []headPlace, ww *writer) {
	stated := r.Root.Get("messages").Get(m.Name).Get("header")
	if stated != nil {
		for _, e := range stated.Entries {
			known, own := false, types.FieldNamed(m.Fields, e.Key.Text) != nil
			var names []string
			for _, h := range heads {
				known = known || h.item.Name == e.Key.Text
				names = append(names, h.item.Name)
			}
			switch {
			case !known:
				r.Unknown("FSM076", e.Key, "field of the header named", names)
			case own:
				r.Errorf("FSM072", e.Key.Span(), "%s is a field of %s, so the message says its number",
					diag.Quote(e.Key.Text), diag.Quote(m.Name))
			}
		}
	}
	at := 0
	for _, item := range header {
		switch it := item.(type) {
		case *model.WireHead:
			r.headField(m, it, heads, model.HeadField{At: at, In: it.Number}, stated, ww)
		case *model.WireBits:
			for _, part := range it.Parts {
				if x, ok := part.Item.(*model.WireHead); ok {
					r.headField(m, x, heads, model.HeadField{At: at, In: it.Number, Shift: part.Shift}, stated, ww)
				}
			}
		}
		least, _ := model.Extent(item)
		at += least
	}
}

func (r *resolver) headField(m *model.Message, it *model.WireHead, heads []headPlace, h model.HeadField,
	stated *ast.Node, ww *writer) {
	var place headPlace
	for _, p := range heads {
		if p.item == it {
			place = p
		}
	}
	if f := ww.lookup(it.Name); f != nil {
		ww.inBits = true // the bytes are the header's
		if x, ok := ww.field(f, place.e, it.WireBase, -1).(*model.WireInt); ok {
			x.Number = it.Number
			h.Item = x
			m.Head = append(m.Head, h)
		}
		ww.inBits = false
		return
	}
	v := int64(0)
	if n := stated.Get(it.Name); n != nil {
		var ok bool
		if v, ok = r.ConstIn(n, -1<<40, 1<<40, "the number"); !ok {
			return
		}
		if !fits(v, v, it.Number) {
			r.Errorf("FSM073", n.Span(), "%d does not fit into %s", v, describe(it.Number))
			return
		}
	}
	h.Item = &model.WireConst{WireBase: it.WireBase, Number: it.Number, Value: v}
	m.Head = append(m.Head, h)
}

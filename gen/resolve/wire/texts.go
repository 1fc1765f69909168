package wire

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
)

// Items of text protocols: digits, texts and words, with the bytes that end them; and frames that end where
// their last item does.

// noOther reports what a frame that ends where its last item does cannot have beside.
func (r *resolver) noOther(w *model.Wire, n *ast.Node, messages []*model.Message) {
	if !w.Self {
		return
	}
	if e := n.Entry("header"); e != nil {
		r.Errorf("FSM074", e.Key.Span(), "a frame that ends where its last item does has no header").
			With("put its items into the messages, or leave `selfDelimiting` out and give the header a length")
	}
	if e := n.Entry("surplus"); e != nil {
		r.Errorf("FSM074", e.Key.Span(), "a frame that ends where its last item does has no surplus: what follows is "+
			"the next frame")
	}
	for _, m := range messages {
		if e := r.Root.Get("messages").Get(m.Name).Entry("id"); e != nil {
			r.Errorf("FSM074", e.Key.Span(), "without a header there is no place for an `id`").
				With("begin the message with a constant: `- const: {text: …}`")
		}
	}
}

// noEnd reports an item that asks where the frame ends, which a frame does not know that ends with its items.
func (w *writer) noEnd(e ast.Entry, what string) model.WireItem {
	w.r.Errorf("FSM074", e.Key.Span(), "%s, and a selfDelimiting frame ends where its last item does", what).
		With("count it, end it with bytes of its own, `{end: \"…\"}`, or put it into a region, `sized u16: […]`")
	return nil
}

// end reads the bytes that end something.
func (w *writer) end(n *ast.Node) (string, bool) {
	end := n.Text
	if named, ok := endNames[end]; ok {
		end = named
	}
	if name := lineEnd(end); name != "" && name != n.Text {
		w.r.Errorf("FSM076", n.Span(), "%s would be these letters; the line end is called `%s`", end, name)
		return "", false
	}
	if end == "" || len(end) > 16 {
		w.r.Errorf("FSM076", n.Span(), "an end has 1 to 16 bytes, not %d", len(end))
		return "", false
	}
	return end, true
}

// digits reads what ends a number in digits.
func (w *writer) digits(f *form, name string) bool {
	var n *ast.Node
	if f.n.Kind == ast.Map {
		n = f.n.Get("end")
	}
	written := f.Varint == model.Decimal || f.Varint == model.Hex
	switch {
	case !written && n != nil:
		w.r.Errorf("FSM076", f.n.Entry("end").Key.Span(), "only numbers in digits, texts and words have an end; %s "+
			"says itself where it ends", name)
		return false
	case !written:
		return true
	case n == nil:
		w.r.Errorf("FSM076", f.n.Span(), "nothing says where the digits end: of 12 nobody could tell whether more "+
			"follow").
			With("{as: " + name + ", end: crlf}")
		return false
	}
	if w.header {
		w.r.Errorf("FSM074", f.n.Span(), "the header has no digits").
			With("leave the header out, and say `selfDelimiting: true`")
		return false
	}
	end, ok := w.end(n)
	if !ok {
		return false
	}
	digits := "0123456789"
	if f.Varint == model.Hex {
		digits += "abcdefABCDEF"
	}
	if strings.Contains(digits, end[:1]) {
		w.r.Errorf("FSM074", n.Span(), "%q is a digit itself, so it ends no digits", end[:1])
		return false
	}
	f.End = end
	return true
}

// endedText resolves a text that bytes end which are not in it.
func (w *writer) endedText(b *model.WireBytes, name string, n *ast.Node) model.WireItem {
	if as := n.Get("as"); as != nil || n.Get("cut") != nil {
		w.r.Errorf("FSM076", n.Span(), "a text that bytes end is {end: \"…\"} alone")
		return nil
	}
	end := n.Get("end")
	t := b.Field.Type
	if end.Text == "crlf or lf" {
		b.End, b.LoneLF = "\r\n", true
	} else {
		var ok bool
		if b.End, ok = w.end(end); !ok {
			return nil
		}
	}
	switch {
	case t.Exact:
		w.r.Errorf("FSM076", end.Span(), "%s always has %d bytes, so nothing needs to end it", diag.Quote(name), t.Cap).
			With("write `"+name+": whole`").See(b.Field.Span, "declared here")
		return nil
	case w.counted[name] != nil:
		w.r.Errorf("FSM074", n.Span(), "%s is counted, and bytes end it, too", diag.Quote(name))
		return nil
	}
	w.grow(int64(len(b.End)), int64(t.Cap+len(b.End)))
	return b
}

// wordForm reports whether an item is `word` or {as: word, end: …}.
func wordForm(n *ast.Node) bool {
	if n.Kind == ast.Map {
		n = n.Get("as")
	}
	return n != nil && n.Kind == ast.Scalar && n.Text == "word"
}

// word resolves an enumeration that is written as its words.
func (w *writer) word(f *model.Field, e ast.Entry, base model.WireBase) model.WireItem {
	it := &model.WireWord{WireBase: base, Field: f}
	if f.Type.Kind != model.KindEnum || w.inBits || w.header {
		w.r.Errorf("FSM073", e.Value.Span(), "only an enumeration is written as a word, among the items of a message; "+
			"%s is %s", diag.Quote(e.Key.Text), types.Describe(f.Type))
		return nil
	}
	if e.Value.Kind == ast.Map {
		if !w.onlyKeys(e.Value, []string{"as", "end"}) {
			return nil
		}
		if n := e.Value.Get("end"); n != nil {
			var ok bool
			if it.End, ok = w.end(n); !ok {
				return nil
			}
		}
	}
	for _, word := range f.Type.InLine() {
		if it.End != "" && strings.Contains(word+it.End[:len(it.End)-1], it.End) {
			w.r.Errorf("FSM074", e.Value.Span(), "the word %q has the end %q in it", word, it.End).
				See(f.Span, "declared here")
			return nil
		}
	}
	least, most := model.Extent(it)
	w.grow(int64(least), int64(most))
	return it
}

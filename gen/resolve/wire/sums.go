package wire

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// sums are the checksums by name, and how many bits they have.
var sums = map[string]struct {
	sum  model.Sum
	bits int
}{
	"crc32": {model.CRC32, 32}, "crc32c": {model.CRC32C, 32}, "adler32": {model.Adler32, 32},
	"internet": {model.Internet, 16},
}

// sum resolves a checksum of bytes before it.
func (w *writer) sum(e ast.Entry, base model.WireBase) model.WireItem {
	n := e.Value
	as := n
	if n.Kind == ast.Map {
		if !w.onlyKeys(n, []string{"as", "since", "to", "xor", "order"}) {
			return nil
		}
		as = n.Get("as")
	}
	if as == nil || as.Kind != ast.Scalar || sums[as.Text].bits == 0 || w.inBits {
		w.r.Unknown("FSM076", e.Value, "checksum", []string{"crc32", "crc32c", "adler32", "internet"})
		return nil
	}
	it := &model.WireSum{WireBase: base, Sum: sums[as.Text].sum}
	it.Bits, it.Little = sums[as.Text].bits, w.little
	if n.Kind == ast.Map {
		if o := n.Get("order"); o != nil {
			it.Little = o.Text == "little"
		}
		if !w.xor(n, &it.Number) {
			return nil
		}
	}
	var ok1, ok2 bool
	it.From, ok1 = w.anchor(n, "since")
	it.To, ok2 = w.anchor(n, "to")
	if !ok1 || !ok2 || it.From.Index < 0 && !w.overFrame(it, e) {
		return nil
	}
	if from, to := it.From, it.To; from.Index >= 0 && to.Index >= 0 && (from.Up < to.Up || from.Up == to.Up &&
		from.Index >= to.Index) {
		w.r.Errorf("FSM074", n.Get("to").Span(), "%s is not behind %s, so there would be no bytes to sum up",
			diag.Quote(n.Get("to").Text), diag.Quote(n.Get("since").Text)).
			With("the sum is of the bytes from the first byte of `since` up to that of `to`")
		return nil
	}
	w.growBy(it.Number)
	return it
}

// anchor resolves the item that a sum names. Without a name it is the beginning of the frame, or of the
// sum.
func (w *writer) anchor(n *ast.Node, key string) (model.Anchor, bool) {
	none := model.Anchor{Index: -1}
	if n.Kind != ast.Map || n.Get(key) == nil {
		return none, true
	}
	name := n.Get(key)
	var known []string
	up := 0
	for x := w; x != nil; x = x.outer {
		if i, ok := x.names[name.Text]; ok {
			if f := x.lookup(name.Text); f != nil {
				w.refer(name, 0, f)
			}
			return model.Anchor{Up: up, Index: i}, true
		}
		for k := range x.names {
			known = append(known, k)
		}
		up++
	}
	w.r.Unknown("FSM076", name, "earlier item for", known)
	return none, false
}

// overFrame checks that a sum from the frame's beginning on can be computed: it covers the length, which is
// that of a frame that ends behind the sum.
func (w *writer) overFrame(it *model.WireSum, e ast.Entry) bool {
	at := 0
	for _, item := range w.frame.Header {
		switch x := item.(type) {
		case *model.WireLength:
			it.Ends, it.Length, it.LengthAt = true, x.Number, at
			switch x.Of {
			case model.LengthOfBody:
				it.Less = w.frame.HeaderLen
			case model.LengthOfRest:
				it.Less = x.Less
			}
		case *model.WireChecksum, *model.WireSequence:
			w.r.Errorf("FSM074", e.Key.Span(), "a checksum from the frame's beginning on covers what the link "+
				"fills in").See(x.Pos(), "this one").With("say from which item on: `since: …`")
			return false
		}
		at += model.FixedBytes(item)
	}
	if w.frame.Varies {
		w.r.Errorf("FSM074", e.Key.Span(), "a checksum from the frame's beginning on needs a header of a fixed size").
			With("say from which item on: `since: …`")
		return false
	}
	if it.Ends && w.nested && w.last == nil {
		w.r.Errorf("FSM074", e.Key.Span(), "behind a checksum of the frame's length the frame ends, and other "+
			"elements can follow this one").With("a list `to: end` may have it in its last element")
		return false
	}
	if it.Ends {
		w.ended = true
		if w.last != nil {
			*w.last = true
		}
	}
	return true
}

// xor reads what a number is XORed with: `xor: 5`, or `xor: {at: 4}`.
func (w *writer) xor(n *ast.Node, to *model.Number) bool {
	x := n.Get("xor")
	if x == nil {
		return true
	}
	if x.Kind == ast.Map {
		at, ok := w.xorAt(x, (to.Bits+7)/8)
		to.XorAt = at
		return ok
	}
	v, ok := w.r.ConstIn(x, 0, 1<<40, "the number")
	if ok && !fits(v, v, model.Number{Bits: to.Bits}) {
		w.r.Errorf("FSM073", x.Span(), "%d does not fit into %s", v, describe(*to))
		return false
	}
	to.Xor = uint64(v)
	return ok
}

// xorAt reads the place of so many bytes of the header that are XORed with something; it returns that
// place + 1. They must be there before what is written.
func (w *writer) xorAt(x *ast.Node, size int) (int, bool) {
	if !w.onlyKeys(x, []string{"at"}) || x.Get("at") == nil {
		w.r.Errorf("FSM076", x.Span(), "`xor` is a number, or {at: 4}: the frame's bytes from there on")
		return 0, false
	}
	v, ok := w.r.ConstIn(x.Get("at"), 0, 1<<16, "the place")
	if !ok {
		return 0, false
	}
	if w.header || w.frame.Varies || int(v)+size > w.frame.HeaderLen {
		w.r.Errorf("FSM074", x.Span(), "the bytes that are XORed with others are within a header of a fixed size; "+
			"%d to %d are not", v, int(v)+size-1)
		return 0, false
	}
	at := 0
	for _, item := range w.frame.Header {
		end := at + model.FixedBytes(item)
		switch item.(type) {
		case *model.WireLength, *model.WireChecksum, *model.WireSequence:
			if at < int(v)+size && int(v) < end {
				w.r.Errorf("FSM074", x.Span(), "byte %d of the frame is not known yet: it is filled in at the end",
					max(at, int(v))).See(item.Pos(), "this one")
				return 0, false
			}
		}
		at = end
	}
	return int(v) + 1, true
}

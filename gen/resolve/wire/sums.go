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

// aheadSum is a checksum that stands before the end of its bytes, or before all of them. Since and to are the
// items that it names and that were not there yet; to is nil for the end.
type aheadSum struct {
	it        *model.WireSum
	at        int
	since, to *ast.Node
}

// later returns the node of a name that no item before has, but one behind may have, or that is `end`.
func (w *writer) later(n *ast.Node, key string) *ast.Node {
	if n.Kind != ast.Map || n.Get(key) == nil {
		return nil
	}
	name := n.Get(key)
	for x := w; x != nil; x = x.outer {
		if _, ok := x.names[name.Text]; ok {
			return nil
		}
	}
	if w.lookup(name.Text) != nil || key == "to" && name.Text == "end" {
		return name
	}
	return nil
}

// aheads finds the items behind checksums of a list that these name.
func (w *writer) aheads(items []model.WireItem) {
	for _, s := range w.ahead {
		from, to := s.it.From.Index, len(items)
		for _, name := range []*ast.Node{s.since, s.to} {
			if name == nil || name == s.to && name.Text == "end" && w.lookup("end") == nil {
				continue
			}
			i, ok := w.names[name.Text]
			if !ok {
				w.r.Errorf("FSM076", name.Span(), "%s is no item beside this checksum", diag.Quote(name.Text)).
					With("it begins or ends at items of the same list; `to: end` is the end of that list")
				return
			}
			w.refer(name, 0, w.lookup(name.Text))
			if name == s.since {
				from = i
			} else {
				to = i
			}
		}
		if s.since != nil {
			s.it.From.Index = from
		}
		s.it.To = model.Anchor{Index: to}
		if s.it.From.Up == 0 && from >= to {
			w.noBytes(s.to, s.since)
		}
		if _, space := items[to-1].(*model.WireSpace); space && w.self {
			w.r.Errorf("FSM074", s.to.Span(), "before %s is white space, of which more may come, so nobody knows when "+
				"the checksum's bytes are there", diag.Quote(s.to.Text)).With("end the checksum at another item")
		}
	}
	w.overlaps()
}

// open reports a checksum that is not known yet where another one is computed over it.
func (w *writer) open(it *model.WireSum, at diag.Span) bool {
	level := 0
	for x := w; x != nil; x = x.outer {
		begun := it.From.Index < 0 || it.From.Up > level
		if x.sizes && begun && (it.Ahead || it.To.Index < 0 || it.To.Up <= level) {
			w.r.Errorf("FSM074", at, "this checksum covers the size of the region that it is in, which is known at "+
				"its end").With("begin it in the region: `since: …`, or put it behind the region")
			return true
		}
		for _, s := range x.ahead {
			_, ended := x.names[textOf(s.to)]
			after := it.To.Index >= 0 && (level < it.To.Up || level == it.To.Up && s.at >= it.To.Index)
			before := it.From.Index >= 0 && (level > it.From.Up || level == it.From.Up && s.at < it.From.Index)
			if s.it == it || ended || after || before {
				continue
			}
			return w.unknown(s.it, at)
		}
		level++
	}
	return false
}

// unknown reports a checksum over another one that is not known yet.
func (w *writer) unknown(other *model.WireSum, at diag.Span) bool {
	w.r.Errorf("FSM074", at, "this checksum covers another one, which is computed later").
		See(other.Span, "this one").
		With("let the other one end earlier, or the bytes of this one not have it among them")
	return true
}

func textOf(n *ast.Node) string {
	if n == nil {
		return ""
	}
	return n.Text
}

// overlaps reports checksums of a list of which one is computed over another one that is computed later.
func (w *writer) overlaps() {
	for i, x := range w.ahead {
		for k, y := range w.ahead {
			later := y.it.To.Index > x.it.To.Index || y.it.To == x.it.To && k > i
			if later && y.at < x.it.To.Index && (x.it.From.Up > 0 || y.at >= x.it.From.Index) {
				w.unknown(y.it, x.it.Span)
				return
			}
		}
		if x.it.From.Up > 0 && w.outer != nil {
			up := *x.it
			up.From.Up, up.To = x.it.From.Up-1, model.Anchor{Index: -1}
			if w.outer.open(&up, x.it.Span) {
				return
			}
		}
	}
}

// noBytes reports a checksum of which the end is not behind the beginning.
func (w *writer) noBytes(to, since *ast.Node) {
	if to == nil || since == nil {
		return
	}
	w.r.Errorf("FSM074", to.Span(), "%s is not behind %s, so there would be no bytes to sum up",
		diag.Quote(to.Text), diag.Quote(since.Text)).
		With("the sum is of the bytes from the first byte of `since` up to that of `to`")
}

// behindIt resolves where a checksum begins and ends that stands before the end of its bytes.
func (w *writer) behindIt(it *model.WireSum, e ast.Entry, index int, since, to *ast.Node) bool {
	n := e.Value
	it.Ahead = true
	if to == nil {
		w.r.Errorf("FSM074", since.Span(), "%s comes behind the checksum, and nothing says where its bytes end",
			diag.Quote(since.Text)).With("add `to: end`, or the item behind the last one")
		return false
	}
	var ok bool
	if since == nil {
		it.From, ok = w.anchor(n, "since")
	} else {
		it.From, ok = model.Anchor{Index: -1}, true
	}
	if !ok || since == nil && it.From.Index < 0 && !w.aheadOfFrame(it, e, to) {
		return false
	}
	if to.Text == "end" && w.frame.Surplus && w.outer == nil && !w.nested {
		w.r.Errorf("FSM074", to.Span(), "with `surplus: skip` nobody knows which bytes belong to the checksum").
			With("end it at an item, or leave `surplus` out")
		return false
	}
	if since != nil {
		it.From = model.Anchor{Index: index + 1} // known behind it
	}
	it.To = model.Anchor{Index: index + 1}
	w.ahead = append(w.ahead, aheadSum{it, index, since, to})
	return true
}

// aheadOfFrame checks a sum from the frame's first byte on that stands before the end of its bytes.
func (w *writer) aheadOfFrame(it *model.WireSum, e ast.Entry, to *ast.Node) bool {
	sub := *w
	sub.ended, sub.nested, sub.last = false, false, nil
	if !sub.overFrame(it, e) {
		return false
	}
	if it.Ends && (w.outer != nil || w.nested || to.Text != "end") {
		w.r.Errorf("FSM074", e.Key.Span(), "a checksum from the frame's beginning on covers its length, which is "+
			"known at the frame's end").With("among the items of the message write `to: end`; or say from which " +
			"item on: `since: …`")
		return false
	}
	return true
}

// sum resolves a checksum. index is its place among the items.
func (w *writer) sum(e ast.Entry, base model.WireBase, index int) model.WireItem {
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
	if since, to := w.later(n, "since"), w.later(n, "to"); since != nil || to != nil {
		if !w.behindIt(it, e, index, since, to) || w.open(it, e.Key.Span()) {
			return nil
		}
		w.growBy(it.Number)
		return it
	}
	var ok1, ok2 bool
	it.From, ok1 = w.anchor(n, "since")
	it.To, ok2 = w.anchor(n, "to")
	if !ok1 || !ok2 || it.From.Index < 0 && !w.overFrame(it, e) {
		return nil
	}
	if from, to := it.From, it.To; from.Index >= 0 && to.Index >= 0 && (from.Up < to.Up || from.Up == to.Up &&
		from.Index >= to.Index) {
		w.noBytes(n.Get("to"), n.Get("since"))
		return nil
	}
	if w.open(it, e.Key.Span()) {
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

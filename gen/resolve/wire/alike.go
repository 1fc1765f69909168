package wire

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// from resolves the role that alone sends a message.
func (r *resolver) from(m *model.Message) {
	n := r.Root.Get("messages").Get(m.Name).Get("from")
	if n == nil {
		return
	}
	roles := r.Root.Get("roles")
	e := roles.Entry(n.Text)
	if e == nil {
		r.Unknown("FSM071", n, "role", roles.Keys())
		r.bad[m] = true
		return
	}
	r.Refer(n.Span(), e.Key.Span())
	m.From = n.Text
}

// Alike are two messages that nothing tells apart and some role receives. Fixed are the bytes of their
// bodies that are always the same, by place.
type Alike struct {
	A, B  *model.Message
	Fixed map[int]byte
}

// alike lists messages that the header does not tell from each other, nor anything else at known places.
// header is the greatest size of the header.
func (r *resolver) alike(w *model.Wire, header int) (out []Alike) {
	p := *r.Protocol
	p.Wire = w
	for i, m := range p.Messages {
		for _, o := range p.Alike(m) {
			if o.Index > i && (hasAddress(m.Layout) || hasAddress(o.Layout)) {
				r.Errorf("FSM071", o.Span, "addresses are found by the number of a message, which does not tell %s "+
					"from %s", diag.Quote(o.Name), diag.Quote(m.Name)).See(m.Span, "the other one")
				continue
			}
			if o.Index <= i || r.IsBroken(m.Span) || r.IsBroken(o.Span) || r.bad[m] || r.bad[o] ||
				!r.bothReach(m, o) || apart(m, o, w, header) {
				continue
			}
			fixed := map[int]byte{}
			for _, c := range append(claims(m), claims(o)...) {
				if c.lo == c.hi && c.bits == 8 && c.at >= 0 {
					fixed[c.at] = byte(c.lo)
				}
			}
			out = append(out, Alike{m, o, fixed})
		}
	}
	return out
}

// bothReach reports whether some role receives both messages.
func (r *resolver) bothReach(m, o *model.Message) bool {
	roles := r.Root.Get("roles").Keys()
	for _, to := range roles {
		if len(roles) < 2 || m.From != to && o.From != to {
			return true
		}
	}
	return len(roles) == 0
}

// claim is what a message has in some bits of the header or body: a number within bounds.
type claim struct {
	at     int // bytes from the body's first one; of the header, counted from its first one, less headerSpace
	bits   int
	shift  int
	in     model.Number
	lo, hi int64
}

const headerSpace = 1 << 20

// apart reports whether no frame can be both messages: they have lengths, or numbers in one place, that are
// never equal.
func apart(m, o *model.Message, w *model.Wire, header int) bool {
	// Both have the same header, however long it is.
	shorter := func(m, o *model.Message) bool { return m.MaxLen-header < o.MinLen-w.HeaderLen }
	if !w.Surplus && (shorter(m, o) || shorter(o, m)) {
		return true
	}
	theirs := claims(o)
	for _, a := range claims(m) {
		for _, b := range theirs {
			if a.at == b.at && a.in == b.in && a.shift == b.shift && a.bits == b.bits && (a.hi < b.lo || b.hi < a.lo) {
				return true
			}
		}
	}
	return false
}

// claims lists what a message has at known places.
func claims(m *model.Message) (out []claim) {
	add := func(item model.WireItem, at, shift, bits int, in model.Number) {
		switch it := item.(type) {
		case *model.WireConst:
			out = append(out, claim{at, bits, shift, in, it.Value, it.Value})
			for i := 0; shift == 0 && bits == in.Bits && in.Varint == model.Fixed && i < bits/8; i++ {
				k := i // the byte of the number, from its lowest
				if !in.Little {
					k = bits/8 - 1 - i
				}
				out = append(out, byteClaim(at+i, byte(it.Value>>(8*k))))
			}
		case *model.WireInt:
			if t := it.Field.Type; t.Kind == model.KindEnum || t.Kind == model.KindInt {
				lo, hi := codeRange(t)
				out = append(out, claim{at, bits, shift, in, lo, hi})
			}
		}
	}
	for _, h := range m.Head {
		add(h.Item, h.At-headerSpace, h.Shift, itemBits(h.Item), h.In)
	}
	at := 0
	for _, item := range m.Layout {
		switch it := item.(type) {
		case *model.WireConst:
			add(it, at, 0, it.Bits, it.Number)
		case *model.WireInt:
			if it.Varint == model.Fixed {
				add(it, at, 0, it.Bits, it.Number)
			}
		case *model.WireLiteral:
			for i := range len(it.Bytes) {
				out = append(out, byteClaim(at+i, it.Bytes[i]))
			}
		case *model.WireBits:
			for _, part := range it.Parts {
				add(part.Item, at, part.Shift, part.Bits, it.Number)
			}
		}
		n := model.FixedBytes(item)
		if n == 0 {
			break
		}
		at += n
	}
	return out
}

func byteClaim(at int, b byte) claim {
	return claim{at, 8, 0, model.Number{Bits: 8}, int64(b), int64(b)}
}

func itemBits(item model.WireItem) int {
	switch it := item.(type) {
	case *model.WireInt:
		return it.Bits
	case *model.WireConst:
		return it.Bits
	}
	return 0
}

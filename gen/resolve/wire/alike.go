package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
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

// alike reports messages that the header does not tell from each other, if the same bytes can be both and
// some role receives both. header is the greatest size of the header.
func (r *resolver) alike(w *model.Wire, header int) {
	p := *r.Protocol
	p.Wire = w
	for i, m := range p.Messages {
		for _, o := range p.Alike(m) {
			if o.Index > i && (len(interp.Shape(&p).Addresses) > 0) {
				r.Errorf("FSM071", o.Span, "addresses are found by the number of a message, which tells %s and %s apart",
					diag.Quote(m.Name), diag.Quote(o.Name))
				return
			}
			if o.Index <= i || r.IsBroken(m.Span) || r.IsBroken(o.Span) || r.bad[m] || r.bad[o] || !r.bothReach(m, o) || apart(m, o, w, header) {
				continue
			}
			why := "the header has no `type`"
			if w.TypeNumber() != nil {
				why = fmt.Sprintf("both have the id %d", m.ID)
			}
			d := r.Errorf("FSM071", o.Span, "a frame can be %s as well as %s: %s", diag.Quote(m.Name), diag.Quote(o.Name),
				why).See(m.Span, "the other one")
			if b := example(&p, m, o); b != nil {
				d.With(fmt.Sprintf("% x is both; give them ids, constants or lengths that differ, or say which role sends "+
					"one: `from: role`", b))
			} else {
				d.With("nothing tells them apart: give them ids, constants or lengths that differ, or say which role " +
					"sends one: `from: role`")
			}
		}
	}
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

// example looks for a frame that is both messages; nil if it finds none. It tries bodies at random that have
// the constants of both.
func example(p *model.Protocol, m, o *model.Message) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	header := p.Wire.HeaderLen
	least, most := max(m.MinLen, o.MinLen)-header, min(m.MaxLen, o.MaxLen, p.Wire.Max)-header
	if p.Wire.Surplus {
		most = max(most, least)
	}
	strs := &interp.Strings{}
	for try := range 4000 {
		body := make([]byte, least+min(try%40, max(most-least, 0)))
		for i := range body {
			if kind := random.IntN(4); kind == 0 {
				body[i] = byte(random.IntN(256))
			} else if kind == 1 {
				body[i] = byte(random.IntN(4))
			}
		}
		for _, x := range [2]*model.Message{m, o} {
			for _, c := range claims(x) {
				if c.lo == c.hi && c.bits == 8 && c.at >= 0 && c.at < len(body) {
					body[c.at] = byte(c.lo)
				}
			}
		}
		whole := *m
		whole.Layout = []model.WireItem{&model.WireLiteral{Bytes: string(body)}}
		slots := make([]int64, interp.FieldSlots(m.Fields))
		interp.Zero(&model.Type{Kind: model.KindRecord, Fields: m.Fields}, slots)
		frame, err := interp.AppendFrame(p, strs, nil, &whole, slots)
		if err.Problem != 0 {
			continue
		}
		is := func(x *model.Message) bool {
			got, _, _ := interp.DecodeFrameAs(p, strs, frame, func(c *model.Message) bool { return c == x })
			return got == x
		}
		if is(m) && is(o) {
			return bytes.Clone(frame)
		}
	}
	return nil
}

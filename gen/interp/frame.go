package interp

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// FrameSize returns the length in bytes of the frame that starts at b[0], 0 if
// b is too short to tell, or an error (Problem is not 0) if no valid frame can
// start so. If the header has no length a frame is whatever b holds. p.Wire must not be nil.
// Of a protocol with several channels p is that of the channel, as [model.Protocol.Over] gives it; all that reads takes
// it so.
//
// It does not know who receives the frame. If that matters, see [FrameSizeTo].
func FrameSize(p *model.Protocol, b []byte) (int, wire.Error) { return FrameSizeTo(p, b, "") }

// FrameSizeTo is [FrameSize] for a frame that a role receives.
func FrameSizeTo(p *model.Protocol, b []byte, to string) (int, wire.Error) {
	if p.Wire.Lines {
		return lineSize(p, b)
	}
	if p.Wire.Self {
		return selfSize(p, b, to)
	}
	if len(b) < p.Wire.HeaderLen {
		return 0, wire.Error{}
	}
	h, err := readHeader(p, b)
	return h.total, err
}

// DecodeFrame decodes one whole frame. Texts are interned in strs. If the
// frame is malformed the error's Problem is not 0; the package comment lists the
// values. Slots are those of the message's fields. p.Wire must not be nil.
//
// It does not know who receives the frame. If that matters, because the header does not tell what one
// role sends from what another does, see [DecodeFrameTo].
func DecodeFrame(p *model.Protocol, strs *Strings, b []byte) (*model.Message, []int64, wire.Error) {
	return DecodeFrameTo(p, strs, b, "")
}

// DecodeFrameTo is [DecodeFrame] for a frame that a role receives.
func DecodeFrameTo(p *model.Protocol, strs *Strings, b []byte, to string) (*model.Message, []int64, wire.Error) {
	return DecodeFrameAs(p, strs, b, func(m *model.Message) bool { return m.Reaches(to, p) })
}

// DecodeFrameAs is [DecodeFrame] for a frame that can only be some of the messages. Messages that the
// header does not tell from each other are tried in their order. If the frame is none of them, the error is
// that of the one that was read farthest, the first of these.
func DecodeFrameAs(p *model.Protocol, strs *Strings, b []byte, may func(*model.Message) bool) (*model.Message,
	[]int64, wire.Error) {
	if p.Wire.Lines {
		return decodeLine(p, strs, b)
	}
	if p.Wire.Self {
		m, slots, end, err := decodeSelf(p, strs, b, may)
		if err.Problem == 0 && end < len(b) {
			return nil, nil, wire.Error{Message: m.Name, Offset: end, Problem: wire.Trailing,
				Value: int64(len(b) - end)}
		}
		return m, slots, err
	}
	if len(b) < p.Wire.HeaderLen {
		return nil, nil, wire.Error{Problem: wire.Short, Value: int64(len(b)), Limit: int64(p.Wire.HeaderLen)}
	}
	h, err := readHeader(p, b)
	if err.Problem != 0 {
		return nil, nil, err
	}
	if h.msg == nil {
		return nil, nil, wire.Error{Problem: wire.Short, Value: int64(len(b)), Limit: int64(len(b) + 1)}
	}
	if len(b) < h.total {
		return nil, nil, wire.Error{Message: h.msg.Name, Problem: wire.Short, Value: int64(len(b)),
			Limit: int64(h.total)}
	}
	if len(b) > h.total {
		return nil, nil, wire.Error{Message: h.msg.Name, Offset: h.total, Problem: wire.Trailing,
			Value: int64(len(b) - h.total)}
	}
	alike := p.Alike(h.msg)
	if len(alike) == 1 {
		slots, err := decodeBody(p, strs, b, h.msg, h.body)
		if err.Problem != 0 {
			return nil, nil, err
		}
		return checked(p, b, h.msg, slots)
	}
	var worst wire.Error
	for _, m := range alike {
		if !may(m) {
			continue
		}
		least, e := leastFrame(p.Wire, m), wire.Error{}
		var slots []int64
		if len(b) < least {
			e = wire.Error{Message: m.Name, Problem: wire.Short, Value: int64(len(b)), Limit: int64(least)}
		} else {
			slots, e = decodeBody(p, strs, b, m, h.body)
		}
		if e.Problem == 0 {
			return checked(p, b, m, slots)
		}
		worst = wire.Farther(worst, e)
	}
	if worst.Problem == 0 {
		worst.Problem = wire.UnknownType
	}
	return nil, nil, worst
}

// leastFrame returns the least bytes that a frame of m has.
func leastFrame(w *model.Wire, m *model.Message) int {
	return w.HeaderLen + model.LeastBody(w.HeaderLen, m.Layout)
}

// decodeBody reads a frame as one message, whose body begins at a place.
func decodeBody(p *model.Protocol, strs *Strings, b []byte, m *model.Message, body int) ([]int64, wire.Error) {
	d := decoder{b: b, whole: len(b), strs: strs}
	d.err.Message = m.Name
	slots := make([]int64, FieldSlots(m.Fields))
	if !d.heads(m, slots) {
		return nil, d.err
	}
	d.at = body
	if !d.items(m.Layout, slots, "") {
		return nil, d.err
	}
	if d.at < len(b) && !p.Wire.Surplus {
		return nil, wire.Error{Message: m.Name, Offset: d.at, Problem: wire.Trailing, Value: int64(len(b) - d.at)}
	}
	return slots, wire.Error{}
}

// checked returns a message that was read, unless the checksum in the header is wrong.
func checked(p *model.Protocol, b []byte, m *model.Message, slots []int64) (*model.Message, []int64, wire.Error) {
	if it := checksumOf(p.Wire); it != nil {
		got, want := uint32(wire.Unsigned(b[it.Offset:it.Offset+4], it.Little)), wire.Checksum(b, it.Offset)
		if got != want {
			return nil, nil, wire.Error{Message: m.Name, Field: "checksum", Offset: it.Offset, Problem: wire.BadSum,
				Value: int64(got), Limit: int64(want)}
		}
	}
	return m, slots, wire.Error{}
}

// header is what the first bytes of a frame say.
type header struct {
	msg   *model.Message // the first of those that the header allows
	total int            // bytes of the frame; 0 if b ends before the header does
	body  int            // where the body begins
}

// readHeader reads the header at the beginning of b, which has at least HeaderLen bytes.
func readHeader(p *model.Protocol, b []byte) (header, wire.Error) {
	w := p.Wire
	at, lengthAt, lengthEnd := 0, 0, 0
	var length *model.WireLength
	stated := int64(0)
	var msg *model.Message
	if w.TypeNumber() == nil && len(p.Messages) > 0 {
		msg = p.Messages[0]
	}
	typed := func(id uint64) wire.Error {
		if msg = messageByID(p, id); msg == nil {
			return wire.Error{Offset: at, Problem: wire.UnknownType, Value: int64(id)}
		}
		return wire.Error{}
	}
	d := decoder{b: b}
	for _, item := range w.Header {
		d.at = at
		var e wire.Error
		n := model.FixedBytes(item)
		if len(b)-at < n {
			return header{}, e
		}
		switch it := item.(type) {
		case *model.WireLength:
			v, size, ok := d.number(it.Number, "")
			if !ok {
				return header{}, d.unfinished()
			}
			length, lengthAt, lengthEnd, stated, n = it, at, at+size, int64(v), size
		case *model.WireType:
			v, size, ok := d.number(it.Number, "")
			if !ok {
				return header{}, d.unfinished()
			}
			n, e = size, typed(v)
		case *model.WireConst:
			if !d.constant(it) {
				return header{}, d.unfinished()
			}
			n = d.at - at
		case *model.WireLiteral:
			if !d.literal(it) {
				return header{}, d.err
			}
		case *model.WireBits:
			word, _, _ := d.number(it.Number, "")
			for _, part := range it.Parts {
				switch x := part.Item.(type) {
				case *model.WireType:
					e = typed(cutBits(word, part))
				case *model.WireConst:
					if v := int64(cutBits(word, part)); v != x.Value {
						e = wire.Error{Offset: at, Problem: wire.Mismatch, Value: v, Limit: x.Value}
					}
				}
				if e.Problem != 0 {
					return header{}, e
				}
			}
		}
		if e.Problem != 0 {
			return header{}, e
		}
		at += n
	}
	if msg == nil {
		return header{}, wire.Error{Problem: wire.UnknownType}
	}
	total := int64(len(b))
	if length != nil {
		total = stated + int64(less(length, lengthEnd, at))
	}
	e := wire.Error{Message: msg.Name, Offset: lengthAt, Value: total}
	least := int64(leastFrame(w, msg))
	for _, m := range p.Alike(msg) {
		least = min(least, int64(leastFrame(w, m)))
	}
	if w.Varies && total >= least {
		least = int64(at)
	}
	if total < least {
		e.Problem, e.Limit = wire.Short, least
		return header{}, e
	}
	if total > int64(w.Max) {
		e.Problem, e.Limit = wire.Long, int64(w.Max)
		return header{}, e
	}
	return header{msg, int(total), at}, wire.Error{}
}

// less returns how many bytes a length that ends at end leaves out, in a header of so many bytes.
func less(it *model.WireLength, end, header int) int {
	switch it.Of {
	case model.LengthOfBody:
		return header
	case model.LengthOfRest:
		return end
	}
	return 0
}

// unfinished returns the error of a number in a header: none if b ends before it does.
func (d *decoder) unfinished() wire.Error {
	if d.err.Problem == wire.Short {
		return wire.Error{}
	}
	return d.err
}

// cutBits returns the bits of one item of a number.
func cutBits(word uint64, part model.WireBit) uint64 {
	n := model.Number{Bits: part.Bits}
	if x, ok := part.Item.(*model.WireInt); ok {
		n.Signed = x.Signed
	}
	if x, ok := part.Item.(*model.WireConst); ok {
		n.Signed = x.Signed
	}
	return extend(word>>part.Shift, n)
}

// extend returns the lowest bits of v as the number that they are: a signed one with its sign.
func extend(v uint64, n model.Number) uint64 {
	v &= largest(n.Bits)
	if n.Signed && n.Bits < 64 && v>>(n.Bits-1) != 0 {
		v |= ^largest(n.Bits)
	}
	return v
}

// heads reads the items of the header that depend on the message.
func (d *decoder) heads(m *model.Message, slots []int64) bool {
	for _, h := range m.Head {
		d.at = h.At
		word, _, _ := d.number(h.In, "")
		switch it := h.Item.(type) {
		case *model.WireInt:
			if !d.known(it, cutBits(word, model.WireBit{Item: it, Shift: h.Shift, Bits: it.Bits}),
				slots[it.Field.Offset:], it.Field.Name) {
				return false
			}
		case *model.WireConst:
			if v := int64(cutBits(word, model.WireBit{Item: it, Shift: h.Shift, Bits: it.Bits})); v != it.Value {
				return d.fail("", d.at, wire.Mismatch, v, it.Value)
			}
		}
	}
	return true
}

func messageByID(p *model.Protocol, id uint64) *model.Message {
	for _, m := range p.Messages {
		if m.ID >= 0 && uint64(m.ID) == id {
			return m
		}
	}
	return nil
}

// checksumOf returns the header's checksum, nil if it has none.
func checksumOf(w *model.Wire) *model.WireChecksum {
	for _, item := range w.Header {
		if it, ok := item.(*model.WireChecksum); ok {
			return it
		}
	}
	return nil
}

// padding is the number of bytes an align needs at a position; begin has the
// positions of the items before it.
func padding(at int, begin []int, it *model.WireAlign) int {
	since := 0
	if it.Since >= 0 {
		since = begin[it.Since]
	}
	if over := (at - since) % it.To; over != 0 {
		return it.To - over
	}
	return 0
}

// largest is the greatest number of so many bits, as the bits of an int64.
func largest(bits int) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<bits - 1
}

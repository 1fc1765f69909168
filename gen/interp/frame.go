package interp

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// FrameSize returns the length in bytes of the frame that starts at b[0], 0 if
// b is too short to tell, or an error (Problem is not 0) if no valid frame can
// start so. If the header has no length a frame is whatever b holds. p.Wire must not be nil.
func FrameSize(p *model.Protocol, b []byte) (int, wire.Error) {
	if p.Wire.Lines {
		return lineSize(p, b)
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
func DecodeFrame(p *model.Protocol, strs *Strings, b []byte) (*model.Message, []int64, wire.Error) {
	if p.Wire.Lines {
		return decodeLine(p, strs, b)
	}
	if len(b) < p.Wire.HeaderLen {
		return nil, nil, wire.Error{Problem: wire.Short, Value: int64(len(b)), Limit: int64(p.Wire.HeaderLen)}
	}
	h, err := readHeader(p, b)
	if err.Problem != 0 {
		return nil, nil, err
	}
	if len(b) < h.total {
		return nil, nil, wire.Error{Message: h.msg.Name, Problem: wire.Short, Value: int64(len(b)),
			Limit: int64(h.total)}
	}
	if len(b) > h.total {
		return nil, nil, wire.Error{Message: h.msg.Name, Offset: h.total, Problem: wire.Trailing,
			Value: int64(len(b) - h.total)}
	}
	d := decoder{b: b, at: p.Wire.HeaderLen, strs: strs}
	d.err.Message = h.msg.Name
	slots := make([]int64, FieldSlots(h.msg.Fields))
	if !d.items(h.msg.Layout, slots, "") {
		return nil, nil, d.err
	}
	if it := checksumOf(p.Wire); it != nil {
		if got, want := uint32(number(b[it.Offset:], 32, it.Little)), wire.Checksum(b, it.Offset); got != want {
			return nil, nil, wire.Error{Message: h.msg.Name, Offset: it.Offset, Problem: wire.Mismatch,
				Value: int64(got), Limit: int64(want)}
		}
	}
	if d.at < len(b) && !p.Wire.Surplus {
		return nil, nil, wire.Error{Message: h.msg.Name, Offset: d.at, Problem: wire.Trailing,
			Value: int64(len(b) - d.at)}
	}
	return h.msg, slots, wire.Error{}
}

type header struct {
	msg   *model.Message
	total int
}

// readHeader reads the header at the beginning of b, which is long enough.
func readHeader(p *model.Protocol, b []byte) (header, wire.Error) {
	w := p.Wire
	at, total, lengthAt := 0, int64(len(b)), 0
	var msg *model.Message
	if len(p.Messages) == 1 {
		msg = p.Messages[0]
	}
	for _, item := range w.Header {
		switch it := item.(type) {
		case *model.WireLength:
			lengthAt, total = at, int64(number(b[at:], it.Bits, it.Little))+int64(it.Less)
			at += it.Bits / 8
		case *model.WireType:
			id := number(b[at:], it.Bits, it.Little)
			if msg = messageByID(p, id); msg == nil {
				return header{}, wire.Error{Offset: at, Problem: wire.UnknownType, Value: int64(id)}
			}
			at += it.Bits / 8
		case *model.WireConst:
			if v := number(b[at:], it.Bits, it.Little); v != uint64(it.Value) {
				return header{}, wire.Error{Offset: at, Problem: wire.Mismatch, Value: int64(v), Limit: it.Value}
			}
			at += it.Bits / 8
		default:
			at += fixedSize(item)
		}
	}
	if msg == nil {
		return header{}, wire.Error{Problem: wire.UnknownType}
	}
	e := wire.Error{Message: msg.Name, Offset: lengthAt, Value: total}
	if least := int64(w.HeaderLen + minBody(w.HeaderLen, msg.Layout)); total < least {
		e.Problem, e.Limit = wire.Short, least
		return header{}, e
	}
	if total > int64(w.Max) {
		e.Problem, e.Limit = wire.Long, int64(w.Max)
		return header{}, e
	}
	return header{msg, int(total)}, wire.Error{}
}

func messageByID(p *model.Protocol, id uint64) *model.Message {
	for _, m := range p.Messages {
		if m.ID >= 0 && uint64(m.ID) == id {
			return m
		}
	}
	return nil
}

// minBody counts the bytes of a body whose lists and texts are empty, without
// aligning at the end.
func minBody(start int, items []model.WireItem) int {
	at, least := start, start
	begin := make([]int, len(items))
	for i, item := range items {
		begin[i] = at
		n := fixedSize(item)
		if it, ok := item.(*model.WireAlign); ok {
			at += padding(at, begin, it)
		}
		if n > 0 {
			at += n
			least = at
		}
	}
	return least - start
}

// fixedSize is the size in bytes of an item that has always the same, else 0.
func fixedSize(item model.WireItem) int {
	switch it := item.(type) {
	case *model.WireLength:
		return it.Bits / 8
	case *model.WireType:
		return it.Bits / 8
	case *model.WireSequence:
		return it.Bits / 8
	case *model.WireChecksum:
		return 4
	case *model.WireInt:
		return it.Bits / 8
	case *model.WireConst:
		return it.Bits / 8
	case *model.WireCount:
		return it.Bits / 8
	case *model.WirePad:
		return it.Bytes
	case *model.WireAddress:
		return it.Bytes
	case *model.WireEach:
		return it.Rows * it.RowBytes
	case *model.WirePresent:
		return int(it.Field.Type.Index.Count())
	}
	return 0
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

// number reads an unsigned integer of bits/8 bytes.
func number(b []byte, bits int, little bool) uint64 {
	v, n := uint64(0), bits/8
	for i := range n {
		k := i
		if little {
			k = n - 1 - i
		}
		v = v<<8 | uint64(b[k])
	}
	return v
}

// appendNumber appends an unsigned integer of bits/8 bytes.
func appendNumber(b []byte, v uint64, bits int, little bool) []byte {
	n := bits / 8
	for i := range n {
		k := n - 1 - i
		if little {
			k = i
		}
		b = append(b, byte(v>>(8*k)))
	}
	return b
}

// largest is the greatest number of so many bits, as the bits of an int64.
func largest(bits int) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<bits - 1
}

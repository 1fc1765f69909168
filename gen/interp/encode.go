package interp

import (
	"strings"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// AppendFrame appends the frame of a message to dst. If it has no encoding the
// error's Problem is not 0 and dst is returned as it was. Slots must be within the fields'
// types. p.Wire must not be nil.
func AppendFrame(p *model.Protocol, strs *Strings, dst []byte, msg *model.Message, slots []int64) ([]byte, wire.Error) {
	p = p.Over(msg.Channel)
	if p.Wire.Lines {
		return appendLine(p, strs, dst, msg, slots)
	}
	e := encoder{strs: strs, err: wire.Error{Message: msg.Name}}
	lengthAt, lengthEnd := 0, 0
	var length *model.WireLength
	for _, item := range p.Wire.Header {
		switch it := item.(type) {
		case *model.WireLength:
			least, _ := it.Bytes()
			length, lengthAt, lengthEnd = it, len(e.b), len(e.b)+least
			e.b = append(e.b, make([]byte, least)...)
		case *model.WireType:
			e.number(it.Number, uint64(msg.ID))
		case *model.WireConst:
			e.number(it.Number, uint64(it.Value))
		case *model.WireLiteral:
			e.b = append(e.b, it.Bytes...)
		case *model.WireBits:
			word := uint64(0)
			for _, part := range it.Parts {
				switch x := part.Item.(type) {
				case *model.WireType:
					word |= uint64(msg.ID) << part.Shift
				case *model.WireConst:
					word |= uint64(x.Value) & largest(x.Bits) << part.Shift
				}
			}
			e.number(it.Number, word)
		default:
			e.b = append(e.b, make([]byte, model.FixedBytes(item))...)
		}
	}
	body := len(e.b)
	if !e.heads(msg, slots) {
		return dst, e.err
	}
	if !e.items(msg.Layout, slots, "") {
		return dst, e.err
	}
	setLength := func(varint bool) bool {
		return length == nil || varint != (length.Varint != model.Fixed) ||
			e.length(length, lengthAt, less(length, lengthEnd, body))
	}
	if !setLength(true) {
		return dst, e.err
	}
	if len(e.b) > p.Wire.Max {
		e.fail("", 0, wire.Long, int64(len(e.b)), int64(p.Wire.Max))
		return dst, e.err
	}
	if !setLength(false) {
		return dst, e.err
	}
	if it := checksumOf(p.Wire); it != nil {
		wire.AppendUnsigned(e.b[:it.Offset], uint64(wire.Checksum(e.b, it.Offset)), 4, it.Little)
	}
	return append(dst, e.b...), wire.Error{}
}

// encoder writes one frame into b.
type encoder struct {
	b    []byte
	strs *Strings
	last bool // the element of a list took the rest, so none can follow
	// ended: there was a sum over the frame's length. begins is where items begin, as in a decoder.
	ended  bool
	begins [][]int
	err    wire.Error
}

func (e *encoder) fail(field string, offset int, problem wire.Problem, value, limit int64) bool {
	e.err.Field, e.err.Offset, e.err.Problem, e.err.Value, e.err.Limit = field, offset, problem, value, limit
	return false
}

// length fills in the header's length, which stands at a place and leaves out some bytes. One of
// varying length has one byte there until its number is known.
func (e *encoder) length(it *model.WireLength, at, less int) bool {
	n := len(e.b) - less
	if _, most := it.Range(); uint64(n) > most {
		return e.fail("", at, wire.Range, int64(n), int64(most))
	}
	number := appendNumber(nil, it.Number, uint64(n))
	least, _ := it.Bytes()
	e.b = wire.Widen(e.b, at, len(number)-least)
	copy(e.b[at:], number)
	return true
}

// number appends a number that fits.
func (e *encoder) number(n model.Number, v uint64) { e.b = appendNumber(e.b, n, xored(v, n, e.b)) }

func appendNumber(b []byte, n model.Number, v uint64) []byte {
	if n.Varint != model.Fixed && n.Signed {
		v = wire.Zigzag(int64(v))
	}
	switch n.Varint {
	case model.LEB128:
		return wire.AppendLEB128(b, v)
	case model.QUIC:
		return wire.AppendQUIC(b, v)
	case model.Decimal:
		if n.Signed {
			return wire.AppendInteger(b, v, n.End)
		}
		return wire.AppendDigits(b, v, 10, n.End)
	case model.Hex:
		return wire.AppendDigits(b, v, 16, n.End)
	}
	return wire.AppendUnsigned(b, v, n.Bits/8, n.Little)
}

// heads puts what the message has in the header there.
func (e *encoder) heads(m *model.Message, slots []int64) bool {
	for _, h := range m.Head {
		n, ok := uint64(0), true
		switch it := h.Item.(type) {
		case *model.WireInt:
			n, ok = e.written(it, slots[it.Field.Offset:], it.Field.Name)
		case *model.WireConst:
			n = uint64(it.Value) & largest(it.Bits)
		}
		if !ok {
			return false
		}
		place := e.b[h.At : h.At+h.In.Bits/8]
		wire.AppendUnsigned(place[:0], wire.Unsigned(place, h.In.Little)|n<<h.Shift, len(place), h.In.Little)
	}
	return true
}

// bits writes a number whose bits are several items.
func (e *encoder) bits(it *model.WireBits, slots []int64, prefix string) bool {
	word := uint64(0)
	for _, part := range it.Parts {
		n, ok := uint64(0), true
		switch x := part.Item.(type) {
		case *model.WireInt:
			n, ok = e.written(x, slots[x.Field.Offset:], prefix+x.Field.Name)
		case *model.WirePresent:
			n = uint64(slots[x.Field.Offset])
		case *model.WireConst:
			n = uint64(x.Value)
		}
		if !ok {
			return false
		}
		word |= n & largest(part.Bits) << part.Shift
	}
	e.number(it.Number, word)
	return true
}

func (e *encoder) items(items []model.WireItem, slots []int64, prefix string) bool {
	begin := make([]int, len(items))
	e.begins = append(e.begins, begin)
	defer func() { e.begins = e.begins[:len(e.begins)-1] }()
	var sums []sumAhead
	for i, item := range items {
		begin[i] = len(e.b)
		e.summed(sums, i)
		ok := true
		switch it := item.(type) {
		case *model.WireInt:
			ok = e.int(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WirePad:
			e.b = append(e.b, make([]byte, it.Bytes)...)
		case *model.WireConst:
			e.number(it.Number, uint64(it.Value))
		case *model.WireLiteral:
			e.b = append(e.b, it.Bytes...)
		case *model.WireSum:
			if it.Ahead {
				sums = append(sums, sumAhead{it: it, at: len(e.b)})
				e.b = append(e.b, make([]byte, it.Bits/8)...)
				break
			}
			e.sum(it)
		case *model.WireBits:
			ok = e.bits(it, slots, prefix)
		case *model.WireSpace:
			e.b = append(e.b, strings.Repeat(" ", it.Blanks)...)
		case *model.WireAlign:
			e.b = append(e.b, make([]byte, padding(len(e.b), begin, it))...)
		case *model.WireRun:
			for range slots[it.Field.Offset] {
				e.b = append(e.b, it.Byte)
			}
		case *model.WireAddress:
			ok = e.address(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WirePresent:
			e.present(it, slots[it.Field.Offset:])
		case *model.WireSized:
			ok = e.sized(it, slots, prefix)
		case *model.WireIf:
			ok = e.part(it, slots, prefix)
		case *model.WireCase:
			ok = e.choice(it, slots, prefix)
		case *model.WireCount:
			ok = e.count(it, slots[it.Field.Offset:], prefix+it.Field.Name, cuts(items, it.Field))
		case *model.WireEach:
			ok = e.each(it, slots, prefix)
		case *model.WireWord:
			e.b = append(append(e.b, it.Field.Type.InLine()[slots[it.Field.Offset]]...), it.End...)
		case *model.WireBytes:
			ok = e.text(it, slots[it.Field.Offset], prefix+it.Field.Name)
		case *model.WireValue:
			e.value(it.Field.Type, slots[it.Field.Offset:])
		}
		if !ok {
			return false
		}
	}
	e.summed(sums, len(items))
	return true
}

func (e *encoder) int(it *model.WireInt, slots []int64, field string) bool {
	v, ok := e.written(it, slots, field)
	if ok {
		e.number(it.Number, v)
	}
	return ok
}

// written returns the number that stands for the value of a field.
func (e *encoder) written(it *model.WireInt, slots []int64, field string) (n uint64, ok bool) {
	t, v := it.Field.Type, slots[0]
	switch {
	case t.Kind == model.KindOptional && v == 0:
		return uint64(it.None) & largest(it.Bits), true
	case t.Kind == model.KindOptional:
		t, v = t.Elem, slots[1]
	}
	if t.Kind == model.KindEnum && v >= 0 && v < int64(len(t.Codes)) {
		v = t.Codes[v]
	}
	lo, hi := it.Range()
	if v < lo && t.Kind != model.KindOpaque {
		return 0, e.fail(field, len(e.b), wire.Range, v, lo)
	}
	if it.Signed && v > int64(hi) || !it.Signed && uint64(v) > hi {
		return 0, e.fail(field, len(e.b), wire.Range, v, int64(hi))
	}
	if it.Varint == model.Fixed {
		return uint64(v) & largest(it.Bits), true
	}
	return uint64(v), true
}

// count writes the length of a list or text, or how many elements of an array are there; most is
// where a text is cut.
func (e *encoder) count(it *model.WireCount, slots []int64, field string, cut bool) bool {
	n := slots[0]
	switch t := it.Field.Type; t.Kind {
	case model.KindBytes:
		n = int64(len(e.strs.Get(n)))
		if cut {
			n = min(n, int64(t.Cap))
		}
	case model.KindArray:
		n = 0
		for i := range int(t.Index.Count()) {
			n += slots[i*t.Elem.Slots()]
		}
	}
	if _, most := it.Range(); uint64(n) > most {
		return e.fail(field, len(e.b), wire.Count, n, int64(most))
	}
	e.number(it.Number, uint64(n))
	return true
}

// cuts reports whether the text of a field is cut.
func cuts(items []model.WireItem, f *model.Field) bool {
	for _, item := range items {
		if b, ok := item.(*model.WireBytes); ok && b.Field == f {
			return b.Cut
		}
	}
	return false
}

func (e *encoder) each(it *model.WireEach, all []int64, prefix string) bool {
	t := it.Field.Type
	slots, field := all[it.Field.Offset:], prefix+it.Field.Name
	size, from, n := t.Elem.Slots(), 0, 0
	if it.ToEnd || it.Until != nil {
		return e.open(it, all, prefix)
	}
	if t.Kind == model.KindList {
		n, slots = int(slots[0]), slots[1:]
	} else {
		from, n = it.Elements()
	}
	for i := from; i < n; i++ {
		row := slots[i*size : (i+1)*size]
		if it.Present != nil && row[0] == 0 {
			e.b = append(e.b, make([]byte, it.RowBytes)...)
		} else if !e.items(it.Items, row, field+".") {
			return false
		}
	}
	e.b = append(e.b, make([]byte, max(it.Rows-(n-from), 0)*it.RowBytes)...)
	return true
}

// address writes the number + 1 of an instance, for the link to put the address there.
func (e *encoder) address(it *model.WireAddress, slots []int64, field string) bool {
	v := slots[0]
	if it.Field.Type.Kind == model.KindOptional {
		if v = -1; slots[0] != 0 {
			v = slots[1]
		}
	}
	if v < -1 || v > 254 {
		return e.fail(field, len(e.b), wire.Range, v, 254)
	}
	e.b = append(append(e.b, byte(v+1)), make([]byte, it.Bytes-1)...)
	return true
}

// present writes which elements of an array are there.
func (e *encoder) present(it *model.WirePresent, slots []int64) {
	if it.Field.Type.Kind == model.KindOptional {
		e.number(it.Number, uint64(slots[0]))
		return
	}
	from, to := it.Of.Elements()
	for i := from; i < to; i++ {
		e.b = append(e.b, byte(slots[i*it.Field.Type.Elem.Slots()]))
	}
	e.b = append(e.b, make([]byte, it.Of.Rows-(to-from))...)
}

func (e *encoder) text(it *model.WireBytes, handle int64, field string) bool {
	s, most := e.strs.Get(handle), it.Field.Type.Cap
	problem := wire.Count
	if it.Nul {
		problem = wire.Unterminated
	}
	if len(s) > most && it.Cut {
		s = s[:most]
	}
	if len(s) > most || it.Whole && len(s) < most || it.Nul && strings.IndexByte(s, 0) >= 0 {
		return e.fail(field, len(e.b), problem, int64(len(s)), int64(most))
	}
	if it.Domain {
		b, bad := wire.AppendDomain(e.b, []byte(s))
		if bad >= 0 {
			return e.fail(field, len(e.b)+bad, wire.Range, int64(len(s)), 63)
		}
		e.b = b
		return true
	}
	if i := wire.BadIn(it.Field.Type.Charset, []byte(s)); i >= 0 {
		return e.fail(field, len(e.b)+i, wire.Charset, int64(s[i]), 0)
	}
	if it.Tight && wire.Spaces([]byte(s)) > 0 {
		return e.fail(field, len(e.b), wire.Charset, int64(s[0]), 0)
	}
	if it.End != "" {
		if i := wire.BadByte([]byte(s), it.Field.Type.Without, false); i >= 0 && !it.Field.Type.Binary {
			return e.fail(field, len(e.b)+i, wire.Charset, int64(s[i]), 0)
		}
		if !wire.Holds([]byte(s), it.End, it.LoneLF) {
			return e.fail(field, len(e.b), wire.Unterminated, int64(len(s)), int64(most))
		}
		e.b = append(append(e.b, s...), it.End...)
		return true
	}
	e.b = append(e.b, s...)
	if it.XorAt > 0 {
		wire.XorBytes(e.b[len(e.b)-len(s):], e.b[it.XorAt-1:])
	}
	e.last = e.last || it.Rest
	if it.Nul {
		e.b = append(e.b, 0)
	}
	return true
}

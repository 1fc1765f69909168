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
	if p.Wire.Lines {
		return appendLine(p, strs, dst, msg, slots)
	}
	e := encoder{strs: strs, err: wire.Error{Message: msg.Name}}
	for _, item := range p.Wire.Header {
		switch it := item.(type) {
		case *model.WireLength:
			e.b = append(e.b, make([]byte, it.Bits/8)...)
		case *model.WireType:
			e.b = appendNumber(e.b, uint64(msg.ID), it.Bits, it.Little)
		case *model.WireConst:
			e.b = appendNumber(e.b, uint64(it.Value), it.Bits, it.Little)
		default:
			e.b = append(e.b, make([]byte, fixedSize(item))...)
		}
	}
	if !e.items(msg.Layout, slots, "") {
		return dst, e.err
	}
	if len(e.b) > p.Wire.Max {
		e.fail("", 0, wire.Long, int64(len(e.b)), int64(p.Wire.Max))
		return dst, e.err
	}
	if !e.length(p.Wire) {
		return dst, e.err
	}
	if it := checksumOf(p.Wire); it != nil {
		appendNumber(e.b[:it.Offset], uint64(wire.Checksum(e.b, it.Offset)), 32, it.Little)
	}
	return append(dst, e.b...), wire.Error{}
}

// encoder writes one frame into b.
type encoder struct {
	b    []byte
	strs *Strings
	err  wire.Error
}

func (e *encoder) fail(field string, offset int, problem wire.Problem, value, limit int64) bool {
	e.err.Field, e.err.Offset, e.err.Problem, e.err.Value, e.err.Limit = field, offset, problem, value, limit
	return false
}

// length fills in the header's length.
func (e *encoder) length(w *model.Wire) bool {
	at := 0
	for _, item := range w.Header {
		switch it := item.(type) {
		case *model.WireLength:
			n := len(e.b) - it.Less
			if uint64(n) > largest(it.Bits) {
				return e.fail("", at, wire.Range, int64(n), int64(largest(it.Bits)))
			}
			appendNumber(e.b[:at], uint64(n), it.Bits, it.Little)
			at += it.Bits / 8
		default:
			at += fixedSize(item)
		}
	}
	return true
}

func (e *encoder) items(items []model.WireItem, slots []int64, prefix string) bool {
	begin := make([]int, len(items))
	for i, item := range items {
		begin[i] = len(e.b)
		ok := true
		switch it := item.(type) {
		case *model.WireInt:
			ok = e.int(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WirePad:
			e.b = append(e.b, make([]byte, it.Bytes)...)
		case *model.WireConst:
			e.b = appendNumber(e.b, uint64(it.Value), it.Bits, it.Little)
		case *model.WireAlign:
			e.b = append(e.b, make([]byte, padding(len(e.b), begin, it))...)
		case *model.WireAddress:
			ok = e.address(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WirePresent:
			e.present(it, slots[it.Field.Offset:])
		case *model.WireCount:
			ok = e.count(it, slots[it.Field.Offset:], prefix+it.Field.Name, cuts(items, it.Field))
		case *model.WireEach:
			ok = e.each(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WireBytes:
			ok = e.text(it, slots[it.Field.Offset], prefix+it.Field.Name)
		case *model.WireValue:
			e.value(it.Field.Type, slots[it.Field.Offset:])
		}
		if !ok {
			return false
		}
	}
	return true
}

func (e *encoder) int(it *model.WireInt, slots []int64, field string) bool {
	t, v := it.Field.Type, slots[0]
	switch {
	case t.Kind == model.KindOptional && v == 0:
		e.b = appendNumber(e.b, uint64(it.None), it.Bits, it.Little)
		return true
	case t.Kind == model.KindOptional:
		t, v = t.Elem, slots[1]
	}
	if t.Kind == model.KindEnum && v >= 0 && v < int64(len(t.Codes)) {
		v = t.Codes[v]
	}
	if v < 0 && t.Kind != model.KindOpaque {
		return e.fail(field, len(e.b), wire.Range, v, 0)
	}
	if uint64(v) > largest(it.Bits) {
		return e.fail(field, len(e.b), wire.Range, v, int64(largest(it.Bits)))
	}
	e.b = appendNumber(e.b, uint64(v), it.Bits, it.Little)
	return true
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
	if uint64(n) > largest(it.Bits) {
		return e.fail(field, len(e.b), wire.Count, n, int64(largest(it.Bits)))
	}
	e.b = appendNumber(e.b, uint64(n), it.Bits, it.Little)
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

func (e *encoder) each(it *model.WireEach, slots []int64, field string) bool {
	t := it.Field.Type
	size, n := t.Elem.Slots(), it.Rows
	if t.Kind == model.KindList {
		n, slots = int(slots[0]), slots[1:]
	}
	for i := range n {
		row := slots[i*size : (i+1)*size]
		if it.Present != nil && row[0] == 0 {
			e.b = append(e.b, make([]byte, it.RowBytes)...)
		} else if !e.items(it.Items, row, field+".") {
			return false
		}
	}
	e.b = append(e.b, make([]byte, max(it.Rows-n, 0)*it.RowBytes)...)
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
	t := it.Field.Type
	for i := range int(t.Index.Count()) {
		e.b = append(e.b, byte(slots[i*t.Elem.Slots()]))
	}
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
	if len(s) > most || it.Nul && strings.IndexByte(s, 0) >= 0 {
		return e.fail(field, len(e.b), problem, int64(len(s)), int64(most))
	}
	e.b = append(e.b, s...)
	if it.Nul {
		e.b = append(e.b, 0)
	}
	return true
}

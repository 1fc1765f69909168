package model

import "math/bits"

// DefaultMax is the largest frame that the default wire format can have, in bytes.
const DefaultMax = 1 << 15

// WithDefaultWire returns p if it has a wire format, and else a copy that has the
// default one, so that every machine can run over a link. The machines in
// the copy still refer to the messages of p, which have the same indices.
//
// A frame is the length of the whole frame (u16), the message's index (u16), and its
// fields in order, all numbers big-endian: a scalar as the narrowest of u8, u16, u32 and
// u64 that holds every value of its type, an optional one with the greatest number of one
// width more than needed for none if it must; the others as [WireValue] says. The largest
// frame is that of the largest message.
func WithDefaultWire(p *Protocol) *Protocol {
	if p.Wire != nil {
		return p
	}
	c := *p
	header := []WireItem{&WireLength{Number: Number{Bits: 16}}, &WireType{Number: Number{Bits: 16}}}
	c.Wire = &Wire{Header: header, HeaderLen: 4, Max: 4}
	c.Messages = make([]*Message, len(p.Messages))
	for i, m := range p.Messages {
		d := *m
		d.ID = int64(i)
		d.Layout, d.Head = nil, nil
		size := c.Wire.HeaderLen
		for _, f := range m.Fields {
			item := defaultItem(f)
			d.Layout = append(d.Layout, item)
			size += itemBytes(item, f.Type)
		}
		c.Wire.Max = min(max(c.Wire.Max, size), DefaultMax)
		c.Messages[i] = &d
	}
	return &c
}

// defaultItem lays out one field.
func defaultItem(f *Field) WireItem {
	t := f.Type
	if t.Kind == KindOptional {
		if most, ok := greatest(t.Elem); ok && most < 1<<32-1 {
			w := widthOf(most + 1)
			return &WireInt{Field: f, Number: Number{Bits: w}, HasNone: true, None: 1<<w - 1}
		}
		return &WireValue{Field: f}
	}
	if most, ok := greatest(t); ok {
		return &WireInt{Field: f, Number: Number{Bits: widthOf(most)}}
	}
	return &WireValue{Field: f}
}

// itemBytes returns how many bytes a field takes at most.
func itemBytes(item WireItem, t *Type) int {
	if n, ok := item.(*WireInt); ok {
		return n.Bits / 8
	}
	return MostBytes(t)
}

// MostBytes returns how many bytes a value takes at most as a [WireValue], and about how many in memory.
func MostBytes(t *Type) int {
	switch t.Kind {
	case KindRecord:
		n := 0
		for _, f := range t.Fields {
			n += MostBytes(f.Type)
		}
		return n
	case KindArray:
		return int(t.Index.Count()) * MostBytes(t.Elem)
	case KindList:
		return 2 + t.Cap*MostBytes(t.Elem)
	case KindBytes:
		return 2 + t.Cap
	case KindOptional:
		return 1 + MostBytes(t.Elem)
	}
	n, _ := ValueBytes(t)
	return n
}

// greatest returns the greatest number that a scalar is on the wire; ok is
// false if it is not one unsigned number.
func greatest(t *Type) (most uint64, ok bool) {
	switch t.Kind {
	case KindBool:
		return 1, true
	case KindInt, KindNode:
		return uint64(t.Hi), t.Lo >= 0
	case KindOpaque:
		return 1<<t.Bits - 1, true
	case KindEnum:
		for _, c := range t.Codes {
			if c < 0 {
				return 0, false
			}
			most = max(most, uint64(c))
		}
		return most, true
	}
	return 0, false
}

// widthOf returns the bits of the narrowest number that holds n.
func widthOf(n uint64) int {
	for _, w := range []int{8, 16, 32} {
		if bits.Len64(n) <= w {
			return w
		}
	}
	return 64
}

// ValueBytes returns how many bytes a scalar takes in a [WireValue], and the greatest number there.
func ValueBytes(t *Type) (n int, most uint64) {
	switch t.Kind {
	case KindBool:
		most = 1
	case KindInt, KindNode:
		most = uint64(t.Hi - t.Lo)
	case KindEnum:
		most = uint64(len(t.Names)) - 1
	case KindSet:
		return 8, 1<<t.Elem.Count() - 1
	default:
		most = 1<<t.Bits - 1
	}
	return widthOf(most) / 8, most
}

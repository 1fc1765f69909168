package interp

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// Shape says where the frames of a protocol have what their link fills in: addresses, sequence
// numbers, checksums and constants of the network. The fields are zero where there is nothing of
// that kind. p.Wire must not be nil.
func Shape(p *model.Protocol) (s wire.Shape) {
	at := 0
	for _, item := range p.Wire.Header {
		switch it := item.(type) {
		case *model.WireType:
			s.Type = wire.Number{At: at, Bits: it.Bits, Little: it.Little}
		case *model.WireSequence:
			s.Sequence = wire.Number{At: at, Bits: it.Bits, Little: it.Little}
		case *model.WireChecksum:
			s.Checksum = wire.Number{At: at, Bits: 32, Little: it.Little}
		}
		at += model.FixedBytes(item)
	}
	for i, m := range p.Messages {
		id := uint64(max(m.ID, 0))
		if list := addresses(m.Layout, p.Wire.HeaderLen); len(list) > 0 && s.Addresses[id] == nil {
			if s.Addresses == nil {
				s.Addresses = map[uint64][]wire.Address{}
			}
			s.Addresses[id] = list
		}
		here := constants(m.Layout, p.Wire.HeaderLen)
		if i == 0 {
			s.Constants = here
		}
		s.Constants = slices.DeleteFunc(s.Constants, func(c wire.Constant) bool { return !slices.Contains(here, c) })
	}
	if len(s.Constants) == 0 {
		s.Constants = nil
	}
	return s
}

// constants lists the named constants among items that begin at a fixed place.
func constants(items []model.WireItem, at int) (out []wire.Constant) {
	for _, item := range items {
		if it, ok := item.(*model.WireConst); ok && it.Name != "" {
			out = append(out, wire.Constant{Name: it.Name, Value: uint64(it.Value),
				Number: wire.Number{At: at, Bits: it.Bits, Little: it.Little}})
		}
		if model.FixedBytes(item) == 0 {
			return out
		}
		at += model.FixedBytes(item)
	}
	return out
}

// addresses lists the addresses among items that begin at a fixed place.
func addresses(items []model.WireItem, start int) (out []wire.Address) {
	at := start
	for _, item := range items {
		switch it := item.(type) {
		case *model.WireAddress:
			out = append(out, wire.Address{At: at, Size: it.Bytes})
		case *model.WireEach:
			out = append(out, rowAddresses(items, it, start, at)...)
		}
		if model.FixedBytes(item) == 0 {
			return out // no address follows something without a size
		}
		at += model.FixedBytes(item)
	}
	return out
}

// rowAddresses lists those of each row, and when the row is there.
func rowAddresses(items []model.WireItem, it *model.WireEach, start, at int) (out []wire.Address) {
	first, count := firstColumn(items, it.Field, start)
	if it.Present != nil {
		first, count = it, at+it.AheadOf
	}
	for i := range it.Rows {
		offset := at + i*it.RowBytes
		for _, x := range it.Items {
			if a, ok := x.(*model.WireAddress); ok {
				address := wire.Address{At: offset, Size: a.Bytes}
				switch {
				case first.Present != nil:
					address.If = wire.Number{At: count + i, Bits: 8}
				case first.Count != nil:
					address.If = wire.Number{At: count, Bits: first.Count.Bits, Little: first.Count.Little}
					address.More = uint64(i)
				}
				out = append(out, address)
			}
			offset += model.FixedBytes(x)
		}
	}
	return out
}

// firstColumn returns the first rows of a field, which know of the count or the presence, and where
// that is; the items begin at start.
func firstColumn(items []model.WireItem, f *model.Field, start int) (first *model.WireEach, count int) {
	at := start
	for _, item := range items {
		switch it := item.(type) {
		case *model.WireEach:
			if it.Field == f && first == nil {
				first = it
				if it.AheadOf > 0 {
					count = at + it.AheadOf
				}
			}
		case *model.WireCount:
			if it.Field == f && !it.Late {
				count = at
			}
		}
		at += model.FixedBytes(item)
	}
	return first, count
}

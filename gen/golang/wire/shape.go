package wire

import (
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// shape emits what a link that fills in addresses, sequence numbers and checksums has to know of
// the frames.
func (g *Codec) shape() {
	w := g.P.Wire
	var parts, tables []gotree.Elem
	at, filled := 0, false
	for _, item := range w.Header {
		switch it := item.(type) {
		case *model.WireType:
			parts = append(parts, gotree.Field("Type", numberAt(at, it.Bits, it.Little)))
		case *model.WireSequence:
			parts, filled = append(parts, gotree.Field("Sequence", numberAt(at, it.Bits, it.Little))), true
		case *model.WireChecksum:
			parts, filled = append(parts, gotree.Field("Checksum", numberAt(at, 32, it.Little))), true
		}
		at += itemBits(item) / 8
	}
	seen := map[int64]bool{}
	for _, m := range g.P.Messages {
		if list := addresses(m.Layout, w.HeaderLen); len(list) > 0 && !seen[m.ID] {
			seen[m.ID] = true
			tables = append(tables, gotree.At(gotree.Int(max(m.ID, 0)),
				gotree.Composite{Elems: gotree.Elems(list...), Lines: true}))
		}
	}
	if len(tables) == 0 && !filled {
		return
	}
	if len(tables) > 0 {
		typ := gotree.X("map[uint64][]wire.Address{}").(gotree.Composite).Type
		parts = append(parts, gotree.Field("Addresses", gotree.Composite{Type: typ, Elems: tables, Lines: true}))
	}
	g.tail = append(g.tail, table{"// Shape says where frames have what their link fills in.", "Shape",
		gotree.Composite{Type: gotree.X("wire.Shape"), Elems: parts, Lines: true}})
}

func numberAt(at, bits int, little bool) gotree.Expr {
	if little {
		return gotree.X("wire.Number{At: $1, Bits: $2, Little: true}", at, bits)
	}
	return gotree.X("wire.Number{At: $1, Bits: $2}", at, bits)
}

// address is an element of a list of addresses.
func address(at, size int, more ...gotree.Elem) gotree.Expr {
	return gotree.Composite{Elems: append([]gotree.Elem{gotree.Field("At", gotree.Int(at)),
		gotree.Field("Size", gotree.Int(size))}, more...)}
}

// addresses lists the addresses among items that begin at a fixed place.
func addresses(items []model.WireItem, start int) []gotree.Expr {
	var out []gotree.Expr
	at := start
	for _, item := range items {
		switch it := item.(type) {
		case *model.WireAddress:
			out = append(out, address(at, it.Bytes))
		case *model.WireEach:
			out = append(out, rowAddresses(items, it, start, at)...)
		}
		if itemBits(item) == 0 {
			return out // no address follows something without a size
		}
		at += itemBits(item) / 8
	}
	return out
}

// rowAddresses lists those of each row, and when the row is there.
func rowAddresses(items []model.WireItem, it *model.WireEach, start, at int) []gotree.Expr {
	var out []gotree.Expr
	first, count := firstColumn(items, it.Field, start)
	for i := range it.Rows {
		offset := at + i*it.RowBytes
		for _, x := range it.Items {
			if a, ok := x.(*model.WireAddress); ok {
				var more []gotree.Elem
				switch {
				case first.Present != nil:
					more = append(more, gotree.Field("If", numberAt(count+i, 8, false)))
				case first.Count != nil:
					more = append(more, gotree.Field("If", numberAt(count, first.Count.Bits, first.Count.Little)))
					if i > 0 {
						more = append(more, gotree.Field("More", gotree.Int(i)))
					}
				}
				out = append(out, address(offset, a.Bytes, more...))
			}
			offset += itemBits(x) / 8
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
		at += itemBits(item) / 8
	}
	return first, count
}

package golang

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// shape emits what a link that fills in addresses, sequence numbers and checksums has to know of the frames.
func (g *gen) shape(t *text) {
	w := g.p.Wire
	var parts, tables []string
	at := 0
	for _, item := range w.Header {
		switch it := item.(type) {
		case *model.WireType:
			parts = append(parts, "Type: "+numberAt(at, it.Bits, it.Little))
		case *model.WireSequence:
			parts = append(parts, "Sequence: "+numberAt(at, it.Bits, it.Little))
		case *model.WireChecksum:
			parts = append(parts, "Checksum: "+numberAt(at, 32, it.Little))
		}
		at += itemBits(item) / 8
	}
	seen := map[int64]bool{}
	for _, m := range g.p.Messages {
		if list := addresses(m.Layout, w.HeaderLen); len(list) > 0 && !seen[m.ID] {
			seen[m.ID] = true
			tables = append(tables, fmt.Sprintf("%d: {\n%s,\n}", max(m.ID, 0), strings.Join(list, ",\n")))
		}
	}
	if len(tables) == 0 && !strings.Contains(strings.Join(parts, ""), "Sequence") && !strings.Contains(strings.Join(parts, ""), "Checksum") {
		return
	}
	if len(tables) > 0 {
		parts = append(parts, "Addresses: map[uint64][]wire.Address{\n"+strings.Join(tables, ",\n")+",\n}")
	}
	t.p("\n// Shape says where frames have what their link fills in.\nvar Shape = wire.Shape{\n%s,\n}", strings.Join(parts, ",\n"))
}

func numberAt(at, bits int, little bool) string {
	s := fmt.Sprintf("wire.Number{At: %d, Bits: %d", at, bits)
	if little {
		s += ", Little: true"
	}
	return s + "}"
}

// addresses lists the addresses among items that begin at a fixed place.
func addresses(items []model.WireItem, start int) []string {
	var out []string
	at := start
	for _, item := range items {
		switch it := item.(type) {
		case *model.WireAddress:
			out = append(out, fmt.Sprintf("{At: %d, Size: %d}", at, it.Bytes))
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
func rowAddresses(items []model.WireItem, it *model.WireEach, start, at int) []string {
	var out []string
	first, count := firstColumn(items, it.Field, start)
	for i := range it.Rows {
		offset := at + i*it.RowBytes
		for _, x := range it.Items {
			if a, ok := x.(*model.WireAddress); ok {
				s := fmt.Sprintf("{At: %d, Size: %d", offset, a.Bytes)
				switch {
				case first.Present != nil:
					s += ", If: " + numberAt(count+i, 8, false)
				case first.Count != nil:
					s += ", If: " + numberAt(count, first.Count.Bits, first.Count.Little)
					if i > 0 {
						s += fmt.Sprintf(", More: %d", i)
					}
				}
				out = append(out, s+"}")
			}
			offset += itemBits(x) / 8
		}
	}
	return out
}

// firstColumn returns the first rows of a field, which know of the count or the presence, and where that is; the
// items begin at start.
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

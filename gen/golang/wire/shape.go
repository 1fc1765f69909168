package wire

import (
	"maps"
	"slices"

	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/runtime/wire"
)

// shape emits what a link must know of the frames if it fills in addresses, sequence numbers or
// checksums.
func (g *Codec) shape() {
	s := interp.Shape(g.P)
	if len(s.Addresses) == 0 && len(s.Constants) == 0 && s.Sequence.Bits == 0 && s.Checksum.Bits == 0 {
		return
	}
	var parts, tables, constants []gotree.Elem
	for _, n := range []struct {
		name string
		is   wire.Number
	}{{"Checksum", s.Checksum}, {"Sequence", s.Sequence}, {"Type", s.Type}} {
		if n.is.Bits > 0 {
			parts = append(parts, gotree.Field(n.name, number(n.is)))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Addresses)) {
		var list []gotree.Expr
		for _, a := range s.Addresses[id] {
			list = append(list, address(a))
		}
		tables = append(tables, gotree.At(gotree.Int(id), gotree.Composite{Elems: gotree.Elems(list...), Lines: true}))
	}
	if len(tables) > 0 {
		typ := gotree.X("map[uint64][]wire.Address{}").(gotree.Composite).Type
		parts = append(parts, gotree.Field("Addresses", gotree.Composite{Type: typ, Elems: tables, Lines: true}))
	}
	for _, c := range s.Constants {
		elems := []gotree.Elem{gotree.Field("Name", gotree.Str(c.Name)), gotree.Field("Number", number(c.Number)),
			gotree.Field("Value", gotree.Int(c.Value))}
		constants = append(constants, gotree.Elems(gotree.Composite{Elems: elems})...)
	}
	if len(constants) > 0 {
		typ := gotree.X("[]wire.Constant{}").(gotree.Composite).Type
		parts = append(parts, gotree.Field("Constants", gotree.Composite{Type: typ, Elems: constants, Lines: true}))
	}
	g.tail = append(g.tail, table{"// Shape says where frames have what their link fills in.", "Shape",
		gotree.Composite{Type: gotree.X("wire.Shape"), Elems: parts, Lines: true}})
}

func number(n wire.Number) gotree.Expr {
	if n.Little {
		return gotree.X("wire.Number{At: $1, Bits: $2, Little: true}", n.At, n.Bits)
	}
	return gotree.X("wire.Number{At: $1, Bits: $2}", n.At, n.Bits)
}

// address is an element of a list of addresses.
func address(a wire.Address) gotree.Expr {
	elems := []gotree.Elem{gotree.Field("At", gotree.Int(a.At)), gotree.Field("Size", gotree.Int(a.Size))}
	if a.If.Bits > 0 {
		elems = append(elems, gotree.Field("If", number(a.If)))
	}
	if a.More > 0 {
		elems = append(elems, gotree.Field("More", gotree.Int(a.More)))
	}
	return gotree.Composite{Elems: elems}
}

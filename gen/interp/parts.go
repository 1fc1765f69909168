package interp

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// sized reads a region: how many bytes it has, and its items, for which the frame ends where it does.
func (d *decoder) sized(it *model.WireSized, slots []int64, prefix string) bool {
	field := prefix + it.Name()
	n, size, ok := d.number(it.Number, field)
	if !ok {
		return false
	}
	d.at += size
	if d.self && n > uint64(d.most) {
		return d.fail(field, d.at, wire.Long, int64(n), int64(d.most))
	}
	if n > uint64(len(d.b)-d.at) {
		return d.fail(field, d.at, wire.Short, int64(len(d.b)), int64(uint64(d.at)+min(n, 1<<32)))
	}
	whole := d.b
	d.b = d.b[:d.at+int(n)]
	if !d.items(it.Items, slots, prefix) {
		return false
	}
	if d.at < len(d.b) {
		return d.fail(field, d.at, wire.Trailing, int64(len(d.b)-d.at), 0)
	}
	d.b = whole
	return true
}

// present reads whether the elements of an array, or an optional field, are there.
func (d *decoder) present(it *model.WirePresent, slots []int64, field string) bool {
	if it.Field.Type.Kind != model.KindOptional {
		if !d.need(field, model.FixedBytes(it)) {
			return false
		}
		d.at += model.FixedBytes(it)
		return true
	}
	v, size, ok := d.number(it.Number, field)
	if ok = ok && d.flag(it, v, slots, field); ok {
		d.at += size
	}
	return ok
}

func (d *decoder) flag(it *model.WirePresent, v uint64, slots []int64, field string) bool {
	if v > 1 {
		return d.fail(field, d.at, wire.Range, int64(v), 1)
	}
	slots[0] = int64(v)
	return true
}

// part reads items that are there if an optional field is.
func (d *decoder) part(it *model.WireIf, slots []int64, prefix string) bool {
	there := &slots[it.Field.Offset]
	if !it.Flagged {
		*there = truth(d.at < len(d.b))
	}
	return *there == 0 || d.items(it.Items, slots, prefix)
}

// choice reads the items that a tag says.
func (d *decoder) choice(it *model.WireCase, slots []int64, prefix string) bool {
	for _, b := range it.Branches {
		if !b.Has(slots[it.Tag.Offset]) {
			continue
		}
		for _, f := range b.Fields {
			slots[f.Offset] = 1
		}
		return d.items(b.Items, slots, prefix)
	}
	return true
}

// open reads a list that goes on to the end, or to a number.
func (d *decoder) open(it *model.WireEach, all []int64, prefix string) bool {
	n, ok := d.behind(it.Behind, prefix+it.Field.Name)
	if !ok {
		return false
	}
	whole := d.b
	d.b = d.b[:len(d.b)-n]
	ok = d.elements(it, all, prefix)
	d.b = whole
	return ok
}

func (d *decoder) elements(it *model.WireEach, all []int64, prefix string) bool {
	t, slots, field := it.Field.Type, all[it.Field.Offset:], prefix+it.Field.Name
	names := rowNames(it)
	for {
		if it.ToEnd && d.at >= len(d.b) {
			return true
		}
		if it.Until != nil {
			v, size, ok := d.number(it.Until.Number, field)
			if !ok {
				return false
			}
			if int64(v) == it.Until.Value {
				d.at += size
				return true
			}
		}
		if named, ok := d.named(it, names, all, prefix); !ok {
			return false
		} else if named {
			continue
		}
		n := int(slots[0])
		if n == t.Cap {
			return d.fail(field, d.at, wire.Count, int64(n+1), int64(n))
		}
		size := t.Elem.Slots()
		if !d.items(it.Items, slots[1+n*size:1+(n+1)*size], field+".") {
			return false
		}
		slots[0]++
	}
}

// named reads a row that begins with a name, if one does.
func (d *decoder) named(it *model.WireEach, names []string, all []int64, prefix string) (named, ok bool) {
	i := wire.Named(d.b[d.at:], names)
	if i == wire.Unknown {
		return false, d.fail(prefix+it.Field.Name, d.at, wire.Short, int64(len(d.b)), int64(len(d.b)+1))
	}
	if i < 0 {
		return false, true
	}
	row := &it.Named[i]
	there := &all[row.Field.Offset]
	if *there != 0 {
		return false, d.fail(prefix+row.Field.Name, d.at, wire.Count, 2, 1)
	}
	*there = 1
	d.at += len(row.Name)
	return true, d.items(row.Items, all, prefix)
}

// rowNames lists the names with which rows begin that are no elements.
func rowNames(it *model.WireEach) (names []string) {
	for _, row := range it.Named {
		names = append(names, row.Name)
	}
	return names
}

// sized writes a region, and how many bytes it has.
func (e *encoder) sized(it *model.WireSized, slots []int64, prefix string) bool {
	at := len(e.b)
	least, _ := it.Bytes()
	e.b = append(e.b, make([]byte, least)...)
	last := e.last
	ok := e.items(it.Items, slots, prefix)
	e.last = last || e.ended
	return ok && (e.length(&model.WireLength{Number: it.Number}, at, at+least) ||
		e.fail(prefix+it.Name(), at, e.err.Problem, e.err.Value, e.err.Limit))
}

// part writes items that are there if an optional field is.
func (e *encoder) part(it *model.WireIf, slots []int64, prefix string) bool {
	if slots[it.Field.Offset] == 0 {
		return true
	}
	if it.After != nil && slots[it.After.Offset] == 0 {
		return e.fail(prefix+it.Field.Name, len(e.b), wire.Union, 1, 0)
	}
	return e.items(it.Items, slots, prefix)
}

// choice writes the items that a tag says; fields of the other branches must not be there.
func (e *encoder) choice(it *model.WireCase, slots []int64, prefix string) bool {
	for _, b := range it.Branches {
		if !b.Has(slots[it.Tag.Offset]) {
			continue
		}
		for _, f := range it.Fields {
			want := truth(contains(b.Fields, f))
			if got := slots[f.Offset]; got != want {
				return e.fail(prefix+f.Name, len(e.b), wire.Union, got, want)
			}
		}
		return e.items(b.Items, slots, prefix)
	}
	return true
}

func contains(list []*model.Field, f *model.Field) bool {
	for _, x := range list {
		if x == f {
			return true
		}
	}
	return false
}

// open writes a list that goes on to the end, or to a number, with which no element begins.
func (e *encoder) open(it *model.WireEach, all []int64, prefix string) bool {
	slots, field := all[it.Field.Offset:], prefix+it.Field.Name
	for _, row := range it.Named {
		if all[row.Field.Offset] == 0 {
			continue
		}
		if e.b = append(e.b, row.Name...); !e.items(row.Items, all, prefix) {
			return false
		}
	}
	names := rowNames(it)
	size, n, last := it.Field.Type.Elem.Slots(), int(slots[0]), e.last
	for i := range n {
		begin := len(e.b)
		if it.Last && i > 0 && e.last {
			return e.fail(field, begin, wire.Trailing, int64(n-i), 0)
		}
		e.last = false
		if !e.items(it.Items, slots[1+i*size:1+(i+1)*size], field+".") {
			return false
		}
		if it.Until != nil {
			first := e.b[begin : begin+it.Until.Bits/8]
			if v := int64(wire.Unsigned(first, it.Until.Little)); v == it.Until.Value {
				return e.fail(field, begin, wire.EndMark, v, 0)
			}
		}
		if wire.Named(e.b[begin:], names) >= 0 {
			return e.fail(field, begin, wire.RowName, 0, 0)
		}
	}
	e.last = last || it.ToEnd
	if it.Until != nil {
		e.number(it.Until.Number, uint64(it.Until.Value))
	}
	return true
}

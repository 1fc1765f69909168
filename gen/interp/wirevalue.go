package interp

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// value reads a value of any type, as model.WireValue lays it out. Errors name
// the message's field; the offset is that of the number at fault.
func (d *decoder) value(t *model.Type, slots []int64, field string) bool {
	switch t.Kind {
	case model.KindRecord:
		for _, f := range t.Fields {
			if !d.value(f.Type, slots[f.Offset:], field) {
				return false
			}
		}
		return true
	case model.KindArray:
		return d.values(t.Elem, slots, int(t.Index.Count()), field)
	case model.KindList:
		n, ok := d.valueLength(t, field)
		slots[0] = int64(n)
		return ok && d.values(t.Elem, slots[1:], n, field)
	case model.KindBytes:
		n, ok := d.valueLength(t, field)
		if !ok || !d.need(field, n) {
			return false
		}
		slots[0] = d.strs.Intern(d.b[d.at : d.at+n])
		d.at += n
		return true
	case model.KindOptional:
		if !d.valueNumber(1, 1, 0, slots, field) {
			return false
		}
		return slots[0] == 0 || d.value(t.Elem, slots[1:], field)
	}
	n, most := model.ValueBytes(t)
	return d.valueNumber(n, most, t.Lowest(), slots, field)
}

func (d *decoder) values(t *model.Type, slots []int64, n int, field string) bool {
	for i := range n {
		if !d.value(t, slots[i*t.Slots():], field) {
			return false
		}
	}
	return true
}

// valueNumber reads a number of so many bytes that counts from low.
func (d *decoder) valueNumber(n int, most uint64, low int64, slots []int64, field string) bool {
	if !d.need(field, n) {
		return false
	}
	v := wire.Unsigned(d.b[d.at:d.at+n], false)
	if v > most {
		return d.fail(field, d.at, wire.Range, int64(v), int64(most))
	}
	slots[0] = int64(v) + low
	d.at += n
	return true
}

func (d *decoder) valueLength(t *model.Type, field string) (int, bool) {
	if !d.need(field, 2) {
		return 0, false
	}
	n := int(wire.Unsigned(d.b[d.at:d.at+2], false))
	if n > t.Cap {
		return 0, d.fail(field, d.at, wire.Count, int64(n), int64(t.Cap))
	}
	d.at += 2
	return n, true
}

// value appends a value of any type, which is within its type.
func (e *encoder) value(t *model.Type, slots []int64) {
	switch t.Kind {
	case model.KindRecord:
		for _, f := range t.Fields {
			e.value(f.Type, slots[f.Offset:])
		}
	case model.KindArray:
		e.values(t.Elem, slots, int(t.Index.Count()))
	case model.KindList:
		e.b = wire.AppendUnsigned(e.b, uint64(slots[0]), 2, false)
		e.values(t.Elem, slots[1:], int(slots[0]))
	case model.KindBytes:
		s := e.strs.Get(slots[0])
		e.b = append(wire.AppendUnsigned(e.b, uint64(len(s)), 2, false), s...)
	case model.KindOptional:
		e.b = append(e.b, byte(slots[0]))
		if slots[0] != 0 {
			e.value(t.Elem, slots[1:])
		}
	default:
		n, _ := model.ValueBytes(t)
		e.b = wire.AppendUnsigned(e.b, uint64(slots[0]-t.Lowest()), n, false)
	}
}

func (e *encoder) values(t *model.Type, slots []int64, n int) {
	for i := range n {
		e.value(t, slots[i*t.Slots():])
	}
}

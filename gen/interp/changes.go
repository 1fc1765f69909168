package interp

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// Change is a place in which two values of a machine differ: a parameter or variable, or an element
// or field of one, named as an expression names it (`fleet[2]`, `update[1].own`), and the texts of
// its values.
type Change struct{ Name, Before, After string }

// Changes lists the places in which a and b, values of m, differ, in the order of [AppendMachine].
// States and timers are none of them. Elements of arrays, fields of records and parts are listed
// one by one; lists, sets and all else as a whole, since their elements have no place of their own.
func Changes(strs *Strings, m *model.Machine, a, b Value) []Change {
	d := differ{strs: strs}
	d.machine(m, "", a, b)
	return d.found
}

type differ struct {
	strs  *Strings
	found []Change
}

func (d *differ) machine(m *model.Machine, prefix string, a, b []int64) {
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, v := range list {
			end := v.Offset + v.Type.Slots()
			d.value(v.Type, prefix+v.Name, a[v.Offset:end], b[v.Offset:end])
		}
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			at := p.Offset + i*p.Machine.Size
			d.machine(p.Machine, prefix+PartName(At{Part: p, Index: i})+".", a[at:at+p.Machine.Size],
				b[at:at+p.Machine.Size])
		}
	}
}

func (d *differ) value(t *model.Type, name string, a, b []int64) {
	if slices.Equal(a, b) {
		return
	}
	switch {
	case t.Kind == model.KindRecord:
		at := 0
		for _, f := range t.Fields {
			end := at + f.Type.Slots()
			d.value(f.Type, name+"."+f.Name, a[at:end], b[at:end])
			at = end
		}
	case t.Kind == model.KindArray:
		size := t.Elem.Slots()
		for i := range int(t.Index.Count()) {
			key := AppendValue(nil, d.strs, t.Index, []int64{t.Index.Lowest() + int64(i)})
			d.value(t.Elem, name+"["+string(key)+"]", a[i*size:(i+1)*size], b[i*size:(i+1)*size])
		}
	case t.Kind == model.KindOptional && a[0] != 0 && b[0] != 0:
		d.value(t.Elem, name, a[1:], b[1:])
	default:
		x, y := AppendValue(nil, d.strs, t, a), AppendValue(nil, d.strs, t, b)
		d.found = append(d.found, Change{Name: name, Before: string(x), After: string(y)})
	}
}

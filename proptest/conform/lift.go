package conform

import (
	"fmt"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// lifter carries values from the model that a check narrowed (smaller
// constants and domains) to the full one. Whatever the full model has more of,
// such as further instances of a part, is at its beginning.
type lifter struct{ from, to *interp.Strings }

// value writes what v, of type small, is as a value of type full.
func (l lifter) value(small, full *model.Type, v, dst []int64) {
	switch small.Kind {
	case model.KindEnum:
		for i, n := range full.Names {
			if n == small.Names[v[0]] {
				dst[0] = int64(i)
			}
		}
	case model.KindBytes:
		dst[0] = l.to.Intern([]byte(l.from.Get(v[0])))
	case model.KindOptional:
		clear(dst[:full.Slots()])
		if dst[0] = v[0]; v[0] != 0 {
			l.value(small.Elem, full.Elem, v[1:], dst[1:])
		}
	case model.KindRecord:
		for i, f := range small.Fields {
			g := full.Fields[i]
			l.value(f.Type, g.Type, v[f.Offset:], dst[g.Offset:])
		}
	case model.KindArray:
		interp.Zero(full, dst)
		for i := range int(small.Index.Count()) {
			k := keyIndex(small.Index, full.Index, i)
			l.value(small.Elem, full.Elem, v[i*small.Elem.Slots():], dst[k*full.Elem.Slots():])
		}
	case model.KindList:
		clear(dst[:full.Slots()])
		dst[0] = v[0]
		for i := range int(v[0]) {
			l.value(small.Elem, full.Elem, v[1+i*small.Elem.Slots():], dst[1+i*full.Elem.Slots():])
		}
	case model.KindSet:
		dst[0] = 0
		for i := range 62 {
			if v[0]>>i&1 != 0 {
				dst[0] |= 1 << keyIndex(small.Elem, full.Elem, i)
			}
		}
	case model.KindOpaque:
		dst[0] = v[0]
	default:
		dst[0] = v[0]
	}
}

// keyIndex is the number that value number i of a narrowed type has in the full one.
func keyIndex(small, full *model.Type, i int) int {
	switch small.Kind {
	case model.KindEnum:
		for k, n := range full.Names {
			if n == small.Names[i] {
				return k
			}
		}
	case model.KindInt, model.KindNode:
		return i + int(small.Lo-full.Lo)
	}
	return i
}

// machine writes what v is as a value of the full machine; dst is at its beginning already. The variables and
// monitors that a check adds come last, and the full machine has none.
func (l lifter) machine(small, full *model.Machine, v, dst []int64) {
	dst[0] = v[0]
	for i, p := range small.Params {
		l.value(p.Type, full.Params[i].Type, v[p.Offset:], dst[full.Params[i].Offset:])
	}
	for i, p := range small.Vars[:len(full.Vars)] {
		l.value(p.Type, full.Vars[i].Type, v[p.Offset:], dst[full.Vars[i].Offset:])
	}
	for i, t := range small.Timers {
		q := full.Timers[i]
		for n := range t.Count {
			dst[q.Offset+keyed(t.Keys, q.Keys, t.Count, n)] = v[t.Offset+n]
		}
	}
	for i, p := range small.Parts[:len(full.Parts)] {
		q := full.Parts[i]
		for n := range p.Count {
			k := l.part(p, q, n)
			l.machine(p.Machine, q.Machine, v[p.Offset+n*p.Machine.Size:], dst[q.Offset+k*q.Machine.Size:])
		}
	}
}

// part is the number that instance n of a part has in the full model.
func (l lifter) part(small, full *model.Part, n int) int {
	return keyed(small.Keys, full.Keys, small.Count, n)
}

// keyed is the number that instance n of so many has where the keys have more values.
func keyed(small, full []*model.Field, rest, n int) int {
	k := 0
	for i, key := range small {
		rest /= int(key.Type.Count())
		k = k*int(full[i].Type.Count()) + keyIndex(key.Type, full[i].Type, n/rest)
		n %= rest
	}
	return k
}

// event lifts an event.
func (l lifter) event(full *model.Machine, ev interp.Event) (interp.Event, error) {
	out := interp.Event{Sender: ev.Sender}
	for _, at := range ev.At {
		p := full.Parts[at.Part.Index]
		out.At = append(out.At, interp.At{Part: p, Index: l.part(at.Part, p, at.Index)})
		full = p.Machine
	}
	for _, e := range full.Events {
		if e.Kind == ev.Event.Kind && e.Name == ev.Event.Name {
			out.Event = e
		}
	}
	if out.Event == nil {
		return out, fmt.Errorf("the full model has no event %s", ev.Event.Name)
	}
	out.Args = make([]int64, interp.FieldSlots(out.Event.Fields))
	a, b := 0, 0
	for i, f := range ev.Event.Fields {
		g := out.Event.Fields[i]
		l.value(f.Type, g.Type, ev.Args[a:], out.Args[b:])
		a, b = a+f.Type.Slots(), b+g.Type.Slots()
	}
	return out, nil
}

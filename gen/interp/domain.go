package interp

import (
	"fmt"

	"github.com/parley-go/parley/gen/model"
)

// Zero writes the zero value of t to dst: false, the low bound, the first
// name, none, empty, element by element.
func Zero(t *model.Type, dst []int64) {
	switch t.Kind {
	case model.KindInt, model.KindNode:
		dst[0] = t.Lo
	case model.KindRecord:
		for _, f := range t.Fields {
			Zero(f.Type, dst[f.Offset:])
		}
	case model.KindArray:
		n := t.Elem.Slots()
		for i := range int(t.Index.Count()) {
			Zero(t.Elem, dst[i*n:])
		}
	default:
		clear(dst[:t.Slots()])
	}
}

// Next turns the value of t in dst into the next one of the domain that a
// check explores and reports whether there was one; after the last it is the
// zero value again. The order is fixed: later parts of a value change fastest,
// none comes first, shorter lists come first.
func Next(t *model.Type, dst []int64) bool {
	switch t.Kind {
	case model.KindOptional:
		return nextOptional(t, dst)
	case model.KindRecord:
		for i := len(t.Fields) - 1; i >= 0; i-- {
			if Next(t.Fields[i].Type, dst[t.Fields[i].Offset:]) {
				return true
			}
		}
		return false
	case model.KindArray:
		return nextElems(t.Elem, dst, int(t.Index.Count()))
	case model.KindList:
		return nextList(t, dst)
	}
	if dst[0] < highest(t) {
		dst[0]++
		return true
	}
	dst[0] = t.Lowest()
	return false
}

// highest returns the last value of a scalar type's domain.
func highest(t *model.Type) int64 {
	switch t.Kind {
	case model.KindBool:
		return 1
	case model.KindEnum:
		return int64(len(t.Names)) - 1
	case model.KindSet:
		return int64(1)<<min(t.Elem.Count(), 62) - 1
	}
	return t.Hi
}

func nextOptional(t *model.Type, dst []int64) bool {
	if dst[0] == 0 {
		dst[0] = 1
		Zero(t.Elem, dst[1:])
		return true
	}
	if Next(t.Elem, dst[1:]) {
		return true
	}
	clear(dst[:t.Slots()])
	return false
}

func nextElems(elem *model.Type, dst []int64, count int) bool {
	n := elem.Slots()
	for i := count - 1; i >= 0; i-- {
		if Next(elem, dst[i*n:]) {
			return true
		}
	}
	return false
}

func nextList(t *model.Type, dst []int64) bool {
	if nextElems(t.Elem, dst[1:], int(dst[0])) {
		return true
	}
	if int(dst[0]) == t.Cap {
		clear(dst[:t.Slots()])
		return false
	}
	dst[0]++
	n := t.Elem.Slots()
	for i := range int(dst[0]) {
		Zero(t.Elem, dst[1+i*n:])
	}
	return true
}

// Domains lists every argument tuple of an event whose fields lie in the
// domains of their types, in a fixed order (the last field changes fastest).
// It fails if there are more than limit.
func Domains(ev *model.Event, limit int) ([][]int64, error) {
	count, size := int64(1), 0
	for _, f := range ev.Fields {
		c := f.Type.Count()
		if c > int64(limit) || count*c > int64(limit) {
			return nil, fmt.Errorf("%s: %s has more than %d different arguments; %s", ev.Span, ev.Name, limit,
				Narrow(f))
		}
		count *= c
		size += f.Type.Slots()
	}
	t := &model.Type{Kind: model.KindRecord, Fields: ev.Fields}
	cur := make([]int64, size)
	Zero(t, cur)
	all := make([][]int64, 0, count)
	for {
		all = append(all, append([]int64(nil), cur...))
		if !Next(t, cur) {
			return all, nil
		}
	}
}

// Narrow says how the type of a field gets fewer values: a check can give a domain only to a type
// that has a name.
func Narrow(f *model.Field) string {
	t := f.Type
	for t.Name == "" && t.Elem != nil {
		t = t.Elem
	}
	if t.Name != "" || t.Kind == model.KindRecord {
		text := "give the type of field " + f.Name + " a smaller domain in the check"
		if t.Kind == model.KindInt || t.Kind == model.KindOpaque {
			text += fmt.Sprintf(" (`domains: {%s: %d..%d}`)", t.Name, t.Lowest(), t.Lowest()+1)
		}
		return text
	}
	return fmt.Sprintf("the type of field %s is written in place: name it (`types: {Name: %s}`), write the "+
		"name instead, and give it a smaller domain in the check (`domains: {Name: ...}`)",
		f.Name, model.TypeString(t))
}

// FieldSlots returns how many slots the fields take together.
func FieldSlots(fields []*model.Field) int {
	n := 0
	for _, f := range fields {
		n += f.Type.Slots()
	}
	return n
}

package conform

import (
	"reflect"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// mapper turns slots into Go values of a generated package and back. The members of a generated
// struct stand in the order of the model, which newMapper's callers check by name once.
type mapper struct{ strs *interp.Strings }

// get reads a value of type t from a Go value.
func (x mapper) get(t *model.Type, v reflect.Value, dst []int64) {
	switch t.Kind {
	case model.KindBool:
		dst[0] = 0
		if v.Bool() {
			dst[0] = 1
		}
	case model.KindInt, model.KindNode:
		if v.CanInt() {
			dst[0] = v.Int()
		} else {
			dst[0] = int64(v.Uint())
		}
	case model.KindEnum, model.KindOpaque, model.KindSet:
		dst[0] = int64(v.Uint())
	case model.KindBytes:
		n := int(v.Field(0).Uint())
		dst[0] = x.strs.Intern(v.Field(1).Slice(0, n).Bytes())
	case model.KindOptional:
		x.get(&model.Type{Kind: model.KindBool}, v.Field(0), dst)
		x.get(t.Elem, v.Field(1), dst[1:])
	case model.KindRecord:
		for i, f := range t.Fields {
			x.get(f.Type, v.Field(i), dst[f.Offset:])
		}
	case model.KindArray:
		x.elems(t.Elem, v, dst)
	case model.KindList:
		dst[0] = int64(v.Field(0).Uint())
		x.elems(t.Elem, v.Field(1), dst[1:])
	}
}

func (x mapper) elems(t *model.Type, v reflect.Value, dst []int64) {
	for i := range v.Len() {
		x.get(t, v.Index(i), dst[i*t.Slots():])
	}
}

// set writes a value of type t into a Go value.
func (x mapper) set(t *model.Type, v reflect.Value, src []int64) {
	switch t.Kind {
	case model.KindBool:
		v.SetBool(src[0] != 0)
	case model.KindInt, model.KindNode:
		if v.CanInt() {
			v.SetInt(src[0])
		} else {
			v.SetUint(uint64(src[0]))
		}
	case model.KindEnum, model.KindOpaque, model.KindSet:
		v.SetUint(uint64(src[0]))
	case model.KindBytes:
		s := x.strs.Get(src[0])
		v.SetZero()
		v.Field(0).SetUint(uint64(len(s)))
		reflect.Copy(v.Field(1), reflect.ValueOf([]byte(s)))
	case model.KindOptional:
		v.Field(0).SetBool(src[0] != 0)
		x.set(t.Elem, v.Field(1), src[1:])
	case model.KindRecord:
		for i, f := range t.Fields {
			x.set(f.Type, v.Field(i), src[f.Offset:])
		}
	case model.KindArray:
		for i := range v.Len() {
			x.set(t.Elem, v.Index(i), src[i*t.Elem.Slots():])
		}
	case model.KindList:
		v.Field(0).SetUint(uint64(src[0]))
		for i := range v.Field(1).Len() {
			x.set(t.Elem, v.Field(1).Index(i), src[1+i*t.Elem.Slots():])
		}
	}
}

// getMachine reads a machine with all its parts.
func (x mapper) getMachine(m *model.Machine, v reflect.Value, dst []int64) {
	dst[0] = int64(v.Field(0).Uint())
	x.members(m, v, func(t *model.Type, f reflect.Value, at int) { x.get(t, f, dst[at:]) },
		func(p *model.Part, f reflect.Value, at int) { x.getMachine(p.Machine, f, dst[at:]) })
}

// setMachine writes a machine with all its parts.
func (x mapper) setMachine(m *model.Machine, v reflect.Value, src []int64) {
	v.Field(0).SetUint(uint64(src[0]))
	x.members(m, v, func(t *model.Type, f reflect.Value, at int) { x.set(t, f, src[at:]) },
		func(p *model.Part, f reflect.Value, at int) { x.setMachine(p.Machine, f, src[at:]) })
}

// members walks over what a machine remembers besides its state.
func (x mapper) members(m *model.Machine, v reflect.Value, value func(*model.Type, reflect.Value, int),
	part func(*model.Part, reflect.Value, int)) {
	n := 1
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, d := range list {
			value(d.Type, v.Field(n), d.Offset)
			n++
		}
	}
	for _, t := range m.Timers {
		yes := &model.Type{Kind: model.KindBool}
		if len(t.Keys) == 0 {
			value(yes, v.Field(n), t.Offset)
		} else {
			for i := range t.Count {
				value(yes, v.Field(n).Index(i), t.Offset+i)
			}
		}
		n++
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			part(p, instance(p, v.Field(n), i), p.Offset+i*p.Machine.Size)
		}
		n++
	}
}

// instance finds an instance of a part in its arrays, one for each key.
func instance(p *model.Part, v reflect.Value, index int) reflect.Value {
	rest := p.Count
	for _, k := range p.Keys {
		rest /= int(k.Type.Count())
		v = v.Index(index / rest)
		index %= rest
	}
	return v
}

package reduce

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// renamed is a type whose values are renamed, in one domain for all or in one for
// each index.
type renamed struct {
	tag   string
	index string // tag; empty: one domain
	least int64  // lowest index
	first int    // domain (of the lowest index)
}

// renaming says which values are where in local values and messages.
type renaming struct {
	types []renamed
	tags  map[*model.Type]string
}

// tag is tagOf, kept.
func (y *renaming) tag(t *model.Type) string {
	tag, ok := y.tags[t]
	if !ok {
		if y.tags == nil {
			y.tags = map[*model.Type]string{}
		}
		tag = tagOf(t)
		y.tags[t] = tag
	}
	return tag
}

// holders are the indices that hold what is walked over, by the tag of their type.
type holders []struct {
	tag string
	v   int64
}

func (h holders) with(tag string, v int64) holders {
	if tag == "" {
		return h
	}
	return append(h[:len(h):len(h)], struct {
		tag string
		v   int64
	}{tag, v})
}

// domain gives the domain of a scalar, -1 for none.
func (y *renaming) domain(t *model.Type, in holders) int {
	tag := y.tag(t)
	if tag == "" {
		return -1
	}
	for i := range y.types {
		x := &y.types[i]
		if x.tag != tag {
			continue
		}
		if x.index == "" {
			return x.first
		}
		for k := len(in) - 1; k >= 0; k-- {
			if in[k].tag == x.index {
				return x.first + int(in[k].v-x.least)
			}
		}
	}
	return -1
}

// visitor is given every slot that holds a value of a domain, and the slots of
// sets of such values.
type visitor func(t *model.Type, slot *int64, domain int, set bool)

// value visits a value of a type.
func (y *renaming) value(t *model.Type, v []int64, in holders, visit visitor) {
	switch t.Kind {
	case model.KindOptional:
		if v[0] != 0 {
			y.value(t.Elem, v[1:], in, visit)
		}
	case model.KindRecord:
		for _, f := range t.Fields {
			y.value(f.Type, v[f.Offset:], in, visit)
		}
	case model.KindArray:
		n, tag := t.Elem.Slots(), y.tag(t.Index)
		for i := range int(t.Index.Count()) {
			y.value(t.Elem, v[i*n:], in.with(tag, t.Index.Lowest()+int64(i)), visit)
		}
	case model.KindList:
		n := t.Elem.Slots()
		for i := range int(v[0]) {
			y.value(t.Elem, v[1+i*n:], in, visit)
		}
	case model.KindSet:
		if d := y.domain(t.Elem, in); d >= 0 {
			visit(t.Elem, &v[0], d, true)
		}
	default:
		if d := y.domain(t, in); d >= 0 {
			visit(t, &v[0], d, false)
		}
	}
}

// machine visits the value of a machine.
func (y *renaming) machine(m *model.Machine, v []int64, dead Dead, in holders, visit visitor) {
	for _, list := range [][]*model.Var{m.Params, m.Vars} {
		for _, x := range list {
			if dead.Is(m, v[0], x) {
				continue
			}
			y.value(x.Type, v[x.Offset:], in, visit)
		}
	}
	for _, p := range m.Parts {
		tag, least := "", int64(0)
		if len(p.Keys) == 1 {
			tag, least = y.tag(p.Keys[0].Type), p.Keys[0].Type.Lowest()
		}
		for i := range p.Count {
			y.machine(p.Machine, v[p.Offset+i*p.Machine.Size:], dead, in.with(tag, least+int64(i)), visit)
		}
	}
}

// message visits the fields of a message.
func (y *renaming) message(fields []*model.Field, v []int64, visit visitor) {
	var in holders
	for _, f := range fields {
		if tag := y.tag(f.Type); tag != "" {
			in = in.with(tag, v[f.Offset])
		}
	}
	for _, f := range fields {
		y.value(f.Type, v[f.Offset:], in, visit)
	}
}

// using passes on values. Sets have no first value, so they are left out.
func using(use func(domain, value int)) visitor {
	return func(t *model.Type, slot *int64, domain int, set bool) {
		if at := *slot - t.Lowest(); !set && at >= 0 && at < t.Count() {
			use(domain, int(at))
		}
	}
}

func replacing(to [][]uint8) visitor {
	return func(t *model.Type, slot *int64, domain int, set bool) {
		low := t.Lowest()
		if !set {
			if at := *slot - low; at >= 0 && at < int64(len(to[domain])) {
				*slot = low + int64(to[domain][at])
			}
			return
		}
		mask := int64(0)
		for i, x := range to[domain] {
			mask |= *slot >> i & 1 << x
		}
		*slot = mask
	}
}

// permuted is a type whose values are permuted together with all they select. A nil t stands for the
// numbers of instances, which are permuted as the instances are.
type permuted struct {
	t  *model.Type
	to []int // by value, from the lowest
}

// is reports whether values of t are permuted.
func (x *permuted) is(t *model.Type) bool {
	if x.t == nil {
		return t != nil && t.Kind == model.KindNode
	}
	return tagOf(t) == tagOf(x.t)
}

// place is where the i-th value goes. There can be more numbers than instances.
func (x *permuted) place(i int) int {
	if i < len(x.to) {
		return x.to[i]
	}
	return i
}

// moved gives v, a value of t, with the indices of one type permuted.
func (x *permuted) moved(t *model.Type, v []int64) []int64 {
	out := slices.Clone(v[:t.Slots()])
	place := func(off, n int, to int, value []int64) { copy(out[off+to*n:off+(to+1)*n], value) }
	switch t.Kind {
	case model.KindOptional:
		if v[0] != 0 {
			copy(out[1:], x.moved(t.Elem, v[1:]))
		}
	case model.KindRecord:
		for _, f := range t.Fields {
			copy(out[f.Offset:], x.moved(f.Type, v[f.Offset:]))
		}
	case model.KindArray:
		n := t.Elem.Slots()
		for i := range int(t.Index.Count()) {
			to := i
			if x.is(t.Index) {
				to = x.place(i)
			}
			place(0, n, to, x.moved(t.Elem, v[i*n:]))
		}
	case model.KindList:
		n := t.Elem.Slots()
		for i := range int(v[0]) {
			place(1, n, i, x.moved(t.Elem, v[1+i*n:]))
		}
	case model.KindSet:
		if x.is(t.Elem) {
			out[0] = 0
			for i := range int(t.Elem.Count()) {
				out[0] |= v[0] >> i & 1 << x.place(i)
			}
		}
	default:
		if at := v[0] - t.Lowest(); x.is(t) && at >= 0 && at < int64(len(x.to)) {
			out[0] = t.Lowest() + int64(x.to[at])
		}
	}
	return out
}

// machine gives the value of a machine with the indices permuted.
func (x *permuted) machine(m *model.Machine, v []int64) []int64 {
	out := slices.Clone(v[:m.Size])
	for _, list := range [][]*model.Var{m.Params, m.Vars} {
		for _, y := range list {
			copy(out[y.Offset:], x.moved(y.Type, v[y.Offset:]))
		}
	}
	for _, p := range m.Parts {
		n := p.Machine.Size
		for i := range p.Count {
			to := i
			if len(p.Keys) == 1 && x.is(p.Keys[0].Type) {
				to = x.place(i)
			}
			copy(out[p.Offset+to*n:], x.machine(p.Machine, v[p.Offset+i*n:]))
		}
	}
	for _, t := range m.Timers {
		for i := range t.Count {
			if x.t == nil && len(t.Keys) == 1 && x.is(t.Keys[0].Type) {
				out[t.Offset+x.place(i)] = v[t.Offset+i]
			}
		}
	}
	return out
}

func (x *permuted) message(fields []*model.Field, v []int64) []int64 {
	out := slices.Clone(v)
	for _, f := range fields {
		copy(out[f.Offset:], x.moved(f.Type, v[f.Offset:]))
	}
	return out
}

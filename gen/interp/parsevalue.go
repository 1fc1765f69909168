package interp

import (
	"strconv"

	"github.com/parley-go/parley/gen/model"
)

func (p *parser) value(t *model.Type, v []int64) {
	if p.err != nil {
		return
	}
	switch t.Kind {
	case model.KindBool:
		v[0] = truth(p.word("true"))
		if v[0] == 0 && !p.word("false") {
			p.failf("true or false expected")
		}
	case model.KindEnum:
		p.enum(t, v)
	case model.KindOpaque:
		p.opaque(t, v)
	case model.KindBytes:
		p.quoted(t, v)
	case model.KindOptional:
		if !p.word("none") {
			v[0] = 1
			p.value(t.Elem, v[1:])
		}
	case model.KindRecord:
		copy(v, p.fields(t.Fields, true))
	case model.KindArray:
		n, count := t.Elem.Slots(), int(t.Index.Count())
		got := p.elems(count, func(i int) { p.value(t.Elem, v[i*n:]) })
		if got < count {
			p.failf("%d elements, %d needed", got, count)
		}
	case model.KindList:
		n := t.Elem.Slots()
		v[0] = int64(p.elems(t.Cap, func(i int) { p.value(t.Elem, v[1+i*n:]) }))
	case model.KindSet:
		p.set(t, v)
	default:
		v[0] = p.number()
		if p.err == nil && (v[0] < t.Lo || v[0] > t.Hi) && !p.beyond() {
			p.failf("%d is outside %d..%d", v[0], t.Lo, t.Hi)
		}
	}
}

func (p *parser) enum(t *model.Type, v []int64) {
	if p.loose && p.take("(invalid)") {
		p.outside = true
		return
	}
	name := p.name()
	for i, n := range t.Names {
		if n == name {
			v[0] = int64(i)
			return
		}
	}
	if name != "invalid" || !p.beyond() {
		p.failf("%s is no name of %s", name, t.Name)
	}
}

func (p *parser) opaque(t *model.Type, v []int64) {
	p.skip()
	from := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	n, err := strconv.ParseUint(p.text[from:p.at], 10, max(t.Bits, 1))
	if err != nil {
		p.failf("a number of %d bits expected", t.Bits)
	}
	v[0] = int64(n)
}

func (p *parser) quoted(t *model.Type, v []int64) {
	p.skip()
	q, err := strconv.QuotedPrefix(p.text[p.at:])
	if err != nil || q[0] != '"' {
		p.failf("a text in double quotes expected")
		return
	}
	p.at += len(q)
	if p.strs == nil {
		p.failf("there is no table of texts")
		return
	}
	s, _ := strconv.Unquote(q)
	if len(s) > t.Cap {
		p.failf("a text of %d bytes where %d are allowed", len(s), t.Cap)
		return
	}
	if p.loose && p.take("...") {
		p.outside = true
	}
	v[0] = p.strs.Intern([]byte(s))
}

func (p *parser) set(t *model.Type, v []int64) {
	p.elems(64, func(int) {
		var e [1]int64
		p.value(t.Elem, e[:])
		if bit := e[0] - t.Elem.Lowest(); bit >= 0 && bit < 62 {
			v[0] |= 1 << bit
		}
	})
}

// elems reads `[ ... ]` with at most most elements and returns how many there were.
func (p *parser) elems(most int, each func(i int)) int {
	p.need("[")
	if p.take("]") {
		return 0
	}
	for n := 0; p.err == nil; {
		if p.loose && p.take("...") {
			p.outside = true
			p.need("]")
			return n
		}
		if n == most {
			p.failf("more than %d elements", most)
			return 0
		}
		each(n)
		n++
		if !p.take(",") {
			p.need("]")
			return n
		}
	}
	return 0
}

// fields reads `{name: value, ...}`; without fields the braces may be missing unless braces.
func (p *parser) fields(fields []*model.Field, braces bool) []int64 {
	slots := make([]int64, FieldSlots(fields))
	if len(fields) == 0 && !braces {
		return slots
	}
	p.need("{")
	at := 0
	for i, f := range fields {
		if i > 0 {
			p.need(",")
		}
		if name := p.name(); name != f.Name {
			p.failf("field %s expected, not %s", f.Name, name)
		}
		p.need(":")
		p.value(f.Type, slots[at:])
		at += f.Type.Slots()
	}
	p.need("}")
	return slots
}

func (p *parser) machine(m *model.Machine, v []int64) {
	name := p.name()
	v[0] = -1
	for _, st := range m.States {
		if st.Name == name {
			v[0] = int64(st.Index)
		}
	}
	if v[0] < 0 {
		v[0] = 0
		p.failf("%s has no state %s", m.Name, name)
	}
	sep := "{"
	head := func(name string) {
		p.need(sep)
		if n := p.name(); n != name {
			p.failf("%s expected, not %s", name, n)
		}
		p.need(":")
		sep = ","
	}
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, d := range list {
			head(d.Name)
			p.value(d.Type, v[d.Offset:])
		}
	}
	for _, t := range m.Timers {
		head(t.Name)
		p.armed(t, v)
	}
	for _, part := range m.Parts {
		head(part.Name)
		p.partValue(part, v)
	}
	if sep == "," {
		p.need("}")
	}
}

func (p *parser) armed(t *model.Timer, v []int64) {
	yes := &model.Type{Kind: model.KindBool}
	if len(t.Keys) == 0 {
		p.value(yes, v[t.Offset:])
	} else if n := p.elems(t.Count, func(i int) { p.value(yes, v[t.Offset+i:]) }); n != t.Count {
		p.failf("%d instances of %s, %d needed", n, t.Name, t.Count)
	}
}

func (p *parser) partValue(part *model.Part, v []int64) {
	if len(part.Keys) == 0 {
		p.machine(part.Machine, v[part.Offset:])
		return
	}
	n := p.elems(part.Count, func(i int) { p.machine(part.Machine, v[part.Offset+i*part.Machine.Size:]) })
	if n != part.Count {
		p.failf("%d instances of %s, %d needed", n, part.Name, part.Count)
	}
}

package export

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

func one(x *term) []*term { return []*term{x} }

func zeros(n int) []*term {
	v := make([]*term, n)
	for i := range v {
		v[i] = no
	}
	return v
}

func numbers(list []int64) []*term {
	out := make([]*term, len(list))
	for i, n := range list {
		out[i] = number(n)
	}
	return out
}

// pickAll returns c ? x : y, slot by slot.
func pickAll(c *term, x, y []*term) []*term {
	out := make([]*term, len(x))
	for i := range x {
		if out[i] = pick(c, x[i], y[i]); out[i].op == "?" && out[i].size(maxTerm) >= maxTerm {
			refuse("an expression of more than %d terms", maxTerm)
		}
	}
	return out
}

// maxTerm bounds the size of one expression.
const maxTerm = 5000

// selects returns the condition that keys have these values.
func selects(keys []*term, values []int64) *term {
	cond := yes
	for k, v := range keys {
		cond = and(cond, compare("==", v, number(values[k])))
	}
	return cond
}

// element is a place of a list, set or array.
type element struct {
	there *term // whether it is one
	v     []*term
}

// elements returns the places of a list, set or array.
func elements(t *model.Type, v []*term) []element {
	var out []element
	switch t.Kind {
	case model.KindSet:
		for i := range t.Elem.Count() {
			out = append(out, element{bit(v[0], i), one(number(t.Elem.Lowest() + i))})
		}
	case model.KindArray:
		n := t.Elem.Slots()
		for i := range int(t.Index.Count()) {
			out = append(out, element{yes, v[i*n : (i+1)*n]})
		}
	default:
		n := t.Elem.Slots()
		for i := range t.Cap {
			out = append(out, element{compare(">", v[0], number(int64(i))), v[1+i*n : 1+(i+1)*n]})
		}
	}
	return out
}

func bit(mask *term, i int64) *term {
	if i > 30 {
		refuse("a set of more than 31 possible elements")
	}
	x, _ := arith("&", mask, number(1<<i))
	return compare("!=", x, no)
}

// behind returns a list with one more element at its end.
func behind(t *model.Type, l, v []*term) []*term {
	n := t.Elem.Slots()
	more, _ := arith("+", l[0], yes)
	out := one(more)
	for i := range t.Cap {
		out = append(out, pickAll(compare("==", l[0], number(int64(i))), v, l[1+i*n:1+(i+1)*n])...)
	}
	out[0].lo, out[0].hi = max(out[0].lo, 0), min(out[0].hi, int64(t.Cap))
	return out
}

// combine returns the union, difference or intersection of two sets.
func combine(op core.Op, x, y *term) *term {
	both, _ := arith("&", x, y)
	switch op {
	case core.Union:
		all, _ := arith("|", x, y)
		return all
	case core.Minus:
		rest, _ := arith("-", x, both)
		return clamp(rest, 0, x.hi)
	}
	return both
}

// clamp returns a term with narrower bounds.
func clamp(x *term, lo, hi int64) *term {
	if x.constant() {
		return x
	}
	c := *x
	c.lo, c.hi = max(x.lo, lo), min(x.hi, hi)
	return &c
}

// fit converts a value to a type that differs in ranges alone.
func fit(to, from *model.Type, v []*term) (out []*term, ok *term) {
	switch to.Kind {
	case model.KindOptional:
		x, fits := fit(to.Elem, from.Elem, v[1:])
		if v[0].is(0) {
			return zeros(to.Slots()), yes
		}
		return append(one(v[0]), x...), or(not(v[0]), fits)
	case model.KindRecord:
		ok = yes
		for i, f := range to.Fields {
			g := from.Fields[i]
			x, fits := fit(f.Type, g.Type, v[g.Offset:g.Offset+g.Type.Slots()])
			out, ok = append(out, x...), and(ok, fits)
		}
		return out, ok
	case model.KindArray, model.KindList:
		return fitElements(to, from, v)
	case model.KindSet:
		return fitSet(to, from, v)
	}
	return v[:1], within(to, v[0])
}

func fitElements(to, from *model.Type, v []*term) (out []*term, ok *term) {
	ok = yes
	n := to.Cap
	if to.Kind == model.KindArray {
		if n = int(to.Index.Count()); from.Index.Count() != int64(n) {
			return zeros(to.Slots()), no
		}
	} else {
		ok = compare("<=", v[0], number(int64(n)))
		out = one(clamp(v[0], 0, int64(n)))
	}
	for i, el := range elements(from, v) {
		if i == n {
			break
		}
		x, fits := fit(to.Elem, from.Elem, el.v)
		out, ok = append(out, x...), and(ok, or(not(el.there), fits))
	}
	return append(out, zeros(to.Slots()-len(out))...), ok
}

func fitSet(to, from *model.Type, v []*term) ([]*term, *term) {
	if to.Elem.Lowest() != from.Elem.Lowest() {
		refuse("a set given to a set of another range")
	}
	room := int64(1)<<to.Elem.Count() - 1
	if v[0].hi <= room {
		return v[:1], yes
	}
	return one(clamp(v[0], 0, room)), compare("<=", v[0], number(room))
}

// within returns the condition that a number is a value of a scalar type. Opaque values and texts always
// are.
func within(t *model.Type, x *term) *term {
	switch t.Kind {
	case model.KindBool:
		return and(compare(">=", x, no), compare("<=", x, yes))
	case model.KindInt, model.KindNode:
		return and(compare(">=", x, number(t.Lo)), compare("<=", x, number(t.Hi)))
	case model.KindEnum:
		return and(compare(">=", x, no), compare("<", x, number(int64(len(t.Names)))))
	}
	return yes
}

// equal compares two values whose types differ in ranges alone.
func equal(t *model.Type, a []*term, u *model.Type, b []*term) *term {
	switch t.Kind {
	case model.KindOptional:
		return or(and(not(a[0]), not(b[0])), and(and(a[0], b[0]), equal(t.Elem, a[1:], u.Elem, b[1:])))
	case model.KindRecord:
		all := yes
		for i, f := range t.Fields {
			g := u.Fields[i]
			all = and(all, equal(f.Type, a[f.Offset:f.Offset+f.Type.Slots()], g.Type,
				b[g.Offset:g.Offset+g.Type.Slots()]))
		}
		return all
	case model.KindArray, model.KindList:
		x, y := elements(t, a), elements(u, b)
		all := yes
		if t.Kind == model.KindList {
			all = compare("==", a[0], b[0])
		} else if len(x) != len(y) {
			return no
		}
		for i := range min(len(x), len(y)) {
			all = and(all, or(not(x[i].there), equal(t.Elem, x[i].v, u.Elem, y[i].v)))
		}
		return all
	case model.KindSet:
		if t.Elem.Lowest() != u.Elem.Lowest() {
			refuse("two sets of different ranges compared")
		}
	}
	return compare("==", a[0], b[0])
}

// maxDomain is the number of values up to which a loop goes over a type.
const maxDomain = 4096

// domain returns the values of a type.
func domain(t *model.Type) [][]*term {
	if t.Count() > maxDomain {
		refuse("a loop over more than %d values", maxDomain)
	}
	cur := make([]int64, t.Slots())
	interp.Zero(t, cur)
	var out [][]*term
	for {
		var v []*term
		for _, n := range cur {
			v = append(v, number(n))
		}
		if out = append(out, v); !interp.Next(t, cur) {
			return out
		}
	}
}

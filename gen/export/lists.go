package export

import (
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// element is a place of a list, set or array.
type element struct {
	there *term // whether it is one
	v     []*term
}

// elements are the places of a list, set or array.
func elements(t *model.Type, v []*term) []element {
	var out []element
	switch t.Kind {
	case model.KindSet:
		for i := range t.Elem.Count() {
			out = append(out, element{bit(v[0], i), one(number(lowest(t.Elem) + i))})
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

// add puts an element behind a list or into a set, where there is true.
func (s *step) add(sc *scope, t *model.Type, l []*term, ok *term, el model.Expr, there *term) ([]*term, *term) {
	v, okay := s.eval(sc, el)
	ok = and(ok, or(not(there), okay))
	if t.Kind == model.KindSet {
		low, n := lowest(t.Elem), t.Elem.Count()
		inside := and(compare(">=", v[0], number(low)), compare("<", v[0], number(low+n)))
		var with *term
		for i := range n {
			bit(l[0], i)
			put, _ := arith("|", l[0], number(1<<i))
			if with == nil {
				with = put
			} else {
				with = pick(compare("==", v[0], number(low+i)), put, with)
			}
		}
		return one(pick(there, with, l[0])), and(ok, or(not(there), inside))
	}
	v, fits := fit(t.Elem, el.Type(), v)
	ok = and(ok, or(not(there), and(fits, compare("<", l[0], number(int64(t.Cap))))))
	return pickAll(there, behind(t, l, v), l), ok
}

// behind is a list with one element more.
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

// call is a built-in function.
func (s *step) call(sc *scope, e *model.Call) (v []*term, ok *term) {
	x, ok := s.eval(sc, e.Args[0])
	t := e.Args[0].Type()
	switch e.Fn {
	case model.FnIf:
		return s.ifCall(sc, e, x[0], ok)
	case model.FnMin, model.FnMax:
		y, okY := s.eval(sc, e.Args[1])
		less := compare("<=", x[0], y[0])
		if e.Fn == model.FnMax {
			less = compare(">=", x[0], y[0])
		}
		r := pick(less, x[0], y[0])
		if r.op == "?" {
			r.lo, r.hi = min(x[0].lo, y[0].lo), min(x[0].hi, y[0].hi)
			if e.Fn == model.FnMax {
				r.lo, r.hi = max(x[0].lo, y[0].lo), max(x[0].hi, y[0].hi)
			}
		}
		return one(r), and(ok, okY)
	case model.FnLen:
		n := x[0]
		if t.Kind == model.KindSet {
			n = no
			for _, el := range elements(t, x) {
				n, _ = arith("+", n, el.there)
			}
		}
		return one(n), ok
	case model.FnFirst:
		return x[1 : 1+t.Elem.Slots()], and(ok, compare(">", x[0], no))
	case model.FnTail:
		n := t.Elem.Slots()
		less, _ := arith("-", x[0], yes)
		if less.op != "" {
			less.lo = max(less.lo, 0)
		}
		v := append(one(less), x[1+n:]...)
		return append(v, zeros(e.T.Slots()-len(v))...), and(ok, compare(">", x[0], no))
	case model.FnAppend, model.FnWith:
		l, fits := fit(e.T, t, x)
		return s.add(sc, e.T, l, and(ok, fits), e.Args[1], yes)
	case model.FnUnion, model.FnMinus, model.FnIntersect:
		y, okY := s.eval(sc, e.Args[1])
		return one(combine(e.Fn, x[0], y[0])), and(ok, okY)
	case model.FnContains, model.FnWithout:
		return s.membership(sc, e, x, ok)
	}
	refuse("a function of number %d (%s)", e.Fn, e.Pos())
	return nil, nil
}

// combine is what two sets have in common, or one, or only the first.
func combine(fn model.Builtin, x, y *term) *term {
	both, _ := arith("&", x, y)
	switch fn {
	case model.FnUnion:
		all, _ := arith("|", x, y)
		return all
	case model.FnMinus:
		rest, _ := arith("-", x, both)
		return clamp(rest, 0, x.hi)
	}
	return both
}

func (s *step) ifCall(sc *scope, e *model.Call, cond, ok *term) ([]*term, *term) {
	x, okX := s.eval(sc, e.Args[1])
	y, okY := s.eval(sc, e.Args[2])
	if !e.T.Scalar() {
		var f, g *term
		x, f = fit(e.T, e.Args[1].Type(), x)
		y, g = fit(e.T, e.Args[2].Type(), y)
		okX, okY = and(okX, f), and(okY, g)
	}
	return pickAll(asBool(cond), x, y), and(ok, pick(asBool(cond), okX, okY))
}

// membership is contains(l, x) and without(l, x).
func (s *step) membership(sc *scope, e *model.Call, l []*term, ok *term) ([]*term, *term) {
	t, u := e.Args[0].Type(), e.Args[1].Type()
	v, okV := s.eval(sc, e.Args[1])
	ok = and(ok, okV)
	found, out := no, zeros(e.T.Slots())
	if t.Kind == model.KindSet {
		left := l[0]
		for _, el := range elements(t, l) {
			is := compare("==", v[0], el.v[0])
			found = or(found, and(is, el.there))
			without, _ := arith("-", l[0], number(1<<(el.v[0].lo-lowest(t.Elem))))
			left = pick(and(is, el.there), without, left)
		}
		left = clamp(left, 0, l[0].hi)
		if e.Fn == model.FnContains {
			return one(found), ok
		}
		return one(left), ok
	}
	for _, el := range elements(t, l) {
		is := equal(t.Elem, el.v, u, v)
		found = or(found, and(el.there, is))
		if e.Fn == model.FnWithout {
			out = pickAll(and(el.there, not(is)), behind(t, out, el.v), out)
		}
	}
	if e.Fn == model.FnContains {
		return one(found), ok
	}
	return out, ok
}

// clamp narrows what is known of a term.
func clamp(x *term, lo, hi int64) *term {
	if x.constant() {
		return x
	}
	c := *x
	c.lo, c.hi = max(x.lo, lo), min(x.hi, hi)
	return &c
}

// fit turns a value of one type into one of another that is the same but for ranges.
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
	if lowest(to.Elem) != lowest(from.Elem) {
		refuse("a set given to a set of another range")
	}
	room := int64(1)<<to.Elem.Count() - 1
	if v[0].hi <= room {
		return v[:1], yes
	}
	return one(clamp(v[0], 0, room)), compare("<=", v[0], number(room))
}

// within says where a number is one of a scalar type. Opaque values and texts are carried whole.
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

// equal compares two values of types that are the same but for ranges.
func equal(t *model.Type, a []*term, u *model.Type, b []*term) *term {
	switch t.Kind {
	case model.KindOptional:
		return or(and(not(a[0]), not(b[0])), and(and(a[0], b[0]), equal(t.Elem, a[1:], u.Elem, b[1:])))
	case model.KindRecord:
		all := yes
		for i, f := range t.Fields {
			g := u.Fields[i]
			all = and(all, equal(f.Type, a[f.Offset:f.Offset+f.Type.Slots()], g.Type, b[g.Offset:g.Offset+g.Type.Slots()]))
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
		if lowest(t.Elem) != lowest(u.Elem) {
			refuse("two sets of different ranges compared")
		}
	}
	return compare("==", a[0], b[0])
}

// lowest is the least value of a type that can be an index or key.
func lowest(t *model.Type) int64 {
	if t.Kind == model.KindInt || t.Kind == model.KindNode {
		return t.Lo
	}
	return 0
}

// maxDomain bounds loops over the values of a type.
const maxDomain = 4096

// domain lists the values of a type.
func (g *generator) domain(t *model.Type) [][]*term {
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

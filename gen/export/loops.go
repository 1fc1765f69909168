package export

import "github.com/parley-go/parley/gen/model"

// quantified is all and some. They stop at the first element that decides, so what faults behind it does not count.
func (s *step) quantified(sc *scope, e *model.Quantified) ([]*term, *term) {
	result, ok, open := truth(e.All), yes, yes
	fine := s.forEach(sc, e.Local, e.Values, e.Over, func(there *term) {
		v, okay := s.eval(sc, e.X)
		ok = and(ok, or(not(and(open, there)), okay))
		if e.All {
			result = and(result, or(not(there), v[0]))
			open = result
		} else {
			result = or(result, and(there, v[0]))
			open = not(result)
		}
	})
	return one(result), and(fine, ok)
}

// forEach binds the local to each value or element in turn; there says whether there is such an element.
func (s *step) forEach(sc *scope, l *model.Local, values *model.Type, over model.Expr, body func(there *term)) (ok *term) {
	if values != nil {
		for _, v := range s.g.domain(values) {
			sc.bind(l, v)
			body(yes)
		}
		return yes
	}
	list, ok := s.eval(sc, over)
	for _, el := range elements(over.Type(), list) {
		sc.bind(l, el.v)
		body(el.there)
	}
	return ok
}

// build makes a list, set or array, element by element.
func (s *step) build(sc *scope, e *model.Build) (l []*term, ok *term) {
	l, ok = zeros(e.T.Slots()), yes
	fine := s.forEach(sc, e.Local, e.Values, e.Over, func(there *term) {
		if e.If != nil {
			v, okay := s.eval(sc, e.If)
			ok = and(ok, or(not(there), okay))
			there = and(there, asBool(v[0]))
		}
		if e.T.Kind != model.KindArray {
			l, ok = s.add(sc, e.T, l, ok, e.Elem, there)
			return
		}
		v, okay := s.eval(sc, e.Elem)
		v, fits := fit(e.T.Elem, e.Elem.Type(), v)
		ok = and(ok, or(not(there), and(okay, fits)))
		at := int(sc.locals[e.Local.Offset].lo-lowest(e.T.Index)) * e.T.Elem.Slots()
		copy(l[at:], pickAll(there, v, zeros(len(v))))
	})
	return l, and(fine, ok)
}

// find looks for the first value or element with a property, or counts them.
func (s *step) find(sc *scope, e *model.Find) (out []*term, ok *term) {
	out, ok = zeros(e.T.Slots()), yes
	open := yes
	fine := s.forEach(sc, e.Local, e.Values, e.Over, func(there *term) {
		v, okay := s.eval(sc, e.X)
		ok = and(ok, or(not(and(open, there)), okay))
		is := and(there, asBool(v[0]))
		if e.Count {
			out[0], _ = arith("+", out[0], is)
			return
		}
		el := append(one(yes), sc.locals[e.Local.Offset:e.Local.Offset+e.Local.Type.Slots()]...)
		out = pickAll(and(open, is), el, out)
		open = and(open, not(is))
	})
	return out, and(fine, ok)
}

package interp

import "github.com/parley-go/parley/gen/model"

// call evaluates a built-in function.
func (x *Eval) call(s *scope, e *model.Call, dst []int64) bool {
	switch e.Fn {
	case model.FnIf:
		return x.choose(s, e, dst)
	case model.FnMin, model.FnMax:
		a, ok := x.scalar(s, e.Args[0])
		if !ok {
			return false
		}
		b, ok := x.scalar(s, e.Args[1])
		dst[0] = min(a, b)
		if e.Fn == model.FnMax {
			dst[0] = max(a, b)
		}
		return ok
	}
	t := e.Args[0].Type()
	l, ok := x.temp(s, e.Args[0])
	if !ok {
		return false
	}
	switch e.Fn {
	case model.FnLen:
		dst[0] = l[0]
		if t.Kind == model.KindSet {
			dst[0] = bits(l[0])
		}
		return true
	case model.FnFirst:
		if l[0] == 0 {
			return x.fail(e.Pos(), words(e.Args[0])+" is empty")
		}
		copy(dst, l[1:1+t.Elem.Slots()])
		return true
	case model.FnTail:
		if l[0] == 0 {
			return x.fail(e.Pos(), words(e.Args[0])+" is empty")
		}
		n := t.Elem.Slots()
		clear(dst[:e.T.Slots()])
		dst[0] = l[0] - 1
		copy(dst[1:], l[1+n:1+int(l[0])*n])
		return true
	case model.FnAppend, model.FnWith:
		if why := x.fit(e.T, dst, t, l); why != "" {
			return x.fail(e.Pos(), why)
		}
		return x.add(s, e, dst, e.Args[1])
	case model.FnUnion, model.FnMinus, model.FnIntersect:
		return x.twoSets(s, e, l[0], dst)
	}
	return x.membership(s, e, l, dst)
}

// twoSets evaluates what is made of a set and another one, the second argument.
func (x *Eval) twoSets(s *scope, e *model.Call, l int64, dst []int64) bool {
	r, ok := x.scalar(s, e.Args[1])
	switch e.Fn {
	case model.FnUnion:
		dst[0] = l | r
	case model.FnMinus:
		dst[0] = l &^ r
	default:
		dst[0] = l & r
	}
	return ok
}

// membership is contains(l, x) and without(l, x).
func (x *Eval) membership(s *scope, e *model.Call, l, dst []int64) bool {
	t, u := e.Args[0].Type(), e.Args[1].Type()
	v, ok := x.temp(s, e.Args[1])
	if !ok {
		return false
	}
	if t.Kind == model.KindSet {
		bit, mask := v[0]-lowest(t.Elem), int64(0)
		if bit >= 0 && bit < 62 {
			mask = 1 << bit
		}
		if e.Fn == model.FnContains {
			dst[0] = truth(l[0]&mask != 0)
		} else {
			dst[0] = l[0] &^ mask
		}
		return true
	}
	n := t.Elem.Slots()
	if e.Fn == model.FnContains {
		dst[0] = 0
		for i := range int(l[0]) {
			if equal(t.Elem, l[1+i*n:], u, v) {
				dst[0] = 1
			}
		}
		return true
	}
	clear(dst[:e.T.Slots()])
	for i := range int(l[0]) {
		el := l[1+i*n : 1+(i+1)*n]
		if !equal(t.Elem, el, u, v) {
			copy(dst[1+int(dst[0])*n:], el)
			dst[0]++
		}
	}
	return true
}

// choose is if(c, a, b); only one of a and b is evaluated.
func (x *Eval) choose(s *scope, e *model.Call, dst []int64) bool {
	c, ok := x.scalar(s, e.Args[0])
	if !ok {
		return false
	}
	arg := e.Args[2]
	if c != 0 {
		arg = e.Args[1]
	}
	if e.T.Scalar() {
		return x.eval(s, arg, dst)
	}
	return x.store(s, arg, e.T, dst)
}

func bits(mask int64) int64 {
	n := int64(0)
	for ; mask != 0; mask &= mask - 1 {
		n++
	}
	return n
}

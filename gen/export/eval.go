package export

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// known maps variables to the terms that they are known to equal at one place of a step.
type known map[*variable]*term

// read returns the value of a variable.
func (k known) read(v *variable) *term {
	if x := k[v]; x != nil {
		return x
	}
	return read(v)
}

// slot returns the value of one slot of an instance.
func (k known) slot(in *instance, at int) *term {
	if in.slots[at] == nil {
		return number(in.init[at])
	}
	return k.read(in.slots[at])
}

// scope evaluates expressions: it holds all that their names can mean.
type scope struct {
	l      *layout
	known  known
	sender int       // the instance that the event comes from
	inst   *instance // nil in claims
	base   int       // the first slot of the machine that the expression belongs to
	locals []*term
}

func (sc *scope) bind(l *model.Local, v []*term) {
	if need := l.Offset + len(v); need > len(sc.locals) {
		sc.locals = append(sc.locals, make([]*term, need-len(sc.locals))...)
	}
	copy(sc.locals[l.Offset:], v)
}

// eval writes an expression as the terms of its slots. ok is true where it does not fault.
func (sc *scope) eval(e model.Expr) (v []*term, ok *term) {
	switch e := e.(type) {
	case *model.Lit:
		return one(number(e.Value)), yes
	case *model.Text:
		return one(number(sc.l.strs.Intern([]byte(e.Value)))), yes
	case *model.None:
		return zeros(e.T.Slots()), yes
	case *model.Some:
		v, ok := sc.eval(e.X)
		if len(v) != e.T.Elem.Slots() {
			var fits *term
			v, fits = fit(e.T.Elem, e.X.Type(), v)
			ok = and(ok, fits)
		}
		return append(one(yes), v...), ok
	case *model.Unwrap:
		v, ok := sc.eval(e.X)
		return v[1:], and(ok, v[0])
	case *model.VarRef:
		return sc.at(e.Inst, e.Path, e.Var.Offset, e.Var.Type.Slots())
	case *model.LocalRef:
		at := e.Local.Offset
		return slices.Clone(sc.locals[at : at+e.Local.Type.Slots()]), yes
	case *model.Sender:
		return one(number(int64(sc.sender))), yes
	case *model.StateTest:
		v, ok := sc.at(e.Inst, e.Path, 0, 1)
		in := no
		for _, st := range e.States {
			in = or(in, compare("==", v[0], number(int64(st.Index))))
		}
		return one(in), ok
	case *model.TimerTest:
		return sc.timerTest(e)
	case *model.ChanLen:
		return one(sc.l.lengths(sc.inst, e)), yes
	case *model.FieldRef:
		v, ok := sc.eval(e.X)
		return v[e.Field.Offset : e.Field.Offset+e.Field.Type.Slots()], ok
	case *model.Index:
		return sc.index(e)
	case *model.Unary:
		return sc.unary(e)
	case *model.Binary:
		return sc.binary(e)
	}
	return sc.evalMore(e)
}

func (sc *scope) evalMore(e model.Expr) (v []*term, ok *term) {
	switch e := e.(type) {
	case *model.Call:
		return sc.call(e)
	case *model.RecordLit:
		ok = yes
		for i, f := range e.T.Fields {
			x, fine := sc.eval(e.Fields[i])
			x, fits := fit(f.Type, e.Fields[i].Type(), x)
			v, ok = append(v, x...), and(ok, and(fine, fits))
		}
		return v, ok
	case *model.ListLit:
		l := zeros(e.T.Slots())
		ok = yes
		for _, el := range e.Elems {
			l, ok = sc.add(e.T, l, ok, el, yes)
		}
		return l, ok
	case *model.Build:
		return sc.build(e)
	case *model.Find:
		return sc.find(e)
	case *model.Quantified:
		return sc.quantified(e)
	}
	refuse("an expression of the kind %T (%s)", e, e.Pos())
	return nil, nil
}

// at reads n slots of the machine that a path leads to.
func (sc *scope) at(inst *model.Instance, path model.Path, off, n int) (v []*term, ok *term) {
	in, base := sc.inst, sc.base
	if inst != nil {
		in, base = sc.l.insts[inst.Index], 0
	}
	return sc.follow(in, base, path, off, n)
}

func (sc *scope) follow(in *instance, base int, path model.Path, off, n int) (v []*term, ok *term) {
	if len(path) == 0 {
		for i := range n {
			v = append(v, sc.known.slot(in, base+off+i))
		}
		return v, yes
	}
	p := path[0].Part
	keys, fine := sc.keys(path[0].Keys)
	v, ok = zeros(n), no
	for i := range p.Count {
		cond := selects(keys, partKeys(p)(i))
		if cond.is(0) {
			continue
		}
		x, okay := sc.follow(in, base+p.Offset+i*p.Machine.Size, path[1:], off, n)
		v, ok = pickAll(cond, x, v), pick(cond, okay, ok)
	}
	return v, and(fine, ok)
}

func (sc *scope) keys(list []model.Expr) (keys []*term, ok *term) {
	ok = yes
	for _, k := range list {
		x, fine := sc.eval(k)
		keys, ok = append(keys, x[0]), and(ok, fine)
	}
	return keys, ok
}

func (sc *scope) timerTest(e *model.TimerTest) ([]*term, *term) {
	keys, fine := sc.keys(e.Keys)
	v, ok := sc.at(e.Inst, e.Path, e.Timer.Offset, e.Timer.Count)
	armed, one1 := no, no
	for i := range e.Timer.Count {
		cond := selects(keys, timerKeys(e.Timer)(i))
		armed, one1 = pick(cond, v[i], armed), or(cond, one1)
	}
	return one(armed), and(and(fine, ok), one1)
}

func (sc *scope) index(e *model.Index) (v []*term, ok *term) {
	list, ok1 := sc.eval(e.X)
	i, ok2 := sc.eval(e.I)
	t := e.X.Type()
	low := int64(0)
	if t.Kind == model.KindArray {
		low = t.Index.Lowest()
	}
	v, ok = zeros(t.Elem.Slots()), no
	for k, el := range elements(t, list) {
		cond := and(compare("==", i[0], number(low+int64(k))), el.there)
		if cond.is(0) {
			continue
		}
		v, ok = pickAll(cond, el.v, v), or(cond, ok)
	}
	if t.Kind == model.KindArray && i[0].lo >= low && i[0].hi < low+t.Index.Count() {
		ok = yes
	}
	return v, and(and(ok1, ok2), ok)
}

func (sc *scope) unary(e *model.Unary) ([]*term, *term) {
	v, ok := sc.eval(e.X)
	if e.Op == model.OpNot {
		return one(not(v[0])), ok
	}
	return one(exact("-", no, v[0], e)), ok
}

// exact computes; numbers that Promela has not are refused.
func exact(op string, x, y *term, e model.Expr) *term {
	t, ok := arith(op, x, y)
	if !ok {
		refuse("numbers of more than 31 bits (%s)", e.Pos())
	}
	return t
}

var compareOps = map[model.Op]string{
	model.OpLt: "<", model.OpLe: "<=", model.OpGt: ">", model.OpGe: ">=",
}

var arithOps = map[model.Op]string{
	model.OpAdd: "+", model.OpSub: "-", model.OpMul: "*", model.OpDiv: "/", model.OpMod: "%",
}

func (sc *scope) binary(e *model.Binary) ([]*term, *term) {
	x, okX := sc.eval(e.X)
	y, okY := sc.eval(e.Y)
	both := and(okX, okY)
	switch e.Op {
	case model.OpAnd:
		return one(and(x[0], y[0])), and(okX, or(not(x[0]), okY))
	case model.OpOr:
		return one(or(x[0], y[0])), and(okX, or(x[0], okY))
	case model.OpImplies:
		return one(or(not(x[0]), y[0])), and(okX, or(not(x[0]), okY))
	case model.OpEq:
		return one(equal(e.X.Type(), x, e.Y.Type(), y)), both
	case model.OpNe:
		return one(not(equal(e.X.Type(), x, e.Y.Type(), y))), both
	case model.OpDiv, model.OpMod:
		nonzero := compare("!=", y[0], no)
		if nonzero.is(0) {
			return one(no), no
		}
		return one(exact(arithOps[e.Op], x[0], y[0], e)), and(both, nonzero)
	}
	if op := compareOps[e.Op]; op != "" {
		return one(compare(op, x[0], y[0])), both
	}
	return one(exact(arithOps[e.Op], x[0], y[0], e)), both
}

// add puts an element behind a list or into a set, where there is true.
func (sc *scope) add(t *model.Type, l []*term, ok *term, el model.Expr, there *term) ([]*term, *term) {
	v, okay := sc.eval(el)
	ok = and(ok, or(not(there), okay))
	if t.Kind == model.KindSet {
		low, n := t.Elem.Lowest(), t.Elem.Count()
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

// call is a built-in function.
func (sc *scope) call(e *model.Call) (v []*term, ok *term) {
	x, ok := sc.eval(e.Args[0])
	t := e.Args[0].Type()
	switch e.Fn {
	case model.FnIf:
		return sc.ifCall(e, x[0], ok)
	case model.FnMin, model.FnMax:
		y, okY := sc.eval(e.Args[1])
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
		return sc.add(e.T, l, and(ok, fits), e.Args[1], yes)
	case model.FnUnion, model.FnMinus, model.FnIntersect:
		y, okY := sc.eval(e.Args[1])
		return one(combine(e.Fn, x[0], y[0])), and(ok, okY)
	case model.FnContains, model.FnWithout:
		return sc.membership(e, x, ok)
	}
	refuse("a function of number %d (%s)", e.Fn, e.Pos())
	return nil, nil
}

func (sc *scope) ifCall(e *model.Call, cond, ok *term) ([]*term, *term) {
	x, okX := sc.eval(e.Args[1])
	y, okY := sc.eval(e.Args[2])
	if !e.T.Scalar() {
		var f, g *term
		x, f = fit(e.T, e.Args[1].Type(), x)
		y, g = fit(e.T, e.Args[2].Type(), y)
		okX, okY = and(okX, f), and(okY, g)
	}
	return pickAll(asBool(cond), x, y), and(ok, pick(asBool(cond), okX, okY))
}

// membership is contains(l, x) and without(l, x).
func (sc *scope) membership(e *model.Call, l []*term, ok *term) ([]*term, *term) {
	t, u := e.Args[0].Type(), e.Args[1].Type()
	v, okV := sc.eval(e.Args[1])
	ok = and(ok, okV)
	found, out := no, zeros(e.T.Slots())
	if t.Kind == model.KindSet {
		left := l[0]
		for _, el := range elements(t, l) {
			is := compare("==", v[0], el.v[0])
			found = or(found, and(is, el.there))
			without, _ := arith("-", l[0], number(1<<(el.v[0].lo-t.Elem.Lowest())))
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

// quantified is all and some. They stop at the first element that decides, so what faults behind it
// does not count.
func (sc *scope) quantified(e *model.Quantified) ([]*term, *term) {
	result, ok, open := truth(e.All), yes, yes
	fine := sc.forEach(e.Local, e.Values, e.Over, func(there *term) {
		v, okay := sc.eval(e.X)
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

// forEach binds the local to each value or element in turn; there reports whether there is such an
// element.
func (sc *scope) forEach(l *model.Local, values *model.Type, over model.Expr,
	body func(there *term)) (ok *term) {
	if values != nil {
		for _, v := range domain(values) {
			sc.bind(l, v)
			body(yes)
		}
		return yes
	}
	list, ok := sc.eval(over)
	for _, el := range elements(over.Type(), list) {
		sc.bind(l, el.v)
		body(el.there)
	}
	return ok
}

// build makes a list, set or array, element by element.
func (sc *scope) build(e *model.Build) (l []*term, ok *term) {
	l, ok = zeros(e.T.Slots()), yes
	fine := sc.forEach(e.Local, e.Values, e.Over, func(there *term) {
		if e.If != nil {
			v, okay := sc.eval(e.If)
			ok = and(ok, or(not(there), okay))
			there = and(there, asBool(v[0]))
		}
		if e.T.Kind != model.KindArray {
			l, ok = sc.add(e.T, l, ok, e.Elem, there)
			return
		}
		v, okay := sc.eval(e.Elem)
		v, fits := fit(e.T.Elem, e.Elem.Type(), v)
		ok = and(ok, or(not(there), and(okay, fits)))
		at := int(sc.locals[e.Local.Offset].lo-e.T.Index.Lowest()) * e.T.Elem.Slots()
		copy(l[at:], pickAll(there, v, zeros(len(v))))
	})
	return l, and(fine, ok)
}

// find looks for the first value or element with a property, or counts them.
func (sc *scope) find(e *model.Find) (out []*term, ok *term) {
	out, ok = zeros(e.T.Slots()), yes
	open := yes
	fine := sc.forEach(e.Local, e.Values, e.Over, func(there *term) {
		v, okay := sc.eval(e.X)
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

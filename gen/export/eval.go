package export

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// known has the terms that variables are known to equal at one point of a step.
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

// scope evaluates expressions. It has all that names in them can mean.
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

// eval returns an expression as the terms of its slots. ok is a term that is true where the expression
// does not fault.
func (sc *scope) eval(e core.Expr) (v []*term, ok *term) {
	switch e := e.(type) {
	case *core.Const:
		if e.IsText {
			return one(number(sc.l.strs.Intern([]byte(e.Text)))), yes
		}
		v := zeros(e.Slots)
		v[0] = number(e.Value)
		return v, yes
	case *core.Local:
		if e.Local == nil {
			return one(number(int64(sc.sender))), yes
		}
		at := e.Local.Offset
		return slices.Clone(sc.locals[at : at+e.Slots]), yes
	case *core.Read:
		return sc.read(e)
	case *core.Field:
		v, ok := sc.eval(e.X)
		if e.Field == nil {
			return v[1:], and(ok, v[0])
		}
		return v[e.Field.Offset : e.Field.Offset+e.Slots], ok
	case *core.Index:
		return sc.index(e)
	case *core.Apply:
		return sc.apply(e)
	case *core.If:
		c, ok := sc.eval(e.Cond)
		x, okX := sc.eval(e.Then)
		y, okY := sc.eval(e.Else)
		cond := asBool(c[0])
		return pickAll(cond, x, y), and(ok, pick(cond, okX, okY))
	case *core.Make:
		return sc.make(e)
	case *core.Fold:
		return sc.fold(e)
	case *core.Fit:
		v, ok := sc.eval(e.X)
		v, fits := fit(e.T, e.X.Node().T, v)
		return v, and(ok, fits)
	case *core.Observe:
		return one(sc.l.lengths(sc.inst, e.Of)), yes
	}
	refuse("an expression of the kind %T (%s)", e, e.Node().Pos())
	return nil, nil
}

// read returns what an expression reads of a machine.
func (sc *scope) read(e *core.Read) (v []*term, ok *term) {
	switch e.What {
	case core.ReadState:
		v, ok := sc.at(&e.Place, 0, 1)
		in := no
		for _, st := range e.Is {
			in = or(in, compare("==", v[0], number(int64(st.Index))))
		}
		return one(in), ok
	case core.ReadTimer:
		keys, fine := sc.keys(e.Keys)
		v, ok := sc.at(&e.Place, e.Timer.Offset, e.Timer.Count)
		armed, some := no, no
		for i := range e.Timer.Count {
			cond := selects(keys, interp.TimerKeys(e.Timer, i))
			armed, some = pick(cond, v[i], armed), or(cond, some)
		}
		return one(armed), and(and(fine, ok), some)
	case core.ReadDown: // without faults nobody crashes
		return one(not(sc.l.insts[e.Inst.Index].there())), yes
	}
	return sc.at(&e.Place, e.Var.Offset, e.Slots)
}

// at returns n slots of the machine that a place leads to.
func (sc *scope) at(p *core.Place, off, n int) (v []*term, ok *term) {
	in, base := sc.inst, sc.base
	if p.Inst != nil {
		in, base = sc.l.insts[p.Inst.Index], 0
	}
	return sc.follow(in, base, p.Path, off, n)
}

func (sc *scope) follow(in *instance, base int, path []core.Step, off, n int) (v []*term, ok *term) {
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
		cond := selects(keys, interp.PartKeys(p, i))
		if cond.is(0) {
			continue
		}
		x, okay := sc.follow(in, base+p.Offset+i*p.Machine.Size, path[1:], off, n)
		v, ok = pickAll(cond, x, v), pick(cond, okay, ok)
	}
	return v, and(fine, ok)
}

// keys evaluates keys without fitting them to their types. A key outside its type selects nothing.
func (sc *scope) keys(list []core.Expr) (keys []*term, ok *term) {
	ok = yes
	for _, k := range list {
		x, fine := sc.eval(core.Bare(k))
		keys, ok = append(keys, x[0]), and(ok, fine)
	}
	return keys, ok
}

func (sc *scope) index(e *core.Index) (v []*term, ok *term) {
	list, ok1 := sc.eval(e.X)
	i, ok2 := sc.eval(e.I)
	t := e.X.Node().T
	low := int64(0)
	if t.Kind == model.KindArray {
		low = t.Index.Lowest()
	}
	v, ok = zeros(e.Slots), no
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

// exact computes on numbers. It refuses a result that Promela's numbers cannot hold.
func exact(e *core.Apply, x, y *term) *term {
	t, ok := arith(e.Op.String(), x, y)
	if !ok {
		refuse("numbers of more than 31 bits (%s)", e.Pos())
	}
	return t
}

// apply evaluates an operation.
func (sc *scope) apply(e *core.Apply) (v []*term, ok *term) {
	x, okX := sc.eval(e.Args[0])
	t := e.Args[0].Node().T
	if e.Op == core.Append || e.Op == core.With {
		return sc.add(e.T, x, okX, e.Args[1], yes)
	}
	if len(e.Args) == 1 {
		return sc.ofOne(e, t, x, okX)
	}
	y, okY := sc.eval(e.Args[1])
	u := e.Args[1].Node().T
	ok = and(okX, okY)
	switch e.Op {
	case core.Eq:
		return one(equal(t, x, u, y)), ok
	case core.Ne:
		return one(not(equal(t, x, u, y))), ok
	case core.Lt, core.Le, core.Gt, core.Ge:
		return one(compare(e.Op.String(), x[0], y[0])), ok
	case core.Min, core.Max:
		return one(extreme(e.Op, x[0], y[0])), ok
	case core.Add, core.Sub, core.Mul:
		return one(exact(e, x[0], y[0])), ok
	case core.Div, core.Mod:
		nonzero := compare("!=", y[0], no)
		if nonzero.is(0) {
			return one(no), no
		}
		return one(exact(e, x[0], y[0])), and(ok, nonzero)
	case core.Union, core.Minus, core.Intersect:
		return one(combine(e.Op, x[0], y[0])), ok
	case core.Has, core.Without:
		return sc.membership(e, t, x, u, y), ok
	}
	refuse("the operation %s (%s)", e.Op, e.Pos())
	return nil, nil
}

// ofOne evaluates an operation on one operand x of type t.
func (sc *scope) ofOne(e *core.Apply, t *model.Type, x []*term, ok *term) ([]*term, *term) {
	switch e.Op {
	case core.Not:
		return one(not(x[0])), ok
	case core.Neg:
		return one(exact(e, no, x[0])), ok
	case core.Len:
		n := x[0]
		if t.Kind == model.KindBytes {
			refuse("the length of a text (%s)", e.Pos())
		}
		if t.Kind == model.KindSet {
			n = no
			for _, el := range elements(t, x) {
				n, _ = arith("+", n, el.there)
			}
		}
		return one(n), ok
	case core.Head:
		return x[1 : 1+t.Elem.Slots()], and(ok, compare(">", x[0], no))
	case core.Tail:
		n := t.Elem.Slots()
		less, _ := arith("-", x[0], yes)
		if less.op != "" {
			less.lo = max(less.lo, 0)
		}
		v := append(one(less), x[1+n:]...)
		return append(v, zeros(e.Slots-len(v))...), and(ok, compare(">", x[0], no))
	}
	refuse("the operation %s (%s)", e.Op, e.Pos())
	return nil, nil
}

// extreme evaluates min or max.
func extreme(op core.Op, x, y *term) *term {
	less := compare("<=", x, y)
	if op == core.Max {
		less = compare(">=", x, y)
	}
	r := pick(less, x, y)
	if r.op == "?" {
		r.lo, r.hi = min(x.lo, y.lo), min(x.hi, y.hi)
		if op == core.Max {
			r.lo, r.hi = max(x.lo, y.lo), max(x.hi, y.hi)
		}
	}
	return r
}

// membership evaluates contains(l, v) and without(l, v). l has type t, v has type u.
func (sc *scope) membership(e *core.Apply, t *model.Type, l []*term, u *model.Type, v []*term) []*term {
	found, out := no, zeros(e.Slots)
	if t.Kind == model.KindSet {
		left := l[0]
		for _, el := range elements(t, l) {
			is := compare("==", v[0], el.v[0])
			found = or(found, and(is, el.there))
			without, _ := arith("-", l[0], number(1<<(el.v[0].lo-t.Elem.Lowest())))
			left = pick(and(is, el.there), without, left)
		}
		if e.Op == core.Has {
			return one(found)
		}
		return one(clamp(left, 0, l[0].hi))
	}
	for _, el := range elements(t, l) {
		is := equal(t.Elem, el.v, u, v)
		found = or(found, and(el.there, is))
		if e.Op == core.Without {
			out = pickAll(and(el.there, not(is)), behind(t, out, el.v), out)
		}
	}
	if e.Op == core.Has {
		return one(found)
	}
	return out
}

// make evaluates a record, optional, list or set from its elements.
func (sc *scope) make(e *core.Make) (v []*term, ok *term) {
	ok = yes
	switch e.T.Kind {
	case model.KindRecord, model.KindOptional:
		if e.T.Kind == model.KindOptional {
			v = one(yes)
		}
		for _, el := range e.Elems {
			x, fine := sc.eval(el)
			v, ok = append(v, x...), and(ok, fine)
		}
		return v, ok
	}
	v = zeros(e.Slots)
	for _, el := range e.Elems {
		v, ok = sc.add(e.T, v, ok, el, yes)
	}
	return v, ok
}

// add appends an element to a list, or adds it to a set, where there is true.
func (sc *scope) add(t *model.Type, l []*term, ok *term, el core.Expr, there *term) ([]*term, *term) {
	v, okay := sc.eval(el)
	ok = and(ok, or(not(there), okay))
	if t.Kind == model.KindSet {
		var with *term
		for i := range t.Elem.Count() {
			bit(l[0], i)
			put, _ := arith("|", l[0], number(1<<i))
			if with == nil {
				with = put
			} else {
				with = pick(compare("==", v[0], number(t.Elem.Lowest()+i)), put, with)
			}
		}
		return one(pick(there, with, l[0])), ok
	}
	ok = and(ok, or(not(there), compare("<", l[0], number(int64(t.Cap)))))
	return pickAll(there, behind(t, l, v), l), ok
}

// fold evaluates an expression that goes over values or elements. all, some and first stop at the
// element that decides. A fault after it does not count.
func (sc *scope) fold(e *core.Fold) (out []*term, ok *term) {
	out, ok = zeros(e.Slots), yes
	if e.How == core.All {
		out[0] = yes
	}
	open := yes // nothing has decided yet
	fine := sc.forEach(e.Local, e.Values, e.Over, func(there *term) {
		is := there
		if e.Where != nil {
			v, okay := sc.eval(e.Where)
			ok = and(ok, or(not(and(open, there)), okay))
			is = and(there, asBool(v[0]))
			if e.How == core.All {
				out[0] = and(out[0], or(not(there), v[0]))
			}
		}
		switch e.How {
		case core.All:
			open = out[0]
		case core.Some:
			out[0] = or(out[0], is)
			open = not(out[0])
		case core.Count:
			out[0], _ = arith("+", out[0], is)
		case core.First:
			el := append(one(yes), sc.locals[e.Local.Offset:e.Local.Offset+e.Local.Type.Slots()]...)
			out = pickAll(and(open, is), el, out)
			open = and(open, not(is))
		case core.Array:
			v, okay := sc.eval(e.Elem)
			ok = and(ok, or(not(is), okay))
			at := int(sc.locals[e.Local.Offset].lo-e.T.Index.Lowest()) * e.T.Elem.Slots()
			copy(out[at:], pickAll(is, v, zeros(len(v))))
		default:
			out, ok = sc.add(e.T, out, ok, e.Elem, is)
		}
	})
	return out, and(fine, ok)
}

// forEach binds the local to each value or element in turn. there is a term that is true if there is such
// an element.
func (sc *scope) forEach(l *model.Local, values *model.Type, over core.Expr,
	body func(there *term)) (ok *term) {
	if values != nil {
		for _, v := range domain(values) {
			sc.bind(l, v)
			body(yes)
		}
		return yes
	}
	list, ok := sc.eval(over)
	for _, el := range elements(over.Node().T, list) {
		sc.bind(l, el.v)
		body(el.there)
	}
	return ok
}

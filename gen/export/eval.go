package export

import (
	"github.com/parley-go/parley/gen/model"
)

// scope is where the names of an expression are looked up.
type scope struct {
	inst   *instance // nil in claims
	base   int
	locals []*term
}

func (sc *scope) bind(l *model.Local, v []*term) {
	if need := l.Offset + len(v); need > len(sc.locals) {
		sc.locals = append(sc.locals, make([]*term, need-len(sc.locals))...)
	}
	copy(sc.locals[l.Offset:], v)
}

// eval writes an expression as the terms of its slots. ok is true where it does not fault.
func (s *step) eval(sc *scope, e model.Expr) (v []*term, ok *term) {
	switch e := e.(type) {
	case *model.Lit:
		return one(number(e.Value)), yes
	case *model.Text:
		return one(number(s.g.strs.Intern([]byte(e.Value)))), yes
	case *model.None:
		return zeros(e.T.Slots()), yes
	case *model.Some:
		v, ok := s.eval(sc, e.X)
		if len(v) != e.T.Elem.Slots() {
			var fits *term
			v, fits = fit(e.T.Elem, e.X.Type(), v)
			ok = and(ok, fits)
		}
		return append(one(yes), v...), ok
	case *model.Unwrap:
		v, ok := s.eval(sc, e.X)
		return v[1:], and(ok, v[0])
	case *model.VarRef:
		return s.at(sc, e.Inst, e.Path, e.Var.Offset, e.Var.Type.Slots())
	case *model.LocalRef:
		return append([]*term(nil), sc.locals[e.Local.Offset:e.Local.Offset+e.Local.Type.Slots()]...), yes
	case *model.Sender:
		return one(number(int64(s.sender))), yes
	case *model.StateTest:
		v, ok := s.at(sc, e.Inst, e.Path, 0, 1)
		in := no
		for _, st := range e.States {
			in = or(in, compare("==", v[0], number(int64(st.Index))))
		}
		return one(in), ok
	case *model.TimerTest:
		return s.timerTest(sc, e)
	case *model.ChanLen:
		return one(s.g.lengths(sc.inst, e)), yes
	case *model.FieldRef:
		v, ok := s.eval(sc, e.X)
		return v[e.Field.Offset : e.Field.Offset+e.Field.Type.Slots()], ok
	case *model.Index:
		return s.index(sc, e)
	case *model.Unary:
		return s.unary(sc, e)
	case *model.Binary:
		return s.binary(sc, e)
	}
	return s.evalMore(sc, e)
}

func (s *step) evalMore(sc *scope, e model.Expr) (v []*term, ok *term) {
	switch e := e.(type) {
	case *model.Call:
		return s.call(sc, e)
	case *model.RecordLit:
		ok = yes
		for i, f := range e.T.Fields {
			x, fine := s.eval(sc, e.Fields[i])
			x, fits := fit(f.Type, e.Fields[i].Type(), x)
			v, ok = append(v, x...), and(ok, and(fine, fits))
		}
		return v, ok
	case *model.ListLit:
		l := zeros(e.T.Slots())
		ok = yes
		for _, el := range e.Elems {
			l, ok = s.add(sc, e.T, l, ok, el, yes)
		}
		return l, ok
	case *model.Build:
		return s.build(sc, e)
	case *model.Find:
		return s.find(sc, e)
	case *model.Quantified:
		return s.quantified(sc, e)
	}
	refuse("an expression of the kind %T (%s)", e, e.Pos())
	return nil, nil
}

func one(x *term) []*term { return []*term{x} }

func zeros(n int) []*term {
	v := make([]*term, n)
	for i := range v {
		v[i] = no
	}
	return v
}

// at reads n slots of the machine that a path leads to.
func (s *step) at(sc *scope, inst *model.Instance, path model.Path, off, n int) (v []*term, ok *term) {
	in, base := sc.inst, sc.base
	if inst != nil {
		in, base = s.g.insts[inst.Index], 0
	}
	return s.follow(sc, in, base, path, off, n)
}

func (s *step) follow(sc *scope, in *instance, base int, path model.Path, off, n int) (v []*term, ok *term) {
	if len(path) == 0 {
		for i := range n {
			v = append(v, in.read(s, base+off+i))
		}
		return v, yes
	}
	p := path[0].Part
	keys, fine := s.keys(sc, path[0].Keys)
	v, ok = zeros(n), no
	for i := range p.Count {
		cond := selects(keys, partKeys(p)(i))
		if cond.is(0) {
			continue
		}
		x, okay := s.follow(sc, in, base+p.Offset+i*p.Machine.Size, path[1:], off, n)
		v, ok = pickAll(cond, x, v), pick(cond, okay, ok)
	}
	return v, and(fine, ok)
}

func (s *step) keys(sc *scope, list []model.Expr) (keys []*term, ok *term) {
	ok = yes
	for _, k := range list {
		x, fine := s.eval(sc, k)
		keys, ok = append(keys, x[0]), and(ok, fine)
	}
	return keys, ok
}

func (s *step) timerTest(sc *scope, e *model.TimerTest) ([]*term, *term) {
	keys, fine := s.keys(sc, e.Keys)
	v, ok := s.at(sc, e.Inst, e.Path, e.Timer.Offset, e.Timer.Count)
	armed, one1 := no, no
	for i := range e.Timer.Count {
		cond := selects(keys, timerKeys(e.Timer)(i))
		armed, one1 = pick(cond, v[i], armed), or(cond, one1)
	}
	return one(armed), and(and(fine, ok), one1)
}

// pickAll is c ? x : y, slot by slot.
func pickAll(c *term, x, y []*term) []*term {
	out := make([]*term, len(x))
	for i := range x {
		if out[i] = pick(c, x[i], y[i]); out[i].op == "?" && out[i].size(maxTerm) >= maxTerm {
			refuse("an expression of more than %d terms", maxTerm)
		}
	}
	return out
}

// maxTerm bounds one expression.
const maxTerm = 5000

func (s *step) index(sc *scope, e *model.Index) (v []*term, ok *term) {
	list, ok1 := s.eval(sc, e.X)
	i, ok2 := s.eval(sc, e.I)
	t := e.X.Type()
	low := int64(0)
	if t.Kind == model.KindArray {
		low = lowest(t.Index)
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

func (s *step) unary(sc *scope, e *model.Unary) ([]*term, *term) {
	v, ok := s.eval(sc, e.X)
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

var compareOps = map[model.Op]string{model.OpLt: "<", model.OpLe: "<=", model.OpGt: ">", model.OpGe: ">="}

var arithOps = map[model.Op]string{model.OpAdd: "+", model.OpSub: "-", model.OpMul: "*", model.OpDiv: "/", model.OpMod: "%"}

func (s *step) binary(sc *scope, e *model.Binary) ([]*term, *term) {
	x, okX := s.eval(sc, e.X)
	y, okY := s.eval(sc, e.Y)
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

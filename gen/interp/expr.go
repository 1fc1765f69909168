package interp

import (
	"strconv"

	"github.com/parley-go/parley/gen/diag"

	"github.com/parley-go/parley/gen/model"
)

// eval writes the value of e to dst, which has room for it. It reports whether it
// succeeded; if not, reason and span say why.
func (x *Eval) eval(s *scope, e model.Expr, dst []int64) bool {
	switch e := e.(type) {
	case *model.Lit:
		dst[0] = e.Value
	case *model.Text:
		if x.Strings == nil {
			return x.fail(e.Pos(), "there is no table of texts")
		}
		dst[0] = x.Strings.Intern([]byte(e.Value))
	case *model.None:
		clear(dst[:e.T.Slots()])
	case *model.Some:
		return x.some(s, e, dst)
	case *model.Unwrap:
		return x.unwrap(s, e, dst)
	case *model.VarRef:
		v, base, ok := x.place(s, e.Inst, e.Path)
		if ok {
			at := base + e.Var.Offset
			copy(dst, v[at:at+e.Var.Type.Slots()])
		}
		return ok
	case *model.LocalRef:
		if n := e.Local.Offset + e.Local.Type.Slots(); n > len(s.locals) {
			return x.fail(e.Pos(), e.Local.Name+" has no value here")
		}
		copy(dst, s.locals[e.Local.Offset:e.Local.Offset+e.Local.Type.Slots()])
	case *model.Down:
		// Whoever explores faults keeps this behind the machine's value.
		dst[0] = 0
		if v := x.Instances[e.Inst.Index]; len(v) > e.Inst.Role.Size {
			dst[0] = v[e.Inst.Role.Size]
		}
	case *model.Sender:
		dst[0] = int64(x.sender)
	case *model.StateTest:
		v, base, ok := x.place(s, e.Inst, e.Path)
		dst[0] = 0
		if ok {
			dst[0] = truth(inStates(v[base], e.States))
		}
		return ok
	case *model.TimerTest:
		return x.armed(s, e, dst)
	case *model.ChanLen:
		if x.ChanLen == nil {
			return x.fail(e.Pos(), "channel lengths are known in checks only")
		}
		dst[0] = x.ChanLen(e)
	default:
		return x.evalMore(s, e, dst)
	}
	return true
}

// armed writes whether a timer runs.
func (x *Eval) armed(s *scope, e *model.TimerTest, dst []int64) bool {
	v, base, ok := x.place(s, e.Inst, e.Path)
	k := 0
	if ok {
		k, ok = x.timer(s, e.Timer, e.Keys)
	}
	if ok {
		dst[0] = v[base+e.Timer.Offset+k]
	}
	return ok
}

func (x *Eval) evalMore(s *scope, e model.Expr, dst []int64) bool {
	m := x.arena.mark()
	defer x.arena.release(m)
	switch e := e.(type) {
	case *model.FieldRef:
		r, ok := x.temp(s, e.X)
		if ok {
			copy(dst, r[e.Field.Offset:e.Field.Offset+e.Field.Type.Slots()])
		}
		return ok
	case *model.Index:
		return x.index(s, e, dst)
	case *model.Unary:
		v, ok := x.scalar(s, e.X)
		if !ok {
			return false
		}
		if e.Op == model.OpNot {
			dst[0] = truth(v == 0)
			return true
		}
		r, ok := arith(model.OpSub, 0, v)
		dst[0] = r
		return ok || x.fail(e.Pos(), "the result does not fit 64 bits")
	case *model.Binary:
		return x.binary(s, e, dst)
	case *model.Call:
		return x.call(s, e, dst)
	case *model.RecordLit:
		for i, f := range e.T.Fields {
			if !x.store(s, e.Fields[i], f.Type, dst[f.Offset:]) {
				return false
			}
		}
		return true
	case *model.ListLit:
		return x.listLit(s, e, dst)
	case *model.Build:
		return x.build(s, e, dst)
	case *model.Find:
		return x.find(s, e, dst)
	case *model.Quantified:
		dst[0] = truth(e.All)
		return x.forEach(s, e.Local, e.Values, e.Over, e.Pos(), func() (bool, bool) {
			v, ok := x.scalar(s, e.X)
			if ok && (v != 0) != e.All {
				dst[0] = v
				return false, true
			}
			return true, ok
		})
	}
	return x.fail(e.Pos(), "the interpreter does not know this kind of expression")
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func inStates(i int64, states []*model.State) bool {
	for _, st := range states {
		if int64(st.Index) == i {
			return true
		}
	}
	return false
}

// store evaluates e into a place of type t, checking ranges and bounds.
func (x *Eval) store(s *scope, e model.Expr, t *model.Type, dst []int64) bool {
	m := x.arena.mark()
	v, ok := x.temp(s, e)
	if ok {
		if why := x.fit(t, dst, e.Type(), v); why != "" {
			ok = x.fail(e.Pos(), why)
		}
	}
	x.arena.release(m)
	return ok
}

// some wraps a value without a range check: it may only be there to be compared.
func (x *Eval) some(s *scope, e *model.Some, dst []int64) bool {
	if e.X.Type().Slots() != e.T.Elem.Slots() {
		dst[0] = 1
		return x.store(s, e.X, e.T.Elem, dst[1:])
	}
	dst[0] = 1
	return x.eval(s, e.X, dst[1:])
}

func (x *Eval) unwrap(s *scope, e *model.Unwrap, dst []int64) bool {
	m := x.arena.mark()
	v, ok := x.temp(s, e.X)
	if ok && v[0] == 0 {
		ok = x.fail(e.Pos(), words(e.X)+" is none")
	}
	if ok {
		copy(dst, v[1:])
	}
	x.arena.release(m)
	return ok
}

func (x *Eval) index(s *scope, e *model.Index, dst []int64) bool {
	v, ok := x.temp(s, e.X)
	if !ok {
		return false
	}
	i, ok := x.scalar(s, e.I)
	if !ok {
		return false
	}
	t := e.X.Type()
	at, why := element(t, v, i)
	if why != "" {
		return x.fail(e.Pos(), words(e)+": "+why)
	}
	copy(dst, v[at:at+t.Elem.Slots()])
	return true
}

// element finds the first slot of an element of an array or list.
func element(t *model.Type, v []int64, i int64) (int, string) {
	if t.Kind == model.KindArray {
		off := i - lowest(t.Index)
		if off < 0 || off >= t.Index.Count() {
			lo := lowest(t.Index)
			return 0, "index " + itoa(i) + " is outside " + itoa(lo) + ".." + itoa(lo+t.Index.Count()-1)
		}
		return int(off) * t.Elem.Slots(), ""
	}
	if i < 0 || i >= v[0] {
		return 0, "index " + itoa(i) + " is outside a list of " + itoa(v[0])
	}
	return 1 + int(i)*t.Elem.Slots(), ""
}

func itoa(v int64) string { return strconv.FormatInt(v, 10) }

func (x *Eval) binary(s *scope, e *model.Binary, dst []int64) bool {
	switch e.Op {
	case model.OpAnd, model.OpOr, model.OpImplies:
		v, ok := x.scalar(s, e.X)
		if !ok {
			return false
		}
		if decided, result := lazy(e.Op, v != 0); decided {
			dst[0] = truth(result)
			return true
		}
		return x.eval(s, e.Y, dst)
	case model.OpEq, model.OpNe:
		a, ok := x.temp(s, e.X)
		if !ok {
			return false
		}
		b, ok := x.temp(s, e.Y)
		if !ok {
			return false
		}
		dst[0] = truth(equal(e.X.Type(), a, e.Y.Type(), b) == (e.Op == model.OpEq))
		return true
	}
	a, ok := x.scalar(s, e.X)
	if !ok {
		return false
	}
	b, ok := x.scalar(s, e.Y)
	if !ok {
		return false
	}
	if e.Op >= model.OpLt && e.Op <= model.OpGe {
		dst[0] = truth(ordered(e.Op, a, b))
		return true
	}
	r, ok := arith(e.Op, a, b)
	dst[0] = r
	if !ok && b == 0 {
		return x.fail(e.Pos(), words(e)+": division by zero")
	}
	return ok || x.fail(e.Pos(), "the result does not fit 64 bits")
}

// lazy says whether the left operand decides, and how.
func lazy(op model.Op, left bool) (decided, result bool) {
	switch op {
	case model.OpAnd:
		return !left, false
	case model.OpOr:
		return left, true
	}
	return !left, true
}

func ordered(op model.Op, a, b int64) bool {
	switch op {
	case model.OpLt:
		return a < b
	case model.OpLe:
		return a <= b
	case model.OpGt:
		return a > b
	}
	return a >= b
}

func (x *Eval) listLit(s *scope, e *model.ListLit, dst []int64) bool {
	clear(dst[:e.T.Slots()])
	for _, el := range e.Elems {
		if !x.add(s, e, dst, el) {
			return false
		}
	}
	return true
}

// add evaluates an element and puts it at the end of a list or into a set, which e makes or adds to.
func (x *Eval) add(s *scope, e model.Expr, dst []int64, el model.Expr) bool {
	t := e.Type()
	if t.Kind == model.KindSet {
		v, ok := x.scalar(s, el)
		if !ok {
			return false
		}
		bit := v - lowest(t.Elem)
		if bit < 0 || bit >= t.Elem.Count() || bit >= 62 {
			return x.fail(el.Pos(), "no element of the set: "+x.outside(t.Elem, v))
		}
		dst[0] |= 1 << bit
		return true
	}
	n := int(dst[0])
	if n >= t.Cap {
		if c, ok := e.(*model.Call); ok {
			e = c.Args[0] // what is full before it
		}
		return x.fail(el.Pos(), words(e)+" is full with "+strconv.Itoa(t.Cap)+" elements")
	}
	if !x.store(s, el, t.Elem, dst[1+n*t.Elem.Slots():]) {
		return false
	}
	dst[0]++
	return true
}

// forEach sets the local to each value of a type or element of a list and runs
// body, which says whether to go on and whether it succeeded. Temporaries are
// not released: the body may keep what it allocated.
func (x *Eval) forEach(s *scope, l *model.Local, values *model.Type, over model.Expr, at diag.Span, body func() (bool, bool)) bool {
	if values != nil {
		cur := x.arena.alloc(values.Slots())
		for Zero(values, cur); ; {
			s.setLocal(l, cur)
			if !x.round(at) {
				return false
			}
			if more, ok := body(); !ok || !more {
				return ok
			}
			if !Next(values, cur) {
				return true
			}
		}
	}
	list, ok := x.temp(s, over)
	if !ok {
		return false
	}
	t := over.Type()
	if t.Kind == model.KindSet {
		return x.forEachBit(s, l, t, list[0], at, body)
	}
	n := t.Elem.Slots()
	count := int(list[0])
	if t.Kind == model.KindArray {
		count, list = int(t.Index.Count()), append([]int64{0}, list...)
	}
	for i := range count {
		s.setLocal(l, list[1+i*n:1+(i+1)*n])
		if !x.round(at) {
			return false
		}
		if more, ok := body(); !ok || !more {
			return ok
		}
	}
	return true
}

func (x *Eval) forEachBit(s *scope, l *model.Local, t *model.Type, mask int64, at diag.Span, body func() (bool, bool)) bool {
	for i := int64(0); mask>>i != 0; i++ {
		if mask>>i&1 == 0 {
			continue
		}
		s.setLocal(l, []int64{lowest(t.Elem) + i})
		if !x.round(at) {
			return false
		}
		if more, ok := body(); !ok || !more {
			return ok
		}
	}
	return true
}

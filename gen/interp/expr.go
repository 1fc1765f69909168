package interp

import (
	"math/bits"
	"strconv"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
)

// num evaluates an expression whose value is a single number ([core.Base.Num]). It reports whether
// it succeeded; if not, reason and span say why.
func (x *Eval) num(s *scope, e core.Expr) (int64, bool) {
	switch e := e.(type) {
	case *core.Const:
		if !e.IsText {
			return e.Value, true
		}
		if x.Strings == nil {
			return 0, x.fail(e.Pos(), "there is no table of texts")
		}
		return x.Strings.Intern([]byte(e.Text)), true
	case *core.Local:
		if e.Local == nil {
			return int64(x.sender), true
		}
		if e.Local.Offset < len(s.locals) {
			return s.locals[e.Local.Offset], true
		}
		return 0, x.fail(e.Pos(), e.Local.Name+" has no value here")
	case *core.Read:
		return x.read(s, e)
	case *core.Apply:
		return x.apply(s, e)
	case *core.If:
		c, ok := x.num(s, e.Cond)
		if !ok {
			return 0, false
		}
		if c != 0 {
			return x.num(s, e.Then)
		}
		return x.num(s, e.Else)
	case *core.Fit:
		v, ok := x.num(s, e.X)
		if !ok {
			return 0, false
		}
		if e.T.Kind == model.KindSet {
			d := [1]int64{}
			if why := fitSet(e.T, d[:], e.X.Node().T, []int64{v}); why != "" {
				return 0, x.fail(e.At, e.Words+why)
			}
			return d[0], true
		}
		if why := x.misfit(e.T, v); why != "" {
			return 0, x.fail(e.At, e.Words+why)
		}
		return v, true
	case *core.Observe:
		if x.ChanLen == nil {
			return 0, x.fail(e.Pos(), "channel lengths are known in checks only")
		}
		return x.ChanLen(e.Of), true
	}
	m := x.arena.mark()
	v, ok := x.value(s, e)
	x.arena.release(m)
	if !ok {
		return 0, false
	}
	return v[0], true
}

// read evaluates what is read of a machine as one number.
func (x *Eval) read(s *scope, e *core.Read) (int64, bool) {
	v, at, ok := x.address(s, &e.Place)
	switch {
	case !ok:
		return 0, false
	case e.What == core.ReadState:
		return truth(inStates(v[at], e.Is)), true
	case e.What == core.ReadDown && len(v) <= at:
		return 0, true // nobody explores faults
	}
	return v[at], true
}

// value evaluates any expression. What it returns must not be changed: it may be where a variable
// or local lies.
func (x *Eval) value(s *scope, e core.Expr) ([]int64, bool) {
	switch e := e.(type) {
	case *core.Local:
		if e.Local == nil {
			break
		}
		n := e.Local.Offset + e.Slots
		if n > len(s.locals) {
			return nil, x.fail(e.Pos(), e.Local.Name+" has no value here")
		}
		return s.locals[e.Local.Offset:n], true
	case *core.Read:
		if e.What == core.ReadVar {
			v, at, ok := x.address(s, &e.Place)
			if !ok {
				return nil, false
			}
			return v[at : at+e.Slots], true
		}
	case *core.Field:
		v, ok := x.value(s, e.X)
		switch {
		case !ok:
			return nil, false
		case e.Field != nil:
			return v[e.Field.Offset : e.Field.Offset+e.Slots], true
		case v[0] == 0:
			return nil, x.fail(e.Pos(), words(e.X.Node().From)+" is none")
		}
		return v[1 : 1+e.Slots], true
	case *core.Index:
		v, ok := x.value(s, e.X)
		if !ok {
			return nil, false
		}
		i, ok := x.num(s, e.I)
		if !ok {
			return nil, false
		}
		at, why := element(e.X.Node().T, v, i)
		if why != "" {
			return nil, x.fail(e.Pos(), words(e.From)+": "+why)
		}
		return v[at : at+e.Slots], true
	}
	d := x.arena.alloc(e.Node().Slots)
	return d, x.into(s, e, d)
}

// into evaluates an expression and writes its value to dst, which has room for it and is no part of
// a machine that the expression looks at.
func (x *Eval) into(s *scope, e core.Expr, dst []int64) bool {
	switch e := e.(type) {
	case *core.Local, *core.Read, *core.Field, *core.Index:
		if b := e.Node(); !b.Num {
			v, ok := x.value(s, e)
			copy(dst, v)
			return ok
		}
	case *core.Make:
		return x.make(s, e, dst)
	case *core.Fold:
		return x.fold(s, e, dst)
	default:
		if b := e.Node(); !b.Num {
			return x.compound(s, e, dst)
		}
	}
	v, ok := x.num(s, e)
	dst[0] = v
	return ok
}

// compound is into for values of several slots.
func (x *Eval) compound(s *scope, e core.Expr, dst []int64) bool {
	switch e := e.(type) {
	case *core.Const: // none
		clear(dst[:e.Slots])
		return true
	case *core.If:
		c, ok := x.num(s, e.Cond)
		if !ok {
			return false
		}
		if c != 0 {
			return x.into(s, e.Then, dst)
		}
		return x.into(s, e.Else, dst)
	}
	m := x.arena.mark()
	defer x.arena.release(m)
	switch e := e.(type) {
	case *core.Fit:
		v, ok := x.value(s, e.X)
		if !ok {
			return false
		}
		if why := x.fit(e.T, dst, e.X.Node().T, v); why != "" {
			return x.fail(e.At, e.Words+why)
		}
		return true
	case *core.Apply:
		return x.list(s, e, dst)
	}
	return x.fail(e.Node().Pos(), "the interpreter does not know this kind of expression")
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

// element finds the first slot of an element of an array or list.
func element(t *model.Type, v []int64, i int64) (int, string) {
	if t.Kind == model.KindArray {
		lo := t.Index.Lowest()
		off := i - lo
		if off < 0 || off >= t.Index.Count() {
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

// apply evaluates an operation whose result is one number.
func (x *Eval) apply(s *scope, e *core.Apply) (int64, bool) {
	t := e.Args[0].Node()
	if !t.Num {
		return x.ofList(s, e)
	}
	a, ok := x.num(s, e.Args[0])
	if !ok {
		return 0, false
	}
	b := int64(0)
	if len(e.Args) > 1 {
		if u := e.Args[1].Node(); !u.Num { // a number and an optional are never compared; the resolver sees to that
			return 0, x.fail(e.Pos(), "the interpreter does not know this operation")
		}
		if b, ok = x.num(s, e.Args[1]); !ok {
			return 0, false
		}
	}
	switch {
	case t.T.Kind == model.KindSet:
		return x.ofSet(e, t.T, a, b)
	case e.Op == core.Len:
		return int64(len(x.Strings.Get(a))), true
	}
	r, ok := e.Op.Compute(a, b)
	switch {
	case ok:
		return r, true
	case b == 0 && e.Op.Info().Fault == core.Division:
		return 0, x.fail(e.Pos(), words(e.From)+": division by zero")
	case e.Op.Info().Fault == core.Never:
		return 0, x.fail(e.Pos(), "the interpreter does not know this operation")
	}
	return 0, x.fail(e.Pos(), "the result does not fit 64 bits")
}

// ofSet evaluates an operation on the set a and b, an element or another set.
func (x *Eval) ofSet(e *core.Apply, t *model.Type, a, b int64) (int64, bool) {
	switch e.Op {
	case core.Eq, core.Ne:
		return truth(equal(t, []int64{a}, e.Args[1].Node().T, []int64{b}) == (e.Op == core.Eq)), true
	case core.Len:
		return int64(bits.OnesCount64(uint64(a))), true
	case core.Has:
		return truth(a&elementBit(t, b) != 0), true
	case core.Without:
		return a &^ elementBit(t, b), true
	case core.With:
		return a | elementBit(t, b), true
	case core.Union:
		return a | b, true
	case core.Minus:
		return a &^ b, true
	case core.Intersect:
		return a & b, true
	}
	return 0, x.fail(e.Pos(), "the interpreter does not know this operation")
}

// elementBit is the mask of an element of a set; 0 if the set's type has not got it.
func elementBit(set *model.Type, v int64) int64 {
	if bit := v - set.Elem.Lowest(); bit >= 0 && bit < 62 {
		return 1 << bit
	}
	return 0
}

// ofList evaluates an operation on a value of several slots whose result is one number.
func (x *Eval) ofList(s *scope, e *core.Apply) (int64, bool) {
	m := x.arena.mark()
	defer x.arena.release(m)
	a, ok := x.value(s, e.Args[0])
	if !ok {
		return 0, false
	}
	t := e.Args[0].Node().T
	switch e.Op {
	case core.Len:
		return a[0], true
	case core.Head:
		if a[0] == 0 {
			return 0, x.fail(e.Pos(), words(e.Args[0].Node().From)+" is empty")
		}
		return a[1], true
	}
	b, ok := x.value(s, e.Args[1])
	if !ok {
		return 0, false
	}
	u := e.Args[1].Node().T
	switch e.Op {
	case core.Eq, core.Ne:
		return truth(equal(t, a, u, b) == (e.Op == core.Eq)), true
	case core.Has:
		n := t.Elem.Slots()
		for i := range int(a[0]) {
			if equal(t.Elem, a[1+i*n:], u, b) {
				return 1, true
			}
		}
		return 0, true
	}
	return 0, x.fail(e.Pos(), "the interpreter does not know this operation")
}

// list evaluates an operation on a list whose result has several slots.
func (x *Eval) list(s *scope, e *core.Apply, dst []int64) bool {
	l, ok := x.value(s, e.Args[0])
	if !ok {
		return false
	}
	arg := e.Args[0].Node()
	n := arg.T.Elem.Slots()
	switch e.Op {
	case core.Head, core.Tail:
		if l[0] == 0 {
			return x.fail(e.Pos(), words(arg.From)+" is empty")
		}
		if e.Op == core.Head {
			copy(dst, l[1:1+n])
			return true
		}
		clear(dst[:e.Slots])
		dst[0] = l[0] - 1
		copy(dst[1:], l[1+n:1+int(l[0])*n])
		return true
	case core.Append:
		copy(dst, l)
		return x.add(s, e.T, dst, e.Args[1], e)
	case core.Without:
		v, ok := x.value(s, e.Args[1])
		if !ok {
			return false
		}
		clear(dst[:e.Slots])
		u := e.Args[1].Node().T
		for i := range int(l[0]) {
			el := l[1+i*n : 1+(i+1)*n]
			if !equal(arg.T.Elem, el, u, v) {
				copy(dst[1+int(dst[0])*n:], el)
				dst[0]++
			}
		}
		return true
	}
	return x.fail(e.Pos(), "the interpreter does not know this operation")
}

// make builds a record, optional, list or set of its parts.
func (x *Eval) make(s *scope, e *core.Make, dst []int64) bool {
	switch e.T.Kind {
	case model.KindRecord:
		for i, f := range e.T.Fields {
			if !x.into(s, e.Elems[i], dst[f.Offset:]) {
				return false
			}
		}
		return true
	case model.KindOptional:
		dst[0] = 1
		return x.into(s, e.Elems[0], dst[1:])
	}
	clear(dst[:e.Slots])
	for _, el := range e.Elems {
		if !x.add(s, e.T, dst, el, e) {
			return false
		}
	}
	return true
}

// add evaluates an element and puts it at the end of a list or into a set, which maker makes or
// adds to.
func (x *Eval) add(s *scope, t *model.Type, dst []int64, el, maker core.Expr) bool {
	if t.Kind == model.KindSet {
		v, ok := x.num(s, el)
		dst[0] |= elementBit(t, v)
		return ok
	}
	n := int(dst[0])
	if n >= t.Cap {
		if a, ok := maker.(*core.Apply); ok {
			maker = a.Args[0] // what is full before it
		}
		return x.fail(el.Node().Pos(), words(maker.Node().From)+" is full with "+strconv.Itoa(t.Cap)+" elements")
	}
	if !x.into(s, el, dst[1+n*t.Elem.Slots():]) {
		return false
	}
	dst[0]++
	return true
}

// fold goes over values or elements.
func (x *Eval) fold(s *scope, e *core.Fold, dst []int64) bool {
	switch e.How {
	case core.All:
		dst[0] = 1
	case core.Some:
		dst[0] = 0
	default:
		clear(dst[:e.Slots])
	}
	m := x.arena.mark()
	ok := x.forEach(s, e.Local, e.Values, e.Over, e, func() (bool, bool) { return x.turn(s, e, dst) })
	x.arena.release(m)
	return ok
}

// turn is one round of a fold: whether to go on, and whether it succeeded.
func (x *Eval) turn(s *scope, e *core.Fold, dst []int64) (more, ok bool) {
	holds := true
	if e.Where != nil {
		v, ok := x.num(s, e.Where)
		if !ok {
			return false, false
		}
		holds = v != 0
	}
	switch e.How {
	case core.All, core.Some:
		if holds != (e.How == core.All) {
			dst[0] = truth(holds)
			return false, true
		}
		return true, true
	}
	if !holds {
		return true, true
	}
	switch e.How {
	case core.Count:
		dst[0]++
	case core.First:
		dst[0] = 1
		copy(dst[1:], s.locals[e.Local.Offset:e.Local.Offset+e.Local.Type.Slots()])
		return false, true
	case core.Array:
		at := s.locals[e.Local.Offset] - e.T.Index.Lowest()
		return true, x.into(s, e.Elem, dst[int(at)*e.T.Elem.Slots():])
	default:
		return true, x.add(s, e.T, dst, e.Elem, e)
	}
	return true, true
}

// forEach sets the local to each value of a type or element of a list and runs
// body, which reports whether to go on and whether it succeeded. Temporaries are
// not released: the body may keep what it allocated.
func (x *Eval) forEach(s *scope, l *model.Local, values *model.Type, over core.Expr, at placed,
	body func() (bool, bool)) bool {
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
	list := x.arena.alloc(over.Node().Slots) // a copy: the body may change what over reads
	if !x.into(s, over, list) {
		return false
	}
	t := over.Node().T
	n, count := t.Elem.Slots(), 0
	switch t.Kind {
	case model.KindSet:
		return x.forEachBit(s, l, t, list[0], at, body)
	case model.KindArray:
		count = int(t.Index.Count())
	default:
		count, list = int(list[0]), list[1:]
	}
	for i := range count {
		s.setLocal(l, list[i*n:(i+1)*n])
		if !x.round(at) {
			return false
		}
		if more, ok := body(); !ok || !more {
			return ok
		}
	}
	return true
}

func (x *Eval) forEachBit(s *scope, l *model.Local, t *model.Type, mask int64, at placed,
	body func() (bool, bool)) bool {
	for i := int64(0); mask>>i != 0; i++ {
		if mask>>i&1 == 0 {
			continue
		}
		d := [1]int64{t.Elem.Lowest() + i}
		s.setLocal(l, d[:])
		if !x.round(at) {
			return false
		}
		if more, ok := body(); !ok || !more {
			return ok
		}
	}
	return true
}

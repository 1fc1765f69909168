// Package slow is a second interpreter, for tests alone. It reads the model itself and not its
// lowered form, and keeps values as trees, locals by name and machines as objects, so that it
// shares with package interp neither the lowering nor slots and offsets. It is as short and literal
// as it can be. Both must agree in each result and in each fault: its kind, its place and its
// words. Start from [Step] and [Eval].
package slow

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// value is a value: a number (truth values, names, opaque values and texts are numbers too), or its
// elements: the fields of a record, the elements of an array, list or set (in ascending order), or
// what an optional has.
type value struct {
	n     int64
	elems []value
}

func number(n int64) value { return value{n: n} }

func truth(b bool) value {
	if b {
		return number(1)
	}
	return number(0)
}

func (v value) equal(w value) bool {
	return v.n == w.n && slices.EqualFunc(v.elems, w.elems, value.equal)
}

// read makes a value of slots.
func read(t *model.Type, slots []int64) value {
	var v value
	list := func(n int, elem *model.Type, slots []int64) {
		for i := range n {
			v.elems = append(v.elems, read(elem, slots[i*elem.Slots():]))
		}
	}
	switch t.Kind {
	case model.KindRecord:
		for _, f := range t.Fields {
			v.elems = append(v.elems, read(f.Type, slots[f.Offset:]))
		}
	case model.KindOptional:
		list(int(slots[0]), t.Elem, slots[1:])
	case model.KindArray:
		list(int(t.Index.Count()), t.Elem, slots)
	case model.KindList:
		list(int(slots[0]), t.Elem, slots[1:])
	case model.KindSet:
		for i := range t.Elem.Count() {
			if slots[0]>>i&1 != 0 {
				v.elems = append(v.elems, number(t.Elem.Lowest()+i))
			}
		}
	default:
		v.n = slots[0]
	}
	return v
}

// write makes slots of a value.
func write(t *model.Type, v value) []int64 {
	var out []int64
	elems := func() {
		for _, x := range v.elems {
			out = append(out, write(t.Elem, x)...)
		}
	}
	switch t.Kind {
	case model.KindRecord:
		for i, f := range t.Fields {
			out = append(out, write(f.Type, v.elems[i])...)
		}
	case model.KindOptional, model.KindList:
		out = append(out, int64(len(v.elems)))
		elems()
	case model.KindArray:
		elems()
	case model.KindSet:
		mask := int64(0)
		for _, x := range v.elems {
			mask |= 1 << (x.n - t.Elem.Lowest())
		}
		out = append(out, mask)
	default:
		out = append(out, v.n)
	}
	return append(out, make([]int64, t.Slots()-len(out))...)
}

// zero is the zero value of a type.
func zero(t *model.Type) value {
	slots := make([]int64, t.Slots())
	interp.Zero(t, slots)
	return read(t, slots)
}

// all lists the values of a type in the order of a loop.
func all(t *model.Type) []value {
	slots := make([]int64, t.Slots())
	interp.Zero(t, slots)
	var out []value
	for {
		out = append(out, read(t, slots))
		if !interp.Next(t, slots) {
			return out
		}
	}
}

// failure is a fault, thrown.
type failure struct {
	reason string
	at     diag.Span
}

func fail(at diag.Span, format string, args ...any) value {
	panic(failure{fmt.Sprintf(format, args...), at})
}

// run is the state of one evaluation or step.
type run struct {
	strs    *interp.Strings
	chanLen func(*model.ChanLen) int64
	machine func(*model.Instance) *machine
	sender  int
	rounds  int
	queued  int
	effects []interp.Effect
	outer   interp.Event
}

// scope is where names are looked up.
type scope struct {
	m      *machine
	locals map[*model.Local]value
}

// unfit says why v is no value of t; empty if it is one.
func (r *run) unfit(t *model.Type, v value) string {
	lo, hi := int64(0), int64(0)
	switch t.Kind {
	case model.KindBytes:
		if n := len(r.strs.Get(v.n)); n > t.Cap {
			return fmt.Sprintf("a text of %d bytes is longer than the %d of its type", n, t.Cap)
		}
		return ""
	case model.KindOpaque:
		if t.Bits < 64 && (v.n < 0 || v.n >= 1<<t.Bits) {
			return fmt.Sprintf("%d does not fit %d bits", v.n, t.Bits)
		}
		return ""
	case model.KindRecord:
		for i, f := range t.Fields {
			if why := r.unfit(f.Type, v.elems[i]); why != "" {
				return why
			}
		}
		return ""
	case model.KindSet:
		for _, x := range v.elems {
			if r.unfit(t.Elem, x) != "" {
				return fmt.Sprintf("the set has the element %d, which its type has not", x.n)
			}
		}
		return ""
	case model.KindList, model.KindArray, model.KindOptional:
		if t.Kind == model.KindList && len(v.elems) > t.Cap {
			return fmt.Sprintf("a list of %d elements is longer than the %d of its type", len(v.elems), t.Cap)
		}
		if t.Kind == model.KindArray && len(v.elems) != int(t.Index.Count()) {
			return fmt.Sprintf("an array of %d elements where %d are needed", len(v.elems), t.Index.Count())
		}
		for _, x := range v.elems {
			if why := r.unfit(t.Elem, x); why != "" {
				return why
			}
		}
		return ""
	case model.KindBool:
		hi = 1
	case model.KindEnum:
		hi = int64(len(t.Names)) - 1
	default:
		lo, hi = t.Lo, t.Hi
	}
	if v.n >= lo && v.n <= hi {
		return ""
	}
	name := ""
	if t.Name != "" {
		name = t.Name + ", "
	}
	return fmt.Sprintf("%d is outside %s%d..%d", v.n, name, lo, hi)
}

// store evaluates e for a place of type t.
func (r *run) store(s scope, e model.Expr, t *model.Type) value {
	v := r.expr(s, e)
	if why := r.unfit(t, v); why != "" {
		fail(e.Pos(), "%s", why)
	}
	return v
}

// words is an expression in a reason.
func words(e model.Expr) string {
	text := []rune(model.ExprString(e))
	if len(text) > 80 {
		return string(text[:79]) + "…"
	}
	return string(text)
}

// select_ gives the machine or timer that keys select, as a number.
func (r *run) select_(s scope, what, name string, fields []*model.Field, keys []model.Expr) int {
	index := 0
	for i, f := range fields {
		k := r.expr(s, keys[i])
		if why := r.unfit(f.Type, k); why != "" {
			fail(keys[i].Pos(), "no instance of %s %s: key %s: %s", what, name, f.Name, why)
		}
		index = index*int(f.Type.Count()) + int(k.n-f.Type.Lowest())
	}
	return index
}

// at follows a path.
func (r *run) at(s scope, inst *model.Instance, path model.Path) *machine {
	m := s.m
	if inst != nil {
		m = r.machine(inst)
	}
	for _, step := range path {
		m = m.parts[step.Part][r.select_(s, "part", step.Part.Name, step.Part.Keys, step.Keys)]
	}
	return m
}

// holds evaluates a truth value.
func (r *run) holds(s scope, e model.Expr) bool { return r.expr(s, e).n != 0 }

// expr evaluates an expression.
func (r *run) expr(s scope, e model.Expr) value {
	switch e := e.(type) {
	case *model.Lit:
		return number(e.Value)
	case *model.Text:
		return number(r.strs.Intern([]byte(e.Value)))
	case *model.None:
		return value{}
	case *model.Some:
		v := r.expr(s, e.X)
		if !alike(e.X.Type(), e.T.Elem) {
			v = r.store(s, e.X, e.T.Elem)
		}
		return value{elems: []value{v}}
	case *model.Unwrap:
		v := r.expr(s, e.X)
		if len(v.elems) == 0 {
			fail(e.Pos(), "%s is none", words(e.X))
		}
		return v.elems[0]
	case *model.VarRef:
		return r.at(s, e.Inst, e.Path).vars[e.Var]
	case *model.LocalRef:
		return s.locals[e.Local]
	case *model.Sender:
		return number(int64(r.sender))
	case *model.StateTest:
		return truth(slices.Contains(e.States, r.at(s, e.Inst, e.Path).state))
	case *model.TimerTest:
		m := r.at(s, e.Inst, e.Path)
		return truth(m.armed[e.Timer][r.select_(s, "timer", e.Timer.Name, e.Timer.Keys, e.Keys)])
	case *model.Down:
		return truth(r.machine(e.Inst).down)
	case *model.ChanLen:
		if r.chanLen == nil {
			fail(e.Pos(), "channel lengths are known in checks only")
		}
		return number(r.chanLen(e))
	case *model.FieldRef:
		return r.expr(s, e.X).elems[e.Field.Index]
	case *model.Index:
		v := r.expr(s, e.X)
		i, why := element(e.X.Type(), v, r.expr(s, e.I).n)
		if why != "" {
			fail(e.Pos(), "%s: %s", words(e), why)
		}
		return v.elems[i]
	case *model.Unary:
		v := r.expr(s, e.X)
		if e.Op == model.OpNot {
			return truth(v.n == 0)
		}
		return number(arith(e, "-", 0, v.n))
	case *model.Binary:
		return r.binary(s, e)
	case *model.Call:
		return r.call(s, e)
	case *model.RecordLit:
		var v value
		for i, f := range e.T.Fields {
			v.elems = append(v.elems, r.store(s, e.Fields[i], f.Type))
		}
		return v
	case *model.ListLit:
		var v value
		for _, el := range e.Elems {
			v = r.add(s, e, e, v, el)
		}
		return v
	}
	return r.loop(s, e)
}

// alike reports whether values of both types lie in slots in the same way, which is when the
// language leaves the value of an optional unchecked.
func alike(t, u *model.Type) bool {
	switch {
	case t.Kind == model.KindSet:
		return t.Elem.Lowest() == u.Elem.Lowest()
	case t.Kind == model.KindRecord:
		for i, f := range t.Fields {
			if !alike(f.Type, u.Fields[i].Type) {
				return false
			}
		}
		return true
	case t.Elem != nil:
		return t.Slots() == u.Slots() && alike(t.Elem, u.Elem)
	}
	return true
}

// element gives the place of an element, or why there is none.
func element(t *model.Type, v value, i int64) (int64, string) {
	lo, hi := int64(0), int64(len(v.elems))-1
	if t.Kind == model.KindArray {
		lo, hi = t.Index.Lowest(), t.Index.Lowest()+hi
	}
	switch {
	case lo <= i && i <= hi:
		return i - lo, ""
	case t.Kind == model.KindArray:
		return 0, fmt.Sprintf("index %d is outside %d..%d", i, lo, hi)
	}
	return 0, fmt.Sprintf("index %d is outside a list of %d", i, len(v.elems))
}

// add puts an element into the list or set that e makes.
func (r *run) add(s scope, e, before model.Expr, v value, el model.Expr) value {
	t := e.Type()
	if t.Kind == model.KindSet {
		x := r.expr(s, el)
		if why := r.unfit(t.Elem, x); why != "" {
			fail(el.Pos(), "no element of the set: %s", why)
		}
		return union(v, value{elems: []value{x}})
	}
	if len(v.elems) >= t.Cap {
		fail(el.Pos(), "%s is full with %s elements", words(before), strconv.Itoa(t.Cap))
	}
	return value{elems: append(slices.Clone(v.elems), r.store(s, el, t.Elem))}
}

func union(a, b value) value {
	list := append(slices.Clone(a.elems), b.elems...)
	slices.SortFunc(list, func(x, y value) int { return int(max(-1, min(1, x.n-y.n))) })
	return value{elems: slices.CompactFunc(list, value.equal)}
}

// has reports whether x is among the elements.
func (v value) has(x value) bool {
	return slices.ContainsFunc(v.elems, func(y value) bool { return y.equal(x) })
}

// keep gives the elements that keep says.
func (v value) keep(keep func(value) bool) value {
	var out value
	for _, x := range v.elems {
		if keep(x) {
			out.elems = append(out.elems, x)
		}
	}
	return out
}

func (r *run) binary(s scope, e *model.Binary) value {
	switch e.Op {
	case model.OpAnd:
		return truth(r.holds(s, e.X) && r.holds(s, e.Y))
	case model.OpOr:
		return truth(r.holds(s, e.X) || r.holds(s, e.Y))
	case model.OpImplies:
		return truth(!r.holds(s, e.X) || r.holds(s, e.Y))
	}
	x, y := r.expr(s, e.X), r.expr(s, e.Y)
	switch e.Op {
	case model.OpEq:
		return truth(x.equal(y))
	case model.OpNe:
		return truth(!x.equal(y))
	case model.OpLt:
		return truth(x.n < y.n)
	case model.OpLe:
		return truth(x.n <= y.n)
	case model.OpGt:
		return truth(x.n > y.n)
	case model.OpGe:
		return truth(x.n >= y.n)
	}
	return number(arith(e, e.Op.String(), x.n, y.n))
}

func (r *run) call(s scope, e *model.Call) value {
	if e.Fn == model.FnIf {
		arm := e.Args[2]
		if r.holds(s, e.Args[0]) {
			arm = e.Args[1]
		}
		if e.T.Scalar() && e.T.Kind != model.KindSet {
			return r.expr(s, arm)
		}
		return r.store(s, arm, e.T)
	}
	a := r.expr(s, e.Args[0])
	switch e.Fn {
	case model.FnLen:
		if e.Args[0].Type().Kind == model.KindBytes {
			return number(int64(len(r.strs.Get(a.n))))
		}
		return number(int64(len(a.elems)))
	case model.FnFirst, model.FnTail:
		if len(a.elems) == 0 {
			fail(e.Pos(), "%s is empty", words(e.Args[0]))
		}
		if e.Fn == model.FnTail {
			return value{elems: a.elems[1:]}
		}
		return a.elems[0]
	case model.FnAppend, model.FnWith:
		if why := r.unfit(e.T, a); why != "" {
			fail(e.Pos(), "%s", why)
		}
		return r.add(s, e, e.Args[0], a, e.Args[1])
	}
	b := r.expr(s, e.Args[1])
	switch e.Fn {
	case model.FnMin:
		return number(min(a.n, b.n))
	case model.FnMax:
		return number(max(a.n, b.n))
	case model.FnContains:
		return truth(a.has(b))
	case model.FnWithout:
		return a.keep(func(x value) bool { return !x.equal(b) })
	case model.FnUnion:
		return union(a, b)
	case model.FnMinus:
		return a.keep(func(x value) bool { return !b.has(x) })
	}
	return a.keep(b.has) // intersect
}

// each runs body for each round of a loop, until it returns false.
func (r *run) each(s scope, l *model.Local, values *model.Type, over model.Expr, at diag.Span, body func() bool) {
	var list []value
	if values != nil {
		list = all(values)
	} else {
		list = r.expr(s, over).elems
	}
	for _, v := range list {
		s.locals[l] = v
		if r.rounds++; r.rounds > interp.MaxRounds {
			fail(at, "the step goes round its loops too often")
		}
		if !body() {
			return
		}
	}
}

func (r *run) loop(s scope, e model.Expr) (out value) {
	switch e := e.(type) {
	case *model.Quantified:
		out = truth(e.All)
		r.each(s, e.Local, e.Values, e.Over, e.Pos(), func() bool {
			if r.holds(s, e.X) != e.All {
				out = truth(!e.All)
				return false
			}
			return true
		})
	case *model.Find:
		r.each(s, e.Local, e.Values, e.Over, e.Pos(), func() bool {
			switch {
			case !r.holds(s, e.X):
				return true
			case e.Count:
				out.n++
				return true
			}
			out.elems = []value{s.locals[e.Local]}
			return false
		})
	case *model.Build:
		if e.T.Kind == model.KindArray {
			out = read(e.T, make([]int64, e.T.Slots()))
		}
		r.each(s, e.Local, e.Values, e.Over, e.Pos(), func() bool {
			switch {
			case e.If != nil && !r.holds(s, e.If):
			case e.T.Kind == model.KindArray:
				out.elems[s.locals[e.Local].n-e.T.Index.Lowest()] = r.store(s, e.Elem, e.T.Elem)
			default:
				out = r.add(s, e, e, out, e.Elem)
			}
			return true
		})
	}
	return out
}

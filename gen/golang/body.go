package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// body composes the statements of one function. Statements that an expression
// needs beforehand (the checks that can refuse the step) go to out before the
// statement that uses it.
type body struct {
	g      *gen
	r      *machine // whose members the receiver m has
	out    *text
	names  localScope
	locals map[*model.Local]val
	// refuse gives the statement that ends the function when the step is
	// refused; dirty says whether something has changed by then.
	refuse func(dirty bool) string
	dirty  bool
	f      *facts
}

// facts are what the callers of a function must know of it.
type facts struct {
	name         string
	refuses      bool // it can refuse
	refusesDirty bool // it can refuse after a change
	changes      bool // it can change the machine or the effects
	queues       bool // it can queue an event for the machine above
	waits        bool // it can queue an event for the machine itself
}

func (f *facts) and(o *facts) {
	f.refuses = f.refuses || o.refuses
	f.refusesDirty = f.refusesDirty || o.refusesDirty
	f.changes = f.changes || o.changes
	f.queues = f.queues || o.queues
}

// fault gives the statement for a refusal at this point.
func (c *body) fault() string {
	c.f.refuses = true
	if c.dirty {
		c.f.refusesDirty = true
	}
	return c.refuse(c.dirty)
}

// check emits a refusal under a condition.
func (c *body) check(format string, args ...any) {
	c.out.p("if %s {\n%s\n}", fmt.Sprintf(format, args...), c.fault())
}

func (c *body) changed() { c.dirty, c.f.changes = true, true }

// inner composes statements into a text of their own.
func (c *body) inner(compose func()) string {
	outer := c.out
	c.out = &text{}
	compose()
	s := c.out.String()
	c.out = outer
	return s
}

// val is an expression as Go text.
type val struct {
	s    string
	prec int // of the outermost operator, as in Go; 6 unary, 7 primary
	t    *model.Type
	wide bool // an int64, whatever t is
	lit  bool // an untyped constant
	addr bool // addressable and unchanged until the statement is done
	// terms are the operands if s is a chain of && or of || (see prec).
	terms []string
}

// Precedences of Go's operators.
const (
	precLiteral = 0 // composite literals: parentheses nearly everywhere
	precOr      = 1
	precAnd     = 2
	precCompare = 3
	precAdd     = 4
	precMul     = 5
	precUnary   = 6
	precPrimary = 7
)

// in gives the text of v for a place that binds as tightly as prec.
func (v val) in(prec int) string {
	if v.prec < prec {
		return "(" + v.s + ")"
	}
	return v.s
}

// hoist puts a value into a variable.
func (c *body) hoist(v val, hint string) val {
	name := c.names.local(hint)
	if v.lit {
		c.out.p("%s := %s(%s)", name, c.g.typ(v.t, "").name, v.s)
	} else {
		c.out.p("%s := %s", name, v.s)
	}
	return val{s: name, prec: precPrimary, t: v.t, wide: v.wide, addr: true}
}

// steady makes v cheap and safe to mention twice.
func (c *body) steady(v val) val { return c.steadyAs(v, "value") }

// steadyAs is steady with a name for the variable, should one be needed.
func (c *body) steadyAs(v val, name string) val {
	if v.lit || v.addr {
		return v
	}
	return c.hoist(v, name)
}

// addressable makes v something whose methods can be called.
func (c *body) addressable(v val) val {
	if v.addr {
		return v
	}
	return c.hoist(v, "list")
}

// wide gives v as an int64.
func (c *body) wide(v val) val {
	if v.wide || v.lit {
		return v
	}
	s := "int64(" + v.s + ")"
	if v.t.Kind == model.KindBool {
		c.g.helpers["ordinal"] = true
		s = "int64(ordinal(" + v.s + "))"
	}
	return val{s: s, prec: precPrimary, t: v.t, wide: true}
}

func (c *body) goType(t *model.Type) string { return c.g.typ(t, "").name }

// sameGo says whether values of both types are represented alike.
func (c *body) sameGo(t, u *model.Type) bool { return c.goType(t) == c.goType(u) }

func number(n int64) val {
	v := val{s: strconv.FormatInt(n, 10), prec: precPrimary, lit: true}
	if n < 0 {
		v.prec = precUnary
	}
	return v
}

// lit renders a constant of type t.
func (c *body) literal(t *model.Type, n int64) val {
	switch t.Kind {
	case model.KindBool:
		return val{s: strconv.FormatBool(n != 0), prec: precPrimary, t: t, addr: true}
	case model.KindEnum:
		return val{s: c.g.enumNames(c.g.typ(t, ""))[n], prec: precPrimary, t: t, addr: true}
	case model.KindOpaque, model.KindSet:
		return val{s: strconv.FormatUint(uint64(n), 10), prec: precPrimary, t: t, lit: true}
	}
	v := number(n)
	v.t = t
	return v
}

// value composes an expression as it is: without conversion to the place it goes to.
func (c *body) value(e model.Expr) val {
	switch e := e.(type) {
	case *model.Lit:
		return c.literal(e.T, e.Value)
	case *model.Text:
		gt := c.g.typ(e.T, "")
		return val{s: c.g.textMaker(gt) + "(" + strconv.Quote(e.Value) + ")", prec: precPrimary, t: e.T}
	case *model.None:
		return val{s: c.goType(e.T) + "{}", prec: precLiteral, t: e.T}
	case *model.Some:
		return val{s: c.goType(e.T) + "{Present: true, Value: " + c.store(e.X, e.T.Elem) + "}", prec: precLiteral, t: e.T}
	case *model.Unwrap:
		x := c.steady(c.value(e.X))
		c.check("!%s.Present", x.in(precPrimary))
		return val{s: x.in(precPrimary) + ".Value", prec: precPrimary, t: e.X.Type().Elem, addr: x.addr}
	case *model.VarRef:
		r, at := c.path(e.Path)
		return val{s: at + "." + r.varName(e.Var), prec: precPrimary, t: e.Var.Type, addr: true}
	case *model.LocalRef:
		v, ok := c.locals[e.Local]
		if !ok {
			c.g.fail(e.Pos(), "the generator knows no value for %s here", e.Local.Name)
		}
		return v
	case *model.Sender:
		return val{s: "fx.from", prec: precPrimary, t: e.T, addr: true}
	case *model.StateTest:
		r, at := c.path(e.Path)
		tests := make([]string, len(e.States))
		for i, s := range e.States {
			tests[i] = at + ".State == " + r.states[s.Index]
		}
		v := val{s: strings.Join(tests, " || "), prec: precCompare, t: e.T}
		if len(tests) > 1 {
			v.prec = precOr
		}
		return v
	case *model.TimerTest:
		r, at := c.path(e.Path)
		at += "." + r.timers[e.Timer.Index]
		if len(e.Keys) > 0 {
			index, _ := c.timerIndex(e.Timer, e.Keys)
			at += "[" + index + "]"
		}
		return val{s: at, prec: precPrimary, t: e.T, addr: true}
	case *model.FieldRef:
		x := c.value(e.X)
		name := c.g.typ(e.X.Type(), "").fields[e.Field.Index]
		return val{s: x.in(precPrimary) + "." + name, prec: precPrimary, t: e.Field.Type, addr: x.addr}
	case *model.Index:
		return c.element(c.addressable(c.value(e.X)), e.X.Type(), e.I)
	}
	return c.compound(e)
}

func (c *body) compound(e model.Expr) val {
	switch e := e.(type) {
	case *model.Unary:
		return c.unary(e)
	case *model.Binary:
		return c.binary(e)
	case *model.Call:
		return c.call(e)
	case *model.RecordLit:
		return val{s: c.record(e.T, e.Fields), prec: precLiteral, t: e.T}
	case *model.ListLit:
		return c.listLit(e, e.T)
	case *model.Build:
		return c.build(e)
	case *model.Find:
		return c.find(e)
	case *model.Quantified:
		return c.quantified(e)
	}
	c.g.fail(e.Pos(), "the generator does not know this kind of expression here: %s", model.ExprString(e))
	return val{}
}

// path gives the machine that a path leads to and its place.
func (c *body) path(p model.Path) (*machine, string) {
	r, at := c.r, "m"
	for _, s := range p {
		sub := r.subPart(s.Part)
		at += "." + r.member(sub)
		for i, k := range s.Part.Keys {
			at += "[" + c.key(s.Keys[i], k.Type) + "]"
		}
		r = sub
	}
	return r, at
}

func (r *machine) varName(v *model.Var) string {
	for i, p := range r.m.Params {
		if p == v {
			return r.params[i]
		}
	}
	for i, p := range r.m.Vars {
		if p == v {
			return r.vars[i]
		}
	}
	panic("variable " + v.Name + " is not of " + r.m.Name)
}

// key composes an index into an array that has one element for each value of t.
func (c *body) key(e model.Expr, t *model.Type) string {
	v := c.value(e)
	in := bounds(e)
	if !in.within(t) {
		d := domain(t)
		v = c.steady(v)
		c.rangeCheck(v, in, d)
		if v.lit {
			return "0" // not reached
		}
	}
	return c.g.index(v, t)
}

// index makes a Go index from a value of t that lies in its range.
func (g *gen) index(v val, t *model.Type) string {
	switch {
	case t.Kind == model.KindBool:
		g.helpers["ordinal"] = true
		return "ordinal(" + v.s + ")"
	case lowest(t) == 0:
		return v.s
	case v.lit:
		n, _ := strconv.ParseInt(v.s, 10, 64)
		return strconv.FormatInt(n-lowest(t), 10)
	case v.wide:
		return plus(v.in(precAdd), -lowest(t))
	}
	return plus("int64("+v.s+")", -lowest(t))
}

// plus renders x + n.
func plus(x string, n int64) string {
	if n == 0 {
		return x
	}
	if n < 0 {
		return fmt.Sprintf("%s-%d", x, -n)
	}
	return fmt.Sprintf("%s+%d", x, n)
}

// rangeCheck refuses v outside d, as far as its bounds allow that.
func (c *body) rangeCheck(v val, in, d interval) {
	var tests []string
	w := v
	if !v.wide && !v.lit && !(fits(v.t, d.lo) && fits(v.t, d.hi)) {
		w = c.wide(v)
	}
	if v.lit {
		c.out.p("%s // always outside", c.fault())
		return
	}
	if in.lo < d.lo {
		tests = append(tests, fmt.Sprintf("%s < %d", w.in(precCompare+1), d.lo))
	}
	if in.hi > d.hi {
		tests = append(tests, fmt.Sprintf("%s > %d", w.in(precCompare+1), d.hi))
	}
	if len(tests) > 0 {
		c.check("%s", strings.Join(tests, " || "))
	}
}

// fits says whether n is a value of the Go type of the integer type t.
func fits(t *model.Type, n int64) bool {
	switch w := width(t); {
	case t.Kind == model.KindNode:
		return n >= -1<<15 && n < 1<<15
	case w == "int64":
		return true
	case w[0] == 'u':
		bits, _ := strconv.Atoi(w[4:])
		return n >= 0 && (bits == 64 || n < 1<<bits)
	default:
		bits, _ := strconv.Atoi(w[3:])
		return n >= -1<<(bits-1) && n < 1<<(bits-1)
	}
}

// element composes an element of an array or list, with its check.
func (c *body) element(x val, t *model.Type, i model.Expr) val {
	if t.Kind == model.KindArray {
		return val{s: x.in(precPrimary) + "[" + c.key(i, t.Index) + "]", prec: precPrimary, t: t.Elem, addr: x.addr}
	}
	n := c.steady(c.value(i))
	w := c.wide(n)
	test := fmt.Sprintf("%s >= int64(%s.Len)", w.in(precCompare+1), x.in(precPrimary))
	if bounds(i).lo < 0 {
		test = fmt.Sprintf("%s < 0 || ", w.in(precCompare+1)) + test
	}
	c.check("%s", test)
	return val{s: x.in(precPrimary) + ".Items[" + n.s + "]", prec: precPrimary, t: t.Elem, addr: x.addr}
}

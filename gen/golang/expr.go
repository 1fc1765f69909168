package golang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

var goOps = map[model.Op]struct {
	text string
	prec int
}{
	model.OpOr: {"||", precOr}, model.OpAnd: {"&&", precAnd},
	model.OpEq: {"==", precCompare}, model.OpNe: {"!=", precCompare},
	model.OpLt: {"<", precCompare}, model.OpLe: {"<=", precCompare},
	model.OpGt: {">", precCompare}, model.OpGe: {">=", precCompare},
	model.OpAdd: {"+", precAdd}, model.OpSub: {"-", precAdd},
	model.OpMul: {"*", precMul}, model.OpDiv: {"/", precMul}, model.OpMod: {"%", precMul},
}

func (c *body) unary(e *model.Unary) val {
	if e.Op == model.OpNot {
		return c.not(e.X)
	}
	x := c.value(e.X)
	w := c.wide(x)
	if !bounds(e).exact {
		w = c.steady(w)
		c.check("%s == -1<<63", w.s)
	}
	return val{s: "-" + w.in(precUnary), prec: precUnary, t: e.T, wide: true}
}

// not negates a truth value.
func (c *body) not(e model.Expr) val {
	if v, ok := c.negated(e); ok {
		return v
	}
	x := c.value(e)
	switch {
	case strings.HasPrefix(x.s, "!") && x.prec == precUnary:
		return val{s: x.s[1:], prec: precPrimary, t: e.Type()}
	case x.prec == precCompare && strings.Count(x.s, " == ") == 1 && !strings.ContainsAny(x.s, "(<>!"):
		return val{s: strings.Replace(x.s, " == ", " != ", 1), prec: precCompare, t: e.Type()}
	}
	return val{s: "!" + x.in(precUnary), prec: precUnary, t: e.Type()}
}

// negated writes the negation of a comparison as a comparison.
func (c *body) negated(e model.Expr) (val, bool) {
	b, ok := e.(*model.Binary)
	opposite := map[model.Op]model.Op{model.OpEq: model.OpNe, model.OpNe: model.OpEq, model.OpLt: model.OpGe,
		model.OpGe: model.OpLt, model.OpGt: model.OpLe, model.OpLe: model.OpGt}
	if !ok || opposite[b.Op] == 0 || !b.X.Type().Scalar() || !b.Y.Type().Scalar() {
		return val{}, false
	}
	n := *b
	n.Op = opposite[b.Op]
	return c.binary(&n), true
}

func (c *body) binary(e *model.Binary) val {
	switch e.Op {
	case model.OpAnd, model.OpOr, model.OpImplies:
		return c.lazy(e)
	case model.OpEq, model.OpNe:
		return c.equal(e.X, e.Y, e.Op == model.OpEq, e.T)
	}
	op := goOps[e.Op]
	x, y := c.value(e.X), c.value(e.Y)
	if op.prec == precCompare {
		x, y = c.alike(x, y)
		return val{s: x.in(op.prec+1) + " " + op.text + " " + y.in(op.prec+1), prec: op.prec, t: e.T}
	}
	x, y = c.wide(x), c.wide(y)
	if x.lit && y.lit {
		x = val{s: "int64(" + x.s + ")", prec: precPrimary, wide: true}
	}
	if (e.Op == model.OpDiv || e.Op == model.OpMod) && contains(bounds(e.Y), 0) {
		if y.lit {
			c.out.p("%s // division by zero", c.fault())
			return val{s: "int64(0)", prec: precPrimary, t: e.T, wide: true}
		}
		y = c.steady(y)
		c.check("%s == 0", y.s)
	}
	if !arith(e.Op, interval{bounds(e.X).lo, bounds(e.X).hi, true}, interval{bounds(e.Y).lo, bounds(e.Y).hi, true}).exact {
		return c.checked(e, x, y)
	}
	return val{s: x.in(op.prec) + " " + op.text + " " + y.in(op.prec+1), prec: op.prec, t: e.T, wide: true}
}

func contains(i interval, n int64) bool { return i.lo <= n && n <= i.hi }

// checked computes with a helper that notices when the result needs more than 64 bits.
func (c *body) checked(e *model.Binary, x, y val) val {
	helper := map[model.Op]string{model.OpAdd: "add64", model.OpSub: "sub64", model.OpMul: "mul64", model.OpDiv: "div64"}[e.Op]
	c.g.helpers[helper] = true
	v, ok := c.names.local("value"), c.names.local("ok")
	c.out.p("%s, %s := %s(%s, %s)", v, ok, helper, x.s, y.s)
	c.check("!%s", ok)
	return val{s: v, prec: precPrimary, t: e.T, wide: true, addr: true}
}

// alike makes two numbers comparable: both of one Go type or both int64.
func (c *body) alike(x, y val) (val, val) {
	switch {
	case x.lit && y.lit, x.wide && y.wide:
		return x, y
	case !x.wide && y.lit && constant(x, y), !y.wide && x.lit && constant(y, x):
		return x, y
	case !x.wide && !y.wide && !x.lit && !y.lit && c.sameGo(x.t, y.t):
		return x, y
	}
	return c.wide(x), c.wide(y)
}

// constant says whether the literal l is a value of v's Go type.
func constant(v, l val) bool {
	if v.t.Kind == model.KindOpaque || v.t.Kind == model.KindSet {
		return true
	}
	var n int64
	if _, err := fmt.Sscan(l.s, &n); err != nil {
		return false
	}
	return fits(v.t, n)
}

func (c *body) lazy(e *model.Binary) val {
	x := c.value(e.X)
	var y val
	dirty := c.dirty
	before := c.inner(func() { y = c.value(e.Y) })
	c.dirty = dirty
	if before != "" { // the right side needs checks that must not be made if the left side decides
		r := c.names.local("holds")
		switch e.Op {
		case model.OpAnd:
			c.out.p("%s := %s\nif %s {\n%s%s = %s\n}", r, x.s, r, before, r, y.s)
		case model.OpOr:
			c.out.p("%s := %s\nif !%s {\n%s%s = %s\n}", r, x.s, r, before, r, y.s)
		default:
			c.out.p("%s := !%s\nif !%s {\n%s%s = %s\n}", r, x.in(precUnary), r, before, r, y.s)
		}
		return val{s: r, prec: precPrimary, t: e.T, addr: true}
	}
	switch e.Op {
	case model.OpAnd:
		return chain(" && ", precAnd, e.T, x, y)
	case model.OpOr:
		return chain(" || ", precOr, e.T, x, y)
	}
	return chain(" || ", precOr, e.T, val{s: "!" + x.in(precUnary), prec: precUnary}, y)
}

// chain joins truth values by && or ||, each operand once: go vet asks whether the author
// meant what is there twice.
func chain(op string, prec int, t *model.Type, list ...val) val {
	var terms []string
	for _, v := range list {
		all := v.terms
		if v.prec != prec || len(all) == 0 {
			all = []string{v.in(prec + 1)}
		}
		for _, s := range all {
			if !slices.Contains(terms, s) {
				terms = append(terms, s)
			}
		}
	}
	if len(terms) == 1 {
		return val{s: terms[0], prec: list[0].prec, t: t}
	}
	return val{s: strings.Join(terms, op), prec: prec, t: t, terms: terms}
}

// equal compares two values; yes says whether == or != is meant.
func (c *body) equal(x, y model.Expr, yes bool, t *model.Type) val {
	if _, ok := x.(*model.None); ok {
		x, y = y, x
	}
	if _, ok := x.(*model.Some); ok {
		x, y = y, x
	}
	switch y := y.(type) {
	case *model.None:
		v := c.value(x)
		if yes {
			return val{s: "!" + v.in(precPrimary) + ".Present", prec: precUnary, t: t}
		}
		return val{s: v.in(precPrimary) + ".Present", prec: precPrimary, t: t}
	case *model.Some:
		if s, ok := x.(*model.Some); ok {
			return c.equal(s.X, y.X, yes, t)
		}
		v := c.steady(c.value(x))
		eq := c.same(val{s: v.in(precPrimary) + ".Value", prec: precPrimary, t: x.Type().Elem, addr: v.addr}, c.value(y.X), yes, t)
		if yes {
			return chain(" && ", precAnd, t, val{s: v.in(precPrimary) + ".Present", prec: precPrimary}, eq)
		}
		return chain(" || ", precOr, t, val{s: "!" + v.in(precPrimary) + ".Present", prec: precUnary}, eq)
	}
	if l, ok := y.(*model.Lit); ok && l.T.Kind == model.KindBool {
		if (l.Value != 0) == yes {
			return c.value(x)
		}
		return val{s: "!" + c.value(x).in(precUnary), prec: precUnary, t: t}
	}
	return c.same(c.value(x), c.value(y), yes, t)
}

// same compares two values of types that can be assigned to each other.
func (c *body) same(x, y val, yes bool, t *model.Type) val {
	op := " == "
	if !yes {
		op = " != "
	}
	compare := func(a, b string) val { return val{s: a + op + b, prec: precCompare, t: t} }
	switch {
	case x.lit && y.lit:
		return compare(x.s, y.s)
	case x.lit || y.lit || x.wide || y.wide || x.t.Kind == model.KindInt || x.t.Kind == model.KindNode:
		x, y = c.alike(x, y)
		return compare(x.in(precCompare+1), y.in(precCompare+1))
	case c.sameGo(x.t, y.t):
		return compare(x.in(precCompare+1), y.in(precCompare+1))
	case x.t.Kind == model.KindOpaque || x.t.Kind == model.KindEnum:
		return compare("uint64("+x.s+")", "uint64("+y.s+")")
	}
	v, ok := c.names.local("value"), c.names.local("ok")
	x = c.addressable(x)
	c.out.p("%s, %s := %s(&%s)", v, ok, c.g.fit(x.t, y.t), x.s)
	if yes {
		return val{s: ok + " && " + v + " == " + y.in(precCompare+1), prec: precAnd, t: t}
	}
	return val{s: "!" + ok + " || " + v + " != " + y.in(precCompare+1), prec: precOr, t: t}
}

// store composes e for a place of type t: with the checks that it fits, and
// converted.
func (c *body) store(e model.Expr, t *model.Type) string {
	switch e := e.(type) {
	case *model.None:
		return c.goType(t) + "{}"
	case *model.Text:
		if len(e.Value) <= t.Cap {
			return c.g.textMaker(c.g.typ(t, "")) + "(" + strconv.Quote(e.Value) + ")"
		}
	case *model.Some:
		if t.Kind == model.KindOptional {
			return c.goType(t) + "{Present: true, Value: " + c.store(e.X, t.Elem) + "}"
		}
	case *model.RecordLit:
		if t.Kind == model.KindRecord {
			return c.record(t, e.Fields)
		}
	case *model.ListLit:
		if t.Kind == model.KindList || t.Kind == model.KindSet {
			return c.listLit(e, t).s
		}
	}
	v := c.value(e)
	return c.fitted(v, bounds(e), t)
}

// fitted converts v, whose numbers lie in the interval, to a place of type t.
func (c *body) fitted(v val, in interval, t *model.Type) string {
	switch t.Kind {
	case model.KindBool:
		return v.s
	case model.KindInt, model.KindNode, model.KindEnum:
		if !in.within(t) {
			v = c.steady(v)
			c.rangeCheck(v, in, domain(t))
			if v.lit {
				return "0" // not reached
			}
		}
		if v.lit || !v.wide && c.sameGo(v.t, t) {
			return v.s
		}
		return c.goType(t) + "(" + v.s + ")"
	case model.KindOpaque:
		if v.lit || c.sameGo(v.t, t) {
			return v.s
		}
		if v.t.Bits > t.Bits {
			v = c.steady(v)
			c.check("%s > 1<<%d-1", v.in(precCompare+1), t.Bits)
		}
		return c.goType(t) + "(" + v.s + ")"
	}
	if c.sameGo(v.t, t) {
		return v.s
	}
	v = c.addressable(v)
	r, ok := c.names.local("value"), c.names.local("ok")
	c.out.p("%s, %s := %s(&%s)", r, ok, c.g.fit(v.t, t), v.s)
	c.check("!%s", ok)
	return r
}

// record composes a record literal of type t.
func (c *body) record(t *model.Type, fields []model.Expr) string {
	gt := c.g.typ(t, "")
	return gt.name + "{" + c.fields(gt.fields, t.Fields, fields) + "}"
}

// fields composes the inside of a literal of a record, message or report.
func (c *body) fields(names []string, fields []*model.Field, exprs []model.Expr) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = names[i] + ": " + c.store(exprs[i], f.Type)
	}
	return strings.Join(parts, ", ")
}

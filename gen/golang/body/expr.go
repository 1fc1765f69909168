package body

import (
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

var goOps = map[model.Op]string{
	model.OpLt: "<", model.OpLe: "<=", model.OpGt: ">", model.OpGe: ">=",
	model.OpAdd: "+", model.OpSub: "-", model.OpMul: "*", model.OpDiv: "/", model.OpMod: "%",
}

// text is a constant text of type t.
func (c *body) text(e *model.Text, t *model.Type) gotree.Expr {
	return gotree.X("$1($2)", c.g.TextMaker(c.g.Typ(t, "")), gotree.Str(e.Value))
}

// some is a value that is there, of the optional type t.
func (c *body) some(e *model.Some, t *model.Type) gotree.Expr {
	return gotree.X("$1{Present: true, Value: $2}", c.goType(t), c.store(e.X, t.Elem))
}

func (c *body) unary(e *model.Unary) val {
	if e.Op == model.OpNot {
		return c.not(e.X)
	}
	w := c.wide(c.value(e.X))
	if !c.bounds(e).Exact {
		w = c.steady(w)
		c.checkf("$1 == -1<<63", w.x)
	}
	return val{x: gotree.X("-$1", w.x), t: e.T, wide: true}
}

// not negates a truth value.
func (c *body) not(e model.Expr) val { return truth(gotree.Not(c.value(e).x), e.Type()) }

func (c *body) binary(e *model.Binary) val {
	switch e.Op {
	case model.OpAnd, model.OpOr, model.OpImplies:
		return c.lazy(e)
	case model.OpEq, model.OpNe:
		return c.equal(e.X, e.Y, e.Op == model.OpEq, e.T)
	case model.OpLt, model.OpLe, model.OpGt, model.OpGe:
		x, y := c.alike(c.value(e.X), c.value(e.Y))
		return truth(gotree.Binary{Op: goOps[e.Op], X: x.x, Y: y.x}, e.T)
	}
	x0, y0 := c.value(e.X), c.value(e.Y)
	if in := c.bounds(e); x0.lit && y0.lit && in.Exact && in.Lo == in.Hi {
		return val{x: gotree.Int(in.Lo), t: e.T, lit: true}
	}
	x, y := c.wide(x0), c.wide(y0)
	if x.lit && y.lit {
		x = val{x: gotree.X("int64($1)", x.x), wide: true}
	}
	if (e.Op == model.OpDiv || e.Op == model.OpMod) && contains(c.bounds(e.Y), 0) {
		if y.lit {
			c.never("division by zero")
			return val{x: gotree.X("int64(0)"), t: e.T, wide: true}
		}
		y = c.steady(y)
		c.checkf("$1 == 0", y.x)
	}
	if !base.Arith(e.Op, c.bounds(e.X).Sure(), c.bounds(e.Y).Sure()).Exact {
		return c.checked(e, x, y)
	}
	r := val{x: gotree.Binary{Op: goOps[e.Op], X: x.x, Y: y.x}, t: e.T, wide: true}
	if e.Op == model.OpAdd || e.Op == model.OpSub || e.Op == model.OpMul {
		c.narrowly(&r, x0, y0, func(x, y gotree.Expr) gotree.Expr { return gotree.Binary{Op: goOps[e.Op], X: x, Y: y} })
	}
	return r
}

// narrowly notes how r is computed from x and y in their own type, if they have one: where the
// result fits it is the same.
func (c *body) narrowly(r *val, x, y val, compute func(x, y gotree.Expr) gotree.Expr) {
	of := func(v val) (gotree.Expr, *model.Type) {
		switch {
		case v.narrow != nil:
			return v.narrow, v.of
		case v.lit || v.wide || v.t.Kind != model.KindInt:
			return nil, nil
		}
		return v.x, v.t
	}
	a, t := of(x)
	b, u := of(y)
	switch {
	case a != nil && b != nil && c.sameGo(t, u):
	case a != nil && y.lit && constant(val{t: t}, y):
		b = y.x
	case b != nil && x.lit && constant(val{t: u}, x):
		a, t = x.x, u
	default:
		return
	}
	r.narrow, r.of = compute(a, b), t
}

func contains(i base.Interval, n int64) bool { return i.Lo <= n && n <= i.Hi }

// checked computes with a helper that notices when the result needs more than 64 bits.
func (c *body) checked(e *model.Binary, x, y val) val {
	helper := map[model.Op]string{model.OpAdd: "add64", model.OpSub: "sub64", model.OpMul: "mul64",
		model.OpDiv: "div64"}[e.Op]
	c.g.Helpers[helper] = true
	v, ok := c.names.Local("value"), c.names.Local("ok")
	c.out.P("$1, $2 := $3($4, $5)", v, ok, helper, x.x, y.x)
	c.checkf("!$1", ok)
	return val{x: gotree.Name{Name: v}, t: e.T, wide: true, stable: true}
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

// constant reports whether the literal l is a value of v's Go type.
func constant(v, l val) bool {
	if v.t.Kind == model.KindOpaque || v.t.Kind == model.KindSet {
		return true
	}
	n, ok := gotree.Number(l.x)
	return ok && types.Fits(v.t, n)
}

func (c *body) lazy(e *model.Binary) val {
	x := c.value(e.X)
	var y val
	dirty := c.dirty
	decided := x.holds() // on the right side
	if e.Op == model.OpOr {
		decided = []gotree.Expr{gotree.Not(x.x)}
	}
	var before []gotree.Stmt
	var after []gotree.Expr // what is known then
	c.assuming(decided, func() {
		before = c.inner(func() { y, after = c.value(e.Y), c.facts() })
	})
	c.dirty = dirty
	if before != nil { // the right side needs statements that must not run if the left side decides
		r := x.x
		if left := x.x; !x.own || e.Op == model.OpImplies {
			if e.Op == model.OpImplies {
				left = gotree.Not(left)
			}
			r = gotree.Name{Name: c.names.Local("holds")}
			c.out.P("$1 := $2", r, left)
		}
		then := r
		if e.Op != model.OpAnd {
			then = gotree.Not(r)
		}
		c.out.P("if $1 {\n$2\n$3 = $4\n}", then, before, r, y.x)
		both := val{x: r, t: e.T, stable: true, own: true}
		if e.Op == model.OpAnd {
			both.implied = append(after, y.holds()...)
		}
		return both
	}
	switch e.Op {
	case model.OpAnd:
		return val{x: gotree.And(x.x, y.x), t: e.T, implied: append(x.implied, y.implied...)}
	case model.OpOr:
		return truth(gotree.Or(x.x, y.x), e.T)
	}
	return truth(gotree.Or(gotree.Not(x.x), y.x), e.T)
}

// equal compares two values; yes reports whether == or != is meant.
func (c *body) equal(x, y model.Expr, yes bool, t *model.Type) val {
	if _, ok := x.(*model.None); ok {
		x, y = y, x
	}
	if _, ok := x.(*model.Some); ok {
		x, y = y, x
	}
	switch y := y.(type) {
	case *model.None:
		if yes {
			return truth(gotree.X("!$1.Present", c.value(x).x), t)
		}
		return truth(gotree.X("$1.Present", c.value(x).x), t)
	case *model.Some:
		if s, ok := x.(*model.Some); ok {
			return c.equal(s.X, y.X, yes, t)
		}
		v := c.steady(c.value(x))
		there := gotree.X("$1.Present", v.x)
		eq := c.same(val{x: gotree.X("$1.Value", v.x), t: x.Type().Elem, stable: v.stable}, c.value(y.X), yes, t)
		switch {
		case c.knows(there):
			return eq
		case yes:
			return truth(gotree.And(there, eq.x), t)
		}
		return truth(gotree.Or(gotree.Not(there), eq.x), t)
	case *model.Lit:
		if y.T.Kind == model.KindBool {
			v := c.value(x)
			if (y.Value != 0) == yes {
				return v
			}
			return truth(gotree.Not(v.x), t)
		}
	}
	return c.same(c.value(x), c.value(y), yes, t)
}

// same compares two values of types that can be assigned to each other.
func (c *body) same(x, y val, yes bool, t *model.Type) val {
	op := "=="
	if !yes {
		op = "!="
	}
	compare := func(a, b gotree.Expr) val { return truth(gotree.Binary{Op: op, X: a, Y: b}, t) }
	switch {
	case x.lit && y.lit:
		return compare(x.x, y.x)
	case x.lit || y.lit || x.wide || y.wide || x.t.Kind == model.KindInt || x.t.Kind == model.KindNode:
		x, y = c.alike(x, y)
		return compare(x.x, y.x)
	case c.sameGo(x.t, y.t):
		return compare(x.x, y.x)
	case x.t.Kind == model.KindOpaque || x.t.Kind == model.KindEnum:
		return compare(gotree.X("uint64($1)", x.x), gotree.X("uint64($1)", y.x))
	}
	v, ok := c.names.Local("value"), c.names.Local("ok")
	x = c.addressable(x)
	c.out.P("$1, $2 := $3(&$4)", v, ok, c.g.fit(x.t, y.t), x.x)
	eq := compare(gotree.Name{Name: v}, y.x)
	if yes {
		return truth(gotree.X("$1 && $2", ok, eq.x), t)
	}
	return truth(gotree.X("!$1 || $2", ok, eq.x), t)
}

// store composes e for a place of type t: with the checks that it fits, and
// converted.
func (c *body) store(e model.Expr, t *model.Type) gotree.Expr {
	switch e := e.(type) {
	case *model.None:
		return gotree.Struct(c.goType(t))
	case *model.Text:
		if len(e.Value) <= t.Cap {
			return c.text(e, t)
		}
	case *model.Some:
		if t.Kind == model.KindOptional {
			return c.some(e, t)
		}
	case *model.RecordLit:
		if t.Kind == model.KindRecord {
			return c.record(t, e.Fields)
		}
	case *model.ListLit:
		if t.Kind == model.KindList || t.Kind == model.KindSet {
			return c.listLit(e, t).x
		}
	}
	return c.fitted(c.value(e), c.bounds(e), t)
}

// fitted converts v, whose numbers lie in the interval, to a place of type t.
func (c *body) fitted(v val, in base.Interval, t *model.Type) gotree.Expr {
	switch t.Kind {
	case model.KindBool:
		return v.x
	case model.KindInt, model.KindNode, model.KindEnum:
		if !in.Within(t) {
			v = c.steady(v)
			c.rangeCheck(v, in, base.Domain(t))
			if v.lit {
				return gotree.Int(0) // not reached
			}
		}
		return c.cast(v, t)
	case model.KindOpaque:
		if v.lit || c.sameGo(v.t, t) {
			return v.x
		}
		if v.t.Bits > t.Bits {
			v = c.steady(v)
			c.checkf("$1 > 1<<$2-1", v.x, t.Bits)
		}
		return gotree.Conv(c.goType(t), v.x)
	}
	if c.sameGo(v.t, t) {
		return v.x
	}
	v = c.addressable(v)
	r, ok := c.names.Local("value"), c.names.Local("ok")
	c.out.P("$1, $2 := $3(&$4)", r, ok, c.g.fit(v.t, t), v.x)
	c.checkf("!$1", ok)
	return gotree.Name{Name: r}
}

// cast converts without a check.
func (c *body) cast(x val, t *model.Type) gotree.Expr {
	switch {
	case x.lit, !x.wide && c.sameGo(x.t, t), x.wide && gotree.Equal(c.goType(t), gotree.X("int64")):
		return x.x
	case x.narrow != nil && c.sameGo(x.of, t):
		return x.narrow
	}
	return gotree.Conv(c.goType(t), x.x)
}

// record composes a record literal of type t.
func (c *body) record(t *model.Type, fields []model.Expr) gotree.Expr {
	gt := c.g.Typ(t, "")
	return gotree.Struct(gt.X, c.fields(gt.Fields, t.Fields, fields)...)
}

// fields composes the inside of a literal of a record, message or report.
func (c *body) fields(names []string, fields []*model.Field, exprs []model.Expr) []gotree.Elem {
	elems := make([]gotree.Elem, len(fields))
	for i, f := range fields {
		c.named(f.Name, func() { elems[i] = gotree.Field(names[i], c.store(exprs[i], f.Type)) })
	}
	return elems
}

package body

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// apply composes an operation.
func (c *body) apply(e *core.Apply) val {
	switch e.Op {
	case core.Not:
		return truth(gotree.Not(c.value(e.Args[0]).x), e.T)
	case core.Neg:
		return c.negated(e)
	case core.Eq, core.Ne:
		return c.equal(e.Args[0], e.Args[1], e.Op == core.Eq, e.T)
	case core.Lt, core.Le, core.Gt, core.Ge:
		x, y := c.alike(c.value(e.Args[0]), c.value(e.Args[1]))
		return truth(gotree.Binary{Op: e.Op.String(), X: x.x, Y: y.x}, e.T)
	case core.Add, core.Sub, core.Mul, core.Div, core.Mod:
		return c.arithmetic(e)
	case core.Min, core.Max:
		return c.extreme(e)
	case core.Union:
		return c.combined(e, "|")
	case core.Minus:
		return c.combined(e, "&^")
	case core.Intersect:
		return c.combined(e, "&")
	}
	return c.collection(e)
}

// text composes a constant text of type t.
func (c *body) text(e *core.Const, t *model.Type) gotree.Expr {
	return gotree.X("$1($2)", c.g.TextMaker(c.g.Typ(t, "")), gotree.Str(e.Text))
}

// result returns the interval of an operation on numbers. fits is false if the result can need more
// than 64 bits. The operands have been composed, so that their own checks come before.
func (c *body) result(e *core.Apply) (in interval.Interval, fits bool) {
	a := c.bounds(e.Args[0])
	b := a
	if len(e.Args) > 1 {
		b = c.bounds(e.Args[1])
	}
	return e.Op.Info().Range(a, b)
}

func (c *body) negated(e *core.Apply) val {
	w := c.wide(c.value(e.Args[0]))
	if _, fits := c.result(e); !fits {
		w = c.steady(w)
		c.checkf("$1 == -1<<63", w.x)
	}
	return val{x: gotree.X("-$1", w.x), t: e.T, wide: true}
}

// arithmetic composes an operation on two numbers whose operator is the same in Go.
func (c *body) arithmetic(e *core.Apply) val {
	x0, y0 := c.value(e.Args[0]), c.value(e.Args[1])
	byZero := e.Op.Info().Fault == core.Division && c.bounds(e.Args[1]).Has(0)
	if in, fits := c.result(e); x0.lit && y0.lit && fits && !byZero && in.Lo == in.Hi {
		return val{x: gotree.Int(in.Lo), t: e.T, lit: true}
	}
	x, y := c.wide(x0), c.wide(y0)
	if x.lit && y.lit {
		x = val{x: gotree.X("int64($1)", x.x), wide: true}
	}
	if byZero {
		if y.lit {
			c.never("division by zero")
			return val{x: gotree.X("int64(0)"), t: e.T, wide: true}
		}
		y = c.steady(y)
		c.checkf("$1 == 0", y.x)
	}
	if _, fits := c.result(e); !fits {
		return c.checked(e, x, y)
	}
	compute := func(x, y gotree.Expr) gotree.Expr { return gotree.Binary{Op: e.Op.String(), X: x, Y: y} }
	r := val{x: compute(x.x, y.x), t: e.T, wide: true}
	if e.Op.Info().Fault == core.Overflow {
		c.narrowly(&r, x0, y0, compute)
	}
	return r
}

// extreme composes min or max.
func (c *body) extreme(e *core.Apply) val {
	compute := func(x, y gotree.Expr) gotree.Expr { return gotree.X("$1($2, $3)", e.Op.String(), x, y) }
	x0, y0 := c.value(e.Args[0]), c.value(e.Args[1])
	x, y := c.wide(x0), c.wide(y0)
	if x.lit && y.lit {
		x = val{x: gotree.X("int64($1)", x.x)}
	}
	r := val{x: compute(x.x, y.x), t: e.T, wide: true}
	if x0.narrow == nil && y0.narrow == nil { // which may have left its type
		c.narrowly(&r, x0, y0, compute)
	}
	return r
}

// combined composes an operation on two sets of one type as one on their bits.
func (c *body) combined(e *core.Apply, op string) val {
	side := func(a core.Expr) gotree.Expr {
		v := c.value(a)
		if v.lit || !c.sameGo(v.t, e.T) {
			return gotree.Conv(c.goType(e.T), v.x)
		}
		return v.x
	}
	return val{x: gotree.Binary{Op: op, X: side(e.Args[0]), Y: side(e.Args[1])}, t: e.T}
}

// narrowly notes how r is computed in the type of x and y, if both have the same type. The result is
// the same wherever it fits that type.
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

// checked composes the call of a helper that reports when the result needs more than 64 bits.
func (c *body) checked(e *core.Apply, x, y val) val {
	helper := map[core.Op]string{core.Add: "add64", core.Sub: "sub64", core.Mul: "mul64",
		core.Div: "div64"}[e.Op]
	c.g.Helpers[helper] = true
	v, ok := c.names.Local("value"), c.names.Local("ok")
	c.out.P("$1, $2 := $3($4, $5)", v, ok, helper, x.x, y.x)
	c.checkf("!$1", ok)
	return val{x: gotree.Name{Name: v}, t: e.T, wide: true, stable: true}
}

// alike converts two numbers so that Go can compare them: both have one type, or both are int64.
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

// constant reports whether v's Go type can hold the literal l.
func constant(v, l val) bool {
	if v.t.Kind == model.KindOpaque || v.t.Kind == model.KindSet {
		return true
	}
	n, ok := gotree.Number(l.x)
	return ok && types.Fits(v.t, n)
}

// lazy composes &&, || or =>. The right side is evaluated only if the left side does not decide.
func (c *body) lazy(e *core.If) val {
	x := c.value(e.Cond)
	right := e.Then
	decided := x.holds() // on the right side
	if e.Form == core.FormOr {
		right, decided = e.Else, []gotree.Expr{gotree.Not(x.x)}
	}
	var y val
	dirty := c.dirty
	var before []gotree.Stmt
	var after []gotree.Expr // what is known then
	c.assuming(decided, func() {
		before = c.inner(func() { y, after = c.value(right), c.facts() })
	})
	c.dirty = dirty
	if before != nil { // the right side needs statements that must not run if the left side decides
		r, decl := x.x, x.decl
		if left := x.x; !x.own || e.Form == core.FormImplies {
			if e.Form == core.FormImplies {
				left = gotree.Not(left)
			}
			if decl = y.decl; decl != nil { // the variable of the right side serves for both
				r, decl.Op = y.x, "="
			} else {
				r = gotree.Name{Name: c.names.Local("holds")}
			}
			decl = &gotree.Assign{Left: []gotree.Expr{r}, Op: ":=", Right: []gotree.Expr{left}}
			c.out.Add(decl)
		}
		then := r
		if e.Form != core.FormAnd {
			then = gotree.Not(r)
		}
		if !gotree.Equal(r, y.x) {
			before = append(before, gotree.S("$1 = $2", r, y.x)...)
		}
		c.out.P("if $1 {\n$2\n}", then, before)
		both := val{x: r, t: e.T, stable: true, own: true, decl: decl}
		if e.Form == core.FormAnd {
			both.implied = append(after, y.holds()...)
		}
		return both
	}
	switch e.Form {
	case core.FormAnd:
		return val{x: gotree.And(x.x, y.x), t: e.T, implied: append(x.implied, y.implied...)}
	case core.FormOr:
		return truth(gotree.Or(x.x, y.x), e.T)
	}
	return truth(gotree.Or(gotree.Not(x.x), y.x), e.T)
}

// present returns the value inside an expression that makes an optional. It returns nil for any other
// expression.
func present(e core.Expr) core.Expr {
	if m, ok := e.(*core.Make); ok && m.T.Kind == model.KindOptional {
		return m.Elems[0]
	}
	return nil
}

// equal composes x == y, or x != y if yes is false.
func (c *body) equal(x, y core.Expr, yes bool, t *model.Type) val {
	if none(x) || present(x) != nil && !none(y) {
		x, y = y, x
	}
	switch lit, constant := y.(*core.Const); {
	case none(y) && yes:
		return truth(gotree.X("!$1.Present", c.value(x).x), t)
	case none(y):
		return truth(gotree.X("$1.Present", c.value(x).x), t)
	case present(y) != nil:
		if v := present(x); v != nil {
			return c.equal(v, present(y), yes, t)
		}
		v := c.steady(c.value(x))
		there := gotree.X("$1.Present", v.x)
		has := val{x: gotree.X("$1.Value", v.x), t: x.Node().T.Elem, stable: v.stable}
		eq := c.same(has, c.value(present(y)), yes, t)
		switch {
		case c.knows(there):
			return eq
		case yes:
			return truth(gotree.And(there, eq.x), t)
		}
		return truth(gotree.Or(gotree.Not(there), eq.x), t)
	case constant && lit.T.Kind == model.KindBool:
		v := c.value(x)
		if (lit.Value != 0) == yes {
			return v
		}
		return truth(gotree.Not(v.x), t)
	}
	return c.same(c.value(x), c.value(y), yes, t)
}

// none reports whether an expression is the constant none.
func none(e core.Expr) bool {
	x, ok := e.(*core.Const)
	return ok && x.T.Kind == model.KindOptional
}

// same compares two values whose types can be assigned to each other; see equal.
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

// store composes e as a value of t's Go type. Where the core converts ([core.Fit]), it refuses the step
// if the value is outside t.
func (c *body) store(e core.Expr, t *model.Type) gotree.Expr {
	if f, ok := e.(*core.Fit); ok && f.T == t {
		e = f.X
	}
	switch x := e.(type) {
	case *core.Const:
		switch {
		case none(x):
			return gotree.Struct(c.goType(t))
		case x.IsText && len(x.Text) <= t.Cap:
			return c.text(x, t)
		}
	case *core.Make:
		return c.made(x, t).x
	}
	return c.fitted(c.value(e), c.bounds(e), t)
}

// fit composes a conversion that the core asks for, with its check. Numbers keep their Go type, so that
// they can be used as an index.
func (c *body) fit(e *core.Fit) val {
	switch e.T.Kind {
	case model.KindInt, model.KindNode, model.KindEnum:
		return c.inside(c.value(e.X), c.bounds(e.X), e.T)
	}
	return val{x: c.store(e, e.T), t: e.T}
}

// fitted converts v to t's Go type. If v is a number it lies in the interval in. The step is refused if
// v is not a value of t.
func (c *body) fitted(v val, in interval.Interval, t *model.Type) gotree.Expr {
	switch t.Kind {
	case model.KindBool:
		return v.x
	case model.KindInt, model.KindNode, model.KindEnum:
		return c.cast(c.inside(v, in, t), t)
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
	if c.sameGo(v.t, t) && core.Within(v.t, t) {
		return v.x
	}
	v = c.addressable(v)
	r, ok := c.names.Local("value"), c.names.Local("ok")
	c.out.P("$1, $2 := $3(&$4)", r, ok, c.g.fit(v.t, t), v.x)
	c.checkf("!$1", ok)
	return gotree.Name{Name: r}
}

// cast converts v to t's Go type without a check.
func (c *body) cast(x val, t *model.Type) gotree.Expr {
	switch {
	case x.lit, !x.wide && c.sameGo(x.t, t), x.wide && gotree.Equal(c.goType(t), gotree.X("int64")):
		return x.x
	case x.narrow != nil && c.sameGo(x.of, t):
		return x.narrow
	}
	return gotree.Conv(c.goType(t), x.x)
}

// made composes a record, list, set or optional of type t from its elements.
func (c *body) made(e *core.Make, t *model.Type) val {
	switch t.Kind {
	case model.KindRecord:
		return val{x: c.record(t, e.Elems), t: t}
	case model.KindOptional:
		return val{x: gotree.X("$1{Present: true, Value: $2}", c.goType(t), c.store(e.Elems[0], t.Elem)), t: t}
	case model.KindSet:
		return c.set(e.Elems, t)
	}
	return c.list(e.Elems, t)
}

// record composes a record of type t.
func (c *body) record(t *model.Type, fields []core.Expr) gotree.Expr {
	gt := c.g.Typ(t, "")
	return gotree.Struct(gt.X, c.fields(gt.Fields, t.Fields, fields)...)
}

// fields composes the elements of the literal of a record, message or report.
func (c *body) fields(names []string, fields []*model.Field, exprs []core.Expr) []gotree.Elem {
	elems := make([]gotree.Elem, len(fields))
	for i, f := range fields {
		c.named(f.Name, func() { elems[i] = gotree.Field(names[i], c.store(exprs[i], f.Type)) })
	}
	return elems
}

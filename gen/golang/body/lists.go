package body

import (
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// method notes that a list's method is called.
func (c *body) method(t *model.Type, name string) string {
	c.g.Typ(t, "").Methods[name] = true
	return name
}

func (c *body) call(e *model.Call) val {
	switch e.Fn {
	case model.FnUnion, model.FnMinus, model.FnIntersect:
		return c.combine(e)
	case model.FnIf:
		return c.choose(e)
	case model.FnMin, model.FnMax:
		x0, y0 := c.value(e.Args[0]), c.value(e.Args[1])
		x, y := c.wide(x0), c.wide(y0)
		if x.lit && y.lit {
			x = val{x: gotree.X("int64($1)", x.x)}
		}
		r := val{x: gotree.X("$1($2, $3)", e.Fn.String(), x.x, y.x), t: e.T, wide: true}
		if x0.narrow == nil && y0.narrow == nil { // which may have left its type
			c.narrowly(&r, x0, y0, func(x, y gotree.Expr) gotree.Expr { return gotree.X("$1($2, $3)", e.Fn.String(), x, y) })
		}
		return r
	}
	if lit, ok := e.Args[0].(*model.ListLit); ok && e.Fn == model.FnContains {
		return c.among(lit, e.Args[1], e.T)
	}
	t := e.Args[0].Type()
	l := c.value(e.Args[0])
	if t.Kind == model.KindSet {
		return c.setCall(e, l, t)
	}
	switch e.Fn {
	case model.FnLen:
		return val{x: gotree.X("$1.Len", l.x), t: &model.Type{Kind: model.KindInt, Hi: int64(t.Cap)}, stable: l.stable}
	case model.FnFirst:
		l = c.addressable(l)
		c.checkf("$1.Len == 0", l.x)
		return variable(gotree.X("$1.Items[0]", l.x), t.Elem)
	case model.FnContains:
		l = c.addressable(l)
		x := c.value(e.Args[1])
		if !c.representable(x, c.bounds(e.Args[1]), t.Elem) {
			return c.search(l, t, x, e.T)
		}
		return truth(gotree.X("$1.$2($3)", l.x, c.method(t, "contains"), c.cast(x, t.Elem)), e.T)
	}
	name := c.names.Local("list")
	c.out.P("$1 := $2", name, c.fitted(l, base.Everything, e.T))
	r := local(name, e.T)
	c.edit(e, r)
	return r
}

// edit applies append, tail or without to the list r, which holds the first argument.
func (c *body) edit(e *model.Call, r val) {
	switch e.Fn {
	case model.FnAppend, model.FnWith:
		c.add(r, e.T, e.Args[1])
	case model.FnTail:
		name := c.method(e.T, "dropFirst")
		if c.knows(gotree.X("$1.Len != 0", r.x)) {
			c.out.P("$1.$2()", r.x, name)
		} else {
			c.checkf("!$1.$2()", r.x, name)
		}
	case model.FnWithout:
		x := c.value(e.Args[1])
		elem := e.T.Elem
		if in := c.bounds(e.Args[1]); !c.representable(x, in,
			elem) && (elem.Kind == model.KindInt || elem.Kind == model.KindNode) {
			x = c.steady(c.wide(x)) // a value that no element can have is in no list
			c.out.P("if $1 >= $2 && $1 <= $3 {\n$4.$5($6)\n}", x.x, elem.Lo, elem.Hi, r.x, c.method(e.T, "remove"),
				c.cast(x, elem))
			return
		}
		x = c.addressable(x)
		c.out.P("$1.$2($3)", r.x, c.method(e.T, "remove"), c.fitted(x, base.Everything, elem))
	}
}

// representable reports whether the Go type of t can hold every value that x may
// have, though the range of t need not.
func (c *body) representable(x val, in base.Interval, t *model.Type) bool {
	switch t.Kind {
	case model.KindInt, model.KindNode:
		return types.Fits(t, in.Lo) && types.Fits(t, in.Hi)
	case model.KindBool, model.KindEnum:
		return true
	}
	return x.lit || c.sameGo(x.t, t)
}

// search looks for a value in a list whose elements have another Go type.
func (c *body) search(l val, t *model.Type, x val, bool_ *model.Type) val {
	x = c.steady(x)
	found, i := c.names.Local("found"), c.names.Local("i")
	eq := c.same(variable(gotree.X("$1.Items[$2]", l.x, i), t.Elem), x, true, bool_)
	c.out.P("$1 := false\nfor $2 := range $3.Items[:$3.Len] {\nif $4 {\n$1 = true\n}\n}", found, i, l.x, eq.x)
	return local(found, bool_)
}

// among is `x in [a, b]`.
func (c *body) among(lit *model.ListLit, x model.Expr, t *model.Type) val {
	v := c.steady(c.value(x))
	var tests []gotree.Expr
	for _, e := range lit.Elems {
		tests = append(tests, c.same(v, c.value(e), true, t).x)
	}
	return truth(gotree.Or(tests...), t)
}

// bit composes the mask of one element of a set, with the check that there is such an element.
func (c *body) bit(e model.Expr, t *model.Type, check bool) gotree.Expr {
	in := c.bounds(e)
	plain := c.value(e)
	if plain.lit && in.Within(t.Elem) {
		return gotree.X("1 << $1", in.Lo-types.Lowest(t.Elem))
	}
	if check && !in.Within(t.Elem) {
		plain = c.steady(plain)
		c.rangeCheck(plain, in, base.Domain(t.Elem))
	}
	low := types.Lowest(t.Elem)
	switch unsigned := !plain.wide && !plain.lit && (plain.t.Kind == model.KindEnum || plain.t.Kind == model.KindInt) && types.Width(plain.t)[0] == 'u'; {
	case low == 0 && unsigned:
		return gotree.X("1 << $1", plain.x)
	case low == 0 && !plain.wide && !plain.lit && plain.t.Kind != model.KindBool:
		return gotree.X("1 << uint64($1)", plain.x)
	}
	return gotree.X("1 << uint64($1)", gotree.Plus(c.wide(plain).x, -low))
}

func (c *body) setCall(e *model.Call, l val, t *model.Type) val {
	switch e.Fn {
	case model.FnLen:
		c.g.Helpers["bits"] = true
		return val{x: gotree.X("countBits(uint64($1))", l.x), t: e.T, wide: true}
	case model.FnContains, model.FnWithout:
		if e.Fn == model.FnContains && c.bounds(e.Args[1]).Within(t.Elem) {
			return truth(gotree.X("$1&($2) != 0", l.x, c.bit(e.Args[1], t, false)), e.T)
		}
		if c.bounds(e.Args[1]).Within(t.Elem) {
			return val{x: gotree.X("$1 &^ $2", l.x, c.bit(e.Args[1], t, false)), t: t}
		}
		v := c.wide(c.value(e.Args[1]))
		c.g.Helpers["mask"] = true
		mask := gotree.X("maskOf($1)", gotree.Plus(v.x, -types.Lowest(t.Elem)))
		if e.Fn == model.FnContains {
			return truth(gotree.X("uint64($1)&$2 != 0", l.x, mask), e.T)
		}
		return val{x: gotree.X("$1 &^ $2($3)", l.x, c.goType(t), mask), t: t}
	case model.FnWith:
		s := c.fitted(l, base.Everything, e.T)
		return val{x: gotree.X("$1 | $2($3)", s, c.goType(e.T), c.bit(e.Args[1], e.T, true)), t: e.T}
	}
	c.g.Fail(e.Pos(), "%s of a set is not known", e.Fn)
	return val{}
}

// add appends an element to the list l, which is a variable, or puts it into a set.
func (c *body) add(l val, t *model.Type, e model.Expr) {
	if t.Kind == model.KindSet {
		c.out.P("$1 |= $2", l.x, c.bit(e, t, true))
		return
	}
	x := c.store(e, t.Elem)
	c.checkf("!$1.$2($3)", l.x, c.method(t, "add"), x)
}

// listLit composes a list or set literal of type t.
func (c *body) listLit(e *model.ListLit, t *model.Type) val {
	if t.Kind == model.KindSet && len(e.Elems) == 0 {
		return c.literal(t, 0)
	}
	if t.Kind == model.KindSet {
		set := gotree.Int(0)
		for i, el := range e.Elems {
			if bit := c.bit(el, t, true); i == 0 {
				set = bit
			} else {
				set = gotree.X("$1 | $2", set, bit)
			}
		}
		return val{x: gotree.Conv(c.goType(t), set), t: t}
	}
	empty := val{x: gotree.Struct(c.goType(t)), t: t}
	if len(e.Elems) == 0 {
		return empty
	}
	elems := make([]gotree.Expr, len(e.Elems))
	for i, el := range e.Elems {
		elems[i] = c.store(el, t.Elem)
		if x, ok := elems[i].(gotree.Composite); ok && gotree.Equal(x.Type, c.goType(t.Elem)) {
			elems[i] = gotree.Composite{Elems: x.Elems, Lines: x.Lines}
		}
	}
	if len(elems) > t.Cap {
		c.never("more elements than the list takes")
		return empty
	}
	return val{x: gotree.X("$1{Len: $2, Items: [$3]$4{$5}}", c.goType(t), len(elems), t.Cap, c.goType(t.Elem),
		elems), t: t}
}

// choose is if(c, a, b); only one of a and b is evaluated.
func (c *body) choose(e *model.Call) val {
	cond := c.value(e.Args[0])
	t := e.T
	wide := t.Kind == model.KindInt || t.Kind == model.KindNode
	r := val{x: gotree.Name{Name: c.names.Local("value")}, t: t, wide: wide, stable: true}
	give := func(arg model.Expr) []gotree.Stmt {
		return c.inner(func() {
			if wide {
				c.out.P("$1 = $2", r.x, c.wide(c.value(arg)).x)
			} else {
				c.out.P("$1 = $2", r.x, c.store(arg, t))
			}
		})
	}
	if wide {
		c.out.P("var $1 int64", r.x)
	} else {
		c.out.P("var $1 $2", r.x, c.goType(t))
	}
	c.out.P("if $1 {\n$2\n} else {\n$3\n}", cond.x, give(e.Args[1]), give(e.Args[2]))
	return r
}

func (c *body) quantified(e *model.Quantified) val {
	name := "some"
	if e.All {
		name = "all"
	}
	test := func(f *body, e *model.Quantified) {
		f.iterate(e.Local, e.Values, e.Over, e, false, func() {
			x := f.value(e.X).x
			if e.All {
				x = gotree.Not(x)
			}
			f.out.P("if $1 {\nreturn $2\n}", x, !e.All)
		})
		f.out.P("return $1", e.All)
	}
	if call := function(c, e, name+over(e.Values, e.Over), "reports whether", gotree.X("bool"), test); call != nil {
		return truth(call, e.T)
	}
	r := c.names.Local(name)
	c.out.P("$1 := $2", r, e.All)
	c.iterate(e.Local, e.Values, e.Over, e, false, func() {
		x := c.value(e.X).x
		if e.All {
			x = gotree.Not(x)
		}
		c.out.P("if $1 {\n$2 = $3\nbreak\n}", x, r, !e.All)
	})
	return local(r, e.T)
}

// iterate composes a loop over the values of a type or the elements of a list.
// copied says that the list may change inside and must be copied before.
func (c *body) iterate(l *model.Local, values *model.Type, over, at model.Expr, copied bool, inside func()) {
	x := c.names.Local(l.Name)
	defer c.release(x)
	c.locals[l] = local(x, l.Type)
	if values != nil {
		c.values(x, values, at, inside)
		return
	}
	t := over.Type()
	list := c.value(over)
	if copied && !list.own || !list.stable {
		list = c.hoist(list, "list")
	}
	if t.Kind == model.KindSet {
		i := c.names.Local("i")
		defer c.release(i)
		round := c.block(inside)
		set := list.x
		if !gotree.Equal(c.goType(t), gotree.X("uint64")) {
			set = gotree.X("uint64($1)", set)
		}
		first := gotree.S("if $1>>$2&1 == 0 {\ncontinue\n}", set, i)
		if gotree.Uses(round, x) { // Go wants variables to be used
			first = append(first, gotree.S("$1 := $2", x, c.g.FromIndex(gotree.Name{Name: i}, t.Elem))...)
		}
		c.out.P("for $1 := range $2 {\n$3\n$4\n}", i, t.Elem.Count(), first, round)
		return
	}
	elems := list.x
	if t.Kind != model.KindArray {
		elems = gotree.X("$1.Items[:$1.Len]", list.x)
	}
	c.loop(x, elems, c.block(inside))
}

// loop appends a loop over the elements of an array or slice.
func (c *body) loop(x string, elems gotree.Expr, round []gotree.Stmt) {
	loop := &gotree.Range{X: elems, Body: round}
	if gotree.Uses(round, x) { // Go wants variables to be used
		loop.Key, loop.Value = gotree.Name{Name: "_"}, gotree.Name{Name: x}
	}
	c.out.Add(loop)
}

// values appends a loop over all values of a type, unless nothing is to be done in it.
func (c *body) values(x string, t *model.Type, at model.Expr, inside func()) {
	switch t.Kind {
	case model.KindBool:
		if round := c.block(inside); round != nil {
			c.loop(x, gotree.X("[2]bool{false, true}"), round)
		}
		return
	case model.KindInt, model.KindNode, model.KindEnum:
		n := base.Domain(t).Hi - base.Domain(t).Lo + 1
		if types.Lowest(t) == 0 && types.Fits(t, n) {
			round := c.block(inside)
			loop := &gotree.Range{X: gotree.Conv(c.goType(t), gotree.Int(n)), Body: round}
			if gotree.Uses(round, x) {
				loop.Key = gotree.Name{Name: x}
			}
			if round != nil {
				c.out.Add(loop)
			}
			return
		}
		i := c.names.Local("i")
		defer c.release(i)
		round := c.block(inside)
		if gotree.Uses(round, x) {
			c.out.P("for $1 := range $2 {\n$3 := $4\n$5\n}", i, n, x, c.g.FromIndex(gotree.Name{Name: i}, t), round)
		} else if round != nil {
			c.out.P("for range $1 {\n$2\n}", n, round)
		}
		return
	}
	c.g.Fail(at.Pos(), "a loop over all values of %s is not supported in generated code", model.TypeString(t))
}

package body

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// method notes that a method of a list is called, so that it is generated.
func (c *body) method(t *model.Type, name string) string {
	c.g.Typ(t, "").Methods[name] = true
	return name
}

// collection composes an operation on a list or set.
func (c *body) collection(e *core.Apply) val {
	if lit, ok := e.Args[0].(*core.Make); ok && e.Op == core.Has {
		return c.among(lit, e.Args[1], e.T)
	}
	t := e.Args[0].Node().T
	if t.Kind == model.KindSet {
		return c.onSet(e, t)
	}
	switch e.Op {
	case core.Len:
		l := c.value(e.Args[0])
		return val{x: gotree.X("$1.Len", l.x), t: &model.Type{Kind: model.KindInt, Hi: int64(t.Cap)}, stable: l.stable}
	case core.Head:
		l := c.addressable(c.value(e.Args[0]))
		c.checkf("$1.Len == 0", l.x)
		return variable(gotree.X("$1.Items[0]", l.x), t.Elem)
	case core.Has:
		l := c.addressable(c.value(e.Args[0]))
		x := c.value(e.Args[1])
		if !c.representable(x, c.bounds(e.Args[1]), t.Elem) {
			return c.search(l, t, x, e.T)
		}
		return truth(gotree.X("$1.$2($3)", l.x, c.method(t, "contains"), c.cast(x, t.Elem)), e.T)
	}
	list := c.store(e.Args[0], e.T)
	r := local(c.names.Local("list"), e.T)
	c.out.P("$1 := $2", r.x, list)
	c.edit(e, r)
	return r
}

// edit appends statements that apply append, tail or without to the list r. r holds the first operand.
func (c *body) edit(e *core.Apply, r val) {
	switch e.Op {
	case core.Append:
		c.add(r, e.T, e.Args[1])
	case core.Tail:
		name := c.method(e.T, "dropFirst")
		if c.knows(gotree.X("$1.Len != 0", r.x)) {
			c.out.P("$1.$2()", r.x, name)
		} else {
			c.checkf("!$1.$2()", r.x, name)
		}
	case core.Without: // what no element can be is in no list
		x := c.value(e.Args[1])
		elem, remove := e.T.Elem, c.method(e.T, "remove")
		switch {
		case c.representable(x, c.bounds(e.Args[1]), elem):
			c.out.P("$1.$2($3)", r.x, remove, c.cast(x, elem))
		case elem.Kind == model.KindInt || elem.Kind == model.KindNode:
			x = c.steady(c.wide(x))
			c.out.P("if $1 >= $2 && $1 <= $3 {\n$4.$5($6)\n}", x.x, elem.Lo, elem.Hi, r.x, remove, c.cast(x, elem))
		default:
			x = c.addressable(x)
			v, ok := c.names.Local("value"), c.names.Local("ok")
			c.out.P("if $1, $2 := $3(&$4); $2 {\n$5.$6($1)\n}", v, ok, c.g.fit(x.t, elem), x.x, r.x, remove)
		}
	default:
		c.g.Fail(e.Pos(), "the generator does not know %s of a list", e.Op)
	}
}

// representable reports whether the Go type of t can hold every value that x may
// have, though the range of t need not.
func (c *body) representable(x val, in interval.Interval, t *model.Type) bool {
	switch t.Kind {
	case model.KindInt, model.KindNode:
		return types.Fits(t, in.Lo) && types.Fits(t, in.Hi)
	case model.KindBool, model.KindEnum:
		return true
	}
	return x.lit || c.sameGo(x.t, t)
}

// search composes a loop that looks for a value in a list whose elements have another Go type.
func (c *body) search(l val, t *model.Type, x val, bool_ *model.Type) val {
	x = c.steady(x)
	found, i := c.names.Local("found"), c.names.Local("i")
	round := c.block(func() {
		eq := c.same(variable(gotree.X("$1.Items[$2]", l.x, i), t.Elem), x, true, bool_)
		c.out.P("if $1 {\n$2 = true\n}", eq.x, found)
	})
	c.out.P("$1 := false\nfor $2 := range $3.Items[:$3.Len] {\n$4\n}", found, i, l.x, round)
	return local(found, bool_)
}

// among composes `x in [a, b]`.
func (c *body) among(list *core.Make, x core.Expr, t *model.Type) val {
	v := c.steady(c.value(x))
	var tests []gotree.Expr
	for _, e := range list.Elems {
		tests = append(tests, c.same(v, c.value(e), true, t).x)
	}
	return truth(gotree.Or(tests...), t)
}

// bit composes the mask of the element e of a set of type t. e must be in the range of the elements.
func (c *body) bit(e core.Expr, t *model.Type) gotree.Expr {
	plain := c.value(e)
	low := t.Elem.Lowest()
	if plain.lit {
		return gotree.X("1 << $1", c.bounds(e).Lo-low)
	}
	unsigned := !plain.wide && (plain.t.Kind == model.KindEnum || plain.t.Kind == model.KindInt) &&
		types.Width(plain.t)[0] == 'u'
	switch {
	case low == 0 && unsigned:
		return gotree.X("1 << $1", plain.x)
	case low == 0 && !plain.wide && plain.t.Kind != model.KindBool:
		return gotree.X("1 << uint64($1)", plain.x)
	}
	return gotree.X("1 << uint64($1)", gotree.Plus(c.wide(plain).x, -low))
}

// onSet composes an operation on a set of type t.
func (c *body) onSet(e *core.Apply, t *model.Type) val {
	if e.Op == core.With {
		s := c.store(e.Args[0], e.T)
		return val{x: gotree.X("$1 | $2($3)", s, c.goType(e.T), c.bit(e.Args[1], e.T)), t: e.T}
	}
	set := c.value(e.Args[0]).x
	switch e.Op {
	case core.Len:
		c.g.Helpers["bits"] = true
		return val{x: gotree.X("countBits(uint64($1))", set), t: e.T, wide: true}
	case core.Has, core.Without:
		has := e.Op == core.Has
		if c.bounds(e.Args[1]).In(interval.Of(t.Elem)) {
			bit := c.bit(e.Args[1], t)
			if has {
				return truth(gotree.X("$1&($2) != 0", set, bit), e.T)
			}
			return val{x: gotree.X("$1 &^ $2", set, bit), t: t}
		}
		v := c.wide(c.value(e.Args[1]))
		c.g.Helpers["mask"] = true
		mask := gotree.X("maskOf($1)", gotree.Plus(v.x, -t.Elem.Lowest()))
		if has {
			return truth(gotree.X("uint64($1)&$2 != 0", set, mask), e.T)
		}
		return val{x: gotree.X("$1 &^ $2($3)", set, c.goType(t), mask), t: t}
	}
	c.g.Fail(e.Pos(), "the generator does not know %s of a set", e.Op)
	return val{}
}

// add appends an element to the list l, which is a variable, or puts it into a set.
func (c *body) add(l val, t *model.Type, e core.Expr) {
	if t.Kind == model.KindSet {
		c.out.P("$1 |= $2", l.x, c.bit(e, t))
		return
	}
	x := c.store(e, t.Elem)
	c.checkf("!$1.$2($3)", l.x, c.method(t, "add"), x)
}

// set composes a set of type t from its elements.
func (c *body) set(list []core.Expr, t *model.Type) val {
	if len(list) == 0 {
		return c.literal(t, 0)
	}
	set := c.bit(list[0], t)
	for _, e := range list[1:] {
		set = gotree.X("$1 | $2", set, c.bit(e, t))
	}
	return val{x: gotree.Conv(c.goType(t), set), t: t}
}

// list composes a list of type t from its elements.
func (c *body) list(list []core.Expr, t *model.Type) val {
	empty := val{x: gotree.Struct(c.goType(t)), t: t}
	if len(list) == 0 {
		return empty
	}
	elems := make([]gotree.Expr, len(list))
	for i, e := range list {
		elems[i] = c.store(e, t.Elem)
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

// choose composes if(c, a, b), which evaluates only one of a and b.
func (c *body) choose(e *core.If) val {
	cond := c.value(e.Cond)
	t := e.T
	wide := t.Kind == model.KindInt || t.Kind == model.KindNode
	r := val{x: gotree.Name{Name: c.names.Local("value")}, t: t, wide: wide, stable: true}
	give := func(arg core.Expr, holds ...gotree.Expr) (code []gotree.Stmt) {
		c.assuming(holds, func() {
			code = c.inner(func() {
				if wide {
					c.out.P("$1 = $2", r.x, c.wide(c.value(arg)).x)
				} else {
					c.out.P("$1 = $2", r.x, c.store(arg, t))
				}
			})
		})
		return code
	}
	if wide {
		c.out.P("var $1 int64", r.x)
	} else {
		c.out.P("var $1 $2", r.x, c.goType(t))
	}
	c.out.P("if $1 {\n$2\n} else {\n$3\n}", cond.x,
		give(e.Then, cond.holds()...), give(e.Else, gotree.Not(cond.x)))
	return r
}

// iterate appends a loop over the values of a type or the elements of a list. If copied is set the list
// can change inside, so the loop goes over a copy.
func (c *body) iterate(l *model.Local, values *model.Type, over core.Expr, at diag.Span, copied bool, inside func()) {
	x := c.names.Local(l.Name)
	defer c.release(x)
	c.locals[l] = local(x, l.Type)
	if values != nil {
		c.values(x, values, at, inside)
		return
	}
	t := over.Node().T
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
func (c *body) values(x string, t *model.Type, at diag.Span, inside func()) {
	switch t.Kind {
	case model.KindBool:
		if round := c.block(inside); round != nil {
			c.loop(x, gotree.X("[2]bool{false, true}"), round)
		}
		return
	case model.KindInt, model.KindNode, model.KindEnum:
		n := t.Count()
		if t.Lowest() == 0 && types.Fits(t, n) {
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
	c.g.Fail(at, "a loop over all values of %s is not supported in generated code", model.TypeString(t))
}

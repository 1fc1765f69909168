package body

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang/gotree"
)

// fold composes an expression that goes over the values of a type or the elements of a list. It
// becomes a function, which returns at the element that decides; not if it can refuse the step.
func (c *body) fold(e *core.Fold) val {
	switch e.How {
	case core.All, core.Some:
		return c.quantified(e)
	case core.Count:
		return c.count(e)
	case core.First:
		return c.first(e)
	}
	return c.build(e)
}

// build composes `[elem for x in over if cond]`.
func (c *body) build(e *core.Fold) val {
	hint := map[core.How]string{core.List: "list", core.Set: "set", core.Array: "all"}[e.How]
	if e.How == core.Array && e.Where == nil && e.Values != nil && zero(e.Elem) {
		return val{x: gotree.Struct(c.goType(e.T)), t: e.T}
	}
	l := local(c.names.Local(hint), e.T)
	l.own = true
	c.out.P("var $1 $2", l.x, c.goType(e.T))
	put := func() {
		switch {
		case e.How == core.Array:
			c.out.P("$1[$2] = $3", l.x, c.g.index(c.locals[e.Local], e.T.Index), c.store(e.Elem, e.T.Elem))
		case e.How == core.List && e.Values != nil && core.Rounds(e.Values, nil) <= int64(e.T.Cap):
			c.out.P("$1.Items[$1.Len] = $2\n$1.Len++", l.x, c.store(e.Elem, e.T.Elem))
		default:
			c.add(l, e.T, e.Elem)
		}
	}
	c.rounds(e, func() {
		if e.Where == nil {
			put()
			return
		}
		cond := c.value(e.Where)
		c.assuming(cond.holds(), func() { c.out.When(cond.x, c.block(put)...) })
	})
	return l
}

// rounds appends the loop of a fold, with what inside composes in each round.
func (c *body) rounds(e *core.Fold, inside func()) {
	c.iterate(e.Local, e.Values, e.Over, e.Pos(), false, inside)
}

// zero reports whether an expression is a constant whose Go value is the zero value.
func zero(e core.Expr) bool {
	x, ok := e.(*core.Const)
	return ok && !x.IsText && x.Value == 0
}

// quantified composes all(x in over: cond) and some(x in over: cond).
func (c *body) quantified(e *core.Fold) val {
	name, all := "some", e.How == core.All
	if all {
		name = "all"
	}
	call := function(c, e, name+over(e), "reports whether", gotree.X("bool"), func(f *body, e *core.Fold) {
		f.rounds(e, func() {
			x := f.value(e.Where).x
			if all {
				x = gotree.Not(x)
			}
			f.out.P("if $1 {\nreturn $2\n}", x, !all)
		})
		f.out.P("return $1", all)
	})
	if call != nil {
		return truth(call, e.T)
	}
	r := c.names.Local(name)
	c.out.P("$1 := $2", r, all)
	c.rounds(e, func() {
		x := c.value(e.Where).x
		if all {
			x = gotree.Not(x)
		}
		c.out.P("if $1 {\n$2 = $3\nbreak\n}", x, r, !all)
	})
	return local(r, e.T)
}

// count composes count(x in over: cond).
func (c *body) count(e *core.Fold) val {
	call := function(c, e, "count"+over(e), "is", gotree.X("int64"), func(f *body, e *core.Fold) {
		f.out.P("n := int64(0)")
		f.rounds(e, func() { f.out.P("if $1 {\nn++\n}", f.value(e.Where).x) })
		f.out.P("return n")
	})
	if call != nil {
		return val{x: call, t: e.T, wide: true}
	}
	n := c.names.Local("count")
	c.out.P("$1 := int64(0)", n)
	c.rounds(e, func() { c.out.P("if $1 {\n$2++\n}", c.value(e.Where).x, n) })
	return val{x: gotree.Name{Name: n}, t: e.T, wide: true, stable: true}
}

// first composes first(x in over: cond).
func (c *body) first(e *core.Fold) val {
	t := c.goType(e.T)
	call := function(c, e, "first"+over(e), "is", t, func(f *body, e *core.Fold) {
		f.rounds(e, func() {
			f.out.P("if $1 {\nreturn $2{Present: true, Value: $3}\n}", f.value(e.Where).x, t, f.locals[e.Local].x)
		})
		f.out.P("return $1{}", t)
	})
	if call != nil {
		return val{x: call, t: e.T}
	}
	r := c.names.Local("first")
	c.out.P("var $1 $2", r, t)
	c.rounds(e, func() {
		c.out.P("if $1 {\n$2 = $3{Present: true, Value: $4}\nbreak\n}", c.value(e.Where).x, r, t, c.locals[e.Local].x)
	})
	return local(r, e.T)
}

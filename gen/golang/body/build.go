package body

import (
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// build composes `[elem for x in over if cond]`.
func (c *body) build(e *model.Build) val {
	hint := "list"
	switch e.T.Kind {
	case model.KindSet:
		hint = "set"
	case model.KindArray:
		hint = "all"
	}
	if e.T.Kind == model.KindArray && e.If == nil && e.Values != nil && zero(e.Elem) {
		return val{x: gotree.Struct(c.goType(e.T)), t: e.T}
	}
	l := local(c.names.Local(hint), e.T)
	l.own = true
	c.out.P("var $1 $2", l.x, c.goType(e.T))
	put := func() {
		switch {
		case e.T.Kind == model.KindArray:
			c.out.P("$1[$2] = $3", l.x, c.g.index(c.locals[e.Local], e.T.Index), c.store(e.Elem, e.T.Elem))
		case e.Values != nil && e.T.Kind == model.KindList && e.Values.Count() <= int64(e.T.Cap):
			c.out.P("$1.Items[$1.Len] = $2\n$1.Len++", l.x, c.store(e.Elem, e.T.Elem))
		default:
			c.add(l, e.T, e.Elem)
		}
	}
	c.iterate(e.Local, e.Values, e.Over, e, false, func() {
		if e.If == nil {
			put()
			return
		}
		cond := c.value(e.If)
		c.assuming(cond.holds(), func() { c.out.When(cond.x, c.block(put)...) })
	})
	return l
}

// zero reports whether an expression is the constant that Go's zero value stands for.
func zero(e model.Expr) bool {
	switch e := e.(type) {
	case *model.Lit:
		return e.Value == 0
	case *model.None:
		return true
	}
	return false
}

// find composes first(x in over: cond) and count(x in over: cond).
func (c *body) find(e *model.Find) val {
	if call := c.finder(e); call != nil {
		return val{x: call, t: e.T, wide: e.Count}
	}
	if e.Count {
		n := c.names.Local("count")
		c.out.P("$1 := int64(0)", n)
		c.iterate(e.Local, e.Values, e.Over, e, false, func() {
			c.out.P("if $1 {\n$2++\n}", c.value(e.X).x, n)
		})
		return val{x: gotree.Name{Name: n}, t: e.T, wide: true, stable: true}
	}
	r := c.names.Local("first")
	c.out.P("var $1 $2", r, c.goType(e.T))
	c.iterate(e.Local, e.Values, e.Over, e, false, func() {
		c.out.P("if $1 {\n$2 = $3{Present: true, Value: $4}\nbreak\n}", c.value(e.X).x, r, c.goType(e.T),
			c.locals[e.Local].x)
	})
	return local(r, e.T)
}

// finder composes first(…) or count(…) as a function; nil if it can refuse.
func (c *body) finder(e *model.Find) gotree.Expr {
	if e.Count {
		return function(c, e, "count"+over(e.Values, e.Over), "is", gotree.X("int64"), func(f *body, e *model.Find) {
			f.out.P("n := int64(0)")
			f.iterate(e.Local, e.Values, e.Over, e, false, func() { f.out.P("if $1 {\nn++\n}", f.value(e.X).x) })
			f.out.P("return n")
		})
	}
	t := c.goType(e.T)
	return function(c, e, "first"+over(e.Values, e.Over), "is", t, func(f *body, e *model.Find) {
		f.iterate(e.Local, e.Values, e.Over, e, false, func() {
			f.out.P("if $1 {\nreturn $2{Present: true, Value: $3}\n}", f.value(e.X).x, t, f.locals[e.Local].x)
		})
		f.out.P("return $1{}", t)
	})
}

// combine composes union, minus and intersect of two sets of one type.
func (c *body) combine(e *model.Call) val {
	side := func(a model.Expr) gotree.Expr {
		v := c.value(a)
		if v.lit || !c.sameGo(v.t, e.T) {
			return gotree.Conv(c.goType(e.T), v.x)
		}
		return v.x
	}
	op := map[model.Builtin]string{model.FnUnion: "|", model.FnMinus: "&^", model.FnIntersect: "&"}[e.Fn]
	return val{x: gotree.Binary{Op: op, X: side(e.Args[0]), Y: side(e.Args[1])}, t: e.T}
}

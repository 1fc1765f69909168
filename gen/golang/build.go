package golang

import (
	"fmt"

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
	l := val{s: c.names.local(hint), prec: precPrimary, t: e.T, addr: true}
	c.out.p("var %s %s", l.s, c.goType(e.T))
	c.iterate(e.Local, e.Values, e.Over, e, false, func() {
		if e.If != nil {
			c.out.p("if %s {\ncontinue\n}", c.not(e.If).s)
		}
		switch {
		case e.T.Kind == model.KindArray:
			c.out.p("%s[%s] = %s", l.s, c.g.index(c.locals[e.Local], e.T.Index), c.store(e.Elem, e.T.Elem))
		case e.Values != nil && e.T.Kind == model.KindList && e.Values.Count() <= int64(e.T.Cap):
			c.out.p("%s.Items[%s.Len] = %s\n%s.Len++", l.s, l.s, c.store(e.Elem, e.T.Elem), l.s)
		default:
			c.add(l, e.T, e.Elem)
		}
	})
	return l
}

// find composes first(x in over: cond) and count(x in over: cond).
func (c *body) find(e *model.Find) val {
	if e.Count {
		n := c.names.local("count")
		c.out.p("%s := int64(0)", n)
		c.iterate(e.Local, e.Values, e.Over, e, false, func() {
			c.out.p("if %s {\n%s++\n}", c.value(e.X).s, n)
		})
		return val{s: n, prec: precPrimary, t: e.T, wide: true, addr: true}
	}
	r := c.names.local("first")
	c.out.p("var %s %s", r, c.goType(e.T))
	c.iterate(e.Local, e.Values, e.Over, e, false, func() {
		c.out.p("if %s {\n%s = %s{Present: true, Value: %s}\nbreak\n}", c.value(e.X).s, r, c.goType(e.T), c.locals[e.Local].s)
	})
	return val{s: r, prec: precPrimary, t: e.T, addr: true}
}

// combine composes union, minus and intersect of two sets of one type.
func (c *body) combine(e *model.Call) val {
	op := map[model.Builtin]string{model.FnUnion: "|", model.FnMinus: "&^", model.FnIntersect: "&"}[e.Fn]
	prec := precMul
	if e.Fn == model.FnUnion {
		prec = precAdd
	}
	t := c.goType(e.T)
	side := func(a model.Expr) string {
		v := c.value(a)
		if v.lit || !c.sameGo(v.t, e.T) {
			return t + "(" + v.s + ")"
		}
		return v.in(prec + 1)
	}
	return val{s: fmt.Sprintf("%s %s %s", side(e.Args[0]), op, side(e.Args[1])), prec: prec, t: e.T}
}

package resolve

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// writeOut calls f for each meaning of a name; it stops at the first that has an error, since the others
// would have the same.
func (s *scope) writeOut(list []bound, f func() bool) bool {
	if len(list) > 0 {
		s.freeName(list[0].name, list[0].at)
	}
	s.written *= max(1, len(list))
	defer func() { s.written /= max(1, len(list)) }()
	if s.written > maxWritten {
		s.r.Errorf("FSM042", list[0].at, "written out for all instances this is more than %d conditions", maxWritten)
		return false
	}
	for i, b := range list {
		ok := func() bool {
			defer s.bind(b)()
			if i > 0 {
				defer s.r.mute()()
			}
			return f()
		}()
		if !ok {
			return false
		}
	}
	return true
}

// freeName reports a name that means something else already.
func (s *scope) freeName(name string, at diag.Span) {
	switch {
	case s.has(name) || s.boundTo(name) != nil:
		s.r.Errorf("FSM040", at, "%s is already the name of a field or loop variable here", diag.Quote(name))
	case s.instances[name] != nil:
		s.r.hides(at, name, "instance", s.instances[name].m.Span)
	case s.groups[name] != nil:
		s.r.hides(at, name, "instance", s.groups[name].at)
	}
}

// allOf writes out all(x in p: X), some(x in p: X), first(x in p: X) and count(x in p: X).
func (s *scope) allOf(n *expr.Quantified, list []bound) model.Expr {
	switch n.Fn {
	case "first":
		return s.firstOf(n, list)
	case "count":
		return s.countOf(n, list)
	}
	op, neutral := model.OpOr, int64(0)
	if n.Fn == "all" {
		op, neutral = model.OpAnd, 1
	}
	base := model.ExprBase{T: boolType, Span: n.Pos()}
	var out model.Expr
	ok := s.writeOut(list, func() bool {
		x := s.cond(n.X)
		if x == nil {
			return false
		}
		out = join(base, op, out, fold(x))
		return true
	})
	if !ok {
		return nil
	}
	if out == nil {
		out = s.constantLit(boolType, neutral, n.Pos())
	}
	s.r.fromConst[out] = true
	return out
}

// countOf writes out count(x in p: X): if(X1, 1, 0) + if(X2, 1, 0) + …
func (s *scope) countOf(n *expr.Quantified, list []bound) model.Expr {
	var out model.Expr = s.constantLit(intType(0, 0), 0, n.Pos())
	number := func(v int64) model.Expr { return s.constantLit(intType(v, v), v, n.Pos()) }
	ok := s.writeOut(list, func() bool {
		x := s.cond(n.X)
		if x == nil {
			return false
		}
		base := model.ExprBase{T: intType(0, 1), Span: n.Pos()}
		one := &model.Call{ExprBase: base, Fn: model.FnIf, Args: []model.Expr{x, number(1), number(0)}}
		base.T = intType(0, out.Type().Hi+1)
		out = &model.Binary{ExprBase: base, Op: model.OpAdd, X: out, Y: one}
		return true
	})
	if !ok {
		return nil
	}
	s.r.fromConst[out] = true
	return out
}

// firstOf writes out first(x in p: X): if(X1, the number of p[1], if(X2, …, none)).
func (s *scope) firstOf(n *expr.Quantified, list []bound) model.Expr {
	base := model.ExprBase{T: optional(s.r.basicType("instance", n.Pos())), Span: n.Pos()}
	if len(list) > 0 && list[0].in == nil {
		base.T = optional(intType(list[0].value, list[len(list)-1].value))
	}
	var conds, values []model.Expr
	ok := s.writeOut(list, func() bool {
		x := s.cond(n.X)
		if x == nil {
			return false
		}
		b := s.binds[len(s.binds)-1]
		v := b.value
		if b.in != nil {
			v = int64(b.in.m.Index)
		}
		conds = append(conds, x)
		values = append(values, &model.Some{ExprBase: base, X: s.constantLit(base.T.Elem, v, n.Pos())})
		return true
	})
	if !ok {
		return nil
	}
	var out model.Expr = &model.None{ExprBase: base}
	for i := len(conds) - 1; i >= 0; i-- {
		out = &model.Call{ExprBase: base, Fn: model.FnIf, Args: []model.Expr{conds[i], values[i], out}}
	}
	s.r.fromConst[out] = true
	return out
}

// eachOf writes out [X for x in p].
func (s *scope) eachOf(n *expr.Build, list []bound, f func(expr.Node) bool) bool {
	return s.writeOut(list, func() bool { return f(n.Elem) })
}

// filtered writes out [X for x in p if C]: [if(i == 0, X1, if(i == 1, X2, …)) for i in 0..n if i == 0 && C1 || i == 1 && C2 || …].
func (s *scope) filtered(n *expr.Build, list []bound, base model.ExprBase, want *model.Type) model.Expr {
	whole := s.listOf(expr.At(n.Pos(), nil), base, want, func(f func(expr.Node) bool) bool { return s.eachOf(n, list, f) })
	elems, ok := whole.(*model.ListLit)
	if !ok || len(elems.Elems) == 0 {
		return whole
	}
	var conds []model.Expr
	if !s.writeOut(list, func() bool {
		x := s.cond(n.If)
		conds = append(conds, x)
		return x != nil
	}) {
		return nil
	}
	b := &model.Build{ExprBase: elems.ExprBase, Values: intType(0, int64(len(conds))-1)}
	b.Local = &model.Local{Name: "place", Type: b.Values, Offset: s.max}
	s.max++
	base.T = boolType
	for i := len(conds) - 1; i >= 0; i-- {
		number := s.constantLit(intType(int64(i), int64(i)), int64(i), n.Pos())
		here := &model.Binary{ExprBase: base, Op: model.OpEq, X: &model.LocalRef{ExprBase: model.ExprBase{T: b.Values, Span: n.Pos()}, Local: b.Local}, Y: number}
		c := join(base, model.OpAnd, here, conds[i])
		if b.Elem == nil {
			b.Elem, b.If = elems.Elems[i], c
			continue
		}
		b.Elem = &model.Call{ExprBase: model.ExprBase{T: elems.T.Elem, Span: n.Pos()}, Fn: model.FnIf, Args: []model.Expr{here, elems.Elems[i], b.Elem}}
		b.If = &model.Binary{ExprBase: base, Op: model.OpOr, X: c, Y: b.If}
	}
	s.r.fromConst[b] = true
	return b
}

// join puts two conditions together; x may be nil. A side that decides the result, or has no say in it, is left out.
func join(base model.ExprBase, op model.Op, x, y model.Expr) model.Expr {
	if x == nil {
		return y
	}
	base.T = boolType
	return fold(&model.Binary{ExprBase: base, Op: op, X: x, Y: y})
}

// fold leaves out what is constant in a condition, from the outside in as far as && || => ! go.
func fold(e model.Expr) model.Expr {
	if v, ok := evalConst(e); ok && e.Type() != nil && e.Type().Kind == model.KindBool {
		return &model.Lit{ExprBase: model.ExprBase{T: boolType, Span: e.Pos()}, Value: v}
	}
	b, ok := e.(*model.Binary)
	if !ok || b.Op != model.OpAnd && b.Op != model.OpOr && b.Op != model.OpImplies {
		return e
	}
	c := *b
	c.X, c.Y = fold(b.X), fold(b.Y)
	x, xc := c.X.(*model.Lit)
	y, yc := c.Y.(*model.Lit)
	lit := func(v int64) model.Expr { return &model.Lit{ExprBase: b.ExprBase, Value: v} }
	switch {
	case b.Op == model.OpAnd && xc && x.Value != 0, b.Op == model.OpOr && xc && x.Value == 0, b.Op == model.OpImplies && xc && x.Value != 0:
		return c.Y
	case b.Op == model.OpAnd && xc, b.Op == model.OpOr && xc:
		return c.X
	case b.Op == model.OpImplies && xc:
		return lit(1)
	case b.Op == model.OpAnd && yc && y.Value != 0, b.Op == model.OpOr && yc && y.Value == 0:
		return c.X
	}
	return &c
}

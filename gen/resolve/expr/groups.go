package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

// boundRef returns what a bound name means.
func (s *Resolver) boundRef(b *convert.Binding, at diag.Span) ref {
	s.Refer(at, b.At)
	if b.Instance == nil {
		return ref{e: s.Literal(types.Int(b.Value, b.Value), b.Value, at)}
	}
	if b.Instance.Names == nil {
		return errRef
	}
	return ref{info: b.Instance.Names, inst: b.Instance.Model}
}

// instanceIndex resolves p[i], where p is a group of instances.
func (s *Resolver) instanceIndex(g *convert.Group, args []syntax.Node, at diag.Span) *convert.Instance {
	if len(args) != 1 {
		s.Errorf("FSM023", at, "the instances of %s have one number", diag.Quote(g.Name)).
			With(fmt.Sprintf("write `%s[%d]`", g.Name, g.Lo))
		return nil
	}
	var v int64
	if id, ok := args[0].(*syntax.Ident); ok && s.BoundTo(id.Name) != nil {
		b := s.BoundTo(id.Name)
		s.Refer(id.Pos(), b.At)
		v = b.Value
	} else {
		x := s.Number(args[0])
		if x == nil {
			return nil
		}
		if v, ok = types.Constant(x); !ok {
			s.Errorf("FSM025", args[0].Pos(), "which instance of %s is meant must be clear from the text",
				diag.Quote(g.Name)).
				With(fmt.Sprintf("go through them: all(x in %s: …)", g.Name))
			return nil
		}
	}
	if v < g.Lo || v > g.Hi {
		has := fmt.Sprintf("has the instances %d to %d", g.Lo, g.Hi)
		if g.Lo == g.Hi {
			has = fmt.Sprintf("has the instance %d alone", g.Lo)
		}
		hint := "give the group more instances, or name one that it has"
		if len(s.Config.Consts) > 0 {
			var set []string
			for _, name := range slices.Sorted(maps.Keys(s.Config.Consts)) {
				set = append(set, fmt.Sprintf("--set %s=%d", name, s.Config.Consts[name]))
			}
			hint = fmt.Sprintf("the group has so many with %s; this check names %s[%d], so take values with which "+
				"the group has it", strings.Join(set, " "), g.Name, v)
		}
		s.Errorf("FSM029", args[0].Pos(), "%s %s, not %d", diag.Quote(g.Name), has, v).With(hint)
		return nil
	}
	return g.All[v-g.Lo]
}

// Through lists the meanings of a loop's variable if the loop is to be written out: the instances
// of a group, or the numbers of a range by which body selects instances. ok is false if it is an
// ordinary loop.
func (s *Resolver) Through(name string, at diag.Span, over,
	body syntax.Node) (list []convert.Binding, ok bool) {
	if id, isName := over.(*syntax.Ident); isName {
		if g := s.Groups[id.Name]; g != nil {
			s.Refer(id.Pos(), g.At)
			for i, in := range g.All {
				list = append(list, convert.Binding{Name: name, Instance: in, Group: g,
					Value: g.Lo + int64(i), At: at})
			}
			return list, true
		}
	}
	x, isRange := over.(*syntax.Range)
	if !isRange || len(s.Groups) == 0 || !s.indexes(body, name) {
		return nil, false
	}
	t := s.Interval(x.Lo, x.Hi, x.Pos())
	if t == nil {
		return nil, true
	}
	if t.Count() > pass.MaxInstances {
		s.Errorf("FSM042", over.Pos(), "this range has %d values, more than the %d instances of a check",
			t.Count(), pass.MaxInstances)
		return nil, true
	}
	for v := t.Lo; v <= t.Hi; v++ {
		list = append(list, convert.Binding{Name: name, Value: v, At: at})
	}
	return list, true
}

// indexes reports whether body selects an instance of a group by a name.
func (s *Resolver) indexes(body syntax.Node, name string) bool {
	found := false
	syntax.Walk(body, func(n syntax.Node) {
		ix, ok := n.(*syntax.Index)
		if !ok {
			return
		}
		if id, ok := ix.X.(*syntax.Ident); !ok || s.Groups[id.Name] == nil {
			return
		}
		for _, a := range ix.Args {
			syntax.Walk(a, func(n syntax.Node) {
				if id, ok := n.(*syntax.Ident); ok && id.Name == name {
					found = true
				}
			})
		}
	})
	return found
}

// writeOut calls f once for each meaning of a name. It stops at the first error, since the other
// meanings would have the same one.
func (s *Resolver) writeOut(list []convert.Binding, f func() bool) bool {
	if len(list) > 0 {
		s.freeName(list[0].Name, list[0].At)
	}
	s.Written *= max(1, len(list))
	defer func() { s.Written /= max(1, len(list)) }()
	if s.Written > pass.MaxWritten {
		s.Errorf("FSM042", list[0].At, "written out for all instances this is more than %d conditions", pass.MaxWritten)
		return false
	}
	for i, b := range list {
		ok := func() bool {
			defer s.Bind(b)()
			if i > 0 {
				defer s.Mute()()
			}
			return f()
		}()
		if !ok {
			return false
		}
	}
	return true
}

// freeName reports a name that has another meaning already.
func (s *Resolver) freeName(name string, at diag.Span) {
	switch {
	case s.Has(name) || s.BoundTo(name) != nil:
		s.Errorf("FSM040", at, "%s is already the name of a field or loop variable here",
			diag.Quote(name))
	case s.Instances[name] != nil:
		s.NameTaken(at, name, "instance", s.Instances[name].Model.Span)
	case s.Groups[name] != nil:
		s.NameTaken(at, name, "instance", s.Groups[name].At)
	}
}

// allOf writes out all(x in p: X), some(x in p: X), first(x in p: X) and count(x in p: X).
func (s *Resolver) allOf(n *syntax.Quantified, list []convert.Binding) model.Expr {
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
	base := model.ExprBase{T: types.Bool, Span: n.Pos()}
	var out model.Expr
	ok := s.writeOut(list, func() bool {
		x := s.Cond(n.X)
		if x == nil {
			return false
		}
		out = convert.Combine(base, op, out, convert.Fold(x))
		return true
	})
	if !ok {
		return nil
	}
	if out == nil {
		out = s.Literal(types.Bool, neutral, n.Pos())
	}
	s.SetReplaceable(out)
	return out
}

// countOf writes out count(x in p: X): if(X1, 1, 0) + if(X2, 1, 0) + …
func (s *Resolver) countOf(n *syntax.Quantified, list []convert.Binding) model.Expr {
	var out model.Expr = s.Literal(types.Int(0, 0), 0, n.Pos())
	number := func(v int64) model.Expr { return s.Literal(types.Int(v, v), v, n.Pos()) }
	ok := s.writeOut(list, func() bool {
		x := s.Cond(n.X)
		if x == nil {
			return false
		}
		base := model.ExprBase{T: types.Int(0, 1), Span: n.Pos()}
		one := &model.Call{ExprBase: base, Fn: model.FnIf, Args: []model.Expr{x, number(1), number(0)}}
		base.T = types.Int(0, out.Type().Hi+1)
		out = &model.Binary{ExprBase: base, Op: model.OpAdd, X: out, Y: one}
		return true
	})
	if !ok {
		return nil
	}
	s.SetReplaceable(out)
	return out
}

// firstOf writes out first(x in p: X): if(X1, the number of p[1], if(X2, …, none)).
func (s *Resolver) firstOf(n *syntax.Quantified, list []convert.Binding) model.Expr {
	base := model.ExprBase{T: types.Optional(s.Basic("instance", n.Pos())), Span: n.Pos()}
	if len(list) > 0 && list[0].Instance == nil {
		base.T = types.Optional(types.Int(list[0].Value, list[len(list)-1].Value))
	}
	var conds, values []model.Expr
	ok := s.writeOut(list, func() bool {
		x := s.Cond(n.X)
		if x == nil {
			return false
		}
		b := s.Bindings[len(s.Bindings)-1]
		v := b.Value
		if b.Instance != nil {
			v = int64(b.Instance.Model.Index)
		}
		conds = append(conds, x)
		values = append(values, &model.Some{ExprBase: base, X: s.Literal(base.T.Elem, v, n.Pos())})
		return true
	})
	if !ok {
		return nil
	}
	var out model.Expr = &model.None{ExprBase: base}
	for i := len(conds) - 1; i >= 0; i-- {
		out = &model.Call{ExprBase: base, Fn: model.FnIf, Args: []model.Expr{conds[i], values[i], out}}
	}
	s.SetReplaceable(out)
	return out
}

// EachOf writes out [X for x in p].
func (s *Resolver) EachOf(n *syntax.Build, list []convert.Binding, f func(syntax.Node) bool) bool {
	return s.writeOut(list, func() bool { return f(n.Elem) })
}

// filtered writes out [X for x in p if C]: [if(i == 0, X1, if(i == 1, X2, …)) for i in 0..n if i ==
// 0 && C1 || i == 1 && C2 || …].
func (s *Resolver) filtered(n *syntax.Build, list []convert.Binding, base model.ExprBase,
	want *model.Type) model.Expr {
	whole := s.listOf(syntax.At(n.Pos(), nil), base, want, func(f func(syntax.Node) bool) bool {
		return s.EachOf(n, list, f)
	})
	elems, ok := whole.(*model.ListLit)
	if !ok || len(elems.Elems) == 0 {
		return whole
	}
	var conds []model.Expr
	if !s.writeOut(list, func() bool {
		x := s.Cond(n.If)
		conds = append(conds, x)
		return x != nil
	}) {
		return nil
	}
	b := &model.Build{ExprBase: elems.ExprBase, Values: types.Int(0, int64(len(conds))-1)}
	b.Local = &model.Local{Name: "place", Type: b.Values, Offset: s.Slots}
	s.Slots++
	base.T = types.Bool
	for i := len(conds) - 1; i >= 0; i-- {
		number := s.Literal(types.Int(int64(i), int64(i)), int64(i), n.Pos())
		here := &model.Binary{ExprBase: base, Op: model.OpEq,
			X: &model.LocalRef{ExprBase: model.ExprBase{T: b.Values, Span: n.Pos()},
				Local: b.Local}, Y: number}
		c := convert.Combine(base, model.OpAnd, here, conds[i])
		if b.Elem == nil {
			b.Elem, b.If = elems.Elems[i], c
			continue
		}
		b.Elem = &model.Call{ExprBase: model.ExprBase{T: elems.T.Elem, Span: n.Pos()},
			Fn: model.FnIf, Args: []model.Expr{here, elems.Elems[i], b.Elem}}
		b.If = &model.Binary{ExprBase: base, Op: model.OpOr, X: c, Y: b.If}
	}
	s.SetReplaceable(b)
	return b
}

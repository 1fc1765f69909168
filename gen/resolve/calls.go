package resolve

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// function describes a built-in function.
type function struct {
	fn   model.Builtin
	args int
	use  string // for messages
	do   func(s *scope, n *expr.Call, want *model.Type) ([]model.Expr, *model.Type)
}

var functions map[string]function

func init() {
	functions = map[string]function{
		"len":       {model.FnLen, 1, "len(list)", (*scope).fnLen},
		"min":       {model.FnMin, 2, "min(a, b)", (*scope).fnMinMax},
		"max":       {model.FnMax, 2, "max(a, b)", (*scope).fnMinMax},
		"append":    {model.FnAppend, 2, "append(list, x)", (*scope).fnAppend},
		"tail":      {model.FnTail, 1, "tail(list)", (*scope).fnTail},
		"first":     {model.FnFirst, 1, "first(list)", (*scope).fnFirst},
		"contains":  {model.FnContains, 2, "contains(list, x)", (*scope).fnContains},
		"with":      {model.FnWith, 2, "with(set, x)", (*scope).fnWith},
		"without":   {model.FnWithout, 2, "without(set, x)", (*scope).fnWithout},
		"union":     {model.FnUnion, 2, "union(set, set)", (*scope).fnSets},
		"minus":     {model.FnMinus, 2, "minus(set, set)", (*scope).fnSets},
		"intersect": {model.FnIntersect, 2, "intersect(set, set)", (*scope).fnSets},
		"if":        {model.FnIf, 3, "if(condition, a, b)", (*scope).fnIf},
	}
}

func (s *scope) call(n *expr.Call, base model.ExprBase, want *model.Type) model.Expr {
	if e, isChannel := s.channelCall(n, base); isChannel {
		return e
	}
	if e, isMap := s.mapCall(n); isMap {
		return e
	}
	f, ok := functions[n.Fn]
	if !ok {
		if n.Fn == "not" {
			s.r.Errorf("FSM020", n.FnPos, "not is not an operator; write !")
			return nil
		}
		names := append(sortedKeys(functions), "all", "some", "count", "empty")
		s.r.unknownAt("FSM026", n.FnPos, n.Fn, "function", names)
		return nil
	}
	if len(n.Args) != f.args {
		s.r.Errorf("FSM026", n.Pos(), "%s takes %d argument%s, not %d", diag.Quote(n.Fn), f.args, plural(f.args), len(n.Args)).
			With("write " + f.use)
		return nil
	}
	args, t := f.do(s, n, want)
	if t == nil {
		return nil
	}
	base.T = t
	e := &model.Call{ExprBase: base, Fn: f.fn, Args: args}
	s.carry(e, args...)
	return e
}

// collection resolves an argument that must be a list, or also a set.
func (s *scope) collection(n expr.Node, want *model.Type, sets bool) model.Expr {
	_, hint := elemOf(want)
	x := s.expr(n, hint)
	if x == nil {
		return nil
	}
	if x.Type() != nil {
		x = s.present(x)
	}
	t := x.Type()
	if t != nil && (t.Kind == model.KindList || sets && t.Kind == model.KindSet) {
		return x
	}
	what := "a list"
	if sets {
		what = "a list or a set"
	}
	s.r.Errorf("FSM023", n.Pos(), "%s is needed here, not %s", what, describe(t))
	return nil
}

func (s *scope) fnLen(n *expr.Call, _ *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], nil, true)
	if x == nil {
		return nil, nil
	}
	t := x.Type()
	if t.Kind == model.KindSet {
		return []model.Expr{x}, intType(0, t.Elem.Count())
	}
	return []model.Expr{x}, intType(0, int64(t.Cap))
}

func (s *scope) fnMinMax(n *expr.Call, _ *model.Type) ([]model.Expr, *model.Type) {
	x, y := s.number(n.Args[0]), s.number(n.Args[1])
	if x == nil || y == nil {
		return nil, nil
	}
	a, b := x.Type(), y.Type()
	if n.Fn == "min" {
		return []model.Expr{x, y}, intType(min(a.Lo, b.Lo), min(a.Hi, b.Hi))
	}
	return []model.Expr{x, y}, intType(max(a.Lo, b.Lo), max(a.Hi, b.Hi))
}

func (s *scope) fnAppend(n *expr.Call, want *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], want, false)
	if x == nil {
		return nil, nil
	}
	y := s.value(n.Args[1], x.Type().Elem)
	if y == nil {
		return nil, nil
	}
	return []model.Expr{x, y}, x.Type()
}

func (s *scope) fnTail(n *expr.Call, want *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], want, false)
	if x == nil {
		return nil, nil
	}
	return []model.Expr{x}, x.Type()
}

func (s *scope) fnFirst(n *expr.Call, _ *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], nil, false)
	if x == nil {
		return nil, nil
	}
	return []model.Expr{x}, x.Type().Elem
}

func (s *scope) fnContains(n *expr.Call, _ *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], nil, true)
	if x == nil {
		return nil, nil
	}
	y := s.expr(n.Args[1], x.Type().Elem)
	if y != nil {
		y = s.element_(y, x.Type().Elem)
	}
	if y == nil {
		return nil, nil
	}
	return []model.Expr{x, y}, boolType
}

func (s *scope) fnWith(n *expr.Call, want *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], want, true)
	if x == nil {
		return nil, nil
	}
	if x.Type().Kind != model.KindSet {
		s.r.Errorf("FSM023", n.Args[0].Pos(), "with() is for sets; for lists there is append()")
		return nil, nil
	}
	y := s.value(n.Args[1], x.Type().Elem)
	if y == nil {
		return nil, nil
	}
	return []model.Expr{x, y}, x.Type()
}

func (s *scope) fnWithout(n *expr.Call, want *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], want, true)
	if x == nil {
		return nil, nil
	}
	y := s.expr(n.Args[1], x.Type().Elem)
	if y != nil {
		y = s.element_(y, x.Type().Elem)
	}
	if y == nil {
		return nil, nil
	}
	return []model.Expr{x, y}, x.Type()
}

func (s *scope) fnIf(n *expr.Call, want *model.Type) ([]model.Expr, *model.Type) {
	c := s.cond(n.Args[0])
	var a, b model.Expr
	if want != nil {
		a, b = s.value(n.Args[1], want), s.value(n.Args[2], want)
		if c == nil || a == nil || b == nil {
			return nil, nil
		}
		return []model.Expr{c, a, b}, want
	}
	if s.vague(n.Args[1]) && !s.vague(n.Args[2]) {
		if b = s.expr(n.Args[2], nil); b != nil {
			a = s.expr(n.Args[1], b.Type())
		}
	} else if a = s.expr(n.Args[1], nil); a != nil {
		b = s.expr(n.Args[2], a.Type())
	}
	if c == nil || a == nil || b == nil {
		return nil, nil
	}
	t := s.either(a, b)
	if t == nil {
		s.r.Errorf("FSM024", n.Pos(), "one side is %s, the other %s", describe(a.Type()), describe(b.Type()))
		return nil, nil
	}
	if a, b = s.coerce(a, t), s.coerce(b, t); a == nil || b == nil {
		return nil, nil
	}
	return []model.Expr{c, a, b}, t
}

// either finds a type that both values have, or nil.
func (s *scope) either(a, b model.Expr) *model.Type {
	t, u := a.Type(), b.Type()
	switch {
	case t == nil && u == nil:
		return nil
	case t == nil || u == nil:
		if t == nil {
			t = u
		}
		if t.Kind == model.KindOptional {
			return t
		}
		o := &model.Type{Kind: model.KindOptional, Elem: t}
		o.Slots()
		return o
	case isNumber(t) && isNumber(u):
		return intType(min(t.Lo, u.Lo), max(t.Hi, u.Hi))
	case t.Kind == model.KindOptional:
		return t
	case u.Kind == model.KindOptional:
		return u
	case compatible(t, u):
		return t
	}
	return nil
}

// channelCall resolves len and empty where they are about channels. isChannel is
// false if the call is about something else.
func (s *scope) channelCall(n *expr.Call, base model.ExprBase) (e model.Expr, isChannel bool) {
	if n.Fn != "len" && n.Fn != "empty" {
		return nil, false
	}
	if n.Fn == "len" && !s.aboutChannel(n) {
		return nil, false
	}
	if s.instances == nil && !s.env {
		s.r.Errorf("FSM026", n.Pos(), "channels can be looked at only in claims and in the environment's rules")
		return nil, true
	}
	c := &model.ChanLen{ExprBase: model.ExprBase{T: intType(0, 1<<20), Span: base.Span}}
	if len(n.Args) > 2 || s.env && len(n.Args) == 0 {
		s.r.Errorf("FSM026", n.Pos(), "write %s", s.channelUse(n.Fn))
		return nil, true
	}
	if len(n.Args) > 0 && !s.channelEnds(n.Args[0], c, n.Fn) {
		return nil, true
	}
	if len(n.Args) > 1 && !s.channelMessage(n.Args[1], c) {
		return nil, true
	}
	if n.Fn == "len" {
		return c, true
	}
	zero := &model.Lit{ExprBase: model.ExprBase{T: intType(0, 0), Span: base.Span}}
	base.T = boolType
	return &model.Binary{ExprBase: base, Op: model.OpEq, X: c, Y: zero}, true
}

func (s *scope) channelUse(fn string) string {
	if s.env {
		return diag.Quote(fn+"(out)") + " or " + diag.Quote(fn+"(in, MESSAGE)")
	}
	return diag.Quote(fn+"()") + " or " + diag.Quote(fn+"(a -> b)")
}

// aboutChannel tells len(a -> b), len() and len(out) from the length of a list.
func (s *scope) aboutChannel(n *expr.Call) bool {
	if len(n.Args) == 0 || len(n.Args) == 2 {
		return true
	}
	switch x := n.Args[0].(type) {
	case *expr.Arrow:
		return true
	case *expr.Ident:
		return s.env && (x.Name == "in" || x.Name == "out")
	}
	return false
}

func (s *scope) channelEnds(n expr.Node, c *model.ChanLen, fn string) bool {
	if s.env {
		if id, ok := n.(*expr.Ident); ok && (id.Name == "in" || id.Name == "out") {
			c.Self, c.Out = true, id.Name == "out"
			return true
		}
	} else if a, ok := n.(*expr.Arrow); ok {
		c.From, c.To = s.end(a.X), s.end(a.Y)
		return c.From != nil && c.To != nil
	}
	s.r.Errorf("FSM026", n.Pos(), "write %s", s.channelUse(fn))
	return false
}

func (s *scope) end(n expr.Node) *model.Instance {
	if ix, ok := n.(*expr.Index); ok {
		if g, isName := ix.X.(*expr.Ident); isName && s.groups[g.Name] != nil {
			s.r.refer(g.Pos(), s.groups[g.Name].at)
			if in := s.instanceIndex(s.groups[g.Name], ix.Args, n.Pos()); in != nil {
				return in.m
			}
			return nil
		}
	}
	id, ok := n.(*expr.Ident)
	if !ok {
		s.r.Errorf("FSM023", n.Pos(), "an end of a channel is an instance")
		return nil
	}
	if b := s.boundTo(id.Name); b != nil && b.in != nil {
		s.r.refer(id.Pos(), b.at)
		return b.in.m
	}
	if in := s.instances[id.Name]; in != nil {
		s.r.refer(id.Pos(), in.m.Span)
		return in.m
	}
	s.r.unknownAt("FSM021", id.Pos(), id.Name, "instance", sortedKeys(s.instances))
	return nil
}

func (s *scope) channelMessage(n expr.Node, c *model.ChanLen) bool {
	id, ok := n.(*expr.Ident)
	if !ok {
		s.r.Errorf("FSM023", n.Pos(), "the name of a message is needed here")
		return false
	}
	c.Message = s.r.messages[id.Name]
	if c.Message == nil {
		s.r.unknownAt("FSM060", id.Pos(), id.Name, "message", s.r.root.Get("messages").Keys())
		return false
	}
	s.r.refer(id.Pos(), c.Message.Span)
	return true
}

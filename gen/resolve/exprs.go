package resolve

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// value resolves an expression where a value of type want is needed, with the conversions
// that the language makes silently. nil after an error; n and want may be nil
// after one.
func (s *scope) value(n expr.Node, want *model.Type) model.Expr {
	if n == nil {
		return nil
	}
	x := s.expr(n, want)
	if x == nil || want == nil {
		return nil
	}
	return s.coerce(x, want)
}

// cond resolves a condition.
func (s *scope) cond(n expr.Node) model.Expr { return s.value(n, boolType) }

// expr resolves an expression; want only helps with names and literals and may be nil.
// The result has a type, except for none.
func (s *scope) expr(n expr.Node, want *model.Type) model.Expr {
	if n == nil {
		return nil
	}
	f := s.ref(n, want)
	switch {
	case f.e != nil:
		return f.e
	case f.info != nil && f.inst != nil && len(f.path) == 0 && (want == nil || want.Kind != model.KindBool):
		// Where a value is needed an instance is its number.
		return s.constantLit(s.r.basicType("instance", n.Pos()), int64(f.inst.Index), n.Pos())
	case f.group != nil:
		s.r.Errorf("FSM023", n.Pos(), "%s is several instances; say which", diag.Quote(f.group.name)).With(f.group.hint())
	case f.info != nil:
		s.r.Errorf("FSM023", n.Pos(), "this is a machine; name one of its states or variables behind a dot")
	case f.part != nil:
		s.r.Errorf("FSM061", n.Pos(), "part %s has several instances; say which, and what of it", diag.Quote(f.part.Name)).With(keysHint(f.part))
	case f.timer != nil:
		s.r.Errorf("FSM049", n.Pos(), "timer %s has several instances; say which", diag.Quote(f.timer.Name)).With(timerHint(f.timer))
	case f.t != nil:
		s.r.Errorf("FSM023", n.Pos(), "%s is a type, not a value", describe(f.t))
	}
	return nil
}

// carry passes the mark of expressions that depend on a replaceable constant.
func (s *scope) carry(to model.Expr, from ...model.Expr) {
	for _, x := range from {
		if x != nil && s.r.fromConst[x] {
			s.r.fromConst[to] = true
		}
	}
}

// operand resolves everything but paths.
func (s *scope) operand(n expr.Node, want *model.Type) model.Expr {
	base := model.ExprBase{Span: n.Pos()}
	switch n := n.(type) {
	case *expr.Number:
		base.T = intType(n.Value, n.Value)
		return &model.Lit{ExprBase: base, Value: n.Value}
	case *expr.String:
		t := &model.Type{Kind: model.KindBytes, Cap: len(n.Value)}
		t.Slots()
		base.T = t
		return &model.Text{ExprBase: base, Value: n.Value}
	case *expr.Unary:
		return s.unary(n, base)
	case *expr.Binary:
		return s.binary(n, base)
	case *expr.Call:
		return s.call(n, base, want)
	case *expr.Literal:
		return s.recordLiteral(n, base)
	case *expr.List:
		return s.list(n, base, want)
	case *expr.Build:
		return s.build(n, base, want)
	case *expr.Quantified:
		return s.quantified(n, base)
	case *expr.Arrow:
		s.r.Errorf("FSM023", n.Pos(), "`->` is only for len(a -> b) and empty(a -> b)")
	case *expr.Range:
		s.r.Errorf("FSM023", n.Pos(), "a range is no value")
	}
	return nil
}

// present takes the value out of an optional.
func (s *scope) present(x model.Expr) model.Expr {
	t := x.Type()
	if t == nil || t.Kind != model.KindOptional {
		return x
	}
	u := &model.Unwrap{ExprBase: model.ExprBase{T: t.Elem, Span: x.Pos()}, X: x}
	s.carry(u, x)
	return u
}

// coerce makes x a value of type want or reports why it is none.
func (s *scope) coerce(x model.Expr, want *model.Type) model.Expr {
	if _, ok := x.(*model.None); ok {
		if want.Kind != model.KindOptional {
			s.r.Errorf("FSM024", x.Pos(), "none is no value of %s, which is not optional", describe(want))
			return nil
		}
		return &model.None{ExprBase: model.ExprBase{T: want, Span: x.Pos()}}
	}
	t := x.Type()
	if want.Kind == model.KindOptional && t.Kind != model.KindOptional {
		in := s.coerce(x, want.Elem)
		if in == nil {
			return nil
		}
		e := &model.Some{ExprBase: model.ExprBase{T: want, Span: x.Pos()}, X: in}
		s.carry(e, x)
		return e
	}
	if t.Kind == model.KindOptional && want.Kind != model.KindOptional {
		return s.coerce(s.present(x), want)
	}
	if lit, ok := x.(*model.Lit); ok && want.Kind == model.KindOpaque && t.Kind == model.KindInt {
		if !fits(lit.Value, want.Bits) {
			s.r.Errorf("FSM029", x.Pos(), "%d does not fit into %s", lit.Value, describe(want))
			return nil
		}
		return &model.Lit{ExprBase: model.ExprBase{T: want, Span: x.Pos()}, Value: lit.Value, Const: lit.Const}
	}
	if txt, ok := x.(*model.Text); ok && want.Kind == model.KindBytes {
		if len(txt.Value) > want.Cap {
			s.r.Errorf("FSM029", x.Pos(), "the text has %d bytes, more than %s", len(txt.Value), describe(want))
			return nil
		}
		return x
	}
	if !compatible(t, want) {
		s.r.Errorf("FSM024", x.Pos(), "this is %s, but %s is needed", describe(t), describe(want))
		return nil
	}
	if isNumber(t) && isNumber(want) && (t.Hi < want.Lo || t.Lo > want.Hi) && !s.r.special {
		s.r.Errorf("FSM029", x.Pos(), "%s is never within %s", describe(t), rangeOf(want))
		return nil
	}
	return x
}

func rangeOf(t *model.Type) string {
	d := describe(intType(t.Lo, t.Hi))
	if t.Name != "" {
		return t.Name + ", which is " + d
	}
	return d
}

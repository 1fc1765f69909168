package convert

import (
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

// Coerce converts x to the type want. It returns nil after it has reported that x has no such
// value.
func (s *Scope) Coerce(x model.Expr, want *model.Type) model.Expr {
	if _, ok := x.(*model.None); ok {
		if want.Kind != model.KindOptional {
			s.Errorf("FSM024", x.Pos(), "none is no value of %s, which is not optional",
				types.Describe(want))
			return nil
		}
		return &model.None{ExprBase: model.ExprBase{T: want, Span: x.Pos()}}
	}
	t := x.Type()
	if want.Kind == model.KindOptional && t.Kind != model.KindOptional {
		in := s.Coerce(x, want.Elem)
		if in == nil {
			return nil
		}
		e := &model.Some{ExprBase: model.ExprBase{T: want, Span: x.Pos()}, X: in}
		s.Carry(e, x)
		return e
	}
	if t.Kind == model.KindOptional && want.Kind != model.KindOptional {
		return s.Coerce(s.Present(x), want)
	}
	if lit, ok := x.(*model.Lit); ok && want.Kind == model.KindOpaque && t.Kind == model.KindInt {
		if !types.Fits(lit.Value, want.Bits) {
			s.Errorf("FSM029", x.Pos(), "%d does not fit into %s", lit.Value, types.Describe(want))
			return nil
		}
		return &model.Lit{ExprBase: model.ExprBase{T: want, Span: x.Pos()}, Value: lit.Value,
			Const: lit.Const}
	}
	if txt, ok := x.(*model.Text); ok && want.Kind == model.KindBytes {
		if len(txt.Value) > want.Cap {
			s.Errorf("FSM029", x.Pos(), "the text has %s, more than %s", diag.Counted(len(txt.Value), "byte"),
				types.Describe(want))
			return nil
		}
		if want.Exact && len(txt.Value) > 0 && len(txt.Value) < want.Cap {
			s.Errorf("FSM029", x.Pos(), "this has %s, and a value of %s has %d",
				diag.Counted(len(txt.Value), "byte"), types.Describe(want), want.Cap)
			return nil
		}
		return x
	}
	if !types.Compatible(t, want) {
		d := s.Errorf("FSM024", x.Pos(), "this is %s, but %s is needed", types.Describe(t),
			types.Describe(want))
		if Member(t, want) {
			d.With(OneMember)
		}
		return nil
	}
	if types.IsNumber(t) && types.IsNumber(want) && (t.Hi < want.Lo || t.Lo > want.Hi) && !s.Special {
		s.Errorf("FSM029", x.Pos(), "%s is never within %s", types.Describe(t), rangeOf(want))
		return nil
	}
	return x
}

// Member reports whether a value is one of those that a set may have.
func Member(t, set *model.Type) bool {
	return t != nil && set != nil && set.Kind == model.KindSet && types.Compatible(t, set.Elem)
}

// OneMember is the remedy where a value stands for a set.
const OneMember = "a set of one is written [x]"

func rangeOf(t *model.Type) string {
	d := types.Describe(types.Int(t.Lo, t.Hi))
	if t.Name != "" {
		return t.Name + ", which is " + d
	}
	return d
}

// Present returns the value inside an optional. Other expressions stay as they are.
func (s *Scope) Present(x model.Expr) model.Expr {
	t := x.Type()
	if t == nil || t.Kind != model.KindOptional {
		return x
	}
	u := &model.Unwrap{ExprBase: model.ExprBase{T: t.Elem, Span: x.Pos()}, X: x}
	s.Carry(u, x)
	return u
}

// CommonType returns a type that both values have, or nil.
func (s *Scope) CommonType(a, b model.Expr) *model.Type {
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
		return types.Optional(t)
	case types.IsNumber(t) && types.IsNumber(u):
		return types.Int(min(t.Lo, u.Lo), max(t.Hi, u.Hi))
	case (t.Kind == model.KindOptional) != (u.Kind == model.KindOptional):
		if u.Kind == model.KindOptional {
			t, u = u, t
		}
		if types.Compatible(t.Elem, u) && types.Common(t.Elem, u) != t.Elem {
			return types.Optional(types.Common(t.Elem, u))
		}
		return t
	case types.Compatible(t, u):
		return types.Common(t, u)
	}
	return nil
}

// SameType converts both sides of a comparison to one type.
func (s *Scope) SameType(n *syntax.Binary, x, y model.Expr) (model.Expr, model.Expr) {
	tx, ty := x.Type(), y.Type()
	switch {
	case tx == nil && ty == nil:
		s.Errorf("FSM024", n.Pos(), "none compared with none is no question")
		return nil, nil
	case tx == nil:
		return s.Coerce(x, ty), y
	case ty == nil:
		return x, s.Coerce(y, tx)
	case tx.Kind == model.KindOptional && ty.Kind != model.KindOptional:
		return x, s.Comparable(y, tx)
	case ty.Kind == model.KindOptional && tx.Kind != model.KindOptional:
		return s.Comparable(x, ty), y
	}
	if _, lit := x.(*model.Lit); lit && ty.Kind == model.KindOpaque {
		return s.Comparable(x, ty), y
	}
	return x, s.Comparable(y, tx)
}

// Comparable converts x for a comparison with a value of type t. Their ranges may be apart.
func (s *Scope) Comparable(x model.Expr, t *model.Type) model.Expr {
	plain := t
	if t.Kind == model.KindOptional {
		plain = t.Elem
	}
	_, text := x.(*model.Text)
	if text || types.IsNumber(plain) && x.Type().Kind != model.KindOptional && types.IsNumber(x.Type()) {
		if t == plain {
			return x
		}
		e := &model.Some{ExprBase: model.ExprBase{T: t, Span: x.Pos()}, X: x}
		s.Carry(e, x)
		return e
	}
	return s.Coerce(x, t)
}

// Searched converts x to the type of the elements among which it is searched. A number outside
// their range stays: it is just not found.
func (s *Scope) Searched(x model.Expr, elem *model.Type) model.Expr {
	if x.Type() != nil && types.IsNumber(x.Type()) && types.IsNumber(elem) {
		return x
	}
	return s.Coerce(x, elem)
}

// Carry marks an expression as replaceable if one of its parts has that mark.
func (s *Scope) Carry(to model.Expr, from ...model.Expr) {
	for _, x := range from {
		if x != nil && s.Replaceable(x) {
			s.SetReplaceable(to)
		}
	}
}

// Literal returns a number that another size of the check would change, so that nothing is warned
// about that follows from it alone.
func (s *Scope) Literal(t *model.Type, v int64, at diag.Span) model.Expr {
	lit := &model.Lit{ExprBase: model.ExprBase{T: t, Span: at}, Value: v}
	s.SetReplaceable(lit)
	return lit
}

// Combine joins two conditions; x may be nil. It leaves out a side that decides the result or does
// not affect it.
func Combine(base model.ExprBase, op model.Op, x, y model.Expr) model.Expr {
	if x == nil {
		return y
	}
	base.T = types.Bool
	return Fold(&model.Binary{ExprBase: base, Op: op, X: x, Y: y})
}

// Fold leaves out the constant parts of a condition. It follows && || and => from the outside in.
func Fold(e model.Expr) model.Expr {
	if v, ok := types.Constant(e); ok && e.Type() != nil && e.Type().Kind == model.KindBool {
		return &model.Lit{ExprBase: model.ExprBase{T: types.Bool, Span: e.Pos()}, Value: v}
	}
	b, ok := e.(*model.Binary)
	if !ok || b.Op != model.OpAnd && b.Op != model.OpOr && b.Op != model.OpImplies {
		return e
	}
	c := *b
	c.X, c.Y = Fold(b.X), Fold(b.Y)
	x, xc := c.X.(*model.Lit)
	y, yc := c.Y.(*model.Lit)
	lit := func(v int64) model.Expr { return &model.Lit{ExprBase: b.ExprBase, Value: v} }
	switch {
	case b.Op == model.OpAnd && xc && x.Value != 0, b.Op == model.OpOr && xc && x.Value == 0,
		b.Op == model.OpImplies && xc && x.Value != 0:
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

// KeepWords keeps the author's words for an expression that is resolved as another one; e may be
// nil. Inside a text that is written out for several instances it keeps none, since the words mean
// another instance each time.
func (s *Scope) KeepWords(e model.Expr, n syntax.Node) model.Expr {
	b, ok := e.(interface{ SetWritten(model.Written) })
	if text := strings.Join(strings.Fields(syntax.Source(n)), " "); ok && text != "" && len(s.Bindings) == 0 {
		_, loose := n.(*syntax.Binary)
		b.SetWritten(model.Written{Text: text, Loose: loose})
	}
	return e
}

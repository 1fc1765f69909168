// Package expr resolves expressions: it gives each name its meaning and each node its type. Start
// from [Resolver].
package expr

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

// Resolver resolves expressions in a scope.
type Resolver struct{ *convert.Scope }

// In returns the resolver of expressions in a scope.
func In(s *convert.Scope) *Resolver { return &Resolver{s} }

// Constant resolves an expression that names nothing but constants and types.
func Constant(t *types.Table, n syntax.Node) model.Expr {
	return (&Resolver{Scope: &convert.Scope{Table: t, Constant: true}}).Expr(n, nil)
}

// Value resolves an expression where a value of type want is needed, with the conversions that the
// language makes by itself. It returns nil after an error; n and want may be nil after one.
func (s *Resolver) Value(n syntax.Node, want *model.Type) model.Expr {
	if n == nil {
		return nil
	}
	x := s.Expr(n, want)
	if x == nil || want == nil {
		return nil
	}
	return s.Coerce(x, want)
}

// Cond resolves a condition.
func (s *Resolver) Cond(n syntax.Node) model.Expr { return s.Value(n, types.Bool) }

// Expr resolves an expression. want helps only with names and literals and may be nil. The result
// has a type, unless it is none.
func (s *Resolver) Expr(n syntax.Node, want *model.Type) model.Expr {
	if n == nil {
		return nil
	}
	f := s.ref(n, want)
	switch {
	case f.e != nil:
		return f.e
	case f.info != nil && f.inst != nil && len(f.path) == 0 && !f.inst.Monitor &&
		(want == nil || want.Kind != model.KindBool):
		// Where a value is needed an instance is its number.
		return s.Literal(s.Basic("instance", n.Pos()), int64(f.inst.Index), n.Pos())
	case f.group != nil:
		s.Errorf("FSM023", n.Pos(), "%s is several instances; say which", diag.Quote(f.group.Name)).
			With(f.group.Hint())
	case f.info != nil:
		s.Errorf("FSM023", n.Pos(), "this is a machine; name one of its states or variables behind a dot")
	case f.part != nil:
		s.Errorf("FSM061", n.Pos(), "part %s has several instances; say which, and what of it",
			diag.Quote(f.part.Name)).With(KeysHint(f.part))
	case f.timer != nil:
		s.Errorf("FSM049", n.Pos(), "timer %s has several instances; say which",
			diag.Quote(f.timer.Name)).With(TimerHint(f.timer))
	case f.t != nil:
		s.Errorf("FSM023", n.Pos(), "%s is a type, not a value", types.Describe(f.t))
	}
	return nil
}

// operand resolves everything that is not a path.
func (s *Resolver) operand(n syntax.Node, want *model.Type) model.Expr {
	base := model.ExprBase{Span: n.Pos()}
	switch n := n.(type) {
	case *syntax.Number:
		base.T = types.Int(n.Value, n.Value)
		return &model.Lit{ExprBase: base, Value: n.Value}
	case *syntax.String:
		t := types.WithLayout(&model.Type{Kind: model.KindBytes, Cap: len(n.Value)})
		base.T = t
		return &model.Text{ExprBase: base, Value: n.Value}
	case *syntax.Unary:
		return s.unary(n, base)
	case *syntax.Binary:
		return s.binary(n, base)
	case *syntax.Call:
		return s.call(n, base, want)
	case *syntax.Literal:
		return s.recordLiteral(n, base)
	case *syntax.List:
		return s.list(n, base, want)
	case *syntax.Build:
		return s.build(n, base, want)
	case *syntax.Quantified:
		return s.quantified(n, base)
	case *syntax.Arrow:
		s.Errorf("FSM023", n.Pos(), "`->` is only for len(a -> b) and empty(a -> b)")
	case *syntax.Range:
		s.Errorf("FSM023", n.Pos(), "a range is no value")
	}
	return nil
}

package expr

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

var operators = map[string]model.Op{
	"+": model.OpAdd, "-": model.OpSub, "*": model.OpMul, "/": model.OpDiv, "%": model.OpMod,
	"==": model.OpEq, "!=": model.OpNe, "<": model.OpLt, "<=": model.OpLe, ">": model.OpGt,
	">=": model.OpGe,
	"&&": model.OpAnd, "||": model.OpOr, "=>": model.OpImplies,
}

func (s *Resolver) unary(n *syntax.Unary, base model.ExprBase) model.Expr {
	u := &model.Unary{ExprBase: base}
	if n.Op == "!" {
		u.Op, u.T = model.OpNot, types.Bool
		if u.X = s.Cond(n.X); u.X == nil {
			return nil
		}
		s.Carry(u, u.X)
		return u
	}
	x := s.Number(n.X)
	if x == nil {
		return nil
	}
	u.Op, u.X, u.T = model.OpNeg, x, types.Int(-x.Type().Hi, -x.Type().Lo)
	if lit, ok := x.(*model.Lit); ok {
		e := &model.Lit{ExprBase: u.ExprBase, Value: -lit.Value}
		s.Carry(e, lit)
		return e
	}
	s.Carry(u, x)
	return u
}

// Number resolves an operand of arithmetic.
func (s *Resolver) Number(n syntax.Node) model.Expr {
	x := s.Expr(n, nil)
	if x == nil {
		return nil
	}
	if x.Type() != nil {
		x = s.Present(x)
	}
	if t := x.Type(); t == nil || !types.IsNumber(t) {
		d := s.Errorf("FSM023", x.Pos(), "a number is needed here, not %s", types.Describe(t))
		if t != nil && t.Kind == model.KindOpaque {
			d.With("opaque values are only carried and compared; declare a range to compute with it")
		}
		return nil
	}
	return x
}

func (s *Resolver) binary(n *syntax.Binary, base model.ExprBase) model.Expr {
	switch n.Op {
	case "&&", "||", "=>":
		x, y := s.Cond(n.X), s.Cond(n.Y)
		return s.join(n, base, types.Bool, x, y)
	case "==", "!=":
		return s.equality(n, base)
	case "in":
		return s.membership(n, base)
	}
	x, y := s.Number(n.X), s.Number(n.Y)
	if x == nil || y == nil {
		return nil
	}
	op := operators[n.Op]
	if op >= model.OpEq {
		e := s.join(n, base, types.Bool, x, y)
		s.Decided(e, op, x, y)
		return e
	}
	lo, hi := types.Bounds(core.OfOperator(op), x.Type(), y.Type())
	if lo < -pass.MaxNumber || hi > pass.MaxNumber {
		s.Errorf("FSM031", n.Pos(), "the result can exceed 1<<61").
			With("narrow the ranges of the operands")
		return nil
	}
	return s.join(n, base, types.Int(lo, hi), x, y)
}

func (s *Resolver) join(n *syntax.Binary, base model.ExprBase, t *model.Type, x,
	y model.Expr) model.Expr {
	if x == nil || y == nil {
		return nil
	}
	base.T = t
	e := &model.Binary{ExprBase: base, Op: operators[n.Op], X: x, Y: y}
	s.Carry(e, x, y)
	return e
}

// vague reports whether the other operand should be resolved first. None, names of enumerations,
// numbers and lists take their type from it.
func (s *Resolver) vague(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Ident:
		if n.Name == "none" {
			return true
		}
		known := s.Has(n.Name) || s.Own != nil && s.Own.Has(n.Name)
		return !known && len(s.Enums[n.Name]) > 0
	case *syntax.Number, *syntax.List, *syntax.Build, *syntax.String:
		return true
	}
	return false
}

func (s *Resolver) equality(n *syntax.Binary, base model.ExprBase) model.Expr {
	if e := s.leftOut(n, base); e != nil {
		return e
	}
	var x, y model.Expr
	if s.vague(n.X) && !s.vague(n.Y) {
		if y = s.Expr(n.Y, nil); y != nil {
			x = s.Expr(n.X, y.Type())
		}
	} else if x = s.Expr(n.X, nil); x != nil {
		y = s.Expr(n.Y, x.Type())
	}
	if x == nil || y == nil {
		return nil
	}
	x, y = s.SameType(n, x, y)
	e := s.join(n, base, types.Bool, x, y)
	if e != nil {
		s.Decided(e, operators[n.Op], x, y)
	}
	return e
}

// leftOut decides comparisons with a name that the domain of the check leaves out.
func (s *Resolver) leftOut(n *syntax.Binary, base model.ExprBase) model.Expr {
	for _, side := range [][2]syntax.Node{{n.X, n.Y}, {n.Y, n.X}} {
		v := s.removed(side[0])
		if v == nil {
			continue
		}
		other := s.Expr(side[1], v.Type)
		if other == nil || other.Type() == nil {
			continue
		}
		t := other.Type()
		if t.Kind == model.KindOptional {
			t = t.Elem
		}
		if t.Name != v.Type.Name {
			continue
		}
		base.T = types.Bool
		lit := &model.Lit{ExprBase: base}
		if n.Op == "!=" {
			lit.Value = 1
		}
		return lit
	}
	return nil
}

// removed returns the value of an enumeration that n names, if the domain of the check leaves it
// out.
func (s *Resolver) removed(n syntax.Node) *types.EnumValue {
	name, typ := "", ""
	at := n.Pos()
	switch n := n.(type) {
	case *syntax.Ident:
		if s.Has(n.Name) || s.Own != nil && s.Own.Has(n.Name) {
			return nil
		}
		name = n.Name
	case *syntax.Select:
		if x, ok := n.X.(*syntax.Ident); ok {
			name, typ, at = n.Name, x.Name, n.NamePos
		}
	}
	for i, v := range s.Enums[name] {
		if v.Index < 0 && (typ == "" || typ == v.Type.Name) {
			s.ReferEnum(at, v.Type, name)
			return &s.Enums[name][i]
		}
	}
	return nil
}

// membership resolves `x in list` and `x in set`.
func (s *Resolver) membership(n *syntax.Binary, base model.ExprBase) model.Expr {
	var x, y model.Expr
	if l, ok := n.Y.(*syntax.List); ok {
		if x = s.Expr(n.X, nil); x == nil || x.Type() == nil {
			return nil
		}
		kept := *l
		kept.Elems = nil
		for _, e := range l.Elems {
			if s.removed(e) == nil {
				kept.Elems = append(kept.Elems, e)
			}
		}
		want := x.Type()
		if types.IsNumber(want) {
			want = types.Wide
		}
		t := types.WithLayout(&model.Type{Kind: model.KindList, Elem: want, Cap: max(1, len(kept.Elems))})
		y = s.list(&kept, model.ExprBase{Span: l.Pos()}, t)
	} else if y = s.Expr(n.Y, nil); y != nil {
		if y.Type() != nil {
			y = s.Present(y)
		}
		if types.IsMap(y.Type()) {
			if x = s.Expr(n.X, y.Type().Index); x != nil {
				x = s.Searched(x, y.Type().Index)
			}
			if x == nil {
				return nil
			}
			return s.KeepWords(s.HasKey(y, x, n.Pos()), n)
		}
		elem, _ := types.ElemOf(y.Type())
		if elem == nil {
			s.Errorf("FSM023", n.Y.Pos(), "`in` needs a list, a set or a map, not %s",
				types.Describe(y.Type()))
			return nil
		}
		if x = s.Expr(n.X, elem); x != nil {
			x = s.Searched(x, elem)
		}
	}
	if x == nil || y == nil {
		return nil
	}
	base.T = types.Bool
	e := &model.Call{ExprBase: base, Fn: model.FnContains, Args: []model.Expr{y, x}}
	s.Carry(e, x, y)
	if x.Type() != nil && y.Type().Kind == model.KindSet {
		return s.KeepWords(e, n)
	}
	return e
}

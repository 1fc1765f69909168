package resolve

import (
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

var operators = map[string]model.Op{
	"+": model.OpAdd, "-": model.OpSub, "*": model.OpMul, "/": model.OpDiv, "%": model.OpMod,
	"==": model.OpEq, "!=": model.OpNe, "<": model.OpLt, "<=": model.OpLe, ">": model.OpGt, ">=": model.OpGe,
	"&&": model.OpAnd, "||": model.OpOr, "=>": model.OpImplies,
}

func (s *scope) unary(n *expr.Unary, base model.ExprBase) model.Expr {
	u := &model.Unary{ExprBase: base}
	if n.Op == "!" {
		u.Op, u.T = model.OpNot, boolType
		if u.X = s.cond(n.X); u.X == nil {
			return nil
		}
		s.carry(u, u.X)
		return u
	}
	x := s.number(n.X)
	if x == nil {
		return nil
	}
	u.Op, u.X, u.T = model.OpNeg, x, intType(-x.Type().Hi, -x.Type().Lo)
	if lit, ok := x.(*model.Lit); ok {
		e := &model.Lit{ExprBase: u.ExprBase, Value: -lit.Value}
		s.carry(e, lit)
		return e
	}
	s.carry(u, x)
	return u
}

// number resolves an operand that is computed with.
func (s *scope) number(n expr.Node) model.Expr {
	x := s.expr(n, nil)
	if x == nil {
		return nil
	}
	if x.Type() != nil {
		x = s.present(x)
	}
	if t := x.Type(); t == nil || !isNumber(t) {
		d := s.r.Errorf("FSM023", x.Pos(), "a number is needed here, not %s", describe(t))
		if t != nil && t.Kind == model.KindOpaque {
			d.With("opaque values are only carried and compared; declare a range to compute with it")
		}
		return nil
	}
	return x
}

func (s *scope) binary(n *expr.Binary, base model.ExprBase) model.Expr {
	switch n.Op {
	case "&&", "||", "=>":
		x, y := s.cond(n.X), s.cond(n.Y)
		return s.join(n, base, boolType, x, y)
	case "==", "!=":
		return s.equality(n, base)
	case "in":
		return s.membership(n, base)
	}
	x, y := s.number(n.X), s.number(n.Y)
	if x == nil || y == nil {
		return nil
	}
	op := operators[n.Op]
	if op >= model.OpEq {
		e := s.join(n, base, boolType, x, y)
		s.decided(e, op, x, y)
		return e
	}
	lo, hi := bounds(op, x.Type(), y.Type())
	if lo < -maxNumber || hi > maxNumber {
		s.r.Errorf("FSM031", n.Pos(), "the result can exceed 1<<61").With("narrow the ranges of the operands")
		return nil
	}
	return s.join(n, base, intType(lo, hi), x, y)
}

func (s *scope) join(n *expr.Binary, base model.ExprBase, t *model.Type, x, y model.Expr) model.Expr {
	if x == nil || y == nil {
		return nil
	}
	base.T = t
	e := &model.Binary{ExprBase: base, Op: operators[n.Op], X: x, Y: y}
	s.carry(e, x, y)
	return e
}

// vague reports whether an operand is better resolved after the other one: none, names of
// enumerations, numbers and lists take their type from it.
func (s *scope) vague(n expr.Node) bool {
	switch n := n.(type) {
	case *expr.Ident:
		if n.Name == "none" {
			return true
		}
		known := s.has(n.Name) || s.ro != nil && s.ro.values[n.Name] != nil
		return !known && len(s.r.enums[n.Name]) > 0
	case *expr.Number, *expr.List, *expr.Build, *expr.String:
		return true
	}
	return false
}

func (s *scope) equality(n *expr.Binary, base model.ExprBase) model.Expr {
	if e := s.leftOut(n, base); e != nil {
		return e
	}
	var x, y model.Expr
	if s.vague(n.X) && !s.vague(n.Y) {
		if y = s.expr(n.Y, nil); y != nil {
			x = s.expr(n.X, y.Type())
		}
	} else if x = s.expr(n.X, nil); x != nil {
		y = s.expr(n.Y, x.Type())
	}
	if x == nil || y == nil {
		return nil
	}
	x, y = s.meet(n, x, y)
	e := s.join(n, base, boolType, x, y)
	if e != nil {
		s.decided(e, operators[n.Op], x, y)
	}
	return e
}

// meet gives both sides of a comparison one type.
func (s *scope) meet(n *expr.Binary, x, y model.Expr) (model.Expr, model.Expr) {
	tx, ty := x.Type(), y.Type()
	switch {
	case tx == nil && ty == nil:
		s.r.Errorf("FSM024", n.Pos(), "none compared with none is no question")
		return nil, nil
	case tx == nil:
		return s.coerce(x, ty), y
	case ty == nil:
		return x, s.coerce(y, tx)
	case tx.Kind == model.KindOptional && ty.Kind != model.KindOptional:
		return x, s.comparable(y, tx)
	case ty.Kind == model.KindOptional && tx.Kind != model.KindOptional:
		return s.comparable(x, ty), y
	}
	if _, lit := x.(*model.Lit); lit && ty.Kind == model.KindOpaque {
		return s.comparable(x, ty), y
	}
	return x, s.comparable(y, tx)
}

// comparable converts x for a comparison with a value of type t; ranges may be apart.
func (s *scope) comparable(x model.Expr, t *model.Type) model.Expr {
	plain := t
	if t.Kind == model.KindOptional {
		plain = t.Elem
	}
	if isNumber(plain) && x.Type().Kind != model.KindOptional && isNumber(x.Type()) {
		if t == plain {
			return x
		}
		e := &model.Some{ExprBase: model.ExprBase{T: t, Span: x.Pos()}, X: x}
		s.carry(e, x)
		return e
	}
	if _, ok := x.(*model.Text); ok {
		return x
	}
	return s.coerce(x, t)
}

// leftOut decides comparisons with a name that the check's domain leaves out.
func (s *scope) leftOut(n *expr.Binary, base model.ExprBase) model.Expr {
	for _, side := range [][2]expr.Node{{n.X, n.Y}, {n.Y, n.X}} {
		v := s.removed(side[0])
		if v == nil {
			continue
		}
		other := s.expr(side[1], v.t)
		if other == nil || other.Type() == nil {
			continue
		}
		t := other.Type()
		if t.Kind == model.KindOptional {
			t = t.Elem
		}
		if t.Name != v.t.Name {
			continue
		}
		base.T = boolType
		lit := &model.Lit{ExprBase: base}
		if n.Op == "!=" {
			lit.Value = 1
		}
		return lit
	}
	return nil
}

// removed returns the enumeration's name that n is, if the domain leaves it out.
func (s *scope) removed(n expr.Node) *enumValue {
	name, typ := "", ""
	at := n.Pos()
	switch n := n.(type) {
	case *expr.Ident:
		if s.has(n.Name) || s.ro != nil && s.ro.values[n.Name] != nil {
			return nil
		}
		name = n.Name
	case *expr.Select:
		if x, ok := n.X.(*expr.Ident); ok {
			name, typ, at = n.Name, x.Name, n.NamePos
		}
	}
	for i, v := range s.r.enums[name] {
		if v.index < 0 && (typ == "" || typ == v.t.Name) {
			s.r.referEnum(at, v.t, name)
			return &s.r.enums[name][i]
		}
	}
	return nil
}

// membership resolves `x in list` and `x in set`.
func (s *scope) membership(n *expr.Binary, base model.ExprBase) model.Expr {
	var x, y model.Expr
	if l, ok := n.Y.(*expr.List); ok {
		if x = s.expr(n.X, nil); x == nil || x.Type() == nil {
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
		if isNumber(want) {
			want = wide
		}
		t := &model.Type{Kind: model.KindList, Elem: want, Cap: max(1, len(kept.Elems))}
		t.Slots()
		y = s.list(&kept, model.ExprBase{Span: l.Pos()}, t)
	} else if y = s.expr(n.Y, nil); y != nil {
		if y.Type() != nil {
			y = s.present(y)
		}
		if isMap(y.Type()) {
			if x = s.expr(n.X, y.Type().Index); x != nil {
				x = s.element_(x, y.Type().Index)
			}
			if x == nil {
				return nil
			}
			return s.words(s.hasKey(y, x, n.Pos()), n)
		}
		elem, _ := elemOf(y.Type())
		if elem == nil {
			s.r.Errorf("FSM023", n.Y.Pos(), "`in` needs a list, a set or a map, not %s", describe(y.Type()))
			return nil
		}
		if x = s.expr(n.X, elem); x != nil {
			x = s.element_(x, elem)
		}
	}
	if x == nil || y == nil {
		return nil
	}
	base.T = boolType
	e := &model.Call{ExprBase: base, Fn: model.FnContains, Args: []model.Expr{y, x}}
	s.carry(e, x, y)
	if x.Type() != nil && y.Type().Kind == model.KindSet {
		return s.words(e, n)
	}
	return e
}

// element_ converts x to the element type of a collection that is searched; a number
// outside the range is just not in it.
func (s *scope) element_(x model.Expr, elem *model.Type) model.Expr {
	if x.Type() != nil && isNumber(x.Type()) && isNumber(elem) {
		return x
	}
	return s.coerce(x, elem)
}

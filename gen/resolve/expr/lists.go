package expr

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

func (s *Resolver) list(n *syntax.List, base model.ExprBase, want *model.Type) model.Expr {
	if elem, _ := types.ElemOf(want); elem == nil && len(n.Elems) == 0 {
		s.Errorf("FSM024", n.Pos(), "an empty list needs a place that says of what")
		return nil
	}
	return s.listOf(n, base, want, func(f func(syntax.Node) bool) bool {
		for _, x := range n.Elems {
			if !f(x) {
				return false
			}
		}
		return true
	})
}

// listOf resolves a list whose elements each gives one after the other.
func (s *Resolver) listOf(n *syntax.List, base model.ExprBase, want *model.Type,
	each func(func(syntax.Node) bool) bool) model.Expr {
	elem, t := types.ElemOf(want)
	l := &model.ListLit{ExprBase: base}
	ok := each(func(x syntax.Node) bool {
		if elem == nil {
			first := s.Expr(x, nil)
			if first != nil && first.Type() == nil {
				s.Errorf("FSM024", x.Pos(), "none needs a place that says of what")
			}
			if first == nil || first.Type() == nil {
				return false
			}
			elem = first.Type()
			if types.IsNumber(elem) {
				elem = types.Wide
			}
		}
		e := s.Value(x, elem)
		if e == nil {
			return false
		}
		l.Elems = append(l.Elems, e)
		s.Carry(l, e)
		return true
	})
	if !ok {
		return nil
	}
	if t == nil {
		t = types.WithLayout(&model.Type{Kind: model.KindList, Elem: elem, Cap: max(1, len(l.Elems))})
	}
	if t.Kind == model.KindList && len(l.Elems) > t.Cap {
		s.Errorf("FSM029", n.Pos(), "%d elements are more than %s can hold", len(l.Elems),
			types.Describe(t))
		return nil
	}
	l.T = t
	return l
}

func (s *Resolver) recordLiteral(n *syntax.Literal, base model.ExprBase) model.Expr {
	id, ok := n.X.(*syntax.Ident)
	if !ok {
		s.Errorf("FSM023", n.X.Pos(), "a literal of a record starts with the record's name")
		return nil
	}
	t, known := s.TypeNamed(id.Name, id.Pos())
	if !known {
		s.UnknownAt("FSM021", id.Pos(), id.Name, "record type", s.Root.Get("types").Keys())
		return nil
	}
	if t == nil {
		return nil
	}
	if t.Kind != model.KindRecord {
		s.Errorf("FSM023", id.Pos(), "%s is no record", types.Describe(t))
		return nil
	}
	lit := &model.RecordLit{ExprBase: base}
	lit.T = t
	if lit.Fields = s.FieldValues(n.Fields, t.Fields, "record "+diag.Quote(t.Name), n.Pos()); lit.Fields == nil {
		return nil
	}
	s.Carry(lit, lit.Fields...)
	return lit
}

// FieldValues matches the fields of a literal with those declared. It returns nil after an error.
func (s *Resolver) FieldValues(given []syntax.FieldValue, fields []*model.Field, what string,
	at diag.Span) []model.Expr {
	out := make([]model.Expr, len(fields))
	ok := true
	seen := map[string]diag.Span{}
	for _, g := range given {
		f := types.FieldNamed(fields, g.Name)
		first, twice := seen[g.Name]
		switch {
		case f == nil:
			s.UnknownAt("FSM027", g.NamePos, g.Name, "field of "+what+" named", types.FieldNames(fields))
			ok = false
			continue
		case twice:
			s.Errorf("FSM027", g.NamePos, "the field %s is given twice", diag.Quote(g.Name)).
				See(first, "first here")
			ok = false
			continue
		}
		seen[g.Name] = g.NamePos
		s.Refer(g.NamePos, f.Span)
		out[f.Index] = s.Value(g.Value, f.Type)
		ok = ok && out[f.Index] != nil
	}
	var missing []string
	for _, f := range fields {
		if _, has := seen[f.Name]; !has {
			missing = append(missing, f.Name)
		}
	}
	if len(missing) > 0 {
		s.Errorf("FSM027", at, "%s needs the field%s %s", what, diag.Plural(len(missing)),
			diag.QuoteAll(missing))
		ok = false
	}
	if !ok {
		return nil
	}
	return out
}

// MessageLiteral resolves NAME or NAME{…} for a message of this protocol.
func (s *Resolver) MessageLiteral(n syntax.Node) (*model.Message, []model.Expr) {
	x, fields := SplitLiteral(n)
	id, ok := x.(*syntax.Ident)
	if !ok {
		s.Errorf("FSM060", n.Pos(), "a message is NAME or NAME{field: value}")
		return nil, nil
	}
	m := s.Messages[id.Name]
	if m == nil {
		names := s.Root.Get("messages").Keys()
		s.UnknownAt("FSM060", id.Pos(), id.Name, "message", names)
		return nil, nil
	}
	s.Use(m.Span)
	s.Refer(id.Pos(), m.Span)
	if s.IsBroken(m.Span) {
		return nil, nil
	}
	vals := s.FieldValues(fields, m.Fields, "message "+diag.Quote(m.Name), n.Pos())
	if vals == nil {
		return nil, nil
	}
	return m, vals
}

// SplitLiteral takes NAME{fields} apart. Anything else is a name without fields.
func SplitLiteral(n syntax.Node) (syntax.Node, []syntax.FieldValue) {
	if l, ok := n.(*syntax.Literal); ok {
		return l.X, l.Fields
	}
	return n, nil
}

// Over resolves what a loop runs over.
func (s *Resolver) Over(n syntax.Node) convert.Loop {
	var values *model.Type
	switch x := n.(type) {
	case *syntax.Range:
		return s.overRange(x)
	case *syntax.Ident:
		if !s.Has(x.Name) && s.BoundTo(x.Name) == nil && (s.Own == nil || s.NoValues || !s.Own.Has(x.Name)) {
			t, known := s.TypeNamed(x.Name, x.Pos())
			switch {
			case known && t == nil:
				return convert.Loop{}
			case known:
				values = t
			default:
				values = s.Basic(x.Name, x.Pos())
			}
		}
	}
	if values != nil {
		return s.overValues(values, n.Pos())
	}
	over := s.Expr(n, nil)
	if over == nil {
		return convert.Loop{}
	}
	if over.Type() != nil {
		over = s.Present(over)
	}
	t := over.Type()
	switch {
	case t != nil && (t.Kind == model.KindList || t.Kind == model.KindSet):
		return convert.Loop{Over: over, Var: t.Elem}
	case types.IsMap(t):
		return convert.Loop{Values: t.Index, Var: t.Index, Map: over}
	}
	d := s.Errorf("FSM023", n.Pos(), "only a list, a set, a map, a type or a range can be gone through, not %s",
		types.Describe(t))
	if t != nil && t.Kind == model.KindArray {
		d.With("go through the array's index: " + types.Describe(t.Index))
	}
	return convert.Loop{}
}

func (s *Resolver) overRange(x *syntax.Range) convert.Loop {
	lo, ok1 := s.ConstNode(x.Lo, -1<<40, 1<<40, "the low bound")
	hi, ok2 := s.ConstNode(x.Hi, -1<<40, 1<<40, "the high bound")
	switch {
	case !ok1 || !ok2:
		return convert.Loop{}
	case lo <= hi:
		t := types.Int(lo, hi)
		t.Span = x.Pos()
		return s.overValues(t, x.Pos())
	case namesConst(x.Lo) || namesConst(x.Hi):
		return convert.Loop{Var: types.Int(lo, lo), Empty: true}
	}
	s.Errorf("FSM041", x.Pos(), "the range %d..%d is empty", lo, hi)
	return convert.Loop{}
}

// namesConst reports whether a bound mentions a constant, which a check may replace.
func namesConst(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) {
		_, is := n.(*syntax.Ident)
		found = found || is
	})
	return found
}

func (s *Resolver) overValues(t *model.Type, at diag.Span) convert.Loop {
	if !types.IsDiscrete(t) {
		s.Errorf("FSM023", at, "%s cannot be gone through; a range, an enumeration or bool can",
			types.Describe(t))
		return convert.Loop{}
	}
	if t.Count() > pass.MaxLoop {
		s.Errorf("FSM042", at, "%s has %d values, more than %d", types.Describe(t), t.Count(),
			pass.MaxLoop)
		return convert.Loop{}
	}
	return convert.Loop{Values: t, Var: t}
}

// Inside resolves the body of a loop by f. In an empty range it reports no errors, since they
// would be about values that are not there.
func (s *Resolver) Inside(g *convert.Loop, f func()) {
	if g.Empty {
		before := s.Collector
		s.Collector = &diag.Collector{}
		defer func() { s.Collector = before }()
	}
	f()
}

func (s *Resolver) quantified(n *syntax.Quantified, base model.ExprBase) model.Expr {
	if list, ok := s.Through(n.Var, n.VarPos, n.Over, n.X); ok {
		return s.KeepWords(s.allOf(n, list), n)
	}
	g := s.Over(n.Over)
	if g.Var == nil {
		return nil
	}
	local := s.DeclareLocal(n.Var, g.Var, n.VarPos)
	defer s.Drop()
	var x model.Expr
	s.Inside(&g, func() { x = s.Cond(n.X) })
	if g.Empty {
		return s.OfNothing(n.Fn, g.Var, base)
	}
	if x == nil {
		return nil
	}
	x = s.AmongKeys(&g, local, x, n.Fn == "all")
	var out model.Expr
	switch n.Fn {
	case "first":
		base.T = types.Optional(g.Var)
		out = &model.Find{ExprBase: base, Local: local, Values: g.Values, Over: g.Over, X: x}
	case "count":
		base.T = types.Int(0, g.Most())
		out = &model.Find{ExprBase: base, Count: true, Local: local, Values: g.Values, Over: g.Over, X: x}
	default:
		base.T = types.Bool
		out = &model.Quantified{ExprBase: base, All: n.Fn == "all", Local: local, Values: g.Values,
			Over: g.Over, X: x}
	}
	s.Carry(out, g.Over, x)
	if g.Map != nil {
		return s.KeepWords(out, n)
	}
	return out
}

// build resolves [elem for x in over if cond]. It makes a list, a set or an array, whatever the
// place wants.
func (s *Resolver) build(n *syntax.Build, base model.ExprBase, want *model.Type) model.Expr {
	if x, ok := s.buildThrough(n, base, want); ok {
		return x
	}
	g := s.Over(n.Over)
	if g.Var == nil {
		return nil
	}
	elem, t := types.ElemOf(want)
	if t == nil {
		elem, t = types.ArrayOf(want)
	}
	b := &model.Build{ExprBase: base, Values: g.Values, Over: g.Over}
	b.Local = s.DeclareLocal(n.Var, g.Var, n.VarPos)
	defer s.Drop()
	ok := true
	s.Inside(&g, func() {
		if n.If != nil {
			b.If = s.Cond(n.If)
			ok = b.If != nil
		}
		if elem != nil {
			b.Elem = s.Value(n.Elem, elem)
		} else if b.Elem = s.Expr(n.Elem, nil); b.Elem != nil && b.Elem.Type() == nil {
			s.Errorf("FSM024", n.Elem.Pos(), "none needs a place that says of what")
			ok = false
		}
		ok = ok && b.Elem != nil
	})
	b.If = s.AmongKeys(&g, b.Local, b.If, false)
	if t != nil && t.Kind == model.KindArray {
		ok = s.fillsArray(n, b, t) && ok
	}
	if g.Empty && ok {
		return s.emptyList(n, base, t, b.Elem)
	}
	if !ok {
		return nil
	}
	if t == nil {
		t = types.WithLayout(&model.Type{Kind: model.KindList, Elem: b.Elem.Type(),
			Cap: max(1, int(g.Most()))})
	}
	if t.Kind == model.KindList && g.Values != nil && b.If == nil && g.Most() > int64(t.Cap) && !s.Special {
		s.Errorf("FSM029", n.Pos(), "%d elements are more than %s can hold", g.Most(), types.Describe(t))
		return nil
	}
	b.T = t
	s.Carry(b, g.Over, b.Elem, b.If)
	if g.Map != nil {
		return s.KeepWords(b, n)
	}
	return b
}

// buildThrough writes [elem for x in over if cond] out for the instances of a group or for their
// numbers. ok is false if over is something else.
func (s *Resolver) buildThrough(n *syntax.Build, base model.ExprBase,
	want *model.Type) (x model.Expr, ok bool) {
	bounds, ok := s.Through(n.Var, n.VarPos, n.Over, n.Elem)
	if !ok && n.If != nil {
		bounds, ok = s.Through(n.Var, n.VarPos, n.Over, n.If)
	}
	switch {
	case !ok:
		return nil, false
	case n.If != nil:
		return s.KeepWords(s.filtered(n, bounds, base, want), n), true
	}
	list := syntax.At(n.Pos(), nil)
	return s.KeepWords(s.listOf(list, base, want, func(f func(syntax.Node) bool) bool {
		return s.EachOf(n, bounds, f)
	}), n), true
}

func (s *Resolver) emptyList(n *syntax.Build, base model.ExprBase, t *model.Type,
	elem model.Expr) model.Expr {
	if t == nil {
		t = types.WithLayout(&model.Type{Kind: model.KindList, Elem: elem.Type(), Cap: 1})
	}
	base.T = t
	l := &model.ListLit{ExprBase: base}
	s.SetReplaceable(l)
	return l
}

// fillsArray reports whether a builder gives every element of an array, which it does if it runs
// over the values of the index. A map may lack some.
func (s *Resolver) fillsArray(n *syntax.Build, b *model.Build, t *model.Type) bool {
	if b.Values == nil || !types.SameDomain(b.Values, t.Index) {
		s.Errorf("FSM024", n.Over.Pos(), "%s is filled by going through %s", types.Describe(t),
			types.Describe(t.Index)).
			With("write [… for " + n.Var + " in " + types.Describe(t.Index) + "]")
		return false
	}
	if b.If != nil && !types.IsMap(t) {
		s.Errorf("FSM024", b.If.Pos(), "every element of %s needs a value, so none can be left out",
			types.Describe(t)).
			With("choose it by if(condition, a, b)")
		return false
	}
	return true
}

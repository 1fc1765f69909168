package resolve

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

func (s *scope) list(n *expr.List, base model.ExprBase, want *model.Type) model.Expr {
	if elem, _ := elemOf(want); elem == nil && len(n.Elems) == 0 {
		s.r.Errorf("FSM024", n.Pos(), "an empty list needs a place that says of what")
		return nil
	}
	return s.listOf(n, base, want, func(f func(expr.Node) bool) bool {
		for _, x := range n.Elems {
			if !f(x) {
				return false
			}
		}
		return true
	})
}

// listOf resolves a list whose elements are given one after the other.
func (s *scope) listOf(n *expr.List, base model.ExprBase, want *model.Type, each func(func(expr.Node) bool) bool) model.Expr {
	elem, t := elemOf(want)
	l := &model.ListLit{ExprBase: base}
	ok := each(func(x expr.Node) bool {
		if elem == nil {
			first := s.expr(x, nil)
			if first == nil || first.Type() == nil {
				return false
			}
			elem = first.Type()
			if isNumber(elem) {
				elem = wide
			}
		}
		e := s.value(x, elem)
		if e == nil {
			return false
		}
		l.Elems = append(l.Elems, e)
		s.carry(l, e)
		return true
	})
	if !ok {
		return nil
	}
	if t == nil {
		t = &model.Type{Kind: model.KindList, Elem: elem, Cap: max(1, len(l.Elems))}
		t.Slots()
	}
	if t.Kind == model.KindList && len(l.Elems) > t.Cap {
		s.r.Errorf("FSM029", n.Pos(), "%d elements are more than %s can hold", len(l.Elems), describe(t))
		return nil
	}
	l.T = t
	return l
}

// wide is the type of numbers in lists that no declaration describes.
var wide = intType(-maxNumber, maxNumber)

// elemOf returns the element type of a wanted list or set, and that type; nil if another
// type is wanted.
func elemOf(want *model.Type) (elem, t *model.Type) {
	if want != nil && want.Kind == model.KindOptional {
		want = want.Elem
	}
	if want != nil && (want.Kind == model.KindList || want.Kind == model.KindSet) {
		return want.Elem, want
	}
	return nil, nil
}

func (s *scope) recordLiteral(n *expr.Literal, base model.ExprBase) model.Expr {
	id, ok := n.X.(*expr.Ident)
	if !ok {
		s.r.Errorf("FSM023", n.X.Pos(), "a literal of a record starts with the record's name")
		return nil
	}
	nt := s.r.types[id.Name]
	if nt == nil {
		s.r.unknownAt("FSM021", id.Pos(), id.Name, "record type", s.r.root.Get("types").Keys())
		return nil
	}
	s.r.use(nt.key.Span())
	s.r.refer(id.Pos(), nt.key.Span())
	t := s.r.named(nt)
	if t == nil {
		return nil
	}
	if t.Kind != model.KindRecord {
		s.r.Errorf("FSM023", id.Pos(), "%s is no record", describe(t))
		return nil
	}
	lit := &model.RecordLit{ExprBase: base}
	lit.T = t
	if lit.Fields = s.fieldValues(n.Fields, t.Fields, "record "+diag.Quote(t.Name), n.Pos()); lit.Fields == nil {
		return nil
	}
	s.carry(lit, lit.Fields...)
	return lit
}

// fieldValues matches the fields of a literal with those declared; nil after an error.
func (s *scope) fieldValues(given []expr.FieldValue, fields []*model.Field, what string, at diag.Span) []model.Expr {
	out := make([]model.Expr, len(fields))
	ok := true
	seen := map[string]diag.Span{}
	for _, g := range given {
		f := fieldNamed(fields, g.Name)
		first, twice := seen[g.Name]
		switch {
		case f == nil:
			s.r.unknownAt("FSM027", g.NamePos, g.Name, "field of "+what+" named", fieldNames(fields))
			ok = false
			continue
		case twice:
			s.r.Errorf("FSM027", g.NamePos, "the field %s is given twice", diag.Quote(g.Name)).See(first, "first here")
			ok = false
			continue
		}
		seen[g.Name] = g.NamePos
		s.r.refer(g.NamePos, f.Span)
		out[f.Index] = s.value(g.Value, f.Type)
		ok = ok && out[f.Index] != nil
	}
	var missing []string
	for _, f := range fields {
		if _, has := seen[f.Name]; !has {
			missing = append(missing, f.Name)
		}
	}
	if len(missing) > 0 {
		s.r.Errorf("FSM027", at, "%s needs the field%s %s", what, plural(len(missing)), quoteAll(missing))
		ok = false
	}
	if !ok {
		return nil
	}
	return out
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// messageLiteral resolves NAME or NAME{…} of this protocol's messages.
func (s *scope) messageLiteral(n expr.Node) (*model.Message, []model.Expr) {
	x, fields := splitLiteral(n)
	id, ok := x.(*expr.Ident)
	if !ok {
		s.r.Errorf("FSM060", n.Pos(), "a message is NAME or NAME{field: value}")
		return nil, nil
	}
	m := s.r.messages[id.Name]
	if m == nil {
		names := s.r.root.Get("messages").Keys()
		s.r.unknownAt("FSM060", id.Pos(), id.Name, "message", names)
		return nil, nil
	}
	s.r.use(m.Span)
	s.r.refer(id.Pos(), m.Span)
	if s.r.isBroken(m.Span) {
		return nil, nil
	}
	vals := s.fieldValues(fields, m.Fields, "message "+diag.Quote(m.Name), n.Pos())
	if vals == nil {
		return nil, nil
	}
	return m, vals
}

func splitLiteral(n expr.Node) (expr.Node, []expr.FieldValue) {
	if l, ok := n.(*expr.Literal); ok {
		return l.X, l.Fields
	}
	return n, nil
}

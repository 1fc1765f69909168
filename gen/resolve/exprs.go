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
	case f.info != nil:
		s.r.Errorf("FSM023", n.Pos(), "this is a machine; name one of its states or variables behind a dot")
	case f.part != nil:
		s.r.Errorf("FSM061", n.Pos(), "part %s has several instances; say which, and what of it", diag.Quote(f.part.Name)).With(keysHint(f.part))
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
		return &model.Lit{ExprBase: model.ExprBase{T: want, Span: x.Pos()}, Value: lit.Value}
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

func (s *scope) list(n *expr.List, base model.ExprBase, want *model.Type) model.Expr {
	elem, t := elemOf(want)
	if elem == nil && len(n.Elems) == 0 {
		s.r.Errorf("FSM024", n.Pos(), "an empty list needs a place that says of what")
		return nil
	}
	l := &model.ListLit{ExprBase: base}
	for _, x := range n.Elems {
		if elem == nil {
			first := s.expr(x, nil)
			if first == nil || first.Type() == nil {
				return nil
			}
			elem = first.Type()
			if isNumber(elem) {
				elem = wide
			}
		}
		e := s.value(x, elem)
		if e == nil {
			return nil
		}
		l.Elems = append(l.Elems, e)
		s.carry(l, e)
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

func (s *scope) build(n *expr.Build, base model.ExprBase, want *model.Type) model.Expr {
	values, over, each := s.over(n.Over)
	if each == nil {
		return nil
	}
	b := &model.Build{ExprBase: base, Values: values, Over: over}
	b.Local = s.declareLocal(n.Var, each, n.VarPos)
	defer s.drop()
	elem, t := elemOf(want)
	if elem != nil {
		b.Elem = s.value(n.Elem, elem)
	} else if b.Elem = s.expr(n.Elem, nil); b.Elem != nil && b.Elem.Type() == nil {
		s.r.Errorf("FSM024", n.Elem.Pos(), "none needs a place that says of what")
		return nil
	}
	if b.Elem == nil {
		return nil
	}
	count := int64(0)
	if values != nil {
		count = values.Count()
	} else {
		count = int64(over.Type().Cap)
	}
	if t == nil {
		t = &model.Type{Kind: model.KindList, Elem: b.Elem.Type(), Cap: int(count)}
		t.Slots()
	}
	if t.Kind == model.KindList && values != nil && count > int64(t.Cap) && !s.r.special {
		s.r.Errorf("FSM029", n.Pos(), "%d elements are more than %s can hold", count, describe(t))
		return nil
	}
	b.T = t
	s.carry(b, over, b.Elem)
	return b
}

func (s *scope) quantified(n *expr.Quantified, base model.ExprBase) model.Expr {
	values, over, each := s.over(n.Over)
	if each == nil {
		return nil
	}
	q := &model.Quantified{ExprBase: base, All: n.All, Values: values, Over: over}
	q.T = boolType
	q.Local = s.declareLocal(n.Var, each, n.VarPos)
	defer s.drop()
	if q.X = s.cond(n.X); q.X == nil {
		return nil
	}
	s.carry(q, over, q.X)
	return q
}

// over resolves what a loop goes through: the values of a type, or the elements of a
// list. each is the type of the loop's variable; nil after an error.
func (s *scope) over(n expr.Node) (values *model.Type, over model.Expr, each *model.Type) {
	switch x := n.(type) {
	case *expr.Range:
		values = s.r.interval(x.Lo, x.Hi, x.Pos())
	case *expr.Ident:
		if s.local(x.Name) == nil && (s.ro == nil || s.noParts || s.ro.values[x.Name] == nil) {
			if nt := s.r.types[x.Name]; nt != nil {
				s.r.use(nt.key.Span())
				if values = s.r.named(nt); values == nil {
					return nil, nil, nil
				}
			} else {
				values = s.r.basicType(x.Name, x.Pos())
			}
		}
	}
	if values != nil {
		if !isDiscrete(values) {
			s.r.Errorf("FSM023", n.Pos(), "%s cannot be gone through; a range, an enumeration or bool can", describe(values))
			return nil, nil, nil
		}
		if values.Count() > maxLoop {
			s.r.Errorf("FSM042", n.Pos(), "%s has %d values, more than %d", describe(values), values.Count(), maxLoop)
			return nil, nil, nil
		}
		return values, nil, values
	}
	if _, isRange := n.(*expr.Range); isRange {
		return nil, nil, nil
	}
	over = s.expr(n, nil)
	if over == nil {
		return nil, nil, nil
	}
	if over.Type() != nil {
		over = s.present(over)
	}
	if t := over.Type(); t == nil || t.Kind != model.KindList {
		s.r.Errorf("FSM023", n.Pos(), "only a list, a type or a range can be gone through, not %s", describe(t))
		return nil, nil, nil
	}
	return nil, over, over.Type().Elem
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

package convert

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

// Loop tells over what a loop runs: the values of a type, or the elements of a list or set.
type Loop struct {
	Values *model.Type
	Over   model.Expr
	Var    *model.Type // type of the loop's variable; nil: there was an error
	// Map is not nil if the loop runs over the keys of a map. Of the values of its index only
	// those are visited that have an entry.
	Map model.Expr
	// Empty is set if a constant makes the range empty. The body is still resolved, but never
	// runs.
	Empty bool
}

// Most returns how many rounds the loop has at most.
func (g *Loop) Most() int64 {
	switch {
	case g.Empty:
		return 0
	case g.Values != nil:
		return g.Values.Count()
	case g.Over.Type().Kind == model.KindSet:
		return g.Over.Type().Elem.Count()
	}
	return int64(g.Over.Type().Cap)
}

// KeysOf returns the set of keys that a map has, or their list if a set cannot hold so many. A
// loop over it visits the same keys even if its statements change the map.
func (s *Scope) KeysOf(m model.Expr, at diag.Span) model.Expr {
	t := m.Type()
	keys := &model.Type{Kind: model.KindSet, Elem: t.Index}
	if t.Index.Count() > pass.MaxSet {
		keys = &model.Type{Kind: model.KindList, Elem: t.Index, Cap: int(t.Index.Count())}
	}
	keys.Slots()
	l := &model.Local{Name: "key", Type: t.Index, Offset: s.Slots}
	s.Slots++
	key := &model.LocalRef{ExprBase: model.ExprBase{T: t.Index, Span: at}, Local: l}
	b := &model.Build{ExprBase: model.ExprBase{T: keys, Span: at}, Local: l, Values: t.Index,
		If: s.HasEntry(m, key, at), Elem: key}
	s.Carry(b, m)
	return b
}

// HasEntry returns m[key] != none.
func (s *Scope) HasEntry(m, key model.Expr, at diag.Span) model.Expr {
	elem := &model.Index{ExprBase: model.ExprBase{T: m.Type().Elem, Span: at}, X: m, I: key}
	none := &model.None{ExprBase: model.ExprBase{T: m.Type().Elem, Span: at}}
	e := &model.Binary{ExprBase: model.ExprBase{T: types.Bool, Span: at}, Op: model.OpNe, X: elem,
		Y: none}
	s.Carry(e, m, key)
	return e
}

// HasKey resolves `key in m`. A number outside the range of keys is in no map.
func (s *Scope) HasKey(m, key model.Expr, at diag.Span) model.Expr {
	e := s.HasEntry(m, key, at)
	index, t := m.Type().Index, key.Type()
	if !types.IsNumber(index) || !types.IsNumber(t) || t.Lo >= index.Lo && t.Hi <= index.Hi {
		return e
	}
	bound := func(op model.Op, v int64) model.Expr {
		lit := &model.Lit{ExprBase: model.ExprBase{T: types.Int(v, v), Span: at}, Value: v}
		return &model.Binary{ExprBase: model.ExprBase{T: types.Bool, Span: at}, Op: op, X: key, Y: lit}
	}
	and := func(x, y model.Expr) model.Expr {
		return &model.Binary{ExprBase: model.ExprBase{T: types.Bool, Span: at}, Op: model.OpAnd,
			X: x, Y: y}
	}
	out := and(and(bound(model.OpGe, index.Lo), bound(model.OpLe, index.Hi)), e)
	s.Carry(out, e)
	return out
}

// AmongKeys restricts a condition on the keys of a map to those with an entry; x may be nil.
func (s *Scope) AmongKeys(g *Loop, l *model.Local, x model.Expr, all bool) model.Expr {
	if g.Map == nil {
		return x
	}
	at := g.Map.Pos()
	has := s.HasEntry(g.Map, &model.LocalRef{ExprBase: model.ExprBase{T: l.Type, Span: at}, Local: l}, at)
	if x == nil {
		return has
	}
	e := &model.Binary{ExprBase: model.ExprBase{T: types.Bool, Span: x.Pos()}, Op: model.OpAnd,
		X: has, Y: x}
	if all {
		e.Op = model.OpImplies
	}
	s.Carry(e, has, x)
	return e
}

// OfNothing returns what all, some, first and count are if there is nothing to visit.
func (s *Scope) OfNothing(fn string, each *model.Type, base model.ExprBase) model.Expr {
	switch fn {
	case "first":
		base.T = types.Optional(each)
		return &model.None{ExprBase: base}
	case "count":
		return s.Literal(types.Int(0, 0), 0, base.Span)
	case "all":
		return s.Literal(types.Bool, 1, base.Span)
	}
	return s.Literal(types.Bool, 0, base.Span)
}

package resolve

import (
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// gone is what a loop goes through: the values of a type, or the elements of a list or set.
type gone struct {
	values *model.Type
	over   model.Expr
	each   *model.Type // type of the loop's variable; nil: there was an error
	// of is a map: of the values of its index only those that it has are meant.
	of model.Expr
	// empty: a range that a constant makes empty. What is said for each of its values is looked at,
	// but there is nothing to do.
	empty bool
}

// most is how many rounds a loop has at most.
func (g *gone) most() int64 {
	switch {
	case g.empty:
		return 0
	case g.values != nil:
		return g.values.Count()
	case g.over.Type().Kind == model.KindSet:
		return g.over.Type().Elem.Count()
	}
	return int64(g.over.Type().Cap)
}

// over resolves what a loop goes through.
func (s *scope) over(n expr.Node) gone {
	var values *model.Type
	switch x := n.(type) {
	case *expr.Range:
		return s.overRange(x)
	case *expr.Ident:
		if !s.has(x.Name) && s.boundTo(x.Name) == nil && (s.ro == nil || s.noParts || s.ro.values[x.Name] == nil) {
			if nt := s.r.types[x.Name]; nt != nil {
				s.r.use(nt.key.Span())
				s.r.refer(x.Pos(), nt.key.Span())
				if values = s.r.named(nt); values == nil {
					return gone{}
				}
			} else {
				values = s.r.basicType(x.Name, x.Pos())
			}
		}
	}
	if values != nil {
		return s.overValues(values, n.Pos())
	}
	over := s.expr(n, nil)
	if over == nil {
		return gone{}
	}
	if over.Type() != nil {
		over = s.present(over)
	}
	t := over.Type()
	switch {
	case t != nil && (t.Kind == model.KindList || t.Kind == model.KindSet):
		return gone{over: over, each: t.Elem}
	case isMap(t):
		return gone{values: t.Index, each: t.Index, of: over}
	}
	d := s.r.Errorf("FSM023", n.Pos(), "only a list, a set, a map, a type or a range can be gone through, not %s", describe(t))
	if t != nil && t.Kind == model.KindArray {
		d.With("go through the array's index: " + describe(t.Index))
	}
	return gone{}
}

func (s *scope) overRange(x *expr.Range) gone {
	lo, ok1 := s.r.constNode(x.Lo, -1<<40, 1<<40, "the low bound")
	hi, ok2 := s.r.constNode(x.Hi, -1<<40, 1<<40, "the high bound")
	switch {
	case !ok1 || !ok2:
		return gone{}
	case lo <= hi:
		t := intType(lo, hi)
		t.Span = x.Pos()
		return s.overValues(t, x.Pos())
	case namesConst(x.Lo) || namesConst(x.Hi):
		return gone{each: intType(lo, lo), empty: true}
	}
	s.r.Errorf("FSM041", x.Pos(), "the range %d..%d is empty", lo, hi)
	return gone{}
}

// namesConst reports whether a bound mentions a constant, which a check may replace.
func namesConst(n expr.Node) bool {
	found := false
	expr.Walk(n, func(n expr.Node) {
		_, is := n.(*expr.Ident)
		found = found || is
	})
	return found
}

func (s *scope) overValues(t *model.Type, at diag.Span) gone {
	if !isDiscrete(t) {
		s.r.Errorf("FSM023", at, "%s cannot be gone through; a range, an enumeration or bool can", describe(t))
		return gone{}
	}
	if t.Count() > maxLoop {
		s.r.Errorf("FSM042", at, "%s has %d values, more than %d", describe(t), t.Count(), maxLoop)
		return gone{}
	}
	return gone{values: t, each: t}
}

// inside resolves what is said for each value. In an empty range it is looked at, but what would be
// wrong about values that are not there is not.
func (s *scope) inside(g *gone, f func()) {
	if g.empty {
		before := s.r.Collector
		s.r.Collector = &diag.Collector{}
		defer func() { s.r.Collector = before }()
	}
	f()
}

// isMap reports whether a type is a map: an array of optional values.
func isMap(t *model.Type) bool {
	return t != nil && t.Kind == model.KindArray && t.Elem.Kind == model.KindOptional
}

// keysOf is the set of keys that a map has; a list if there can be more than a set holds. Where a loop's
// statements change the map it still goes through those.
func (s *scope) keysOf(m model.Expr, at diag.Span) model.Expr {
	t := m.Type()
	keys := &model.Type{Kind: model.KindSet, Elem: t.Index}
	if t.Index.Count() > maxSet {
		keys = &model.Type{Kind: model.KindList, Elem: t.Index, Cap: int(t.Index.Count())}
	}
	keys.Slots()
	l := &model.Local{Name: "key", Type: t.Index, Offset: s.max}
	s.max++
	key := &model.LocalRef{ExprBase: model.ExprBase{T: t.Index, Span: at}, Local: l}
	b := &model.Build{ExprBase: model.ExprBase{T: keys, Span: at}, Local: l, Values: t.Index, If: s.holds(m, key, at), Elem: key}
	s.carry(b, m)
	return b
}

// holds is m[key] != none.
func (s *scope) holds(m, key model.Expr, at diag.Span) model.Expr {
	elem := &model.Index{ExprBase: model.ExprBase{T: m.Type().Elem, Span: at}, X: m, I: key}
	none := &model.None{ExprBase: model.ExprBase{T: m.Type().Elem, Span: at}}
	e := &model.Binary{ExprBase: model.ExprBase{T: boolType, Span: at}, Op: model.OpNe, X: elem, Y: none}
	s.carry(e, m, key)
	return e
}

// hasKey is `key in m`. A number that no key can be is in no map.
func (s *scope) hasKey(m, key model.Expr, at diag.Span) model.Expr {
	e := s.holds(m, key, at)
	index, t := m.Type().Index, key.Type()
	if !isNumber(index) || !isNumber(t) || t.Lo >= index.Lo && t.Hi <= index.Hi {
		return e
	}
	bound := func(op model.Op, v int64) model.Expr {
		lit := &model.Lit{ExprBase: model.ExprBase{T: intType(v, v), Span: at}, Value: v}
		return &model.Binary{ExprBase: model.ExprBase{T: boolType, Span: at}, Op: op, X: key, Y: lit}
	}
	and := func(x, y model.Expr) model.Expr {
		return &model.Binary{ExprBase: model.ExprBase{T: boolType, Span: at}, Op: model.OpAnd, X: x, Y: y}
	}
	out := and(and(bound(model.OpGe, index.Lo), bound(model.OpLe, index.Hi)), e)
	s.carry(out, e)
	return out
}

func (s *scope) quantified(n *expr.Quantified, base model.ExprBase) model.Expr {
	if list, ok := s.through(n.Var, n.VarPos, n.Over, n.X); ok {
		return s.words(s.allOf(n, list), n)
	}
	g := s.over(n.Over)
	if g.each == nil {
		return nil
	}
	local := s.declareLocal(n.Var, g.each, n.VarPos)
	defer s.drop()
	var x model.Expr
	s.inside(&g, func() { x = s.cond(n.X) })
	if g.empty {
		return s.ofNothing(n.Fn, g.each, base)
	}
	if x == nil {
		return nil
	}
	x = s.among(&g, local, x, n.Fn == "all")
	var out model.Expr
	switch n.Fn {
	case "first":
		base.T = optional(g.each)
		out = &model.Find{ExprBase: base, Local: local, Values: g.values, Over: g.over, X: x}
	case "count":
		base.T = intType(0, g.most())
		out = &model.Find{ExprBase: base, Count: true, Local: local, Values: g.values, Over: g.over, X: x}
	default:
		base.T = boolType
		out = &model.Quantified{ExprBase: base, All: n.Fn == "all", Local: local, Values: g.values, Over: g.over, X: x}
	}
	s.carry(out, g.over, x)
	if g.of != nil {
		return s.words(out, n)
	}
	return out
}

// among adds to what is said of the keys of a map that the map has them. x may be nil.
func (s *scope) among(g *gone, l *model.Local, x model.Expr, all bool) model.Expr {
	if g.of == nil {
		return x
	}
	at := g.of.Pos()
	has := s.holds(g.of, &model.LocalRef{ExprBase: model.ExprBase{T: l.Type, Span: at}, Local: l}, at)
	if x == nil {
		return has
	}
	e := &model.Binary{ExprBase: model.ExprBase{T: boolType, Span: x.Pos()}, Op: model.OpAnd, X: has, Y: x}
	if all {
		e.Op = model.OpImplies
	}
	s.carry(e, has, x)
	return e
}

// ofNothing is what all, some, first and count are of nothing.
func (s *scope) ofNothing(fn string, each *model.Type, base model.ExprBase) model.Expr {
	switch fn {
	case "first":
		base.T = optional(each)
		return &model.None{ExprBase: base}
	case "count":
		return s.constantLit(intType(0, 0), 0, base.Span)
	case "all":
		return s.constantLit(boolType, 1, base.Span)
	}
	return s.constantLit(boolType, 0, base.Span)
}

func optional(t *model.Type) *model.Type {
	o := &model.Type{Kind: model.KindOptional, Elem: t}
	o.Slots()
	return o
}

// build resolves [elem for x in over if cond], a list, a set or an array as the place wants it.
func (s *scope) build(n *expr.Build, base model.ExprBase, want *model.Type) model.Expr {
	if x, ok := s.buildThrough(n, base, want); ok {
		return x
	}
	g := s.over(n.Over)
	if g.each == nil {
		return nil
	}
	elem, t := elemOf(want)
	if t == nil {
		elem, t = arrayOf(want)
	}
	b := &model.Build{ExprBase: base, Values: g.values, Over: g.over}
	b.Local = s.declareLocal(n.Var, g.each, n.VarPos)
	defer s.drop()
	ok := true
	s.inside(&g, func() {
		if n.If != nil {
			b.If = s.cond(n.If)
			ok = b.If != nil
		}
		if elem != nil {
			b.Elem = s.value(n.Elem, elem)
		} else if b.Elem = s.expr(n.Elem, nil); b.Elem != nil && b.Elem.Type() == nil {
			s.r.Errorf("FSM024", n.Elem.Pos(), "none needs a place that says of what")
			ok = false
		}
		ok = ok && b.Elem != nil
	})
	b.If = s.among(&g, b.Local, b.If, false)
	if t != nil && t.Kind == model.KindArray {
		ok = s.fillsArray(n, b, t) && ok
	}
	if g.empty && ok {
		return s.emptyList(n, base, t, b.Elem)
	}
	if !ok {
		return nil
	}
	if t == nil {
		t = &model.Type{Kind: model.KindList, Elem: b.Elem.Type(), Cap: max(1, int(g.most()))}
		t.Slots()
	}
	if t.Kind == model.KindList && g.values != nil && b.If == nil && g.most() > int64(t.Cap) && !s.r.special {
		s.r.Errorf("FSM029", n.Pos(), "%d elements are more than %s can hold", g.most(), describe(t))
		return nil
	}
	b.T = t
	s.carry(b, g.over, b.Elem, b.If)
	if g.of != nil {
		return s.words(b, n)
	}
	return b
}

// buildThrough writes [elem for x in over if cond] out for the instances of a group, or for their numbers; ok is false if
// over is something else.
func (s *scope) buildThrough(n *expr.Build, base model.ExprBase, want *model.Type) (x model.Expr, ok bool) {
	bounds, ok := s.through(n.Var, n.VarPos, n.Over, n.Elem)
	if !ok && n.If != nil {
		bounds, ok = s.through(n.Var, n.VarPos, n.Over, n.If)
	}
	switch {
	case !ok:
		return nil, false
	case n.If != nil:
		return s.words(s.filtered(n, bounds, base, want), n), true
	}
	list := expr.At(n.Pos(), nil)
	return s.words(s.listOf(list, base, want, func(f func(expr.Node) bool) bool { return s.eachOf(n, bounds, f) }), n), true
}

func (s *scope) emptyList(n *expr.Build, base model.ExprBase, t *model.Type, elem model.Expr) model.Expr {
	if t == nil {
		t = &model.Type{Kind: model.KindList, Elem: elem.Type(), Cap: 1}
		t.Slots()
	}
	base.T = t
	l := &model.ListLit{ExprBase: base}
	s.r.fromConst[l] = true
	return l
}

// arrayOf returns the element type of a wanted array, and that type.
func arrayOf(want *model.Type) (elem, t *model.Type) {
	if want != nil && want.Kind == model.KindOptional {
		want = want.Elem
	}
	if want != nil && want.Kind == model.KindArray {
		return want.Elem, want
	}
	return nil, nil
}

// fillsArray reports whether a builder gives every element of an array: it goes through the values of
// its index. Those of a map may be left out.
func (s *scope) fillsArray(n *expr.Build, b *model.Build, t *model.Type) bool {
	if b.Values == nil || !sameDomain(b.Values, t.Index) {
		s.r.Errorf("FSM024", n.Over.Pos(), "%s is filled by going through %s", describe(t), describe(t.Index)).
			With("write [… for " + n.Var + " in " + describe(t.Index) + "]")
		return false
	}
	if b.If != nil && !isMap(t) {
		s.r.Errorf("FSM024", b.If.Pos(), "every element of %s needs a value, so none can be left out", describe(t)).
			With("choose it by if(condition, a, b)")
		return false
	}
	return true
}

// words keeps the author's words of an expression that was written out in others; e may be nil. What
// stands inside a text that is itself written out for several instances means another one each time, and
// keeps no words of its own.
func (s *scope) words(e model.Expr, n expr.Node) model.Expr {
	b, ok := e.(interface{ SetWritten(model.Written) })
	if text := strings.Join(strings.Fields(expr.Source(n)), " "); ok && text != "" && len(s.binds) == 0 {
		_, loose := n.(*expr.Binary)
		b.SetWritten(model.Written{Text: text, Loose: loose})
	}
	return e
}

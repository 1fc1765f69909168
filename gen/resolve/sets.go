package resolve

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// fnSets resolves union, minus and intersect.
func (s *scope) fnSets(n *expr.Call, want *model.Type) ([]model.Expr, *model.Type) {
	if elem, t := elemOf(want); elem != nil && t.Kind == model.KindSet {
		want = t
	} else {
		want = nil
	}
	args := make([]model.Expr, 2)
	order := []int{0, 1}
	if s.vague(n.Args[0]) && !s.vague(n.Args[1]) {
		order = []int{1, 0} // the second says of what the first is
	}
	for _, i := range order {
		x := s.expr(n.Args[i], want)
		if x == nil {
			return nil, nil
		}
		if x.Type() != nil {
			x = s.present(x)
		}
		t := x.Type()
		if t == nil || t.Kind != model.KindSet {
			s.r.Errorf("FSM023", n.Args[i].Pos(), "a set is needed here, not %s", describe(t))
			return nil, nil
		}
		if args[i] = x; want == nil {
			want = t
		}
	}
	for i, a := range args {
		if !compatible(a.Type(), want) {
			s.r.Errorf("FSM024", n.Args[i].Pos(), "this is %s, but %s is needed", describe(a.Type()), describe(want))
			return nil, nil
		}
	}
	return args, want
}

// mapCall resolves functions whose argument is a map: what they mean is said by those of arrays.
// is is false if the call is about something else.
func (s *scope) mapCall(n *expr.Call) (e model.Expr, is bool) {
	if len(n.Args) == 0 || n.Fn != "len" && n.Fn != "contains" && n.Fn != "with" && n.Fn != "without" {
		return nil, false
	}
	m := s.quietly(n.Args[0])
	if m == nil || !isMap(m.Type()) {
		return nil, false
	}
	switch n.Fn {
	case "len":
		if len(n.Args) > 1 {
			return nil, false
		}
		m = s.present(s.expr(n.Args[0], nil))
		index := m.Type().Index
		l := &model.Local{Name: "key", Type: index, Offset: s.max}
		s.max++
		g := gone{values: index, each: index, of: m}
		base := model.ExprBase{T: intType(0, index.Count()), Span: n.Pos()}
		c := &model.Find{ExprBase: base, Count: true, Local: l, Values: index, X: s.among(&g, l, nil, false)}
		s.carry(c, c.X)
		return s.words(c, n), true
	case "contains":
		s.r.Errorf("FSM023", n.Pos(), "contains() is for lists and sets").With("of a map write `key in map`")
	case "with":
		s.r.Errorf("FSM023", n.Pos(), "with() is for sets").With("a map gets an entry by `set: {\"map[key]\": value}`")
	case "without":
		s.r.Errorf("FSM023", n.Pos(), "without() is for lists and sets").With("a map loses an entry by `set: {\"map[key]\": none}`")
	}
	return nil, true
}

// quietly resolves an expression to see what it is; nothing is reported or noted.
func (s *scope) quietly(n expr.Node) model.Expr {
	switch n.(type) {
	case *expr.Ident, *expr.Select, *expr.Index:
	default:
		return nil
	}
	before := s.r.Collector
	s.r.Collector = &diag.Collector{}
	defer s.r.mute()()
	defer func() { s.r.Collector = before }()
	if f := s.ref(n, nil); f.e != nil && f.e.Type() != nil {
		return s.present(f.e)
	}
	return nil
}

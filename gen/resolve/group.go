package resolve

import (
	"fmt"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// group is what `p[1..nodes]: role` declares: instances p[1], p[2], … of one role.
type group struct {
	name   string
	lo, hi int64
	all    []*instance
	at     diag.Span
}

// bound is a name that stands for one instance of a group, or for a number, while what is said of
// all of them is written out.
type bound struct {
	name  string
	in    *instance // nil: a number
	of    *group
	value int64 // the number; of an instance its index in the group
	at    diag.Span
}

func (g *group) hint() string {
	return fmt.Sprintf("write `%s[%d]`, or go through them: all(x in %s: …)", g.name, g.lo, g.name)
}

// parties is what a check's expressions know of its instances.
type parties struct {
	single map[string]*instance
	groups map[string]*group
}

// member is an entry of `instances` after groups are written out.
type member struct {
	entry ast.Entry
	name  string
	text  *expr.Group // nil: a single instance
	group *group
	index int64
}

// members lists the instances of a check in order. With loud it reports what is wrong;
// without, only their number is wanted.
func (r *resolver) members(n *ast.Node, loud bool) []member {
	var out []member
	if n == nil {
		return nil
	}
	if !loud {
		before := r.Collector
		r.Collector = &diag.Collector{}
		defer func() { r.Collector = before }()
	}
	for _, e := range n.Entries {
		g, err := expr.ParseGroup(e.Key.Text, e.Key.Part)
		if err != nil {
			r.syntax(err)
			continue
		}
		if g == nil {
			out = append(out, member{entry: e, name: e.Key.Text})
			continue
		}
		t := r.interval(g.Lo, g.Hi, e.Key.Span())
		if t == nil {
			continue
		}
		if t.Count() > maxInstances {
			r.Errorf("FSM042", e.Key.Span(), "a check has at most %d instances", maxInstances)
			continue
		}
		all := &group{name: g.Name, lo: t.Lo, hi: t.Hi, at: e.Key.Part(0, len(g.Name))}
		for i := t.Lo; i <= t.Hi; i++ {
			out = append(out, member{e, fmt.Sprintf("%s[%d]", g.Name, i), g, all, i})
		}
	}
	return out
}

// bind makes a name stand for an instance or a number until the function it returns is called.
func (s *scope) bind(b bound) (unbind func()) {
	s.binds = append(s.binds, b)
	return func() { s.binds = s.binds[:len(s.binds)-1] }
}

func (s *scope) boundTo(name string) *bound {
	for i := len(s.binds) - 1; i >= 0; i-- {
		if s.binds[i].name == name {
			return &s.binds[i]
		}
	}
	return nil
}

// boundRef is what a bound name means.
func (s *scope) boundRef(b *bound, at diag.Span) ref {
	s.r.refer(at, b.at)
	if b.in == nil {
		return ref{e: s.constantLit(intType(b.value, b.value), b.value, at)}
	}
	if b.in.ro == nil {
		return errRef
	}
	return ref{info: b.in.ro, inst: b.in.m}
}

// constantLit is a number that another size of the check would change, so nothing that follows from
// it alone is worth a warning.
func (s *scope) constantLit(t *model.Type, v int64, at diag.Span) model.Expr {
	lit := &model.Lit{ExprBase: model.ExprBase{T: t, Span: at}, Value: v}
	s.r.fromConst[lit] = true
	return lit
}

// instanceIndex resolves p[i].
func (s *scope) instanceIndex(g *group, args []expr.Node, at diag.Span) *instance {
	if len(args) != 1 {
		s.r.Errorf("FSM023", at, "the instances of %s have one number", diag.Quote(g.name)).With(fmt.Sprintf("write `%s[%d]`", g.name, g.lo))
		return nil
	}
	var v int64
	if id, ok := args[0].(*expr.Ident); ok && s.boundTo(id.Name) != nil {
		b := s.boundTo(id.Name)
		s.r.refer(id.Pos(), b.at)
		v = b.value
	} else {
		x := s.number(args[0])
		if x == nil {
			return nil
		}
		if v, ok = evalConst(x); !ok {
			s.r.Errorf("FSM025", args[0].Pos(), "which instance of %s is meant must be clear from the text", diag.Quote(g.name)).
				With(fmt.Sprintf("go through them: all(x in %s: …)", g.name))
			return nil
		}
	}
	if v < g.lo || v > g.hi {
		s.r.Errorf("FSM029", args[0].Pos(), "%s has the instances %d to %d, not %d", diag.Quote(g.name), g.lo, g.hi, v)
		return nil
	}
	return g.all[v-g.lo]
}

// through lists what a name goes through where the text is written out for each: the instances
// of a group, or the numbers of a range by which a group is indexed in body. ok is false if
// nothing is to be written out.
func (s *scope) through(name string, at diag.Span, over, body expr.Node) (list []bound, ok bool) {
	if id, isName := over.(*expr.Ident); isName {
		if g := s.groups[id.Name]; g != nil {
			s.r.refer(id.Pos(), g.at)
			for i, in := range g.all {
				list = append(list, bound{name, in, g, g.lo + int64(i), at})
			}
			return list, true
		}
	}
	x, isRange := over.(*expr.Range)
	if !isRange || len(s.groups) == 0 || !s.indexes(body, name) {
		return nil, false
	}
	t := s.r.interval(x.Lo, x.Hi, x.Pos())
	if t == nil {
		return nil, true
	}
	if t.Count() > maxInstances {
		s.r.Errorf("FSM042", over.Pos(), "this range has %d values, more than the %d instances of a check", t.Count(), maxInstances)
		return nil, true
	}
	for v := t.Lo; v <= t.Hi; v++ {
		list = append(list, bound{name: name, value: v, at: at})
	}
	return list, true
}

// indexes says whether body selects an instance of a group by a name.
func (s *scope) indexes(body expr.Node, name string) bool {
	found := false
	expr.Walk(body, func(n expr.Node) {
		ix, ok := n.(*expr.Index)
		if !ok {
			return
		}
		if id, ok := ix.X.(*expr.Ident); !ok || s.groups[id.Name] == nil {
			return
		}
		for _, a := range ix.Args {
			expr.Walk(a, func(n expr.Node) {
				if id, ok := n.(*expr.Ident); ok && id.Name == name {
					found = true
				}
			})
		}
	})
	return found
}

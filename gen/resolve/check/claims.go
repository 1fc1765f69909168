package check

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/syntax"
)

var claimKinds = []struct {
	key  string
	kind model.ClaimKind
	// also lists the keys that make sense beside it
	also []string
}{
	{"always", model.Always, []string{"quiescent", "when"}},
	{"sometimes", model.Sometimes, nil},
	{"agree", model.Agree, []string{"when", "quiescent"}},
	{"reachable", model.Reachable, []string{"when"}},
	{"confluent", model.Confluent, []string{"except"}},
	{"eventually", model.Eventually, []string{"fair"}},
	{"leadsTo", model.LeadsTo, []string{"when", "fair", "within"}},
}

func (r *checker) claim(e ast.Entry, check *model.Check, instances *parties) *model.Claim {
	c := &model.Claim{Name: e.Key.Text, Why: pass.TextOf(e.Value, "why"), Span: e.Key.Span(),
		Fair: pass.TextOf(e.Value, "fair")}
	c.Quiescent = pass.IsTrue(e.Value.Get("quiescent"))
	if slices.Contains(model.BuiltinClaims(), c.Name) {
		r.Errorf("FSM011", c.Span, "%s is a claim that every check makes by itself",
			diag.Quote(c.Name)).With("choose another name")
	}
	var value *ast.Node
	var keys, also []string
	kind := ""
	for _, k := range claimKinds {
		keys = append(keys, k.key)
		v := e.Value.Entry(k.key)
		if v == nil {
			continue
		}
		if kind != "" {
			r.Errorf("FSM081", v.Key.Span(), "a claim is either %s or %s", diag.Quote(kind),
				diag.Quote(k.key))
			return nil
		}
		kind, value, also, c.Kind = k.key, v.Value, k.also, k.kind
	}
	if kind == "" {
		r.Errorf("FSM081", c.Span, "the claim %s says nothing", diag.Quote(c.Name)).
			With("it is one of " + strings.Join(keys, ", "))
		return nil
	}
	for _, k := range e.Value.Entries {
		if t := k.Key.Text; t != kind && t != "why" && !slices.Contains(also, t) {
			r.Errorf("FSM081", k.Key.Span(), "%s means nothing beside %s", diag.Quote(t),
				diag.Quote(kind))
		}
	}
	s := instances.scope(r.Table)
	r.claimBody(c, s, value, e.Value)
	r.within(c, check, e.Value)
	c.Locals = s.Slots
	return c
}

func (r *checker) claimBody(c *model.Claim, s *expr.Resolver, value, n *ast.Node) {
	if w := n.Get("when"); w != nil {
		c.When = s.Cond(r.Parse(w))
	} else if c.Kind == model.LeadsTo {
		r.Errorf("FSM081", c.Span, "`leadsTo` needs `when`, from where it leads")
	}
	switch c.Kind {
	case model.Agree:
		r.agreement(c, s, value)
	case model.Confluent:
		r.exceptions(c, n.Get("except"))
	default:
		c.Expr = s.Cond(r.Parse(value))
	}
}

func (r *checker) agreement(c *model.Claim, s *expr.Resolver, value *ast.Node) {
	var t *model.Type
	add := func(el syntax.Node) bool {
		x := s.Expr(el, t)
		if x == nil {
			return false
		}
		if t == nil {
			if t = x.Type(); t == nil {
				r.Errorf("FSM024", x.Pos(), "none is no value to agree on")
				return false
			}
		} else if x = s.Comparable(x, t); x == nil {
			return false
		}
		c.Exprs = append(c.Exprs, x)
		return true
	}
	switch n := r.Parse(value).(type) {
	case nil:
		return
	case *syntax.List:
		for _, el := range n.Elems {
			if !add(el) {
				return
			}
		}
	case *syntax.Build:
		list, ok := s.Through(n.Var, n.VarPos, n.Over, n.Elem)
		if !ok {
			r.Errorf("FSM081", value.Span(), "`agree` needs a list of values: [a.own, b.own], or [x.own for x in p]")
			return
		}
		if n.If != nil {
			r.Errorf("FSM081", n.If.Pos(),
				"`agree` compares what all of them have; say it of some with `always`: all(x in p: all(y in p: …))")
			return
		}
		if !s.EachOf(n, list, add) {
			return
		}
	default:
		r.Errorf("FSM081", value.Span(), "`agree` needs a list of values: [a.own, b.own]")
		return
	}
	if len(c.Exprs) < 2 {
		r.Errorf("FSM081", value.Span(), "`agree` needs at least two values")
	}
}

func (r *checker) exceptions(c *model.Claim, n *ast.Node) {
	var known []string
	for _, m := range r.Protocol.Roles {
		for _, ev := range m.Events {
			known = append(known, ev.Name)
		}
		for _, t := range m.Transitions {
			known = append(known, t.Name)
		}
	}
	for _, it := range pass.Scalars(n) {
		if !slices.Contains(known, it.Text) {
			r.Unknown("FSM082", it, "event", known)
			continue
		}
		for _, m := range r.Protocol.Roles {
			if ev := r.Roles[m.Name].Events[it.Text]; ev != nil && ev.Kind >= model.EventMessage && ev.Part == nil {
				r.Refer(it.Span(), ev.Span)
			}
		}
		c.Except = append(c.Except, it.Text)
	}
}

// within resolves the bound of a leadsTo in ticks.
func (r *checker) within(c *model.Claim, check *model.Check, n *ast.Node) {
	w := n.Entry("within")
	if w == nil {
		return
	}
	v, ok := r.ConstIn(w.Value, 1, 1<<40, "the bound in ticks")
	if !ok {
		return
	}
	c.Within = v
	if check.Time == nil {
		r.Errorf("FSM088", w.Key.Span(), "`within` counts ticks, but this check has no `time`").
			With("add `time: {beat: n}`")
	}
}

// Remembers reports whether a check may add variables to its roles: it speaks of what was.
func Remembers(n *ast.Node) bool {
	found := false
	var look func(n *ast.Node)
	look = func(n *ast.Node) {
		if n == nil {
			return
		}
		for _, fn := range expr.PastCalls() {
			found = found || n.Kind == ast.Scalar && strings.Contains(n.Text, fn)
		}
		for _, it := range n.Items {
			look(it)
		}
		for _, e := range n.Entries {
			look(e.Value)
		}
	}
	look(n.Get("claims"))
	look(n.Get("quiet"))
	return found || n.Get("monitors") != nil
}

package check

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/syntax"
)

// hostile resolves which instances keep to no role: `hostile: c`, `[c, p]` or `{c: malformed}`. A group
// stands for all its members.
func (r *checker) hostile(c *model.Check, in *parties, check *ast.Node) {
	e := check.Entry("hostile")
	if e == nil {
		return
	}
	if e.Value.Kind == ast.Map {
		for _, x := range e.Value.Entries {
			how := model.WellFormed
			if x.Value.Text == "malformed" {
				how = model.Malformed
			}
			r.isHostile(in, x.Key, how)
		}
	} else {
		for _, n := range pass.Scalars(e.Value) {
			r.isHostile(in, n, model.WellFormed)
		}
	}
	honest := func(i *model.Instance) bool { return !i.IsHostile() }
	if len(c.Instances) > 0 && c.HasHostile() && !slices.ContainsFunc(c.Instances, honest) {
		r.Errorf("FSM096", e.Key.Span(),
			"all instances are hostile, so nobody is left of whom anything could be claimed").
			With("leave out those that keep to their role")
	}
}

// isHostile notes that an instance is hostile, or all of a group.
func (r *checker) isHostile(in *parties, n *ast.Node, how model.Hostile) {
	x, err := syntax.Parse(n.Text, n.Part)
	if err != nil {
		r.SyntaxError(err)
		return
	}
	id, isName := x.(*syntax.Ident)
	if _, isMember := x.(*syntax.Index); !isName && !isMember {
		r.Errorf("FSM096", x.Pos(), "`hostile` names instances, and this is no name").
			With("write `hostile: a`, `hostile: [a, \"p[1]\"]` or `hostile: {a: malformed}`")
		return
	}
	if isName {
		if g := in.groups[id.Name]; g != nil {
			r.Refer(id.Pos(), g.At)
			for _, m := range g.All {
				m.Model.Hostile = how
			}
			return
		}
		if r.isRole("FSM096", in, id, "hostile are instances") {
			return
		}
	}
	if m := in.scope(r.Table).End(x); m != nil {
		m.Hostile = how
	}
}

// isRole reports a name that is that of a role where an instance must be named; what says so.
func (r *checker) isRole(code string, in *parties, id *syntax.Ident, what string) bool {
	ro := r.Roles[id.Name]
	if ro == nil || in.single[id.Name] != nil || in.groups[id.Name] != nil {
		return false
	}
	d := r.Errorf(code, id.Pos(), "%s is a role; %s", diag.Quote(id.Name), what)
	if names := playing(in, ro.Machine); len(names) > 0 {
		d.With("name those of that role: " + diag.QuoteAll(names))
	} else {
		d.With("this check has no instance of that role")
	}
	return true
}

// playing lists the instances and groups whose role is m.
func playing(in *parties, m *model.Machine) (names []string) {
	plays := func(i *convert.Instance) bool { return i.Model.Role == m }
	for name, i := range in.single {
		if plays(i) {
			names = append(names, name)
		}
	}
	for name, g := range in.groups {
		if slices.ContainsFunc(g.All, plays) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// honestOnly reports claims, and a condition of rest, that look at a hostile instance. It has no state
// and no variables, and nothing is ever under way from or to it.
func (r *checker) honestOnly(c *model.Check) {
	if !c.HasHostile() {
		return
	}
	said := map[diag.Span]bool{}
	blame := func(x core.Expr, why string, list ...*model.Instance) {
		for _, i := range list {
			if at := x.Node().Pos(); i != nil && i.IsHostile() && !said[at] {
				said[at] = true
				r.Errorf("FSM096", at, "%s is hostile: it %s", diag.Quote(i.Name), why).
					With("claim something of the others, or leave it out of `hostile`")
			}
		}
	}
	look := func(list ...model.Expr) {
		for _, e := range list {
			core.Walk(core.Of(e), func(x core.Expr) {
				switch x := x.(type) {
				case *core.Read:
					blame(x, "has no state and no variables", x.Inst)
				case *core.Observe:
					blame(x, "sends at any moment, so nothing lies in a channel from or to it", x.Of.From, x.Of.To)
				}
			})
		}
	}
	look(c.Quiet)
	for _, cl := range c.Claims {
		look(cl.When, cl.Expr)
		look(cl.Exprs...)
	}
}

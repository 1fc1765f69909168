package resolve

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

func (r *resolver) instances(c *model.Check, n *ast.Node) *parties {
	out := &parties{map[string]*instance{}, map[string]*group{}}
	if n == nil || len(n.Entries) == 0 {
		r.Errorf("FSM009", c.Span, "check %s has no instances", diag.Quote(c.Name)).With("add `instances: {a: role, b: role}`")
		return out
	}
	all := r.members(n, true)
	if len(all) > maxInstances {
		r.Errorf("FSM042", n.Span(), "a check has at most %d instances", maxInstances)
		return out
	}
	if len(all) > r.parties {
		r.Errorf("FSM042", n.Span(), "%d instances are more than the %d parties of the protocol", len(all), r.parties).With("raise `parties` at the top")
	}
	blamed := map[*role]bool{}
	broken := map[*ast.Node]bool{} // an entry whose error would come again
	for _, m := range all {
		in := &instance{&model.Instance{Name: m.name, Index: len(c.Instances), Span: m.entry.Key.Span()}, nil}
		out.enter(r, m, in) // so that its name is known, whatever is wrong with it
		if broken[m.entry.Key] {
			continue
		}
		before := r.Len()
		r.instance(in, m)
		broken[m.entry.Key] = r.Len() > before
		if in.ro == nil {
			continue
		}
		if ro := in.ro; len(all) > 2 && !ro.peerless.IsZero() && !blamed[ro] {
			blamed[ro] = true
			r.Errorf("FSM065", m.entry.Key.Span(), "with %d instances it must be said to whom messages go", len(all)).
				See(ro.peerless, "this one does not say").With("add `to: sender`, `to: all` or `to: EXPR`")
		}
		c.Instances = append(c.Instances, in.m)
	}
	return out
}

// enter makes an instance known by its name or its number.
func (p *parties) enter(r *resolver, m member, in *instance) {
	if m.group == nil {
		if g := p.groups[m.name]; g != nil {
			r.hides(m.entry.Key.Span(), m.name, "instance", g.at)
		}
		p.single[m.name] = in
		return
	}
	g := m.group
	if p.groups[g.name] != g {
		if old := p.groups[g.name]; old != nil {
			r.hides(g.at, g.name, "instance", old.at)
		} else if old := p.single[g.name]; old != nil {
			r.hides(g.at, g.name, "instance", old.m.Span)
		}
		p.groups[g.name] = g
	}
	g.all = append(g.all, in)
}

func (p *parties) scope(r *resolver) *scope {
	return &scope{r: r, instances: p.single, groups: p.groups, written: 1}
}

// instance resolves the role and the arguments of one instance.
func (r *resolver) instance(in *instance, m member) {
	x, err := expr.ParseInstance(m.entry.Value.Text, m.entry.Value.Part)
	if err != nil {
		r.syntax(err)
		return
	}
	ro := r.roles[x.Role]
	if ro == nil {
		r.unknownAt("FSM021", x.RolePos, x.Role, "role", r.root.Get("roles").Keys())
		return
	}
	r.use(ro.m.Span)
	r.refer(x.RolePos, ro.m.Span)
	s := &scope{r: r, constant: true}
	if m.text != nil && m.text.Var != "" {
		s.bind(bound{name: m.text.Var, value: m.index, at: m.text.VarPos})
	}
	in.m.Role = ro.m
	in.m.Args = r.instanceArgs(x, ro, s, in.m.Index)
	in.ro = ro
}

func (r *resolver) instanceArgs(x *expr.Instance, ro *role, s *scope, number int) []model.Expr {
	args := make([]model.Expr, len(ro.m.Params))
	var names []string
	seen := map[string]bool{}
	for i, v := range ro.m.Params {
		if v == ro.self { // given by itself
			args[i] = s.constantLit(v.Type, int64(number), x.Span)
			names, seen[selfName] = append(names, ""), true
			continue
		}
		names = append(names, v.Name)
	}
	for _, a := range x.Args {
		i := slices.Index(names, a.Name)
		switch {
		case i < 0:
			r.unknownAt("FSM021", a.NamePos, a.Name, "parameter", names)
			continue
		case seen[a.Name]:
			r.Errorf("FSM080", a.NamePos, "the parameter %s is given twice", diag.Quote(a.Name))
		}
		seen[a.Name] = true
		r.refer(a.NamePos, ro.m.Params[i].Span)
		args[i] = s.value(a.Value, ro.m.Params[i].Type)
	}
	var missing []string
	for _, name := range names {
		if name != "" && !seen[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		r.Errorf("FSM080", x.Span, "role %s needs the parameter%s %s", diag.Quote(x.Role), plural(len(missing)), quoteAll(missing)).
			With("write `" + x.Role + "(" + missing[0] + ": …)`")
	}
	return args
}

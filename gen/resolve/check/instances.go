package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/machine"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

// parties holds the instances of a check by name.
type parties struct {
	single map[string]*convert.Instance
	groups map[string]*convert.Group
	// monitors are those of several instances.
	monitors map[string]*convert.Instance
	ghosts   *convert.Ghosts
}

// member is one instance of the section `instances`. A group has several.
type member struct {
	entry ast.Entry
	name  string
	text  *syntax.Group // nil: a single instance
	group *convert.Group
	index int64
}

// Count returns the number of instances of a check. It reports nothing; that comes when they are
// resolved.
func Count(r *types.Table, n *ast.Node) int {
	before := r.Collector
	r.Collector = &diag.Collector{}
	defer func() { r.Collector = before }()
	return len(members(r, n))
}

// Specialisation describes what a check changes in the model that it is resolved against: constants,
// domains, the number of instances. It does not describe the variables that it adds.
func Specialisation(check *ast.Node) string {
	var b strings.Builder
	var write func(n *ast.Node)
	write = func(n *ast.Node) {
		if n == nil {
			b.WriteByte(0)
			return
		}
		fmt.Fprintf(&b, "%d %q %d %d;", n.Kind, n.Text, len(n.Items), len(n.Entries))
		for _, it := range n.Items {
			write(it)
		}
		for _, e := range n.Entries {
			write(e.Key)
			write(e.Value)
		}
	}
	write(check.Get("consts"))
	write(check.Get("domains"))
	if n := check.Get("instances"); n != nil {
		for _, e := range n.Entries {
			if b.WriteByte('|'); strings.Contains(e.Key.Text, "[") { // a group; its constants say how many
				b.WriteString(e.Key.Text)
			}
		}
	}
	return b.String()
}

// members lists the instances of a check in order.
func members(r *types.Table, n *ast.Node) []member {
	var out []member
	if n == nil {
		return nil
	}
	for _, e := range n.Entries {
		g, err := syntax.ParseGroup(e.Key.Text, e.Key.Part)
		if err != nil {
			r.SyntaxError(err)
			continue
		}
		if g == nil {
			out = append(out, member{entry: e, name: e.Key.Text})
			continue
		}
		t := r.Interval(g.Lo, g.Hi, e.Key.Span())
		if t == nil {
			continue
		}
		if t.Count() > pass.MaxInstances {
			r.Errorf("FSM042", e.Key.Span(), "a check has at most %d instances", pass.MaxInstances)
			continue
		}
		all := &convert.Group{Name: g.Name, Lo: t.Lo, Hi: t.Hi, At: e.Key.Part(0, len(g.Name))}
		for i := t.Lo; i <= t.Hi; i++ {
			out = append(out, member{e, fmt.Sprintf("%s[%d]", g.Name, i), g, all, i})
		}
	}
	return out
}

func (r *checker) instances(c *model.Check, n *ast.Node) *parties {
	out := &parties{single: map[string]*convert.Instance{}, groups: map[string]*convert.Group{},
		monitors: map[string]*convert.Instance{}}
	if n == nil || len(n.Entries) == 0 {
		r.Errorf("FSM009", c.Span, "check %s has no instances", diag.Quote(c.Name)).
			With("add `instances: {a: role, b: role}`")
		return out
	}
	all := members(r.Table, n)
	if len(all) > pass.MaxInstances {
		r.Errorf("FSM042", n.Span(), "a check has at most %d instances", pass.MaxInstances)
		return out
	}
	if len(all) > r.Parties {
		r.Errorf("FSM042", n.Span(), "%d instances are more than the %d parties of the protocol",
			len(all), r.Parties).With("raise `parties` at the top")
	}
	blamed := map[*convert.Names]bool{}
	broken := map[*ast.Node]bool{} // entries whose error would come again for each member of a group
	for _, m := range all {
		in := &convert.Instance{Model: &model.Instance{Name: m.name, Index: len(c.Instances),
			Span: m.entry.Key.Span()}}
		out.enter(r.Pass, m, in) // so that its name is known, whatever is wrong with it
		if broken[m.entry.Key] {
			continue
		}
		before := r.Len()
		r.instance(in, m, len(all))
		broken[m.entry.Key] = r.Len() > before
		if in.Names == nil {
			continue
		}
		if ro := r.Roles[in.Model.Role.Name]; len(all) > 2 && !ro.Peerless.IsZero() && !blamed[in.Names] {
			blamed[in.Names] = true
			r.Errorf("FSM065", m.entry.Key.Span(),
				"with %d instances it must be said to whom messages go", len(all)).
				See(ro.Peerless, "this one does not say").
				With("add `to: sender`, `to: all` or `to: EXPR`")
		}
		c.Instances = append(c.Instances, in.Model)
	}
	return out
}

// enter makes an instance known by its name or number.
func (p *parties) enter(r *pass.Pass, m member, in *convert.Instance) {
	if m.group == nil {
		if g := p.groups[m.name]; g != nil {
			r.NameTaken(m.entry.Key.Span(), m.name, "instance", g.At)
		}
		p.single[m.name] = in
		return
	}
	g := m.group
	if p.groups[g.Name] != g {
		if old := p.groups[g.Name]; old != nil {
			r.NameTaken(g.At, g.Name, "instance", old.At)
		} else if old := p.single[g.Name]; old != nil {
			r.NameTaken(g.At, g.Name, "instance", old.Model.Span)
		}
		p.groups[g.Name] = g
	}
	g.All = append(g.All, in)
}

func (p *parties) scope(t *types.Table) *expr.Resolver {
	return expr.In(&convert.Scope{Table: t, Instances: p.single, Groups: p.groups, Monitors: p.monitors,
		Ghosts: p.ghosts, Written: 1})
}

// instance resolves the role and the arguments of one instance of so many.
func (r *checker) instance(in *convert.Instance, m member, parties int) {
	x, err := syntax.ParseInstance(m.entry.Value.Text, m.entry.Value.Part)
	if err != nil {
		r.SyntaxError(err)
		return
	}
	ro := r.Roles[x.Role]
	if ro == nil {
		r.UnknownAt("FSM021", x.RolePos, x.Role, "role", r.Root.Get("roles").Keys())
		return
	}
	r.Use(ro.Machine.Span)
	r.Refer(x.RolePos, ro.Machine.Span)
	s := expr.In(&convert.Scope{Table: r.Table, Constant: true})
	if m.text != nil && m.text.Var != "" {
		s.Bind(convert.Binding{Name: m.text.Var, Value: m.index, At: m.text.VarPos})
	}
	in.Model.Role = ro.Machine
	in.Model.Args = r.instanceArgs(x, ro, s, in.Model.Index, parties)
	in.Names = ro.Names
}

func (r *checker) instanceArgs(x *syntax.Instance, ro *machine.Role, s *expr.Resolver,
	number, parties int) []model.Expr {
	args := make([]model.Expr, len(ro.Machine.Params))
	var names []string
	seen := map[string]bool{}
	for i, v := range ro.Machine.Params {
		if v == ro.Self { // given by itself
			args[i] = s.Literal(v.Type, int64(number), x.Span)
			names, seen[convert.SelfName] = append(names, ""), true
			continue
		}
		if v == ro.Parties {
			args[i] = s.Literal(v.Type, int64(parties), x.Span)
			names, seen[convert.PartiesName] = append(names, ""), true
			continue
		}
		names = append(names, v.Name)
	}
	for _, a := range x.Args {
		i := slices.Index(names, a.Name)
		switch {
		case i < 0:
			r.UnknownAt("FSM021", a.NamePos, a.Name, "parameter", names)
			continue
		case seen[a.Name]:
			r.Errorf("FSM080", a.NamePos, "the parameter %s is given twice", diag.Quote(a.Name))
		}
		seen[a.Name] = true
		r.Refer(a.NamePos, ro.Machine.Params[i].Span)
		args[i] = s.Value(a.Value, ro.Machine.Params[i].Type)
	}
	var missing []string
	for _, name := range names {
		if name != "" && !seen[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		r.Errorf("FSM080", x.Span, "role %s needs the parameter%s %s", diag.Quote(x.Role),
			diag.Plural(len(missing)), diag.QuoteAll(missing)).
			With("write `" + x.Role + "(" + missing[0] + ": …)`")
	}
	return args
}

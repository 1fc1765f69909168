package resolve

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// builtins are the claims that every check makes by itself.
var builtins = []string{"unspecified-reception", "fault", "deadlock", "orphan-message", "overflow", "never-fires", "unreachable-state"}

// checks resolves the checks. One with constants or domains of its own is
// resolved against a model specialised for it, so its expressions refer to that
// model's machines.
func (r *resolver) checks() {
	n := r.root.Get("checks")
	if n == nil {
		return
	}
	broken := r.HasErrors()
	for _, e := range n.Entries {
		if r.cfg.Check != "" && e.Key.Text != r.cfg.Check || e.Value.Kind != ast.Map {
			continue
		}
		special := e.Value.Get("consts") != nil || e.Value.Get("domains") != nil
		if r.cfg.Check != "" || !special {
			r.p.Checks = append(r.p.Checks, r.oneCheck(e))
			continue
		}
		if broken {
			continue // what is wrong would come again
		}
		sub := newResolver(r.unit, Config{Check: e.Key.Text, Consts: r.cfg.Consts}, r.shared)
		sub.findCheck()
		sub.declarations()
		sub.bodies()
		sub.checks()
		r.Collector.Join(sub.Collector)
		r.p.Checks = append(r.p.Checks, sub.p.Checks...)
	}
}

func (r *resolver) oneCheck(e ast.Entry) *model.Check {
	n := e.Value
	c := &model.Check{Name: e.Key.Text, Doc: textOf(n, "doc"), Span: e.Key.Span()}
	c.Channel = r.channel(n.Get("channel"), r.p.Channel)
	instances := r.instances(c, n.Get("instances"))
	r.environment(c, n.Get("environment"))
	if len(instances.single)+len(instances.groups) == 0 {
		return c // reported; nothing can be said of them
	}
	r.faults(c, instances, n)
	r.time(c, n.Get("time"))
	if claims := n.Get("claims"); claims != nil {
		for _, cl := range claims.Entries {
			if m := r.claim(cl, c, instances); m != nil {
				c.Claims = append(c.Claims, m)
			}
		}
	}
	if q := n.Get("quiet"); q != nil {
		s := instances.scope(r)
		c.Quiet = s.cond(r.parse(q))
		c.QuietLocals = s.max
	}
	known := append(n.Get("claims").Keys(), builtins...)
	for _, it := range scalars(n.Get("expect")) {
		if !slices.Contains(known, it.Text) {
			r.unknown("FSM082", it, "claim", known)
			continue
		}
		if cl := n.Get("claims").Entry(it.Text); cl != nil {
			r.refer(it.Span(), cl.Key.Span())
		}
		c.Expect = append(c.Expect, model.Expectation{Name: it.Text, Span: it.Span()})
	}
	return c
}

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

// environment resolves the rules: each for a command of one role, or of every
// role that has a command of that name.
func (r *resolver) environment(c *model.Check, n *ast.Node) {
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		role, name, dotted := strings.Cut(e.Key.Text, ".")
		if !dotted {
			role, name = "", e.Key.Text
		}
		found := false
		var known []string
		takesPart := r.taking(c, role, name)
		for _, m := range r.p.Roles {
			for _, ev := range m.Events {
				if ev.Kind != model.EventCommand && ev.Kind != model.EventTimer {
					continue
				}
				known = append(known, ev.Name)
				if ev.Name == name && (role == "" || role == m.Name) {
					found = true
					r.referRule(e.Key, m, ev)
					if !takesPart(m) {
						continue
					}
					c.Rules = append(c.Rules, r.rule(ev, r.info[m], e))
				}
			}
		}
		if !found {
			r.unknown("FSM084", e.Key, "command or timer", known)
		}
	}
}

// taking tells the roles that a rule is for: of those that have such an event the ones that take part in
// the check, if there are any.
func (r *resolver) taking(c *model.Check, role, name string) func(*model.Machine) bool {
	takes := map[*model.Machine]bool{}
	some := false
	for _, in := range c.Instances {
		takes[in.Role] = true
		if ro := r.info[in.Role]; ro != nil && (role == "" || role == in.Role.Name) {
			if ev := ro.events[name]; ev != nil && (ev.Kind == model.EventCommand || ev.Kind == model.EventTimer) {
				some = true
			}
		}
	}
	return func(m *model.Machine) bool { return !some || takes[m] }
}

func (r *resolver) rule(ev *model.Event, ro *role, e ast.Entry) *model.EnvRule {
	rule := &model.EnvRule{Command: ev, Span: e.Key.Span()}
	s := &scope{r: r, ro: ro, env: true, lenient: ro.brokenEvent(ev)}
	for _, f := range ev.Fields {
		rule.Params = append(rule.Params, s.param(f, e.Key.Span(), true))
	}
	if e.Value.Kind == ast.Scalar {
		rule.When = &model.Lit{ExprBase: model.ExprBase{T: boolType, Span: e.Value.Span()}}
		rule.Locals = s.max
		return rule
	}
	if w := e.Value.Get("when"); w != nil {
		rule.When = s.cond(r.parse(w))
	}
	if t := e.Value.Get("times"); t != nil {
		if v, ok := r.constIn(t, 1, 1000, "how often"); ok {
			rule.Times = int(v)
		}
	}
	rule.Locals = s.max
	return rule
}

var claimKinds = []struct {
	key  string
	kind model.ClaimKind
	// keys that make sense beside it
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

func (r *resolver) claim(e ast.Entry, check *model.Check, instances *parties) *model.Claim {
	c := &model.Claim{Name: e.Key.Text, Why: textOf(e.Value, "why"), Span: e.Key.Span(), Fair: textOf(e.Value, "fair")}
	c.Quiescent = isTrue(e.Value.Get("quiescent"))
	if slices.Contains(builtins, c.Name) {
		r.Errorf("FSM011", c.Span, "%s is a claim that every check makes by itself", diag.Quote(c.Name)).With("choose another name")
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
			r.Errorf("FSM081", v.Key.Span(), "a claim is either %s or %s", diag.Quote(kind), diag.Quote(k.key))
			return nil
		}
		kind, value, also, c.Kind = k.key, v.Value, k.also, k.kind
	}
	if kind == "" {
		r.Errorf("FSM081", c.Span, "the claim %s says nothing", diag.Quote(c.Name)).With("it is one of " + strings.Join(keys, ", "))
		return nil
	}
	for _, k := range e.Value.Entries {
		if t := k.Key.Text; t != kind && t != "why" && !slices.Contains(also, t) {
			r.Errorf("FSM081", k.Key.Span(), "%s means nothing beside %s", diag.Quote(t), diag.Quote(kind))
		}
	}
	s := instances.scope(r)
	r.claimBody(c, s, value, e.Value)
	r.within(c, check, e.Value)
	c.Locals = s.max
	return c
}

func (r *resolver) claimBody(c *model.Claim, s *scope, value, n *ast.Node) {
	if w := n.Get("when"); w != nil {
		c.When = s.cond(r.parse(w))
	} else if c.Kind == model.LeadsTo {
		r.Errorf("FSM081", c.Span, "`leadsTo` needs `when`, from where it leads")
	}
	switch c.Kind {
	case model.Agree:
		r.agreement(c, s, value)
	case model.Confluent:
		r.exceptions(c, n.Get("except"))
	default:
		c.Expr = s.cond(r.parse(value))
	}
}

func (r *resolver) agreement(c *model.Claim, s *scope, value *ast.Node) {
	var t *model.Type
	add := func(el expr.Node) bool {
		x := s.expr(el, t)
		if x == nil {
			return false
		}
		if t == nil {
			if t = x.Type(); t == nil {
				r.Errorf("FSM024", x.Pos(), "none is no value to agree on")
				return false
			}
		} else if x = s.comparable(x, t); x == nil {
			return false
		}
		c.Exprs = append(c.Exprs, x)
		return true
	}
	switch n := r.parse(value).(type) {
	case nil:
		return
	case *expr.List:
		for _, el := range n.Elems {
			if !add(el) {
				return
			}
		}
	case *expr.Build:
		list, ok := s.through(n.Var, n.VarPos, n.Over, n.Elem)
		if !ok {
			r.Errorf("FSM081", value.Span(), "`agree` needs a list of values: [a.own, b.own], or [x.own for x in p]")
			return
		}
		if n.If != nil {
			r.Errorf("FSM081", n.If.Pos(), "`agree` compares what all of them have; say it of some with `always`: all(x in p: all(y in p: …))")
			return
		}
		if !s.eachOf(n, list, add) {
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

func (r *resolver) exceptions(c *model.Claim, n *ast.Node) {
	var known []string
	for _, m := range r.p.Roles {
		for _, ev := range m.Events {
			known = append(known, ev.Name)
		}
		for _, t := range m.Transitions {
			known = append(known, t.Name)
		}
	}
	for _, it := range scalars(n) {
		if !slices.Contains(known, it.Text) {
			r.unknown("FSM082", it, "event", known)
			continue
		}
		for _, m := range r.p.Roles {
			if ev := r.info[m].events[it.Text]; ev != nil && ev.Kind >= model.EventMessage && ev.Part == nil {
				r.refer(it.Span(), ev.Span)
			}
		}
		c.Except = append(c.Except, it.Text)
	}
}

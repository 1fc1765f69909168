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
	if claims := n.Get("claims"); claims != nil {
		for _, cl := range claims.Entries {
			if m := r.claim(cl, instances); m != nil {
				c.Claims = append(c.Claims, m)
			}
		}
	}
	if q := n.Get("quiet"); q != nil {
		s := &scope{r: r, instances: instances}
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

func (r *resolver) instances(c *model.Check, n *ast.Node) map[string]*instance {
	out := map[string]*instance{}
	if n == nil || len(n.Entries) == 0 {
		r.Errorf("FSM009", c.Span, "check %s has no instances", diag.Quote(c.Name)).With("add `instances: {a: role, b: role}`")
		return out
	}
	if len(n.Entries) > maxInstances {
		r.Errorf("FSM042", n.Span(), "a check has at most %d instances", maxInstances)
		return out
	}
	blamed := map[*role]bool{}
	for _, e := range n.Entries {
		in := &model.Instance{Name: e.Key.Text, Index: len(c.Instances), Span: e.Key.Span()}
		out[in.Name] = &instance{in, nil} // so that its name is known, whatever is wrong with it
		x, err := expr.ParseInstance(e.Value.Text, e.Value.Part)
		if err != nil {
			r.syntax(err)
			continue
		}
		ro := r.roles[x.Role]
		if ro == nil {
			r.unknownAt("FSM021", x.RolePos, x.Role, "role", r.root.Get("roles").Keys())
			continue
		}
		r.use(ro.m.Span)
		r.refer(x.RolePos, ro.m.Span)
		in.Role = ro.m
		in.Args = r.instanceArgs(x, ro)
		if len(n.Entries) > 2 && !ro.peerless.IsZero() && !blamed[ro] {
			blamed[ro] = true
			r.Errorf("FSM065", e.Key.Span(), "with %d instances it must be said to whom messages go", len(n.Entries)).
				See(ro.peerless, "this one does not say").With("add `to: sender`, `to: all` or `to: EXPR`")
		}
		out[in.Name] = &instance{in, ro}
		c.Instances = append(c.Instances, in)
	}
	return out
}

func (r *resolver) instanceArgs(x *expr.Instance, ro *role) []model.Expr {
	args := make([]model.Expr, len(ro.m.Params))
	s := &scope{r: r, constant: true}
	var names []string
	seen := map[string]bool{}
	for _, v := range ro.m.Params {
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
		if !seen[name] {
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
		for _, m := range r.p.Roles {
			for _, ev := range m.Commands {
				known = append(known, ev.Name)
				if ev.Name == name && (role == "" || role == m.Name) {
					found = true
					r.referRule(e.Key, m, ev)
					c.Rules = append(c.Rules, r.rule(ev, r.info[m], e))
				}
			}
		}
		if !found {
			r.unknown("FSM084", e.Key, "command", known)
		}
	}
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
	{"leadsTo", model.LeadsTo, []string{"when", "fair"}},
}

func (r *resolver) claim(e ast.Entry, instances map[string]*instance) *model.Claim {
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
	s := &scope{r: r, instances: instances}
	r.claimBody(c, s, value, e.Value)
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
	list, ok := r.parse(value).(*expr.List)
	if !ok {
		r.Errorf("FSM081", value.Span(), "`agree` needs a list of values: [a.own, b.own]")
		return
	}
	if len(list.Elems) < 2 {
		r.Errorf("FSM081", value.Span(), "`agree` needs at least two values")
	}
	var t *model.Type
	for _, el := range list.Elems {
		x := s.expr(el, t)
		if x == nil {
			return
		}
		if t == nil {
			if t = x.Type(); t == nil {
				r.Errorf("FSM024", x.Pos(), "none is no value to agree on")
				return
			}
		} else if x = s.comparable(x, t); x == nil {
			return
		}
		c.Exprs = append(c.Exprs, x)
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

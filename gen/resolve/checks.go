package resolve

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
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
	r.neverInTheEnd(c)
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
		r.partTimers(in.Role, func(m *model.Machine, t *model.Timer) {
			if t.Name == name && (role == "" || role == m.Name) {
				takes[m], some = true, true
			}
		})
	}
	return func(m *model.Machine) bool { return !some || takes[m] }
}

// partTimers goes through the timers of a machine's parts, at any depth. What expires there is no command of
// anybody's, so the environment may have a rule for it.
func (r *resolver) partTimers(m *model.Machine, each func(*model.Machine, *model.Timer)) {
	for _, p := range m.Parts {
		if p.Machine == nil {
			continue
		}
		for _, t := range p.Machine.Timers {
			each(p.Machine, t)
		}
		r.partTimers(p.Machine, each)
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
	r.fairRule(rule, ro, e.Value)
	rule.Locals = s.max
	return rule
}

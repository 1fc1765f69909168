package check

import (
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
)

// environment resolves the rules. Each is for a command of one role, or of every role that has a
// command of that name and no rule of its own for it.
func (r *checker) environment(c *model.Check, n *ast.Node) {
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
		for _, ro := range r.ruled() {
			m := ro.Machine
			imported := r.Roles[m.Name] != ro
			for _, ev := range m.Events {
				if ev.Kind != model.EventTimer && (ev.Kind != model.EventCommand || imported) {
					continue
				}
				known = append(known, ev.Name)
				if ev.Name == name && (role == "" || role == m.Name) {
					found = true
					r.referRule(e.Key, m, ev)
					if !takesPart(m) {
						continue
					}
					of := slices.IndexFunc(c.Rules, func(r *model.EnvRule) bool { return r.Command == ev })
					switch rule := r.rule(ev, ro, e); {
					case of < 0:
						c.Rules = append(c.Rules, rule)
					case role != "":
						c.Rules[of] = rule
					}
				}
			}
		}
		if !found {
			r.Unknown("FSM084", e.Key, "command or timer", known)
		}
	}
	r.neverInTheEnd(c)
}

// ruled returns the roles of which something can be ruled: those of this file, and those that their parts import,
// of which the timers.
func (r *checker) ruled() (roles []*machine.Role) {
	for _, m := range r.Protocol.Roles {
		roles = append(roles, r.Roles[m.Name])
	}
	for _, ro := range roles {
		ro.EachPart(func(part *machine.Role) {
			if !slices.Contains(roles, part) {
				roles = append(roles, part)
			}
		})
	}
	return roles
}

// taking returns the roles that a rule is for. Of those that have such an event, these are the
// ones that take part in the check, or all if none does.
func (r *checker) taking(c *model.Check, role, name string) func(*model.Machine) bool {
	takes := map[*model.Machine]bool{}
	some := false
	for _, in := range c.Instances {
		takes[in.Role] = true
		if ro := r.Roles[in.Role.Name]; ro != nil && (role == "" || role == in.Role.Name) {
			if ev := ro.Events[name]; ev != nil && (ev.Kind == model.EventCommand || ev.Kind == model.EventTimer) {
				some = true
			}
		}
		partTimers(in.Role, func(m *model.Machine, t *model.Timer) {
			if t.Name == name && (role == "" || role == m.Name) {
				takes[m], some = true, true
			}
		})
	}
	return func(m *model.Machine) bool { return !some || takes[m] }
}

// partTimers visits the timers of a machine's parts at any depth. Nobody gives a command there,
// but a rule can be about their expiry.
func partTimers(m *model.Machine, each func(*model.Machine, *model.Timer)) {
	for _, p := range m.Parts {
		if p.Machine == nil {
			continue
		}
		for _, t := range p.Machine.Timers {
			each(p.Machine, t)
		}
		partTimers(p.Machine, each)
	}
}

func (r *checker) rule(ev *model.Event, ro *machine.Role, e ast.Entry) *model.EnvRule {
	rule := &model.EnvRule{Command: ev, Span: e.Key.Span()}
	s := expr.In(&convert.Scope{Table: r.Table, Own: ro.Names, Environment: true,
		Lenient: ro.BrokenEvent(ev)})
	for _, f := range ev.Fields {
		rule.Params = append(rule.Params, s.DeclareField(f, e.Key.Span(), true))
	}
	if e.Value.Kind == ast.Scalar {
		rule.When = &model.Lit{ExprBase: model.ExprBase{T: types.Bool, Span: e.Value.Span()}}
		rule.Locals = s.Slots
		return rule
	}
	if w := e.Value.Get("when"); w != nil {
		rule.When = s.Cond(r.Parse(w))
		s.WarnPlain()
	}
	if t := e.Value.Get("times"); t != nil {
		v, at, ok := r.ConstMentions(t, 0, 1000, "how often")
		switch {
		case ok && v == 0:
			never := "the program never gives the command here"
			if ev.Kind == model.EventTimer {
				never = "the timer never expires here"
			}
			r.Errorf("FSM014", t.Span(), "how often is 0, not within 1..1000").
				With("write `" + e.Key.Text + ": false` if " + never)
		case ok:
			rule.Bounds = at
			rule.Times = int(v)
		}
	}
	r.fairRule(rule, ro, e.Value)
	rule.Locals = s.Slots
	return rule
}

// fairRule resolves `fair` and `or` of a rule.
func (r *checker) fairRule(rule *model.EnvRule, ro *machine.Role, n *ast.Node) {
	fair, or := n.Entry("fair"), n.Entry("or")
	switch {
	case fair == nil && or == nil:
		return
	case fair == nil:
		r.Errorf("FSM089", or.Key.Span(), "`or` means nothing without `fair`").
			With("`fair: weak` says that one of these commands is given in the end, if one may be for ever")
		return
	case rule.Command.Kind == model.EventTimer:
		r.Errorf("FSM089", fair.Key.Span(), "%s is a timer, and its expiry is nothing that the program does",
			diag.Quote(rule.Command.Name)).
			With("`fair` of a claim says what becomes of timers and messages")
		return
	}
	rule.Fair = fair.Value.Text
	if or == nil {
		return
	}
	var known []string
	for _, ev := range ro.Machine.Events {
		if ev.Kind == model.EventCommand {
			known = append(known, ev.Name)
		}
	}
	for _, it := range pass.Scalars(or.Value) {
		ev := ro.Events[it.Text]
		switch {
		case ev == nil || ev.Kind != model.EventCommand:
			r.Unknown("FSM084", it, "command", known)
		case ev == rule.Command || slices.Contains(rule.Or, ev):
			r.Errorf("FSM089", it.Span(), "%s is one of them already", diag.Quote(it.Text))
		default:
			r.Refer(it.Span(), ev.Span)
			rule.Or = append(rule.Or, ev)
		}
	}
}

// neverInTheEnd reports fair rules for commands that another rule forbids.
func (r *checker) neverInTheEnd(c *model.Check) {
	for _, fair := range c.Rules {
		if fair.Fair == "" {
			continue
		}
		for _, rule := range c.Rules {
			if rule.Never() && (rule.Command == fair.Command || slices.Contains(fair.Or, rule.Command)) {
				r.Errorf("FSM089", fair.Span, "%s is never given in this check, so it is nothing that the "+
					"program does in the end", diag.Quote(rule.Command.Name)).
					With("leave it out here, or give it a rule with `when`")
			}
		}
	}
}

// referRule notes what the names in the key of a rule mean.
func (r *checker) referRule(key *ast.Node, m *model.Machine, ev *model.Event) {
	role, _, dotted := strings.Cut(key.Text, ".")
	if !dotted {
		r.Refer(key.Span(), ev.Span)
		return
	}
	r.Refer(key.Part(0, len(role)), m.Span)
	r.Refer(key.Part(len(role)+1, len(key.Text)), ev.Span)
}

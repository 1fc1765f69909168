package resolve

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// Rules of the environment that say what the program does in the end.

// fairRule resolves `fair` and `or` of a rule.
func (r *resolver) fairRule(rule *model.EnvRule, ro *role, n *ast.Node) {
	fair, or := n.Entry("fair"), n.Entry("or")
	switch {
	case fair == nil && or == nil:
		return
	case fair == nil:
		r.Errorf("FSM089", or.Key.Span(), "`or` means nothing without `fair`").With("`fair: weak` says that one of these commands is given in the end, if one may be for ever")
		return
	case rule.Command.Kind == model.EventTimer:
		r.Errorf("FSM089", fair.Key.Span(), "%s is a timer, and its expiry is nothing that the program does", diag.Quote(rule.Command.Name)).
			With("`fair` of a claim says what becomes of timers and messages")
		return
	}
	rule.Fair = fair.Value.Text
	if or == nil {
		return
	}
	var known []string
	for _, ev := range ro.m.Events {
		if ev.Kind == model.EventCommand {
			known = append(known, ev.Name)
		}
	}
	for _, it := range scalars(or.Value) {
		ev := ro.events[it.Text]
		switch {
		case ev == nil || ev.Kind != model.EventCommand:
			r.unknown("FSM084", it, "command", known)
		case ev == rule.Command || slices.Contains(rule.Or, ev):
			r.Errorf("FSM089", it.Span(), "%s is one of them already", diag.Quote(it.Text))
		default:
			r.refer(it.Span(), ev.Span)
			rule.Or = append(rule.Or, ev)
		}
	}
}

// neverInTheEnd finds commands that are to be given in the end, and never.
func (r *resolver) neverInTheEnd(c *model.Check) {
	for _, fair := range c.Rules {
		if fair.Fair == "" {
			continue
		}
		for _, rule := range c.Rules {
			if rule.Never() && (rule.Command == fair.Command || slices.Contains(fair.Or, rule.Command)) {
				r.Errorf("FSM089", fair.Span, "%s is never given in this check, so it is nothing that the program does in the end", diag.Quote(rule.Command.Name)).
					With("leave it out here, or give it a rule with `when`")
			}
		}
	}
}

package resolve

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// unused warns about declarations that nothing uses. It looks at what all passes over
// the specification, those for its checks included, have marked.
func (r *resolver) unused() {
	if r.silent() {
		return
	}
	r.unusedTop()
	for _, m := range r.p.Roles {
		r.unusedIn(r.info[m])
	}
	r.neverHeard()
}

func (r *resolver) idle(at diag.Span) bool { return !r.used[use{at, ""}] }

func (r *resolver) unusedTop() {
	for _, key := range []string{"consts", "types", "import"} {
		n := r.root.Get(key)
		if n == nil {
			continue
		}
		for _, e := range n.Entries {
			if r.idle(e.Key.Span()) {
				what := map[string]string{"consts": "constant", "types": "type", "import": "import"}[key]
				r.Warnf("FSM045", e.Key.Span(), "the %s %s is not used", what, diag.Quote(e.Key.Text))
			}
		}
	}
}

func (r *resolver) unusedIn(ro *role) {
	for _, v := range append(append([]*model.Var{}, ro.m.Params...), ro.m.Vars...) {
		isSet := r.used[use{v.Span, "set"}]
		switch {
		case r.idle(v.Span) && ro.params[v]:
			r.Warnf("FSM045", v.Span, "the parameter %s is not used", diag.Quote(v.Name))
		case r.idle(v.Span) && !isSet:
			r.Warnf("FSM045", v.Span, "the variable %s is not used", diag.Quote(v.Name))
		case r.idle(v.Span):
			r.Warnf("FSM046", v.Span, "the variable %s is set, but never looked at", diag.Quote(v.Name))
		case !isSet && !ro.params[v]:
			r.Warnf("FSM046", v.Span, "the variable %s is never set", diag.Quote(v.Name)).
				With("a value that never changes is a constant or a parameter")
		}
	}
	for _, t := range ro.m.Timers {
		if !r.used[use{t.Span, "set"}] {
			r.Warnf("FSM045", t.Span, "the timer %s is never started", diag.Quote(t.Name))
		}
	}
	for _, rep := range ro.m.Reports {
		if r.idle(rep.Span) {
			r.Warnf("FSM045", rep.Span, "the report %s is never made", diag.Quote(rep.Name))
		}
	}
	for _, name := range ro.node.Get("routines").Keys() {
		if at := ro.node.Get("routines").Entry(name).Key.Span(); r.idle(at) {
			r.Warnf("FSM045", at, "the routine %s is never called, so nothing in it was looked at", diag.Quote(name))
		}
	}
	for _, p := range ro.m.Parts {
		if r.idle(p.Span) {
			r.Warnf("FSM045", p.Span, "the part %s is never given anything", diag.Quote(p.Name))
		}
	}
	for _, ev := range ro.m.Commands {
		if !r.used[use{ev.Span, "heard"}] {
			r.Warnf("FSM045", ev.Span, "no state mentions the command %s", diag.Quote(ev.Name))
		}
	}
}

// neverHeard warns about messages that are sent to nobody, or do not occur at all.
func (r *resolver) neverHeard() {
	for _, m := range r.p.Messages {
		heard := false
		var sentAt diag.Span
		for _, machine := range r.p.Roles {
			ro := r.info[machine]
			heard = heard || ro.hears[m]
			if at, ok := ro.sends[m]; ok && sentAt.IsZero() {
				sentAt = at
			}
		}
		switch {
		case heard:
		case !sentAt.IsZero():
			r.Warnf("FSM056", sentAt, "%s is sent, but no state of any role mentions it", diag.Quote(m.Name))
		default:
			r.Warnf("FSM045", m.Span, "the message %s is neither sent nor received", diag.Quote(m.Name))
		}
	}
}

package resolve

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/machine"
	"github.com/parley-go/parley/gen/resolve/pass"
)

// unused warns about declarations that nothing uses in any of the passes over the specification,
// including those for its checks.
func (r *resolver) unused() {
	if r.Silent() {
		return
	}
	r.unusedTop()
	for _, m := range r.Protocol.Roles {
		r.unusedIn(r.Roles[m.Name])
	}
	r.neverHeard()
}

func (r *resolver) idle(at diag.Span) bool { return !r.IsUsed(at, pass.Looked) }

func (r *resolver) unusedTop() {
	for _, key := range []string{"consts", "types", "import"} {
		n := r.Root.Get(key)
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

func (r *resolver) unusedIn(ro *machine.Role) {
	for _, v := range append(append([]*model.Var{}, ro.Machine.Params...), ro.Machine.Vars...) {
		isSet := r.IsUsed(v.Span, pass.Set)
		switch {
		case r.idle(v.Span) && ro.Params[v]:
			r.Warnf("FSM045", v.Span, "the parameter %s is not used", diag.Quote(v.Name))
		case r.idle(v.Span) && !isSet:
			r.Warnf("FSM045", v.Span, "the variable %s is not used", diag.Quote(v.Name))
		case ro.Machine.External: // what else is done with it is no matter of ours
		case r.idle(v.Span):
			r.Warnf("FSM046", v.Span, "the variable %s is set, but never looked at", diag.Quote(v.Name))
		case !isSet && !ro.Params[v]:
			r.Warnf("FSM046", v.Span, "the variable %s is never set", diag.Quote(v.Name)).
				With("a value that never changes is a constant or a parameter")
		}
	}
	for _, t := range ro.Machine.Timers {
		if !r.IsUsed(t.Span, pass.Set) {
			r.Warnf("FSM045", t.Span, "the timer %s is never started", diag.Quote(t.Name))
		}
	}
	for _, rep := range ro.Machine.Reports {
		if r.idle(rep.Span) {
			r.Warnf("FSM045", rep.Span, "the report %s is never made", diag.Quote(rep.Name))
		}
	}
	for _, name := range ro.Node.Get("routines").Keys() {
		if at := ro.Node.Get("routines").Entry(name).Key.Span(); r.idle(at) {
			r.Warnf("FSM045", at, "the routine %s is never called, so nothing in it was looked at",
				diag.Quote(name))
		}
	}
	for _, p := range ro.Machine.Parts {
		if r.idle(p.Span) {
			r.Warnf("FSM045", p.Span, "the part %s is never given anything", diag.Quote(p.Name))
		}
	}
	for _, ev := range ro.Machine.Commands {
		if !r.IsUsed(ev.Span, pass.Heard) {
			r.Warnf("FSM045", ev.Span, "no state mentions the command %s", diag.Quote(ev.Name))
		}
	}
}

// neverHeard warns about messages that nobody handles, and about those that nobody sends or
// handles.
func (r *resolver) neverHeard() {
	for _, m := range r.Protocol.Messages {
		heard := false
		var sentAt diag.Span
		for _, machine := range r.Protocol.Roles {
			ro := r.Roles[machine.Name]
			heard = heard || ro.Hears[m]
			if at, ok := ro.Sends[m]; ok && sentAt.IsZero() {
				sentAt = at
			}
		}
		switch {
		case heard:
		case !sentAt.IsZero():
			r.Warnf("FSM056", sentAt, "%s is sent, but no state of any role mentions it",
				diag.Quote(m.Name))
		default:
			r.Warnf("FSM045", m.Span, "the message %s is neither sent nor received", diag.Quote(m.Name))
		}
	}
}

package resolve

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// forward gives an event to a part, fields by name; keys that are not written are taken by name too.
func (w *stmts) forward(m mention) []model.Stmt {
	x, err := expr.Parse(m.place.Text, m.place.Part)
	if err != nil {
		w.r.syntax(err)
		return nil
	}
	p, given, ok := w.ownPart(x)
	if !ok {
		return nil
	}
	child := w.r.info[p.Machine]
	ev := child.events[m.event]
	if ev == nil || !forwarded(ev.Kind) {
		w.r.unknownAt("FSM062", m.at, m.event, "message of part "+diag.Quote(p.Name)+" named", child.forwardable())
		return nil
	}
	if given == nil && len(p.Keys) > 0 {
		var keys []expr.Node
		for _, k := range p.Keys {
			if w.local(k.Name) == nil {
				w.r.Errorf("FSM061", m.place.Span(), "part %s has several instances, and %s has no field %s that says which", diag.Quote(p.Name), diag.Quote(ev.Name), diag.Quote(k.Name)).
					With("write the key: `\"" + p.Name + "[sender]\": [" + ev.Name + "]`")
				return nil
			}
			keys = append(keys, expr.Name(k.Name, m.at))
		}
		x = expr.With(x, keys, m.at)
	}
	var names []string
	for _, f := range ev.Fields {
		names = append(names, f.Name)
	}
	defer w.r.mute()()
	run := w.runExpr(expr.Shorthand(expr.Of(x, m.event, m.at), names, m.at), m.at)
	if run == nil {
		return nil
	}
	return []model.Stmt{run}
}

// forwarded says whether such an event can be forwarded: it is given to the machine and to its part alike.
func forwarded(k model.EventKind) bool {
	return k == model.EventMessage || k == model.EventUp || k == model.EventLost
}

// forwardable lists the events that can be forwarded to the machine.
func (ro *role) forwardable() []string {
	var names []string
	for _, e := range ro.m.Events {
		if forwarded(e.Kind) {
			names = append(names, e.Name)
		}
	}
	return names
}

func (ro *role) partNames() []string {
	var names []string
	for _, p := range ro.m.Parts {
		names = append(names, p.Name)
	}
	return names
}

// runnable lists the events a parent may give the machine.
func (ro *role) runnable() []string {
	var names []string
	for _, e := range ro.m.Events {
		if forwarded(e.Kind) || e.Kind == model.EventCommand {
			names = append(names, e.Name)
		}
	}
	return names
}

// reachable warns about states that no goto leads to.
func (ro *role) reachable() {
	if ro.m.Initial == nil {
		return
	}
	seen := map[*model.State]bool{ro.m.Initial: true}
	for again := true; again; {
		again = false
		for _, t := range ro.m.Transitions {
			if t.To != nil && seen[t.From] && !seen[t.To] {
				seen[t.To], again = true, true
			}
		}
	}
	for _, st := range ro.m.States {
		if !seen[st] {
			ro.r.warnf("FSM054", st.Span, "no way leads from %s to the state %s", diag.Quote(ro.m.Initial.Name), diag.Quote(st.Name))
		}
	}
}

package resolve

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// inPhase reports messages that a machine may send where its stream is not in their phase: whoever receives them
// could not read them. It follows from state to state in which phases the stream can be, and looks at no guards. So a
// machine that passes never sends such a message, in no run of any length.
//
// What goes to one of several peers is judged less strictly, since a state does not tell in which phase each is: it
// must be in its phase for some way to the state.
func (r *resolver) inPhase() {
	p := r.Protocol
	if !p.Phased() {
		return
	}
	for _, m := range core.Machines(p.Roles...) {
		if !m.Model.External && m.Model.Initial != nil {
			r.follow(p, m)
		}
	}
}

// follow judges one machine.
func (r *resolver) follow(p *model.Protocol, m *core.Machine) {
	for _, part := range m.Parts {
		for _, s := range part.Sends {
			if s != nil {
				r.Errorf("FSM104", part.Model.Span, "the part %s sends messages, and nobody can tell in which phase "+
					"the stream is then", diag.Quote(part.Model.Name)).With("let it report, and send in the " +
					"states of the role")
				return
			}
		}
	}
	w := &phaseWalk{p: p, sends: map[*core.Emit]uint16{}}
	in := map[*model.State]uint16{m.Model.Initial: 1}
	for again := true; again; {
		again = false
		for _, t := range m.Transitions {
			from := in[t.Model.From]
			if from == 0 || t.Model.Mode != model.Handle {
				continue
			}
			if t.Model.Event.Kind == model.EventUp {
				from = 1 // each connection begins anew
			}
			to, after := t.Model.From, w.list(t.Body, from)
			if t.To != nil {
				to, after = t.Model.To, w.list(t.To.Entry, after)
			}
			if in[to]|after != in[to] {
				in[to], again = in[to]|after, true
			}
		}
	}
	for _, e := range w.order {
		may, of := w.sends[e], e.Message
		one := e.Dest == model.ToPeer || len(p.Roles) > 0 && p.Parties == 2
		wrong := may &^ of.Phases
		if wrong == 0 || !one && may&of.Phases != 0 {
			continue
		}
		names := []string{}
		for k, name := range p.Wire.Phases {
			if wrong>>k&1 != 0 {
				names = append(names, diag.Quote(name))
			}
		}
		verb := "may be"
		if may&of.Phases == 0 {
			verb = "is"
		}
		r.Errorf("FSM104", e.Pos(), "%s is sent where its stream %s in the phase %s, and whoever receives it "+
			"cannot read it", diag.Quote(of.Name), verb, diag.And(names)).See(of.Span, "its phases are said here").
			With("send it in a state to which only the messages lead that begin its phase")
	}
}

// phaseWalk collects in which phases messages are sent.
type phaseWalk struct {
	p     *model.Protocol
	sends map[*core.Emit]uint16
	order []*core.Emit
}

// list follows statements from a set of phases to the set behind them: empty if none comes so far.
func (w *phaseWalk) list(list []core.Stmt, in uint16) uint16 {
	for _, st := range list {
		switch st := st.(type) {
		case *core.Emit:
			if st.Message == nil || in == 0 {
				continue
			}
			if _, seen := w.sends[st]; !seen {
				w.order = append(w.order, st)
			}
			w.sends[st] |= in
			if next := st.Message.Next; next >= 0 {
				if st.Dest == model.ToPeer || st.Dest == model.ToBroadcast || w.p.Parties == 2 {
					in = 1 << next
				} else {
					in |= 1 << next // the others are where they were
				}
			}
		case *core.Branch:
			in = w.list(st.Then, in) | w.list(st.Else, in)
		case *core.For:
			for round := in; round != 0; {
				more := w.list(st.Body, round) | in
				if round = 0; more != in {
					in, round = more, more
				}
			}
		case *core.Refuse:
			return 0
		}
	}
	return in
}

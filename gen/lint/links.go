package lint

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// A link is lost once. A state that says nothing of it ignores it, and no later state hears of it: who
// asks a peer for something then, and comes to a state that only the answer or the loss of the link
// would end, waits for ever.

// phase is what has become of a link, as far as a machine was told or could have been.
type phase uint8

const (
	before  phase = iota // it has not come up
	there                // it may be lost at any moment
	unheard              // it was lost where the machine ignored it
	phases
)

// deaf warns of states that ignore the loss of a link and from which the machine comes, by itself or
// for its program, to one that counts on hearing it. It takes a guard as one that may hold.
func (l *linter) deaf(code *core.Machine) {
	m := code.Model
	up, lost := m.EventOf(model.EventUp), m.EventOf(model.EventLost)
	if lost == nil || m.Initial == nil || !m.Mentions(model.EventLost) || l.isPart(m) && !l.plays(m) {
		return // a part comes through states within a step, and its parent says what it hears
	}
	if l.variant() || slices.ContainsFunc(l.p.Checks, literal) {
		return // that is asked which a variant extends; what is read literally is as it is
	}
	comesUp := m.Mentions(model.EventUp)
	// By what the link is: the state that ignored its loss, or the state itself.
	var from [phases]map[*model.State]*model.State
	for p := range from {
		from[p] = map[*model.State]*model.State{}
	}
	again := true
	reach := func(p phase, st, origin *model.State) {
		if from[p][st] == nil {
			from[p][st], again = origin, true
		}
	}
	if first := m.Initial; comesUp {
		reach(before, first, first)
	} else {
		reach(there, first, first)
	}
	for again {
		again = false
		for _, st := range m.States {
			if from[before][st] != nil && (up == nil || st.Handlers[up.Index] == nil) {
				reach(there, st, st)
			}
			if from[there][st] != nil && st.Handlers[lost.Index] == nil && !st.Final {
				reach(unheard, st, st)
			}
		}
		for _, b := range code.Transitions {
			tr := b.Model
			if tr.Mode != model.Handle || tr.Event.Kind == model.EventLost && !comesUp {
				continue
			}
			to := tr.From
			if b.To != nil {
				to = tr.To
			}
			for p := range phases {
				origin := from[p][tr.From]
				next, may := after(tr.Event.Kind, p)
				if origin == nil || !may {
					continue
				}
				if next != unheard {
					origin = to
				}
				reach(next, to, origin)
			}
		}
	}
	for _, b := range code.Transitions {
		tr := b.Model
		origin := from[unheard][tr.From]
		if _, may := after(tr.Event.Kind, unheard); tr.Mode != model.Handle || b.To == nil || origin == nil || !may {
			continue
		}
		hears := tr.To.Handlers[lost.Index]
		if tr.Event.Kind == model.EventUp || !counts(hears) || !speaks(b) || l.endsByTime(code, tr.To) {
			continue
		}
		l.warn("FSM105", origin.Span, "a link that is lost in %s is lost unheard, and nobody tells %s, which counts "+
			"on it and comes behind %s", diag.Quote(origin.Name), diag.Quote(tr.To.Name), diag.Quote(tr.Event.Name)).
			See(hears.Span, "counts on it").
			With("say in " + diag.Quote(origin.Name) + " what it means that the link is lost, " +
				"or write `lost: ignore` there")
	}
}

// after returns what a link is after an event of a kind, and whether the event can come. Who hears
// that it is lost knows it.
func after(kind model.EventKind, p phase) (next phase, may bool) {
	switch kind {
	case model.EventUp:
		return there, p != there
	case model.EventLost:
		return before, p == there
	case model.EventMessage:
		return there, p == there // another peer may speak, but then nothing is known of who is asked
	}
	return p, true
}

// counts reports whether something happens when a link is lost.
func counts(h *model.Handler) bool {
	return h != nil && h.Mode == model.Handle && slices.ContainsFunc(h.Branches, func(b *model.Transition) bool {
		return b.To != nil || len(b.Body) > 0
	})
}

// speaks reports whether a transition may send something, or a part of it may.
func speaks(b *core.Transition) bool {
	found := false
	look := func(s core.Stmt) {
		switch s := s.(type) {
		case *core.Emit:
			found = found || s.Message != nil
		case *core.Give:
			found = true
		}
	}
	core.WalkStmts(b.Body, look)
	core.WalkStmts(b.To.Entry, look)
	return found
}

// endsByTime reports whether a timer may be armed in a state.
func (l *linter) endsByTime(code *core.Machine, st *model.State) bool {
	return slices.ContainsFunc(code.Model.Timers, func(t *model.Timer) bool { return armedIn(code, t)[st] })
}

// isPart reports whether a role of this specification has a machine as a part.
func (l *linter) isPart(m *model.Machine) bool {
	return slices.ContainsFunc(l.p.Roles, func(r *model.Machine) bool {
		return slices.ContainsFunc(r.Parts, func(p *model.Part) bool { return p.Machine == m })
	})
}

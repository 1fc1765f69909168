package lint

import (
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// timers finds timers that can expire in states that do not mention them.
func (l *linter) timers(code *core.Machine) {
	m := code.Model
	for _, t := range m.Timers {
		armed := armedIn(code, t)
		var where []string
		var first *model.State
		for _, st := range m.States {
			ev := timerEvent(m, t)
			if armed[st] && ev != nil && st.Handlers[ev.Index] == nil {
				if first == nil {
					first = st
				}
				where = append(where, diag.Quote(st.Name))
			}
		}
		if first == nil {
			continue
		}
		l.warn("FSM047", t.Span, "the timer %s can still run in %s, where nothing is said about it",
			diag.Quote(t.Name), strings.Join(where, ", ")).
			See(first.Span, "this state").
			With("`stop: " + t.Name + "` on the way there, or write `" + t.Name + ": ignore` in the state")
	}
}

func timerEvent(m *model.Machine, t *model.Timer) *model.Event {
	for _, ev := range m.Events {
		if ev.Timer == t {
			return ev
		}
	}
	return nil
}

// armedIn returns the states in which a timer may be armed. It ignores guards, and takes a
// statement under a condition as one that may or may not run.
func armedIn(m *core.Machine, t *model.Timer) map[*model.State]bool {
	armed, quiet := map[*model.State]bool{}, map[*model.State]bool{}
	if m.Model.Initial == nil {
		return armed
	}
	quiet[m.Model.Initial] = true
	for again := true; again; {
		again = false
		reach := func(set map[*model.State]bool, st *model.State) {
			if !set[st] {
				set[st], again = true, true
			}
		}
		for _, b := range m.Transitions {
			tr := b.Model
			if tr.Mode != model.Handle || !armed[tr.From] && !quiet[tr.From] {
				continue
			}
			// The expiry itself disarms.
			mayOn := armed[tr.From] && (tr.Event.Timer != t || len(t.Keys) > 0)
			mayOff := quiet[tr.From] || tr.Event.Timer == t
			mayOn, mayOff = effect(b.Body, t, mayOn, mayOff)
			to := tr.From
			if b.To != nil {
				to = tr.To
				mayOn, mayOff = effect(b.To.Entry, t, mayOn, mayOff)
			}
			if mayOn {
				reach(armed, to)
			}
			if mayOff {
				reach(quiet, to)
			}
		}
	}
	return armed
}

// effect follows statements and returns whether they may leave the timer armed, and whether they
// may leave it disarmed.
func effect(list []core.Stmt, t *model.Timer, mayOn, mayOff bool) (on, off bool) {
	for _, st := range list {
		switch st := st.(type) {
		case *core.Timer:
			switch {
			case st.Timer != t:
			case st.Start:
				mayOn, mayOff = true, false
			case st.All:
				mayOn, mayOff = false, true
			default:
				mayOff = true // of a timer with keys the others stay armed
			}
		case *core.Branch:
			on1, off1 := effect(st.Then, t, mayOn, mayOff)
			on2, off2 := effect(st.Else, t, mayOn, mayOff)
			mayOn, mayOff = on1 || on2, off1 || off2
		case *core.For:
			if rounds, ok := st.Over.(*core.Make); ok { // so many rounds for certain
				for range rounds.Elems {
					mayOn, mayOff = effect(st.Body, t, mayOn, mayOff)
				}
				break
			}
			on1, off1 := effect(st.Body, t, mayOn, mayOff)
			mayOn, mayOff = mayOn || on1, mayOff || off1
		case *core.Refuse:
			return false, false
		}
	}
	return mayOn, mayOff
}

// neverSent finds messages that states wait for and nobody sends.
func (l *linter) neverSent() {
	sent := map[*model.Message]bool{}
	heard := map[*model.Message]bool{}
	for _, m := range l.p.Roles {
		l.codes[m].Each(func(s core.Stmt) {
			if e, ok := s.(*core.Emit); ok && e.Message != nil {
				sent[e.Message] = true
			}
		}, func(core.Expr) {})
		for _, st := range m.States {
			for _, h := range st.Handlers {
				if h != nil && h.Event.Message != nil && h.Mode != model.Ignore {
					heard[h.Event.Message] = true
				}
			}
		}
	}
	for _, msg := range l.p.Messages {
		if len(l.p.Files) > 0 && msg.Span.File != l.p.Files[0] {
			continue // of a file that this one extends: a variant often exists because it no longer sends something
		}
		if heard[msg] && !sent[msg] {
			l.warn("FSM048", msg.Span, "%s is waited for, but no role sends it", diag.Quote(msg.Name))
		}
	}
}

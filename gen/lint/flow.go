package lint

import (
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// timers finds timers that can expire in states that do not mention them.
func (l *linter) timers(m *model.Machine) {
	for _, t := range m.Timers {
		armed := armedIn(m, t)
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
func armedIn(m *model.Machine, t *model.Timer) map[*model.State]bool {
	armed, quiet := map[*model.State]bool{}, map[*model.State]bool{}
	if m.Initial == nil {
		return armed
	}
	quiet[m.Initial] = true
	for again := true; again; {
		again = false
		reach := func(set map[*model.State]bool, st *model.State) {
			if !set[st] {
				set[st], again = true, true
			}
		}
		for _, tr := range m.Transitions {
			if tr.Mode != model.Handle || !armed[tr.From] && !quiet[tr.From] {
				continue
			}
			// The expiry itself disarms.
			mayOn := armed[tr.From] && (tr.Event.Timer != t || len(t.Keys) > 0)
			mayOff := quiet[tr.From] || tr.Event.Timer == t
			mayOn, mayOff = effect(tr.Body, t, mayOn, mayOff)
			to := tr.From
			if tr.To != nil {
				to = tr.To
				mayOn, mayOff = effect(to.Entry, t, mayOn, mayOff)
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
func effect(list []model.Stmt, t *model.Timer, mayOn, mayOff bool) (on, off bool) {
	for _, st := range list {
		switch st := st.(type) {
		case *model.StartTimer:
			if st.Timer == t {
				mayOn, mayOff = true, false
			}
		case *model.StopTimer:
			if st.Timer == t && len(st.Keys) > 0 {
				mayOff = true // the others stay armed
			} else if st.Timer == t {
				mayOn, mayOff = false, true
			}
		case *model.If:
			on1, off1 := effect(st.Then, t, mayOn, mayOff)
			on2, off2 := effect(st.Else, t, mayOn, mayOff)
			mayOn, mayOff = on1 || on2, off1 || off2
		case *model.Each:
			if rounds, ok := st.Over.(*model.ListLit); ok {
				// So many rounds for certain; a routine's field is a loop of one.
				for range rounds.Elems {
					mayOn, mayOff = effect(st.Body, t, mayOn, mayOff)
				}
				break
			}
			on1, off1 := effect(st.Body, t, mayOn, mayOff)
			mayOn, mayOff = mayOn || on1, mayOff || off1
		case *model.Refuse:
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
		for _, st := range m.States {
			markSent(st.Entry, sent)
			for _, h := range st.Handlers {
				if h != nil && h.Event.Message != nil && h.Mode != model.Ignore {
					heard[h.Event.Message] = true
				}
			}
		}
		for _, t := range m.Transitions {
			markSent(t.Body, sent)
		}
		for _, p := range m.Parts {
			for _, ps := range p.Sends {
				if ps != nil && ps.Send != nil {
					sent[ps.Send.Message] = true
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

func markSent(list []model.Stmt, sent map[*model.Message]bool) {
	for _, st := range list {
		switch st := st.(type) {
		case *model.Send:
			sent[st.Message] = true
		case *model.If:
			markSent(st.Then, sent)
			markSent(st.Else, sent)
		case *model.Each:
			markSent(st.Body, sent)
		}
	}
}

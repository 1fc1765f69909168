package fsmtest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/runtime/fsm"
)

func (w *World) number(name string) int {
	w.t.Helper()
	i := slices.IndexFunc(w.machines, func(m Machine) bool { return m.Name == name })
	if i < 0 {
		w.t.Fatalf("this run has no machine %q", name)
	}
	return i
}

func (w *World) channel(from, to string) [2]int { return [2]int{w.number(from), w.number(to)} }

// impossible ends a run that the machines do not follow.
func (w *World) impossible(format string, args ...any) {
	w.t.Helper()
	w.t.Logf("step %d of the run is no longer possible: "+format, append([]any{w.steps}, args...)...)
	w.t.Skip("the machines are others than those that the run was found with; fsmgen check says whether the claim holds now")
}

// look finds a message that has to be under way.
func (w *World) look(from, to, text string, at int) letter {
	w.t.Helper()
	c := w.channels[w.channel(from, to)]
	switch {
	case at >= len(c):
		w.impossible("%s is not under way from %s to %s", text, from, to)
	case c[at].text != text:
		w.impossible("not %s but %s is under way from %s to %s", text, c[at].text, from, to)
	}
	return c[at]
}

func (w *World) take(from, to, text string, at int) letter {
	w.t.Helper()
	l := w.look(from, to, text, at)
	k := w.channel(from, to)
	w.channels[k] = slices.Delete(w.channels[k], at, at+1)
	return l
}

func (w *World) arrive(l letter, from, to string) {
	w.t.Helper()
	i := w.number(to)
	if w.lost[i] {
		w.steps++
		return // nobody is there to hear it
	}
	res, err := w.machines[i].Runner.Frame(fsm.Peer(w.number(from)), l.frame)
	if err != nil {
		w.t.Fatalf("%s cannot decode %s: %v", to, l.text, err)
	}
	if res.Code == fsm.Deferred {
		w.hold(i, held{w.number(from), l})
		return
	}
	w.stepped(i, l.text, res)
}

// hold sets a message aside that the state of a machine defers.
func (w *World) hold(i int, h held) {
	w.t.Helper()
	w.steps++
	most := w.machines[i].Runner.Info().Deferred
	if most == 0 {
		most = fsm.DefaultDeferred
	}
	if len(w.held[i]) >= most {
		w.Fail(strings.TrimSpace(w.why + "\n" + w.machines[i].Name + " would hold more than " + strconv.Itoa(most) + " deferred messages with " + h.text))
	}
	w.held[i] = append(w.held[i], h)
}

// offer gives a machine what it holds and no longer defers, the oldest first, from the beginning
// after each change of state.
func (w *World) offer(i int) {
	w.t.Helper()
	r := w.machines[i].Runner
	for k := 0; k < len(w.held[i]); k++ {
		h := w.held[i][k]
		res, err := r.Frame(fsm.Peer(h.from), h.frame)
		if err == nil && res.Code == fsm.Deferred {
			continue
		}
		w.held[i] = slices.Delete(w.held[i], k, k+1)
		w.stepped(i, h.text, res) // and so on with what is left
		return
	}
}

// stepped judges the result of a step and carries out what it asks for.
func (w *World) stepped(i int, event string, res fsm.Result) {
	w.t.Helper()
	w.steps++
	m := w.machines[i]
	if res.Code == fsm.Refused && w.why != "" {
		w.Fail(w.why + "\n" + m.Name + " refuses " + event + " in " + m.Runner.Info().States[m.Runner.State()] + w.reason(i, res))
	}
	if res.Code == fsm.Refused || res.Code == fsm.Deferred {
		w.impossible("%s: %s is %s in %s", m.Name, event, res.Code, m.Runner.Info().States[m.Runner.State()])
	}
	for k := range m.Runner.Effects() {
		w.effect(i, k)
	}
	w.offer(i)
}

// reason says why a machine refused its last event.
func (w *World) reason(i int, res fsm.Result) string {
	r := w.machines[i].Runner
	if res.Transition != fsm.NoTransition {
		t := &r.Info().Transitions[res.Transition]
		return ": " + t.Name + " cannot be carried out"
	}
	switch x := r.Refusal(); x.Reason {
	case fsm.OutOfRange:
		return ": " + x.Field + " is not in " + x.Type
	case fsm.Unguarded:
		return ": no guard of its branches holds"
	}
	if legal := string(r.AppendLegal(nil)); legal != "" {
		return ", which handles or ignores: " + legal
	}
	return ", which handles nothing"
}

func (w *World) effect(i, k int) {
	w.t.Helper()
	r := w.machines[i].Runner
	switch e := r.Effect(k); e.Kind {
	case fsm.StartTimer:
		w.timers[timer{i, e.ID, e.Key}] = true
	case fsm.StopTimer:
		delete(w.timers, timer{i, e.ID, e.Key})
	case fsm.Send:
		frame, err := r.AppendFrame(nil, k)
		if err != nil {
			w.t.Fatalf("%s cannot encode a message: %v", w.machines[i].Name, err)
		}
		l := letter{message(string(r.AppendEffect(nil, k))), frame}
		for _, to := range w.receivers(i, e, l.text) {
			w.send(i, to, l)
		}
	}
}

// message cuts a message out of the text of a send: without its destination.
func message(effect string) string {
	text := strings.TrimPrefix(effect, "send ")
	if end := strings.LastIndexByte(text, '}'); end >= 0 {
		return text[:end+1]
	}
	text, _, _ = strings.Cut(text, " to ")
	return text
}

// receivers lists to whom a message goes. With two machines, the other one is meant where none is
// named.
func (w *World) receivers(i int, e fsm.Effect, text string) []int {
	w.t.Helper()
	var out []int
	for k := range w.machines {
		if k != i && (e.Peer == fsm.Broadcast || int(e.Peer) == k || len(w.machines) == 2 && !w.names(i)) {
			out = append(out, k)
		}
	}
	if len(out) == 0 && e.Peer != fsm.Broadcast {
		w.Fail(strings.TrimSpace(w.why + "\n" + w.machines[i].Name + " sends " + text + " to nobody"))
	}
	return out
}

// names reports whether the last step's effects name their destinations.
func (w *World) names(i int) bool {
	r := w.machines[i].Runner
	for k := range r.Effects() {
		if r.Effect(k).Kind == fsm.Send && string(r.AppendEffect(nil, k)) != "send "+message(string(r.AppendEffect(nil, k))) {
			return true
		}
	}
	return false
}

func (w *World) send(from, to int, l letter) {
	w.t.Helper()
	k := [2]int{from, to}
	if n := w.o.Capacity; n > 0 && len(w.channels[k]) >= n {
		if w.o.Full == Lose {
			return
		}
		w.Fail(strings.TrimSpace(w.why + "\n" + w.machines[from].Name + " sends " + l.text + " into a channel that is full"))
	}
	w.channels[k] = append(w.channels[k], l)
}

// Possible reports whether anything can still happen by itself: a message that is not deferred, a
// timer. It tries that, so it must be the last thing asked.
func (w *World) Possible() bool {
	if len(w.timers) > 0 {
		return true
	}
	for from := range w.machines {
		for to, m := range w.machines {
			under := w.channels[[2]int{from, to}]
			if len(under) == 0 {
				continue
			}
			if res, err := m.Runner.Frame(fsm.Peer(from), under[0].frame); err == nil && res.Code != fsm.Deferred {
				return true
			}
		}
	}
	return false
}

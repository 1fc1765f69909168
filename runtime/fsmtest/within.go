package fsmtest

import "github.com/parley-go/parley/runtime/world"

// Bound says how long it may take from where one condition becomes true until another, the goal, is
// true.
type Bound struct {
	// Beats is how many beats of time may pass.
	Beats int64
	// Of names the machines that the conditions look at. A beat has passed when all of them have
	// felt it.
	Of         []string
	When, Goal func() bool
	// Why says in the author's words what is wrong if it takes longer.
	Why string
}

// watch is a bound and its stopwatch.
type watch struct {
	Bound
	of []int
	at world.Stopwatch
}

// Within makes the test fail as soon as something takes longer than b allows. It looks at the
// machines as they are now, and then after each step.
func (w *World) Within(b Bound) {
	w.t.Helper()
	x := &watch{Bound: b}
	for _, name := range b.Of {
		x.of = append(x.of, w.number(name))
	}
	w.watches = append(w.watches, x)
	w.watch()
}

// watch asks each bound after a step.
func (w *World) watch() {
	w.t.Helper()
	for _, x := range w.watches {
		unfelt := 0
		for _, i := range x.of {
			unfelt += int(w.now.Beats >> i & 1)
		}
		if x.at = x.at.Next(len(x.of)-unfelt, unfelt, x.When(), x.Goal(), x.Beats); x.at.Late(x.Beats) {
			w.Fail(x.Why)
		}
	}
}

// Package fsmtest does a run again with generated machines, step by step: which command is given,
// which message arrives, which timer expires. Tests that `fsmgen check --test` writes are made of
// it. It carries frames between the machines in memory, in the channels that a check assumes, and
// has neither clocks nor goroutines. It knows machines by [fsm.Runner] alone, and nothing of
// specifications. Start from [New].
package fsmtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/runtime/fsm"
)

// Machine is a machine of a run and its name.
type Machine struct {
	Name   string
	Runner fsm.Runner
}

// Full says what becomes of a message that finds its channel full.
type Full int

// The choices for Options.Full.
const (
	Fault Full = iota // that is an error
	Lose              // it is lost
)

// Options are what a run assumes of its channels.
type Options struct {
	// Capacity is how many messages a channel holds; 0: any number.
	Capacity int
	Full     Full
}

// World is the machines of a run and what is under way between them. A step that is not possible
// ends the test as skipped: then the machines are others than those that the run was found with.
// One goroutine owns it.
type World struct {
	t        testing.TB
	o        Options
	machines []Machine
	channels map[[2]int][]letter
	timers   map[timer]bool
	held     [][]held     // by machine: what its state defers, oldest first
	lost     map[int]bool // crashed
	steps    int
	why      string // of the step that should be an error
}

type letter struct {
	text  string
	frame []byte
}

// held is a deferred message.
type held struct {
	from int
	letter
}

type timer struct {
	machine int
	id      uint16
	key     uint32
}

// New makes a world in which nothing has happened yet.
func New(t testing.TB, o Options, machines ...Machine) *World {
	return &World{t: t, o: o, machines: machines, channels: map[[2]int][]letter{}, timers: map[timer]bool{}, lost: map[int]bool{},
		held: make([][]held, len(machines))}
}

// Start gives a machine the event start.
func (w *World) Start(name string) {
	w.t.Helper()
	i := w.number(name)
	w.stepped(i, "start", w.machines[i].Runner.Start())
}

// Command gives a command; text tells it for people, and give gives it to the machine.
func (w *World) Command(name, text string, give func() fsm.Result) {
	w.t.Helper()
	w.stepped(w.number(name), text, give())
}

// Up and Down tell a machine that its link to another came up or was lost.
func (w *World) Up(name, peer string) {
	w.t.Helper()
	i, k := w.number(name), w.number(peer)
	w.stepped(i, "up", w.machines[i].Runner.LinkUp(fsm.Peer(k)))
}

// Down is described at Up.
func (w *World) Down(name, peer string) {
	w.t.Helper()
	i, k := w.number(name), w.number(peer)
	w.held[i] = slices.DeleteFunc(w.held[i], func(h held) bool { return h.from == k })
	w.stepped(i, "lost", w.machines[i].Runner.LinkLost(fsm.Peer(k)))
}

// Deliver takes the message at a place of a channel, from 0 for the oldest, and gives it to the
// receiver. Text says which message it has to be.
func (w *World) Deliver(from, to, text string, at int) {
	w.t.Helper()
	w.arrive(w.take(from, to, text, at), from, to)
}

// Copy is Deliver, but the message stays under way.
func (w *World) Copy(from, to, text string, at int) {
	w.t.Helper()
	w.arrive(w.look(from, to, text, at), from, to)
}

// Drop loses a message.
func (w *World) Drop(from, to, text string, at int) {
	w.t.Helper()
	w.steps++
	w.take(from, to, text, at)
}

// Swap lets the second message of a channel overtake the first.
func (w *World) Swap(from, to string) {
	w.t.Helper()
	w.steps++
	c := w.channels[w.channel(from, to)]
	if len(c) < 2 {
		w.impossible("fewer than two messages are under way from %s to %s", from, to)
	}
	c[0], c[1] = c[1], c[0]
}

// Crash switches a machine off: its timers stop, and what it holds is gone.
func (w *World) Crash(name string) {
	w.steps++
	i := w.number(name)
	w.lost[i], w.held[i] = true, nil
	maps.DeleteFunc(w.timers, func(t timer, _ bool) bool { return t.machine == i })
}

// Expire lets a timer expire; key is 0, or the number of the part that it belongs to.
func (w *World) Expire(name, timerName string, key uint32) {
	w.t.Helper()
	i := w.number(name)
	r := w.machines[i].Runner
	id := slices.Index(r.Info().Timers, timerName)
	t := timer{i, uint16(id), key}
	if id < 0 || !w.timers[t] {
		w.steps++
		w.impossible("the timer %s of %s is not armed", timerName, name)
	}
	delete(w.timers, t)
	w.stepped(i, timerName, r.Timeout(t.id, key))
}

// Wrong says that the next step is the error that was found, in the author's words. If the machine
// refuses it, or has no room for what it sends, the test fails with these words; if not, the error
// is mended.
func (w *World) Wrong(why string) { w.why = why }

// Fail ends the test as failed: why says what is wrong, in the author's words. What the machines
// hold is told, too.
func (w *World) Fail(why string) {
	w.t.Helper()
	w.t.Fatalf("after %d steps: %s\n%s", w.steps, why, w.String())
}

// Len is the number of messages from one machine that another has not handled: under way, or held
// by it because its state defers them. Only those of one name count if message is not "".
func (w *World) Len(from, to, message string) int {
	n := 0
	count := func(l letter) {
		if name, _, _ := strings.Cut(l.text, "{"); message == "" || name == message {
			n++
		}
	}
	for _, l := range w.channels[w.channel(from, to)] {
		count(l)
	}
	for _, h := range w.held[w.number(to)] {
		if h.from == w.number(from) {
			count(h.letter)
		}
	}
	return n
}

// Total is Len for all channels together.
func (w *World) Total(message string) int {
	n := 0
	for _, a := range w.machines {
		for _, b := range w.machines {
			n += w.Len(a.Name, b.Name, message)
		}
	}
	return n
}

// Crashed reports whether a machine is switched off.
func (w *World) Crashed(name string) bool { return w.lost[w.number(name)] }

// Final reports whether every machine that has not crashed is in a final state.
func (w *World) Final() bool {
	for i, m := range w.machines {
		if !w.lost[i] && !m.Runner.Info().Final[m.Runner.State()] {
			return false
		}
	}
	return true
}

// String tells the machines and what is under way.
func (w *World) String() string {
	var b strings.Builder
	for _, m := range w.machines {
		fmt.Fprintf(&b, "  %s: %s\n", m.Name, m.Runner.AppendMachine(nil))
	}
	for i, list := range w.held {
		for _, h := range list {
			fmt.Fprintf(&b, "  %s holds %s from %s\n", w.machines[i].Name, h.text, w.machines[h.from].Name)
		}
	}
	for from := range w.machines {
		for to := range w.machines {
			if c := w.channels[[2]int{from, to}]; len(c) > 0 {
				fmt.Fprintf(&b, "  %s -> %s: %s\n", w.machines[from].Name, w.machines[to].Name, texts(c))
			}
		}
	}
	return b.String()
}

func texts(c []letter) string {
	list := make([]string, len(c))
	for i, l := range c {
		list[i] = l.text
	}
	return strings.Join(list, ", ")
}

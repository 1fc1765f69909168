package system

import (
	"encoding/binary"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// A leadsTo with a bound in ticks counts the beats that pass from where its when becomes true until
// its goal is. Where both look at one instance and at nothing else, that instance counts the beats
// that it feels: a monitor. Otherwise a machine that takes no steps, a stopwatch, sees each
// configuration of the run. For it a beat has passed when all instances that the conditions look at
// have felt it, and it counts those beats that nobody of them had felt when it was started.

// The classes of a stopwatch, and of an instance with a monitor, that its claim looks at. Idle ones are
// irrelevant, which guides a search to those that wait.
const (
	idleWatch = cond.Irrelevant
	waitWatch = iota + 1
	lateWatch
)

// within adds a leadsTo with a bound: it is never late.
func (s *Machines) within(c *model.Claim) {
	e := explore.Claim{Name: c.Name, Kind: explore.Always}
	at := -1
	var eval *cond.Predicate
	for i, p := range s.Procs {
		for _, m := range p.monitors {
			if m.claim == c {
				at = i
				e.Procs = make([]func([]byte) uint32, at+1)
				e.Procs[at] = func(b []byte) uint32 { return watchClass(p.Unpack(b).Used[m.at], m.most+2) }
			}
		}
	}
	if at < 0 {
		w := s.addStopwatch(c)
		at, eval = w.proc, w.conds
		e.Procs = make([]func([]byte) uint32, at+1)
		e.Procs[at] = w.class
	}
	e.Eval = func(procs, _ []uint32) bool { return procs[at] != lateWatch }
	e.Relevant = func(procs, _ []uint32) bool { return procs[at] != idleWatch }
	s.add(c.Name, c, e, eval)
}

func watchClass(n, late int64) uint32 {
	switch n {
	case 0:
		return idleWatch
	case late:
		return lateWatch
	}
	return waitWatch
}

// stopwatch watches a leadsTo with a bound whose conditions look at several instances or at
// channels. Its local value is a [world.Stopwatch].
type stopwatch struct {
	sys   *Machines
	claim *model.Claim
	proc  int
	most  int64           // beats
	conds *cond.Predicate // when and goal, apart
	paced []int           // the clock's channels to the instances whose beats count
}

// addStopwatch adds the machine of a stopwatch, behind all others.
func (s *Machines) addStopwatch(c *model.Claim) *stopwatch {
	w := &stopwatch{sys: s, claim: c, proc: len(s.System.Procs), most: s.Check.Time.Beats(c.Within)}
	w.conds = cond.NewApart(s.Parts, c)
	for _, i := range core.Looked(len(s.Procs), core.Of(c.When), core.Of(c.Expr)) {
		w.paced = append(w.paced, s.clockAt+i)
	}
	s.System.Procs = append(s.System.Procs, w)
	s.System.ProcNames = append(s.System.ProcNames, c.Name)
	var e explore.Claim
	s.observe(&e, w.conds)
	for _, k := range w.paced {
		e.Chans[k] = func(word explore.Word) uint32 { return uint32(len(word)) }
	}
	watch := explore.Watch{Proc: w.proc, Procs: e.Procs, Chans: e.Chans, Next: w.next}
	s.System.Watches = append(s.System.Watches, watch)
	return w
}

func (w *stopwatch) Init() []byte                                    { return binary.AppendVarint(nil, 0) }
func (w *stopwatch) Final([]byte) bool                               { return true }
func (w *stopwatch) Local([]byte, func(explore.Step))                {}
func (w *stopwatch) Receive([]byte, int, []byte, func(explore.Step)) {}

func (w *stopwatch) class(v []byte) uint32 {
	switch at := w.at(v); {
	case at.Late(w.most):
		return lateWatch
	case at.Running():
		return waitWatch
	}
	return idleWatch
}

func (w *stopwatch) at(v []byte) world.Stopwatch {
	n, _ := binary.Varint(v)
	return world.Stopwatch(n)
}

// next looks at the configuration after a step.
func (w *stopwatch) next(v []byte, procs, chans []uint32) []byte {
	at := w.at(v)
	if at.Late(w.most) {
		return v
	}
	unfelt := 0
	for _, k := range w.paced {
		unfelt += int(chans[k])
	}
	when, goal := w.conds.Says(procs, chans)
	return binary.AppendVarint(nil, int64(at.Next(len(w.paced)-unfelt, unfelt, when, goal, w.most)))
}

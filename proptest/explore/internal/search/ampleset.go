package search

import (
	"fmt"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// Expansion by the steps of one machine, where they are an ample set: see tables/ample.go.

// ampleMachine finds a machine whose steps are an ample set at w.Ids, by look-up alone: -1 if there
// is none. known is false if something is missing in the tables.
func (w *Worker) ampleMachine() (p int, known bool) {
	e := w.Engine
	for p := range e.Procs {
		m := &e.Procs[p]
		a := w.Ids[p]
		if int(a) >= len(m.Runs) || m.Runs[a] == 0 {
			return -1, false
		}
		run, ok := m.Runs[a], false
		switch {
		case run == 1:
			ok, known = w.allWait(p)
		case m.Hot[run].Flags&tables.AmpleFlag != 0:
			ok, known = w.haveRoom(m, run)
		default:
			known = true
		}
		if !known || ok {
			return p, known
		}
	}
	return -1, true
}

// allWait reports whether a message lies in every channel to a machine without local steps, and all it
// does with them is in an ample set.
func (w *Worker) allWait(p int) (ok, known bool) {
	e := w.Engine
	if !e.Ample.Receive {
		return false, true
	}
	for _, k := range e.Ample.Into[p] {
		word := w.Ids[len(e.Procs)+k]
		if word == 0 {
			return false, true
		}
		l := &e.Chans[k].Heads[word]
		if l.Msg == tables.UnknownMsg {
			return false, false
		}
		switch run := e.Chans[k].Recv.Get(w.Ids[p], l.Msg); {
		case run == 0:
			return false, false
		case run == 1: // deferred until the machine has changed
		case e.Procs[p].Hot[run].Flags&tables.AmpleFlag == 0:
			return false, true
		case l.Rest == tables.UnknownWord:
			return false, false
		case ok && e.Ample.Single:
			return false, true
		default:
			ok = true
		}
	}
	return ok, true
}

// haveRoom reports whether what a run of rules sends finds room.
func (w *Worker) haveRoom(m *tables.Machine, run uint32) (ok, known bool) {
	e := w.Engine
	copy(w.next, w.Ids)
	for i := run; ; i++ {
		r := &m.Rules[i]
		for _, x := range e.Sends[r.Sends.Off : r.Sends.Off+r.Sends.N] {
			at := len(e.Procs) + int(x.Ch)
			switch n := e.Chans[x.Ch].Append.Get(w.next[at], x.Msg); n {
			case 0:
				return false, false
			case tables.OverflowWord:
				return false, true
			default:
				w.next[at] = n
			}
		}
		copy(w.next, w.Ids)
		if r.Flags&tables.LastFlag != 0 {
			return true, true
		}
	}
}

// expandAmple appends the successors of c by machine p.
func (w *Worker) expandAmple(c []uint64, p int) bool {
	e := w.Engine
	m := &e.Procs[p]
	if run := m.Runs[w.Ids[p]]; run != 1 {
		return w.take(c, p, run, -1, 0)
	}
	for _, k := range e.Ample.Into[p] {
		l := &e.Chans[k].Heads[w.Ids[len(e.Procs)+k]]
		if run := e.Chans[k].Recv.Get(w.Ids[p], l.Msg); run != 1 && !w.take(c, p, run, k, l.Rest) {
			return false
		}
	}
	return true
}

// take takes a run of rules, of a message at the head of channel at if that is not -1.
func (w *Worker) take(c []uint64, p int, run uint32, at int, rest uint32) bool {
	e := w.Engine
	if e.Lay.Stride > 1 {
		return w.runN(c, p, run, at, rest)
	}
	base := c[0]
	if at >= 0 {
		f := len(e.Procs) + at
		base += (uint64(rest) - uint64(w.Ids[f])) << (e.Lay.Fields[f].Shift & 63)
	}
	return w.run1(base, &e.Procs[p], run, at, rest)
}

// AmpleReports describes the result of the reduction.
func (s *Search) AmpleReports(r *api.Result) {
	a := s.Engine.Ample
	if a == nil {
		return
	}
	n := uint64(0)
	for _, w := range s.Workers {
		n += w.singles
	}
	name := "local steps"
	if a.Receive {
		name = "partial order"
	}
	r.Reductions = append(r.Reductions,
		fmt.Sprintf("%s: in %d configurations the steps of one machine were enough; counterexamples need "+
			"not be shortest", name, n))
}

package search

import (
	"math/bits"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// Worker is one goroutine's share of a level. It reads the tables of the
// engine and writes only to itself and the visited set. What it writes all the
// time lies apart from what other workers write: processors hand whole cache
// lines to each other, and fetch them in pairs.
type Worker struct {
	_                  [lineBytes]byte
	Engine             *tables.Engine
	Search             *Search
	Ids                []uint32
	next               []uint32
	raw, rep, one, two []uint32 // for canonize
	said               []uint32 // by bundle: outcome for the configuration at hand plus 1, 0 if it does not apply
	Buf                []uint64 // packed successors not yet inserted
	// recent remembers some successors of late; many come twice in short order.
	recent []uint64
	keys   []uint64 // successors that may be new
	homes  []uint64 // and the slots to look at first
	bad    []uint32 // faults at the configuration at hand: kind<<24 | label
	miss   []uint64 // configurations that need something not in the tables
	out    [][]uint64
	quota  int64  // insertions reserved in the visited set
	fresh  uint64 // configurations found in this round
	sink   uint64 // keeps look-ahead loads alive
	single bool   // the configuration at hand was expanded by the steps of one machine
	Skip   uint8  // flags of local steps to leave out; 0 in the search itself
	inc    uint64 // what counting adds: 1, or -1 to take back
	// uncounted takes the place of counts where steps are not to be counted.
	uncounted []uint64
	tally
	found map[FindKey][]uint64
	_     [lineBytes]byte
}

// lineBytes is a pair of cache lines.
const lineBytes = 128

// apart gives n zero numbers that share no pair of cache lines with anything else: the
// allocator puts blocks of a power of two at multiples of their size.
func apart[T uint32 | uint64](n int) []T {
	return make([]T, n, max(lineBytes/4, 1<<bits.Len(uint(n))))
}

// tally has the counts of a worker.
type tally struct {
	Steps   uint64
	singles uint64     // configurations of which only the steps of one machine were looked at
	Counts  []uint64   // by label; then lost, swapped, received and kept; then by tally
	Faults  []uint64   // the same for steps that are errors
	by      [][]uint64 // by bundle and outcome: configurations
}

func newWorker(s *Search) *Worker {
	e := s.Engine
	w := &Worker{Engine: e, Search: s, found: map[FindKey][]uint64{}, inc: 1}
	for _, ids := range []*[]uint32{&w.Ids, &w.next, &w.raw, &w.rep, &w.one, &w.two} {
		*ids = apart[uint32](e.Fields())
	}
	w.said = apart[uint32](len(e.Bundles))
	w.Counts = apart[uint64](len(e.Sys.Labels) + tables.MoreCounts)
	w.by = make([][]uint64, len(e.Bundles))
	return w
}

// expand appends all successors of c to buf and judges c. If something is
// missing in the tables, nothing is changed and the answer is false.
func (w *Worker) expand(c []uint64) bool {
	w.Engine.Lay.Unpack(c, w.Ids)
	if !w.answers() {
		return false
	}
	mark := len(w.Buf)
	moves, ok := w.generate(c, everyStep)
	if !ok {
		w.undo(c, mark)
		return false
	}
	w.judge(c, moves)
	if w.single {
		w.singles++
	}
	w.Steps += uint64((len(w.Buf)-mark)/w.Engine.Lay.Stride + len(w.bad))
	return true
}

// undo takes back what an expansion that met something unknown has done: it
// does the same again, counting down.
func (w *Worker) undo(c []uint64, mark int) {
	w.Buf = w.Buf[:mark]
	w.inc = ^uint64(0)
	w.generate(c, everyStep)
	w.inc = 1
	w.Buf = w.Buf[:mark]
}

// Successors expands c without judging it, for later passes over the levels; buf has nothing else
// in it. It returns false if c was never expanded.
func (w *Worker) Successors(c []uint64) bool { return w.SomeSuccessors(c, everyStep) }

// SomeSuccessors does what Successors does, for a part of the steps.
func (w *Worker) SomeSuccessors(c []uint64, part Steps) bool {
	w.Buf = w.Buf[:0]
	w.Engine.Lay.Unpack(c, w.Ids)
	if len(w.uncounted) < len(w.Counts) {
		w.uncounted = apart[uint64](len(w.Counts))
	}
	w.Counts, w.uncounted = w.uncounted, w.Counts
	_, ok := w.generate(c, part)
	w.Counts, w.uncounted = w.uncounted, w.Counts
	return ok
}

// Errors lists the kinds of error that steps of the configuration expanded last are.
func (w *Worker) Errors() []api.Kind {
	var list []api.Kind
	for _, b := range w.bad {
		list = append(list, api.Kind(b>>24))
	}
	return list
}

// Steps is a part of the steps of a configuration.
type Steps uint8

const (
	Deliveries Steps = 1 << iota
	OtherSteps
	everyStep = Deliveries | OtherSteps
)

// generate appends the successors of c, whose ids are in w.ids, by a part of its steps, and says
// how many of them are steps of machines. Where the steps of one machine are enough, they all count
// as deliveries.
func (w *Worker) generate(c []uint64, part Steps) (moves int, ok bool) {
	e := w.Engine
	mark := len(w.Buf)
	w.bad = w.bad[:0]
	one, known := -1, true
	if e.Ample != nil {
		one, known = w.ampleMachine()
	}
	if w.single = known && one >= 0; !known {
		return 0, false
	}
	switch {
	case !w.single && e.Lay.Stride == 1:
		ok = (part&OtherSteps == 0 || w.locals1(c[0])) && (part&Deliveries == 0 || w.deliveries1(c[0]))
	case !w.single:
		ok = (part&OtherSteps == 0 || w.localsN(c)) && (part&Deliveries == 0 || w.deliveriesN(c))
	default:
		ok = part&Deliveries == 0 || w.expandAmple(c, one)
	}
	moves = len(w.Buf) - mark + len(w.bad)
	if ok && e.Faulty && !w.single && part&OtherSteps != 0 {
		ok = w.channelFaults()
	}
	if ok && e.Watches != nil {
		ok = w.remember(mark)
	}
	if ok && e.Canon != nil {
		ok = w.canonize(mark)
	}
	return moves, ok
}

// answers looks up the claims for w.ids.
func (w *Worker) answers() bool {
	for i, b := range w.Engine.Bundles {
		w.said[i] = 0
		if b.Where != api.Everywhere && !w.Engine.Applies(b.Where, w.Ids) {
			continue
		}
		if w.said[i] = b.Outcome(w.Ids); w.said[i] == 0 {
			return false
		}
	}
	return true
}

// locals1 appends the successors by local steps, for configurations of one word.
func (w *Worker) locals1(c uint64) bool {
	e := w.Engine
	for p := range e.Procs {
		m := &e.Procs[p]
		a := w.Ids[p]
		if int(a) >= len(m.Runs) || m.Runs[a] == 0 {
			return false
		}
		if run := m.Runs[a]; run != 1 && !w.run1(c, m, run, -1, 0) {
			return false
		}
	}
	return true
}

// deliveries1 appends the successors by deliveries, for configurations of one word.
func (w *Worker) deliveries1(c uint64) bool {
	e := w.Engine
	np := len(e.Procs)
	for k := range e.Chans {
		ch := &e.Chans[k]
		word := w.Ids[np+k]
		if word == 0 {
			continue
		}
		to := ch.Spec.To
		for l := &ch.Heads[word]; ; l = &ch.More[l.More] {
			if l.Msg == tables.UnknownMsg {
				return false
			}
			run := ch.Recv.Get(w.Ids[to], l.Msg)
			if run == 0 {
				return false
			}
			if run != 1 {
				if l.Rest == tables.UnknownWord && !allFaults(&e.Procs[to], run) {
					return false
				}
				base := c + (uint64(l.Rest)-uint64(word))<<(e.Lay.Fields[np+k].Shift&63)
				if !w.run1(base, &e.Procs[to], run, k, l.Rest) {
					return false
				}
				if ch.Spec.Dup && !ch.IsFree(l.Msg) && !w.keepers(k, run) {
					return false
				}
			}
			if l.More == 0 {
				break
			}
		}
	}
	return true
}

// run1 takes every enabled rule of a run from base, a packed configuration in
// which channel at (if not -1) holds rest instead of the word in w.ids.
func (w *Worker) run1(base uint64, m *tables.Machine, run uint32, at int, rest uint32) bool {
	e := w.Engine
	buf, counts := w.Buf, w.Counts
	for i := run; ; i++ {
		r := &m.Hot[i]
		switch {
		case r.Flags&w.Skip != 0 && at < 0:
		case r.Lens != 0 && !e.Allows(r.Lens, w.Ids):
		case r.Kind == tables.PlainRule:
			buf = append(buf, base+r.Delta)
			counts[r.Label] += w.inc
		case r.Kind == tables.SendRule:
			k := int(r.Chan0)
			ch := &e.Chans[k]
			word := w.Ids[len(e.Procs)+k]
			if k == at {
				word = rest
			}
			var n uint32
			if i := ch.Append.Index(word, r.Msg0); i < uint64(len(ch.Append.Cells)) {
				n = ch.Append.Cells[i]
			} else {
				n = ch.Append.Probe(word, r.Msg0)
			}
			if n-1 < tables.OverflowWord-1 {
				buf = append(buf, base+r.Delta+(uint64(n)-uint64(word))<<(e.Lay.Fields[len(e.Procs)+k].Shift&63))
				counts[r.Label] += w.inc
			} else if n == 0 {
				w.Buf = buf
				return false
			} else if !ch.Spec.Block {
				w.bad = append(w.bad, r.Label|uint32(api.ChannelOverflow)<<24)
			}
		default:
			w.Buf = buf
			if !w.general(&m.Rules[i], false, at, rest) {
				return false
			}
			buf = w.Buf
		}
		if r.Flags&tables.LastFlag != 0 {
			w.Buf = buf
			return true
		}
	}
}

// localsN is locals1 for several words.
func (w *Worker) localsN(c []uint64) bool {
	e := w.Engine
	for p := range e.Procs {
		m := &e.Procs[p]
		a := w.Ids[p]
		if int(a) >= len(m.Runs) || m.Runs[a] == 0 {
			return false
		}
		if run := m.Runs[a]; run != 1 && !w.runN(c, p, run, -1, 0) {
			return false
		}
	}
	return true
}

// deliveriesN is deliveries1 for several words.
func (w *Worker) deliveriesN(c []uint64) bool {
	e := w.Engine
	np := len(e.Procs)
	for k := range e.Chans {
		ch := &e.Chans[k]
		word := w.Ids[np+k]
		if word == 0 {
			continue
		}
		to := ch.Spec.To
		for l := &ch.Heads[word]; ; l = &ch.More[l.More] {
			if l.Msg == tables.UnknownMsg {
				return false
			}
			run := ch.Recv.Get(w.Ids[to], l.Msg)
			if run == 0 {
				return false
			}
			if run != 1 {
				if l.Rest == tables.UnknownWord && !allFaults(&e.Procs[to], run) {
					return false
				}
				if !w.runN(c, to, run, k, l.Rest) || ch.Spec.Dup && !ch.IsFree(l.Msg) && !w.keepers(k, run) {
					return false
				}
			}
			if l.More == 0 {
				break
			}
		}
	}
	return true
}

// runN is run1 for several words; c is the configuration itself.
func (w *Worker) runN(c []uint64, p int, run uint32, at int, rest uint32) bool {
	e := w.Engine
	m := &e.Procs[p]
	np := len(e.Procs)
	for i := run; ; i++ {
		r := &m.Hot[i]
		switch {
		case r.Flags&w.Skip != 0 && at < 0:
		case r.Lens != 0 && !e.Allows(r.Lens, w.Ids):
		case r.Kind <= tables.SendRule:
			word, n, k := uint32(0), uint32(0), int(r.Chan0)
			if r.Kind == tables.SendRule {
				word = w.Ids[np+k]
				if k == at {
					word = rest
				}
				if n = e.Chans[k].Append.Get(word, r.Msg0); n == 0 {
					return false
				}
				if n == tables.OverflowWord {
					if !e.Chans[k].Spec.Block {
						w.bad = append(w.bad, r.Label|uint32(api.ChannelOverflow)<<24)
					}
					break
				}
			}
			o := len(w.Buf)
			w.Buf = append(w.Buf, c...)
			next := w.Buf[o:]
			next[e.Lay.Fields[p].Word] += r.Delta
			if at >= 0 {
				f := &e.Lay.Fields[np+at]
				next[f.Word] += (uint64(rest) - uint64(w.Ids[np+at])) << f.Shift
			}
			if r.Kind == tables.SendRule {
				f := &e.Lay.Fields[np+k]
				next[f.Word] += (uint64(n) - uint64(word)) << f.Shift
			}
			w.Counts[r.Label] += w.inc
		default:
			if !w.general(&m.Rules[i], false, at, rest) {
				return false
			}
		}
		if r.Flags&tables.LastFlag != 0 {
			return true
		}
	}
}

// allFaults reports whether a run has only faults, which take no message out.
func allFaults(m *tables.Machine, run uint32) bool {
	for i := run; ; i++ {
		if m.Hot[i].Kind != tables.FaultRule {
			return false
		}
		if m.Hot[i].Flags&tables.LastFlag != 0 {
			return true
		}
	}
}

// canonize replaces the successors in buf from mark on by those that stand for
// them. It is false if something is missing in the tables.
func (w *Worker) canonize(mark int) bool {
	e := w.Engine
	stride := e.Lay.Stride
	for o := mark; o < len(w.Buf); o += stride {
		c := w.Buf[o : o+stride]
		e.Lay.Unpack(c, w.raw)
		if !e.Canon.Look(w.raw, w.rep, w.one, w.two) {
			return false
		}
		e.Lay.Pack(w.rep, c)
	}
	return true
}

// remember does by look-up what the engine's does, for all successors in buf from mark on. It is
// false if something is missing in the tables.
func (w *Worker) remember(mark int) bool {
	e := w.Engine
	stride := e.Lay.Stride
	for o := mark; o < len(w.Buf); o += stride {
		c := w.Buf[o : o+stride]
		e.Lay.Unpack(c, w.raw)
		for i := range e.Watches {
			x := &e.Watches[i]
			next := x.B.Outcome(w.raw)
			if next == 0 {
				return false
			}
			f := &e.Lay.Fields[x.Spec.Proc]
			c[f.Word] += (uint64(next-1) - uint64(w.raw[x.Spec.Proc])) << f.Shift
		}
		for i := range e.Settled {
			p := e.Settled[i].Proc
			next := e.Settled[i].Of(w.raw[p])
			if next == 0 {
				return false
			}
			f := &e.Lay.Fields[p]
			c[f.Word] += (uint64(next-1) - uint64(w.raw[p])) << f.Shift
		}
	}
	return true
}

package explore

import "math/bits"

// worker is one goroutine's share of a level. It reads the tables of the
// engine and writes only to itself and the visited set. What it writes all the
// time lies apart from what other workers write: processors hand whole cache
// lines to each other, and fetch them in pairs.
type worker struct {
	_                  [lineBytes]byte
	e                  *engine
	s                  *search
	ids                []uint32
	next               []uint32
	raw, rep, one, two []uint32 // for canonize
	said               []uint32 // by bundle: outcome for the configuration at hand plus 1, 0 if it does not apply
	buf                []uint64 // packed successors not yet inserted
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
	skip   uint8  // flags of local steps to leave out; 0 in the search itself
	inc    uint64 // what counting adds: 1, or -1 to take back
	tally
	found map[findKey][]uint64
	_     [lineBytes]byte
}

// lineBytes is a pair of cache lines.
const lineBytes = 128

// apart gives n zero numbers that share no pair of cache lines with anything else: the
// allocator puts blocks of a power of two at multiples of their size.
func apart[T uint32 | uint64](n int) []T {
	return make([]T, n, max(lineBytes/4, 1<<bits.Len(uint(n))))
}

// tally is what workers count.
type tally struct {
	steps   uint64
	singles uint64     // configurations of which only the steps of one machine were looked at
	counts  []uint64   // by label; then lost, swapped, received and kept; then by tally
	faults  []uint64   // the same for steps that are errors
	by      [][]uint64 // by bundle and outcome: configurations
}

// What counts has after the labels.
const (
	lostCount = iota
	swapCount
	dupCount
	moreCounts
)

const maxLabel = 1<<24 - 1

func newWorker(s *search) *worker {
	e := s.e
	w := &worker{e: e, s: s, found: map[findKey][]uint64{}, inc: 1}
	for _, ids := range []*[]uint32{&w.ids, &w.next, &w.raw, &w.rep, &w.one, &w.two} {
		*ids = apart[uint32](e.fields())
	}
	w.said = apart[uint32](len(e.bundles))
	w.counts = apart[uint64](len(e.sys.Labels) + moreCounts)
	w.by = make([][]uint64, len(e.bundles))
	return w
}

// expand appends all successors of c to buf and judges c. If something is
// missing in the tables, nothing is changed and the answer is false.
func (w *worker) expand(c []uint64) bool {
	w.e.lay.unpack(c, w.ids)
	if !w.answers() {
		return false
	}
	mark := len(w.buf)
	moves, ok := w.generate(c)
	if !ok {
		w.undo(c, mark)
		return false
	}
	w.judge(c, moves)
	if w.single {
		w.singles++
	}
	w.steps += uint64((len(w.buf)-mark)/w.e.lay.stride + len(w.bad))
	return true
}

// undo takes back what an expansion that met something unknown has done: it
// does the same again, counting down.
func (w *worker) undo(c []uint64, mark int) {
	w.buf = w.buf[:mark]
	w.inc = ^uint64(0)
	w.generate(c)
	w.inc = 1
	w.buf = w.buf[:mark]
}

// successors is expand without judging, for later passes over the levels; buf
// holds nothing else. It is false if c was never expanded.
func (w *worker) successors(c []uint64) bool {
	w.buf = w.buf[:0]
	w.e.lay.unpack(c, w.ids)
	_, ok := w.generate(c)
	w.undo(c, len(w.buf))
	return ok
}

// generate appends the successors of c, whose ids are in w.ids, and says how
// many of them are steps of machines.
func (w *worker) generate(c []uint64) (moves int, ok bool) {
	e := w.e
	mark := len(w.buf)
	w.bad = w.bad[:0]
	one, known := -1, true
	if e.ample != nil {
		one, known = w.alone()
	}
	if w.single = known && one >= 0; !known {
		return 0, false
	}
	if w.single {
		ok = w.expandOne(c, one)
	} else if e.lay.stride == 1 {
		ok = w.expand1(c[0])
	} else {
		ok = w.expandN(c)
	}
	moves = len(w.buf) - mark + len(w.bad)
	if ok && e.faulty && !w.single {
		ok = w.channelFaults()
	}
	if ok && e.watches != nil {
		ok = w.remember(mark)
	}
	if ok && e.canon != nil {
		ok = w.canonize(mark)
	}
	return moves, ok
}

// answers looks up the claims for w.ids.
func (w *worker) answers() bool {
	for i, b := range w.e.bundles {
		w.said[i] = 0
		if b.where != Everywhere && !w.e.applies(b.where, w.ids) {
			continue
		}
		if w.said[i] = b.outcome(w.ids); w.said[i] == 0 {
			return false
		}
	}
	return true
}

// expand1 is the inner loop for configurations of one word.
func (w *worker) expand1(c uint64) bool {
	e := w.e
	np := len(e.procs)
	for p := range e.procs {
		m := &e.procs[p]
		a := w.ids[p]
		if int(a) >= len(m.runs) || m.runs[a] == 0 {
			return false
		}
		if run := m.runs[a]; run != 1 && !w.run1(c, m, run, -1, 0) {
			return false
		}
	}
	for k := range e.chans {
		ch := &e.chans[k]
		word := w.ids[np+k]
		if word == 0 {
			continue
		}
		to := ch.spec.To
		for l := &ch.heads[word]; ; l = &ch.more[l.more] {
			if l.msg == unknownMsg {
				return false
			}
			run := ch.recv.get(w.ids[to], l.msg)
			if run == 0 {
				return false
			}
			if run != 1 {
				if l.rest == unknownWord && !e.procs[to].allFaults(run) {
					return false
				}
				base := c + (uint64(l.rest)-uint64(word))<<(e.lay.fields[np+k].shift&63)
				if !w.run1(base, &e.procs[to], run, k, l.rest) || ch.spec.Dup && !w.keepers(k, run) {
					return false
				}
			}
			if l.more == 0 {
				break
			}
		}
	}
	return true
}

// run1 takes every enabled rule of a run from base, a packed configuration in
// which channel at (if not -1) holds rest instead of the word in w.ids.
func (w *worker) run1(base uint64, m *machine, run uint32, at int, rest uint32) bool {
	e := w.e
	buf, counts := w.buf, w.counts
	for i := run; ; i++ {
		r := &m.hot[i]
		switch {
		case r.flags&w.skip != 0 && at < 0:
		case r.lens != 0 && !e.allows(r.lens, w.ids):
		case r.kind == plainRule:
			buf = append(buf, base+r.delta)
			counts[r.label] += w.inc
		case r.kind == sendRule:
			k := int(r.chan0)
			ch := &e.chans[k]
			word := w.ids[len(e.procs)+k]
			if k == at {
				word = rest
			}
			var n uint32
			if i := ch.append.index(word, r.msg0); i < uint64(len(ch.append.cells)) {
				n = ch.append.cells[i]
			} else {
				n = ch.append.probe(word, r.msg0)
			}
			if n-1 < overflowWord-1 {
				buf = append(buf, base+r.delta+(uint64(n)-uint64(word))<<(e.lay.fields[len(e.procs)+k].shift&63))
				counts[r.label] += w.inc
			} else if n == 0 {
				w.buf = buf
				return false
			} else if !ch.spec.Block {
				w.bad = append(w.bad, r.label|uint32(ChannelOverflow)<<24)
			}
		default:
			w.buf = buf
			if !w.general(&m.rules[i], false, at, rest) {
				return false
			}
			buf = w.buf
		}
		if r.flags&lastFlag != 0 {
			w.buf = buf
			return true
		}
	}
}

// expandN is the inner loop for configurations of several words.
func (w *worker) expandN(c []uint64) bool {
	e := w.e
	np := len(e.procs)
	for p := range e.procs {
		m := &e.procs[p]
		a := w.ids[p]
		if int(a) >= len(m.runs) || m.runs[a] == 0 {
			return false
		}
		if run := m.runs[a]; run != 1 && !w.runN(c, p, run, -1, 0) {
			return false
		}
	}
	for k := range e.chans {
		ch := &e.chans[k]
		word := w.ids[np+k]
		if word == 0 {
			continue
		}
		to := ch.spec.To
		for l := &ch.heads[word]; ; l = &ch.more[l.more] {
			if l.msg == unknownMsg {
				return false
			}
			run := ch.recv.get(w.ids[to], l.msg)
			if run == 0 {
				return false
			}
			if run != 1 {
				if l.rest == unknownWord && !e.procs[to].allFaults(run) {
					return false
				}
				if !w.runN(c, to, run, k, l.rest) || ch.spec.Dup && !w.keepers(k, run) {
					return false
				}
			}
			if l.more == 0 {
				break
			}
		}
	}
	return true
}

// runN is run1 for several words; c is the configuration itself.
func (w *worker) runN(c []uint64, p int, run uint32, at int, rest uint32) bool {
	e := w.e
	m := &e.procs[p]
	np := len(e.procs)
	for i := run; ; i++ {
		r := &m.hot[i]
		switch {
		case r.flags&w.skip != 0 && at < 0:
		case r.lens != 0 && !e.allows(r.lens, w.ids):
		case r.kind <= sendRule:
			word, n, k := uint32(0), uint32(0), int(r.chan0)
			if r.kind == sendRule {
				word = w.ids[np+k]
				if k == at {
					word = rest
				}
				if n = e.chans[k].append.get(word, r.msg0); n == 0 {
					return false
				}
				if n == overflowWord {
					if !e.chans[k].spec.Block {
						w.bad = append(w.bad, r.label|uint32(ChannelOverflow)<<24)
					}
					break
				}
			}
			o := len(w.buf)
			w.buf = append(w.buf, c...)
			next := w.buf[o:]
			next[e.lay.fields[p].word] += r.delta
			if at >= 0 {
				f := &e.lay.fields[np+at]
				next[f.word] += (uint64(rest) - uint64(w.ids[np+at])) << f.shift
			}
			if r.kind == sendRule {
				f := &e.lay.fields[np+k]
				next[f.word] += (uint64(n) - uint64(word)) << f.shift
			}
			w.counts[r.label] += w.inc
		default:
			if !w.general(&m.rules[i], false, at, rest) {
				return false
			}
		}
		if r.flags&lastFlag != 0 {
			return true
		}
	}
}

// allFaults says whether a run has only faults, which take no message out.
func (m *machine) allFaults(run uint32) bool {
	for i := run; ; i++ {
		if m.hot[i].kind != faultRule {
			return false
		}
		if m.hot[i].flags&lastFlag != 0 {
			return true
		}
	}
}

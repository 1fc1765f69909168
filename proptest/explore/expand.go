package explore

// worker is one goroutine's share of a level. It reads the tables of the
// engine and writes only to itself and the visited set.
type worker struct {
	e    *engine
	s    *search
	ids  []uint32
	next []uint32
	said []uint32 // by bundle: outcome for the configuration at hand plus 1, 0 if it does not apply
	buf  []uint64 // packed successors not yet inserted
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
	skip   uint8  // flags of local steps to leave out; 0 in the search itself
	inc    uint64 // what counting adds: 1, or -1 to take back
	tally
	found map[findKey][]uint64
}

// tally is what workers count.
type tally struct {
	steps  uint64
	counts []uint64   // by label; then lost, swapped, received and kept
	by     [][]uint64 // by bundle and outcome: configurations
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
	w.ids = make([]uint32, e.fields())
	w.next = make([]uint32, e.fields())
	w.said = make([]uint32, len(e.bundles))
	w.counts = make([]uint64, len(e.sys.Labels)+moreCounts)
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
	if e.lay.stride == 1 {
		ok = w.expand1(c[0])
	} else {
		ok = w.expandN(c)
	}
	moves = len(w.buf) - mark + len(w.bad)
	if ok && e.faulty {
		ok = w.channelFaults()
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

// general takes a rule that is neither plain nor a single send; with keep, a
// reception that leaves the message in its channel.
func (w *worker) general(r *rule, keep bool, at int, rest uint32) bool {
	e := w.e
	if r.kind == faultRule {
		w.bad = append(w.bad, r.label|uint32(e.faultKind(r))<<24)
		return true
	}
	np := len(e.procs)
	copy(w.next, w.ids)
	if at >= 0 {
		w.next[np+at] = rest
	}
	if keep {
		if known, ok := w.spend(dupFault); !known || !ok {
			return known
		}
	}
	if r.flags&crashFlag != 0 {
		if known, ok := w.spend(crashFault); !known || !ok {
			return known
		}
	}
	w.next[r.proc] = r.next
	for _, s := range e.sends[r.sends.off : r.sends.off+r.sends.n] {
		c := &e.chans[s.ch]
		n := c.append.get(w.next[np+int(s.ch)], s.msg)
		if n == 0 {
			return false
		}
		if n == overflowWord {
			if !c.spec.Block {
				w.bad = append(w.bad, r.label|uint32(ChannelOverflow)<<24)
			}
			return true
		}
		w.next[np+int(s.ch)] = n
	}
	if keep {
		w.counts[len(e.sys.Labels)+dupCount] += w.inc
	}
	w.emit(int(r.label))
	return true
}

// emit packs w.next and counts it under label.
func (w *worker) emit(label int) {
	o := len(w.buf)
	for range w.e.lay.stride {
		w.buf = append(w.buf, 0)
	}
	w.e.lay.pack(w.next, w.buf[o:])
	w.counts[label] += w.inc
}

// spend counts a fault in w.next by look-up.
func (w *worker) spend(kind int) (known, ok bool) {
	e := w.e
	if e.budgets == nil {
		return true, true
	}
	at := len(e.procs) + len(e.chans)
	id := e.spent[w.next[at]][kind]
	if id == 0 {
		return false, false
	}
	if id == overflowWord {
		return true, false
	}
	w.next[at] = id - 1
	return true, true
}

// keepers takes the receptions of a run that leave the message in channel k.
func (w *worker) keepers(k int, run uint32) bool {
	rules := w.e.procs[w.e.chans[k].spec.To].rules
	for i := run; ; i++ {
		r := &rules[i]
		if r.kind != faultRule && (r.lens == 0 || w.e.allows(r.lens, w.ids)) && !w.general(r, true, -1, 0) {
			return false
		}
		if r.flags&lastFlag != 0 {
			return true
		}
	}
}

// channelFaults appends what lossy and swapping channels can do.
func (w *worker) channelFaults() bool {
	e := w.e
	for k := range e.chans {
		ch := &e.chans[k]
		if w.ids[len(e.procs)+k] == 0 {
			continue
		}
		if ch.spec.Lossy && !w.lose(k) || ch.spec.Swap && !w.swap(k) {
			return false
		}
	}
	return true
}

func (w *worker) lose(k int) bool {
	e := w.e
	ch, at := &e.chans[k], len(e.procs)+k
	copy(w.next, w.ids)
	known, ok := w.spend(lossFault)
	for l := &ch.heads[w.ids[at]]; ok; l = &ch.more[l.more] {
		if l.rest == unknownWord {
			return false
		}
		w.next[at] = l.rest
		w.emit(len(e.sys.Labels) + lostCount)
		if l.more == 0 {
			break
		}
	}
	return known
}

func (w *worker) swap(k int) bool {
	e := w.e
	ch, at := &e.chans[k], len(e.procs)+k
	copy(w.next, w.ids)
	n, met := ch.swaps[w.ids[at]]
	if !met {
		return false
	}
	if n == w.ids[at] {
		return true
	}
	w.next[at] = n
	known, ok := w.spend(swapFault)
	if ok {
		w.emit(len(e.sys.Labels) + swapCount)
	}
	return known
}

// judge notes what is wrong with c, from which machines have so many moves.
func (w *worker) judge(c []uint64, moves int) {
	e := w.e
	for i, v := range w.said {
		if v != 0 {
			w.judgeClaims(i, v-1, c)
		}
	}
	for _, b := range w.bad {
		w.note(findKey{what: foundFault, label: int(b & maxLabel), kind: Kind(b >> 24)}, c)
	}
	final := e.allFinal(w.ids)
	checks := w.s.checks
	switch {
	case final && moves == 0 && checks&CheckOrphan != 0 && !e.empty(w.ids):
		w.note(findKey{what: foundOrphan}, c)
	case final:
	case moves == 0 && checks&CheckDeadlock != 0:
		w.note(findKey{what: foundDeadlock}, c)
	case checks&CheckStuck != 0 && w.stuck():
		w.note(findKey{what: foundDeadlock}, c)
	}
}

// judgeClaims counts an outcome of a bundle and notes c if it is worth a trace.
func (w *worker) judgeClaims(i int, v uint32, c []uint64) {
	for int(v) >= len(w.by[i]) {
		w.by[i] = append(w.by[i], 0)
	}
	w.by[i][v]++
	b := w.e.bundles[i]
	if !b.outcomes[v].note {
		return
	}
	for j, claim := range b.claims {
		held := b.outcomes[v].bits[j]&heldBit != 0
		switch kind := w.e.sys.Claims[claim].Kind; {
		case kind == Sometimes && held:
			w.note(findKey{what: foundWitness, claim: claim}, c)
		case kind == Always && !held:
			w.note(findKey{what: foundClaim, claim: claim}, c)
		}
	}
}

// stuck says whether only spontaneous steps are possible at w.ids.
func (w *worker) stuck() bool {
	stuck := true
	w.s.sequential.Lock()
	defer w.s.sequential.Unlock()
	w.e.moves(w.ids, func(m *move) bool {
		if m.rule != nil && (m.rule.flags&spontaneousFlag == 0 || m.kind != LocalStep) {
			stuck = false
		}
		return stuck
	})
	return stuck
}

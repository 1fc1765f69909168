package explore

// worker is one goroutine's share of a level. It reads the tables of the
// engine and writes only to itself and the visited set.
type worker struct {
	e     *engine
	s     *search
	ids   []uint32
	next  []uint32
	memo  []uint8  // answers of the claims for the configuration at hand
	buf   []uint64 // packed successors not yet inserted
	labs  []uint32 // and how each came about
	keys  []uint64 // those of them that may be new
	homes []uint64 // and the slots to look at first
	// recent remembers some successors of late; many come twice in short order.
	recent []uint64
	bad    []uint32 // faults at the configuration at hand: kind<<24 | label
	miss   []uint64 // configurations that need something not in the tables
	out    [][]uint64
	quota  int64 // insertions reserved in the visited set
	fresh  uint64
	sink   uint64 // keeps the look-ahead loads alive
	tally
	found map[findKey][]uint64
}

// tally is what workers count.
type tally struct {
	steps  uint64
	counts []uint64 // by label; then lost, swapped
	dups   uint64
	rel    []uint64 // by claim
	held   []uint64
}

// dupBit marks, in worker.labs, a reception that leaves the message.
const (
	dupBit   = 1 << 31
	maxLabel = 1<<24 - 1
)

func newWorker(s *search) *worker {
	e := s.e
	w := &worker{e: e, s: s, found: map[findKey][]uint64{}}
	w.ids = make([]uint32, e.fields())
	w.next = make([]uint32, e.fields())
	w.memo = make([]uint8, len(e.claims))
	w.counts = make([]uint64, len(e.sys.Labels)+2)
	w.rel = make([]uint64, len(e.claims))
	w.held = make([]uint64, len(e.claims))
	return w
}

// expand appends all successors of c to buf and judges c. If something is
// missing in the tables, nothing is changed and the answer is false.
func (w *worker) expand(c []uint64) bool {
	mark := len(w.labs)
	if !w.generate(c) {
		return false
	}
	w.judge(c, mark)
	return true
}

// generate is expand without judging.
func (w *worker) generate(c []uint64) bool {
	e := w.e
	e.lay.unpack(c, w.ids)
	if !w.known() {
		return false
	}
	mark := len(w.labs)
	w.bad = w.bad[:0]
	var ok bool
	if e.lay.stride == 1 {
		ok = w.expand1(c[0])
	} else {
		ok = w.expandN(c)
	}
	if ok && e.faulty {
		ok = w.channelFaults(c)
	}
	if !ok {
		w.buf = w.buf[:mark*e.lay.stride]
		w.labs = w.labs[:mark]
		return false
	}
	return true
}

// known looks up whether the fields and claims of w.ids are in the tables.
func (w *worker) known() bool {
	e := w.e
	for p := range e.procs {
		if a := w.ids[p]; int(a) >= len(e.procs[p].runs) || e.procs[p].runs[a] == 0 {
			return false
		}
	}
	for k := range e.chans {
		if e.chans[k].heads[w.ids[len(e.procs)+k]].msg == unknownMsg {
			return false
		}
	}
	for i := range e.claims {
		t := &e.claims[i]
		w.memo[i] = 0
		if t.where != Everywhere && !e.applies(t.where, w.ids) {
			continue
		}
		if w.memo[i] = t.answer(w.ids); w.memo[i] == 0 {
			return false
		}
	}
	return true
}

// lensOK evaluates the guards of r over channel lengths.
func (w *worker) lensOK(r *rule) bool {
	e := w.e
	for _, l := range e.lens[r.lens.off : r.lens.off+r.lens.n] {
		n := e.chans[l.ch].length(w.ids[len(e.procs)+int(l.ch)], l.kind)
		if n < l.lo || n > l.hi {
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
		if run := m.runs[w.ids[p]]; run != 1 && !w.run1(c, m.rules, run, 0, -1, 0) {
			return false
		}
	}
	for k := range e.chans {
		ch := &e.chans[k]
		word := w.ids[np+k]
		if word == 0 {
			continue
		}
		for l := &ch.heads[word]; ; l = &ch.more[l.more] {
			run := ch.recv.get(w.ids[ch.spec.To], l.msg)
			if run == 0 {
				return false
			}
			if run != 1 {
				base := c
				if l.rest != unknownWord {
					base += (uint64(l.rest) - uint64(word)) << e.lay.fields[np+k].shift
				}
				if !w.run1(base, e.procs[ch.spec.To].rules, run, 0, k, l.rest) {
					return false
				}
				if ch.spec.Dup && !w.keepers(k, run) {
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
func (w *worker) run1(base uint64, rules []rule, run uint32, flag uint32, at int, rest uint32) bool {
	e := w.e
	for i := run; ; i++ {
		r := &rules[i]
		if r.lens.n != 0 && !w.lensOK(r) {
			goto next
		}
		if rest == unknownWord && r.kind != faultRule {
			return false
		}
		switch r.kind {
		case plainRule:
			w.buf = append(w.buf, base+r.delta)
			w.labs = append(w.labs, r.label|flag)
		case sendRule:
			k := int(r.chan0)
			word := w.ids[len(e.procs)+k]
			if k == at {
				word = rest
			}
			n := e.chans[k].append.get(word, r.msg0)
			if n-1 < overflowWord-1 {
				w.buf = append(w.buf, base+r.delta+(uint64(n)-uint64(word))<<e.lay.fields[len(e.procs)+k].shift)
				w.labs = append(w.labs, r.label|flag)
			} else if n == 0 {
				return false
			} else if !e.chans[k].spec.Block {
				w.bad = append(w.bad, r.label|uint32(ChannelOverflow)<<24)
			}
		default:
			if !w.general(r, flag, at, rest) {
				return false
			}
		}
	next:
		if r.flags&lastFlag != 0 {
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
		if run := m.runs[w.ids[p]]; run != 1 && !w.runN(c, m.rules, run, 0, -1, 0) {
			return false
		}
	}
	for k := range e.chans {
		ch := &e.chans[k]
		word := w.ids[np+k]
		if word == 0 {
			continue
		}
		for l := &ch.heads[word]; ; l = &ch.more[l.more] {
			run := ch.recv.get(w.ids[ch.spec.To], l.msg)
			if run == 0 {
				return false
			}
			if run != 1 && !w.runN(c, e.procs[ch.spec.To].rules, run, 0, k, l.rest) {
				return false
			}
			if run != 1 && ch.spec.Dup && !w.keepers(k, run) {
				return false
			}
			if l.more == 0 {
				break
			}
		}
	}
	return true
}

// runN is run1 for several words; c is the configuration itself.
func (w *worker) runN(c []uint64, rules []rule, run uint32, flag uint32, at int, rest uint32) bool {
	e := w.e
	np := len(e.procs)
	for i := run; ; i++ {
		r := &rules[i]
		if r.lens.n != 0 && !w.lensOK(r) {
			goto next
		}
		if rest == unknownWord && r.kind != faultRule {
			return false
		}
		switch r.kind {
		case plainRule, sendRule:
			word, n, k := uint32(0), uint32(0), int(r.chan0)
			if r.kind == sendRule {
				word = w.ids[np+k]
				if k == at {
					word = rest
				}
				n = e.chans[k].append.get(word, r.msg0)
				if n == 0 {
					return false
				}
				if n == overflowWord {
					if !e.chans[k].spec.Block {
						w.bad = append(w.bad, r.label|uint32(ChannelOverflow)<<24)
					}
					goto next
				}
			}
			o := len(w.buf)
			w.buf = append(w.buf, c...)
			w.buf[o+int(e.lay.fields[r.proc].word)] += r.delta
			if at >= 0 {
				f := &e.lay.fields[np+at]
				w.buf[o+int(f.word)] += (uint64(rest) - uint64(w.ids[np+at])) << f.shift
			}
			if r.kind == sendRule {
				f := &e.lay.fields[np+k]
				w.buf[o+int(f.word)] += (uint64(n) - uint64(word)) << f.shift
			}
			w.labs = append(w.labs, r.label|flag)
		default:
			if !w.general(r, flag, at, rest) {
				return false
			}
		}
	next:
		if r.flags&lastFlag != 0 {
			return true
		}
	}
}

// general takes a rule that is neither plain nor a single send.
func (w *worker) general(r *rule, flag uint32, at int, rest uint32) bool {
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
	if flag == dupBit {
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
	w.emit(r.label | flag)
	return true
}

// emit packs w.next.
func (w *worker) emit(label uint32) {
	o := len(w.buf)
	for range w.e.lay.stride {
		w.buf = append(w.buf, 0)
	}
	w.e.lay.pack(w.next, w.buf[o:])
	w.labs = append(w.labs, label)
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
		if r.kind != faultRule && (r.lens.n == 0 || w.lensOK(r)) && !w.general(r, dupBit, -1, 0) {
			return false
		}
		if r.flags&lastFlag != 0 {
			return true
		}
	}
}

// channelFaults appends what lossy and swapping channels can do.
func (w *worker) channelFaults(c []uint64) bool {
	e := w.e
	for k := range e.chans {
		ch, at := &e.chans[k], len(e.procs)+k
		word := w.ids[at]
		if word == 0 || !ch.spec.Lossy && !ch.spec.Swap {
			continue
		}
		copy(w.next, w.ids)
		if ch.spec.Lossy {
			known, ok := w.spend(lossFault)
			for l := &ch.heads[word]; ok; l = &ch.more[l.more] {
				if l.rest == unknownWord {
					return false
				}
				w.next[at] = l.rest
				w.emit(uint32(len(e.sys.Labels)))
				if l.more == 0 {
					break
				}
			}
			if !known {
				return false
			}
		}
		copy(w.next, w.ids)
		if ch.spec.Swap {
			n, known := ch.swaps[word]
			if !known {
				return false
			}
			if n == word {
				continue
			}
			w.next[at] = n
			known, ok := w.spend(swapFault)
			if !known {
				return false
			}
			if ok {
				w.emit(uint32(len(e.sys.Labels) + 1))
			}
		}
	}
	return true
}

// judge counts what happened at c and notes what is wrong with it. labs from
// mark on belong to c.
func (w *worker) judge(c []uint64, mark int) {
	e := w.e
	for i := range e.claims {
		w.judgeClaim(i, c)
	}
	for _, b := range w.bad {
		w.note(findKey{what: foundFault, label: int(b & maxLabel), kind: Kind(b >> 24)}, c)
	}
	moves := len(w.bad)
	for _, l := range w.labs[mark:] {
		if l&^dupBit < uint32(len(e.sys.Labels)) {
			moves++
			break
		}
	}
	w.steps += uint64(len(w.labs) - mark + len(w.bad))
	final := e.allFinal(w.ids)
	checks := w.s.checks
	switch {
	case final && checks&CheckOrphan != 0 && !e.empty(w.ids):
		w.note(findKey{what: foundOrphan}, c)
	case final:
	case moves == 0 && checks&CheckDeadlock != 0:
		w.note(findKey{what: foundDeadlock}, c)
	case checks&CheckStuck != 0 && w.stuck():
		w.note(findKey{what: foundDeadlock}, c)
	}
}

func (w *worker) judgeClaim(i int, c []uint64) {
	v := w.memo[i]
	if v == 0 {
		return
	}
	t := &w.e.claims[i]
	if v&memoRelevant != 0 {
		w.rel[i]++
	}
	if v&memoHeld != 0 {
		w.held[i]++
		if t.spec.Kind == Sometimes {
			w.note(findKey{what: foundWitness, claim: i}, c)
		}
	} else if t.spec.Kind == Always {
		w.note(findKey{what: foundClaim, claim: i}, c)
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

package explore

import "fmt"

// Moves: everything that can happen in a configuration, one after the other,
// with all details. The inner loop in expand.go says the same by look-ups.

// move is one thing that can happen in a configuration; overwritten by the next one.
type move struct {
	kind StepKind
	proc int // -1: the channel itself
	ch   int // -1: a local step
	msg  uint32
	rule *rule // nil: the channel itself
	// fault is set if the move is an error; next is then of no use.
	fault *Fault
	next  []uint32 // ids afterwards; overwritten by the next move
}

// moves calls fn for everything that can happen at ids, in a fixed order, and
// interns what it meets. fn returns false to stop.
func (e *engine) moves(ids []uint32, fn func(*move) bool) {
	if e.watches != nil {
		fn = e.remembering(fn)
	}
	for p := range e.procs {
		run := e.localRun(p, ids[p])
		if run == 1 {
			continue
		}
		for i := run; ; i++ {
			r := &e.procs[p].rules[i]
			if !e.try(ids, ids, e.is(move{kind: LocalStep, proc: p, ch: -1, rule: r}), fn) {
				return
			}
			if r.flags&lastFlag != 0 {
				break
			}
		}
	}
	for k := range e.chans {
		if !e.deliveries(ids, k, fn) {
			return
		}
	}
}

// deliveries are the moves of one channel and its receiver.
func (e *engine) deliveries(ids []uint32, k int, fn func(*move) bool) bool {
	c := &e.chans[k]
	at := len(e.procs) + k
	w, to := ids[at], c.spec.To
	c.meet(w)
	base := append(e.baseBuf[:0], ids...)
	e.baseBuf = base
	for i := uint32(0); ; i++ {
		l := c.letterAt(w, i)
		if l == nil {
			break
		}
		msg := l.msg
		run := e.recvRun(k, ids[to], msg)
		for j := run; run != 1; j++ {
			r := &e.procs[to].rules[j]
			copy(base, ids)
			if r.kind != faultRule {
				base[at] = c.take(w, i)
			}
			if !e.try(ids, base, e.is(move{kind: ReceiveStep, proc: to, ch: k, msg: msg, rule: r}), fn) {
				return false
			}
			if c.spec.Dup && r.kind != faultRule {
				copy(base, ids)
				if e.spend(base, dupFault) && !e.try(ids, base, e.is(move{kind: DupStep, proc: to, ch: k, msg: msg, rule: r}), fn) {
					return false
				}
			}
			if r.flags&lastFlag != 0 {
				break
			}
		}
		copy(base, ids)
		if c.spec.Lossy && e.spend(base, lossFault) {
			base[at] = c.take(w, i)
			if !fn(e.is(move{kind: LoseStep, proc: -1, ch: k, msg: msg, next: base})) {
				return false
			}
		}
	}
	copy(base, ids)
	if c.spec.Swap && c.swapped(w) != w && e.spend(base, swapFault) {
		base[at] = c.swapped(w)
		return fn(e.is(move{kind: SwapStep, proc: -1, ch: k, msg: c.heads[w].msg, next: base}))
	}
	return true
}

// is keeps m where the next one will be: moves are many, and looked at one by one.
func (e *engine) is(m move) *move {
	e.move = m
	return &e.move
}

// try takes a rule from base (ids with the message already taken) if it is
// enabled at ids.
func (e *engine) try(ids, base []uint32, m *move, fn func(*move) bool) bool {
	r := m.rule
	if r.lens != 0 && !e.allows(r.lens, ids) {
		return true
	}
	next := append(e.nextBuf[:0], base...)
	e.nextBuf = next
	if r.kind == faultRule {
		m.fault = e.notes[r.note].fault
		return fn(m)
	}
	if r.flags&crashFlag != 0 && !e.spend(next, crashFault) {
		return true
	}
	next[m.proc] = r.next
	for _, s := range e.sends[r.sends.off : r.sends.off+r.sends.n] {
		at := len(e.procs) + int(s.ch)
		w := e.chans[s.ch].push(next[at], s.msg)
		if w == overflowWord {
			if e.chans[s.ch].spec.Block {
				return true
			}
			m.fault = e.overflow(int(s.ch), s.msg)
			return fn(m)
		}
		next[at] = w
	}
	m.next = next
	return fn(m)
}

// spend counts one fault of the given kind; ok is false if there is none left.
func (e *engine) spend(ids []uint32, kind int) (ok bool) {
	if e.budgets == nil {
		return true
	}
	at := len(e.procs) + len(e.chans)
	id := e.spent[ids[at]][kind]
	if id == 0 {
		id = e.spendSlow(ids[at], kind)
	}
	if id == overflowWord {
		return false
	}
	ids[at] = id - 1
	return true
}

func (e *engine) spendSlow(from uint32, kind int) uint32 {
	b, limit := e.budgets[from], e.sys.Budget
	used := [4]*int{&b.Loss, &b.Dup, &b.Swap, &b.Crash}[kind]
	most := [4]int{limit.Loss, limit.Dup, limit.Swap, limit.Crash}[kind]
	id := overflowWord
	switch {
	case most == 0:
		id = from + 1 // no limit, nothing to count
	case *used < most:
		*used++
		id = e.budgetID(b) + 1
	}
	e.spent[from][kind] = id
	return id
}

func (e *engine) budgetID(b Budget) uint32 {
	for i, x := range e.budgets {
		if x == b {
			return uint32(i)
		}
	}
	e.budgets = append(e.budgets, b)
	e.spent = append(e.spent, [4]uint32{})
	return uint32(len(e.budgets) - 1)
}

func (e *engine) faultKind(r *rule) Kind {
	if k := e.notes[r.note].fault.Kind; k != 0 {
		return k
	}
	return OtherFault
}

func (e *engine) overflow(ch int, msg uint32) *Fault {
	c := &e.chans[ch]
	return &Fault{ChannelOverflow, fmt.Sprintf("%s holds %d already and has no room for %s",
		e.chanName(ch), c.spec.Cap, e.msgName(ch, []byte(c.msgs.vals[msg])))}
}

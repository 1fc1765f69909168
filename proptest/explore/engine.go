package explore

import (
	"fmt"
	"strconv"
)

// engine holds the tables of one run. The sequential code here interns what it
// meets; the parallel code in expand.go only reads.
type engine struct {
	sys     *System
	opt     Options
	procs   []machine
	chans   []channel
	sends   []sendID
	lens    []lenID // runs of guards, each different run once; 0 is none
	lensIDs map[string]uint32
	notes   []noteText // 0 is none

	budgets  []Budget    // by id: what has been used; nil without a budget
	spent    [][4]uint32 // by id and fault: the id afterwards plus 1, overflowWord if used up, 0 unknown
	lay      layout
	bundles  []*bundle
	faulty   bool // some channel loses, duplicates or swaps
	visited  *table
	levels   []level
	grown    bool // an id no longer fits the layout
	ids      []uint32
	nextBuf  []uint32
	memLimit uint64
	peak     uint64
}

type lenID struct {
	lo, hi uint32
	ch     uint16
	kind   uint8
	last   bool // of the guards of a rule
}

type noteText struct {
	note  []byte
	fault *Fault
}

// The kinds of fault a budget counts.
const (
	lossFault = iota
	dupFault
	swapFault
	crashFault
)

func newEngine(sys *System, opt Options) *engine {
	e := &engine{sys: sys, opt: opt, notes: make([]noteText, 1), lens: make([]lenID, 1), lensIDs: map[string]uint32{}}
	e.procs = make([]machine, len(sys.Procs))
	for i := range e.procs {
		e.procs[i] = machine{proc: sys.Procs[i], rules: []rule{{}, {kind: noRule, flags: lastFlag}}, hot: make([]hotRule, 2)}
	}
	e.chans = make([]channel, len(sys.Channels))
	for i := range e.chans {
		e.chans[i].init(&sys.Channels[i])
		c := &sys.Channels[i]
		e.faulty = e.faulty || c.Lossy || c.Dup || c.Swap
	}
	if sys.Budget != (Budget{}) {
		e.budgets = []Budget{{}}
		e.spent = make([][4]uint32, 1)
	}
	e.lay = newLayout(e.fields(), e.counts(), opt.minStride)
	e.initClaims()
	return e
}

// fields is the number of fields of a configuration: machines, channels and
// perhaps what was used of the budget.
func (e *engine) fields() int {
	n := len(e.procs) + len(e.chans)
	if e.budgets != nil {
		n++
	}
	return n
}

// counts gives the number of ids in use for each field.
func (e *engine) counts() []int {
	n := make([]int, 0, e.fields())
	for i := range e.procs {
		n = append(n, len(e.procs[i].locals.vals))
	}
	for i := range e.chans {
		n = append(n, len(e.chans[i].words))
	}
	if e.budgets != nil {
		n = append(n, len(e.budgets))
	}
	return n
}

// initial gives the ids of the first configuration.
func (e *engine) initial() []uint32 {
	ids := make([]uint32, e.fields())
	for i := range e.procs {
		ids[i] = e.procs[i].locals.id(e.sys.Procs[i].Init())
	}
	return ids
}

// localRun gives the run of local rules of machine p at local value a.
func (e *engine) localRun(p int, a uint32) uint32 {
	m := &e.procs[p]
	for int(a) >= len(m.runs) {
		m.runs = append(m.runs, 0)
		m.final = append(m.final, false)
	}
	if m.runs[a] == 0 {
		v := []byte(m.locals.vals[a])
		m.final[a] = m.proc.Final(v)
		m.runs[a] = e.collect(p, a, func(emit func(Step)) { m.proc.Local(v, emit) })
	}
	return m.runs[a]
}

// recvRun gives the run for message m of channel ch at local value a.
func (e *engine) recvRun(ch int, a, msg uint32) uint32 {
	c := &e.chans[ch]
	c.recv.widen(len(c.msgs.vals))
	run := c.recv.get(a, msg)
	if run == 0 {
		m := &e.procs[c.spec.To]
		run = e.collect(c.spec.To, a, func(emit func(Step)) {
			m.proc.Receive([]byte(m.locals.vals[a]), ch, []byte(c.msgs.vals[msg]), emit)
		})
		c.recv.set(a, msg, run)
	}
	return run
}

// collect turns the steps that from emits into a run of rules.
func (e *engine) collect(p int, a uint32, from func(func(Step))) uint32 {
	m := &e.procs[p]
	first := len(m.rules)
	from(func(s Step) { m.rules = append(m.rules, e.compile(p, a, &s)) })
	if len(m.rules) == first {
		return 1
	}
	m.rules[len(m.rules)-1].flags |= lastFlag
	for i := first; i < len(m.rules); i++ {
		m.hot = append(m.hot, e.heat(p, &m.rules[i]))
	}
	return uint32(first)
}

func (e *engine) compile(p int, a uint32, s *Step) rule {
	m := &e.procs[p]
	r := rule{label: s.Label, self: a, next: a, proc: uint16(p)}
	if int(s.Label) >= len(e.sys.Labels) {
		panic(fmt.Sprintf("explore: machine %d emitted label %d of %d", p, s.Label, len(e.sys.Labels)))
	}
	if s.Fault == nil {
		r.next = m.locals.id(s.Next)
	}
	r.sends = span{uint32(len(e.sends)), uint32(len(s.Sends))}
	for _, x := range s.Sends {
		e.sends = append(e.sends, sendID{uint32(x.Channel), e.chans[x.Channel].msgs.id(x.Msg)})
	}
	r.lens = e.guards(s.Lens)
	if len(s.Note) > 0 || s.Fault != nil {
		r.note = uint32(len(e.notes))
		e.notes = append(e.notes, noteText{append([]byte(nil), s.Note...), s.Fault})
	}
	if s.Spontaneous {
		r.flags |= spontaneousFlag
	}
	if s.Crash {
		r.flags |= crashFlag
	}
	r.kind = ruleKind(s, e.budgets != nil)
	if len(s.Sends) > 0 {
		r.chan0, r.msg0 = e.sends[r.sends.off].ch, e.sends[r.sends.off].msg
	}
	return r
}

// heat gives the part of a rule that the inner loop looks at.
func (e *engine) heat(p int, r *rule) hotRule {
	return hotRule{
		delta: (uint64(r.next) - uint64(r.self)) << e.lay.fields[p].shift,
		label: r.label, msg0: r.msg0, lens: r.lens, chan0: uint16(r.chan0), kind: r.kind, flags: r.flags,
	}
}

// guards interns a run of guards.
func (e *engine) guards(lens []LenRange) uint32 {
	if len(lens) == 0 {
		return 0
	}
	key := fmt.Sprint(lens)
	if off, ok := e.lensIDs[key]; ok {
		return off
	}
	off := uint32(len(e.lens))
	e.lensIDs[key] = off
	for i, x := range lens {
		hi := uint32(1 << 30)
		if x.Hi >= 0 {
			hi = uint32(x.Hi)
		}
		e.lens = append(e.lens, lenID{uint32(max(x.Lo, 0)), hi, uint16(x.Channel), x.Kind, i == len(lens)-1})
	}
	return off
}

// allows evaluates a run of guards.
func (e *engine) allows(off uint32, ids []uint32) bool {
	for i := off; ; i++ {
		l := &e.lens[i]
		c := &e.chans[l.ch]
		word := ids[len(e.procs)+int(l.ch)]
		n := c.heads[word].n
		if l.kind != 0 {
			n = c.length(word, l.kind)
		}
		if n < l.lo || n > l.hi {
			return false
		}
		if l.last {
			return true
		}
	}
}

func ruleKind(s *Step, budget bool) uint8 {
	switch {
	case s.Fault != nil:
		return faultRule
	case len(s.Sends) > 1 || s.Crash && budget:
		return generalRule
	case len(s.Sends) == 1:
		return sendRule
	}
	return plainRule
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

// move is one thing that can happen in a configuration.
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
	for p := range e.procs {
		run := e.localRun(p, ids[p])
		if run == 1 {
			continue
		}
		for i := run; ; i++ {
			r := &e.procs[p].rules[i]
			if !e.try(ids, ids, &move{kind: LocalStep, proc: p, ch: -1, rule: r}, fn) {
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
	base := make([]uint32, len(ids))
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
			if !e.try(ids, base, &move{kind: ReceiveStep, proc: to, ch: k, msg: msg, rule: r}, fn) {
				return false
			}
			if c.spec.Dup && r.kind != faultRule {
				copy(base, ids)
				if e.spend(base, dupFault) && !e.try(ids, base, &move{kind: DupStep, proc: to, ch: k, msg: msg, rule: r}, fn) {
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
			if !fn(&move{kind: LoseStep, proc: -1, ch: k, msg: msg, next: base}) {
				return false
			}
		}
	}
	copy(base, ids)
	if c.spec.Swap && c.swapped(w) != w && e.spend(base, swapFault) {
		base[at] = c.swapped(w)
		return fn(&move{kind: SwapStep, proc: -1, ch: k, msg: c.heads[w].msg, next: base})
	}
	return true
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

func (e *engine) chanName(k int) string {
	if n := e.sys.Channels[k].Name; n != "" {
		return n
	}
	return "channel " + strconv.Itoa(k)
}

func (e *engine) procName(p int) string {
	if p < len(e.sys.ProcNames) && e.sys.ProcNames[p] != "" {
		return e.sys.ProcNames[p]
	}
	return "p" + strconv.Itoa(p)
}

func (e *engine) msgName(ch int, b []byte) string {
	if e.sys.MsgName != nil {
		return e.sys.MsgName(ch, b)
	}
	return strconv.Quote(string(b))
}

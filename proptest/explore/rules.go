package explore

import (
	"fmt"
	"slices"
)

// Rules: what a machine can do at one local value, compiled from its steps.

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
		m.runs[a] = e.collect(p, a, -1, func(emit func(Step)) { m.proc.Local(v, emit) })
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
		run = e.collect(c.spec.To, a, ch, func(emit func(Step)) {
			m.proc.Receive([]byte(m.locals.vals[a]), ch, []byte(c.msgs.vals[msg]), emit)
		})
		c.recv.set(a, msg, run)
	}
	return run
}

// collect turns the steps that from emits into a run of rules; ch is -1 for local ones.
func (e *engine) collect(p int, a uint32, ch int, from func(func(Step))) uint32 {
	m := &e.procs[p]
	first := len(m.rules)
	from(func(s Step) { m.rules = append(m.rules, e.compile(p, a, &s)) })
	if len(m.rules) == first {
		return 1
	}
	m.rules[len(m.rules)-1].flags |= lastFlag
	if e.ample != nil && e.firstOnly(p, a, ch, m.rules[first:]) {
		m.rules[first].flags |= firstFlag
	}
	for i := first; i < len(m.rules); i++ {
		m.hot = append(m.hot, e.heat(p, &m.rules[i]))
	}
	return uint32(first)
}

func (e *engine) compile(p int, a uint32, s *Step) rule {
	m := &e.procs[p]
	r := rule{label: s.Label, count: e.counted(s.Label, s.Tally), self: a, next: a, proc: uint16(p)}
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
	r.does = e.doing(s.Duties)
	if e.ample != nil {
		e.keepsPromises(p, s)
	}
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

// doing interns the duties of a step, as units.
func (e *engine) doing(duties []int) uint32 {
	if len(duties) == 0 {
		return 0
	}
	var units []int32
	for _, d := range duties {
		if d < 0 || d >= len(e.sys.Duties) {
			panic(fmt.Sprintf("explore: a step has duty %d of %d", d, len(e.sys.Duties)))
		}
		units = append(units, int32(len(e.sys.Labels)+len(e.chans)+d))
	}
	for i, old := range e.duties {
		if i > 0 && slices.Equal(old, units) {
			return uint32(i)
		}
	}
	e.duties = append(e.duties, units)
	return uint32(len(e.duties) - 1)
}

// heat gives the part of a rule that the inner loop looks at.
func (e *engine) heat(p int, r *rule) hotRule {
	return hotRule{
		delta: (uint64(r.next) - uint64(r.self)) << e.lay.fields[p].shift,
		label: r.count, msg0: r.msg0, lens: r.lens, chan0: uint16(r.chan0), kind: r.kind, flags: r.flags,
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

package tables

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
)

// Rules: what a machine can do at one local value, compiled from its steps.

// localRun gives the run of local rules of machine p at local value a.
func (e *Engine) localRun(p int, a uint32) uint32 {
	m := &e.Procs[p]
	for int(a) >= len(m.Runs) {
		m.Runs = append(m.Runs, 0)
		m.final = append(m.final, false)
		m.holds = append(m.holds, false)
	}
	if m.Runs[a] == 0 {
		v := []byte(m.Locals.Vals[a])
		m.final[a] = m.Proc.Final(v)
		m.holds[a] = e.Sys.Held != nil && len(e.Sys.Held(p, v)) > 0
		m.Runs[a] = e.collect(p, a, -1, func(emit func(api.Step)) { m.Proc.Local(v, emit) })
		e.Canon.tryLocal(p, v)
	}
	return m.Runs[a]
}

// recvRun gives the run for message m of channel ch at local value a.
func (e *Engine) recvRun(ch int, a, msg uint32) uint32 {
	c := &e.Chans[ch]
	c.Recv.Widen(len(c.msgs.Vals))
	run := c.Recv.Get(a, msg)
	if run == 0 {
		m := &e.Procs[c.Spec.To]
		run = e.collect(c.Spec.To, a, ch, func(emit func(api.Step)) {
			m.Proc.Receive([]byte(m.Locals.Vals[a]), ch, []byte(c.msgs.Vals[msg]), emit)
		})
		c.Recv.Set(a, msg, run)
		e.Canon.tryReceive(ch, []byte(m.Locals.Vals[a]), []byte(c.msgs.Vals[msg]))
	}
	return run
}

// collect turns the steps that from emits into a run of rules; ch is -1 for local ones.
func (e *Engine) collect(p int, a uint32, ch int, from func(func(api.Step))) uint32 {
	m := &e.Procs[p]
	first := len(m.Rules)
	from(func(s api.Step) { m.Rules = append(m.Rules, e.compile(p, a, &s)) })
	if len(m.Rules) == first {
		return 1
	}
	m.Rules[len(m.Rules)-1].Flags |= LastFlag
	if e.Ample != nil && e.isAmple(p, a, ch, m.Rules[first:]) {
		m.Rules[first].Flags |= AmpleFlag
	}
	for i := first; i < len(m.Rules); i++ {
		m.Hot = append(m.Hot, e.Heat(p, &m.Rules[i]))
	}
	return uint32(first)
}

func (e *Engine) compile(p int, a uint32, s *api.Step) Rule {
	m := &e.Procs[p]
	r := Rule{Label: s.Label, Count: e.counted(s.Label, s.Tally), self: a, Next: a, Proc: uint16(p)}
	if int(s.Label) >= len(e.Sys.Labels) {
		panic(fmt.Sprintf("explore: machine %d emitted label %d of %d", p, s.Label, len(e.Sys.Labels)))
	}
	if s.Fault == nil {
		r.Next = m.Locals.id(s.Next)
	}
	r.Sends = span{uint32(len(e.Sends)), uint32(len(s.Sends))}
	for _, x := range s.Sends {
		e.Sends = append(e.Sends, sendID{uint32(x.Channel), e.Chans[x.Channel].msgs.id(x.Msg)})
	}
	r.Ages = span{uint32(len(e.Ages)), uint32(len(s.Ages))}
	for _, k := range s.Ages {
		e.Ages = append(e.Ages, uint32(k))
	}
	r.Lens = e.guards(s.Lens)
	r.Does = e.doing(s.Constraints)
	if e.Ample != nil {
		e.keepsPromises(p, s)
	}
	if len(s.Note) > 0 || s.Fault != nil {
		r.Note = uint32(len(e.Notes))
		e.Notes = append(e.Notes, noteText{append([]byte(nil), s.Note...), s.Fault})
	}
	if s.Spontaneous {
		r.Flags |= SpontaneousFlag
	}
	if s.Once {
		r.Flags |= OnceFlag
	}
	r.Spends = uint8(s.Spends)
	r.Kind = ruleKind(s, e.Budgets != nil)
	if len(s.Sends) > 0 {
		r.chan0, r.msg0 = e.Sends[r.Sends.Off].Ch, e.Sends[r.Sends.Off].Msg
	}
	return r
}

// doing interns the constraints of a step, as units.
func (e *Engine) doing(constraints []int) uint32 {
	if len(constraints) == 0 {
		return 0
	}
	var units []int32
	for _, d := range constraints {
		if d < 0 || d >= len(e.Sys.Constraints) {
			panic(fmt.Sprintf("explore: a step has constraint %d of %d", d, len(e.Sys.Constraints)))
		}
		units = append(units, int32(len(e.Sys.Labels)+len(e.Chans)+d))
	}
	for i, old := range e.Constraints {
		if i > 0 && slices.Equal(old, units) {
			return uint32(i)
		}
	}
	e.Constraints = append(e.Constraints, units)
	return uint32(len(e.Constraints) - 1)
}

// Heat gives the part of a rule that the inner loop looks at.
func (e *Engine) Heat(p int, r *Rule) hotRule {
	return hotRule{
		Delta: (uint64(r.Next) - uint64(r.self)) << e.Lay.Fields[p].Shift,
		Label: r.Count, Msg0: r.msg0, Lens: r.Lens, Chan0: uint16(r.chan0), Kind: r.Kind, Flags: r.Flags,
	}
}

// guards interns a run of guards.
func (e *Engine) guards(lens []api.LenRange) uint32 {
	if len(lens) == 0 {
		return 0
	}
	key := fmt.Sprint(lens)
	if off, ok := e.lensIDs[key]; ok {
		return off
	}
	off := uint32(len(e.Lens))
	e.lensIDs[key] = off
	for i, x := range lens {
		hi := uint32(1 << 30)
		if x.Hi >= 0 {
			hi = uint32(x.Hi)
		}
		e.Lens = append(e.Lens, lenID{uint32(max(x.Lo, 0)), hi, uint16(x.Channel), x.Kind, i == len(lens)-1})
	}
	return off
}

// Allows evaluates a run of guards.
func (e *Engine) Allows(off uint32, ids []uint32) bool {
	for i := off; ; i++ {
		l := &e.Lens[i]
		c := &e.Chans[l.ch]
		word := ids[len(e.Procs)+int(l.ch)]
		n := c.Heads[word].n
		if l.kind != 0 || c.frees != nil {
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

func ruleKind(s *api.Step, budget bool) uint8 {
	switch {
	case s.Fault != nil:
		return FaultRule
	case len(s.Sends) > 1 || len(s.Ages) > 0 || s.Spends != 0 && budget:
		return generalRule
	case len(s.Sends) == 1:
		return SendRule
	}
	return PlainRule
}

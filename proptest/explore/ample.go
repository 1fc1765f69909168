package explore

import "fmt"

// Looking at the steps of one machine only, where that loses nothing.
//
// If everything that a machine can do now it can still do, with the same outcome, whatever the
// others do before, and if it makes no difference to the others either, and no claim sees it, then
// it may as well do it first: every run has a counterpart in which it did. Here is where that is so:
//
//   - ReduceLocal: the machine is deaf (it takes no message), and has local steps without guards over
//     channels, after which it is no longer deaf; they send, if at all, into channels of its own, which
//     have room.
//   - ReducePartialOrder: the machine has no local steps, a message lies at the head of every channel to it, and what it
//     does with each sends nothing. These channels keep their order and their messages, only one machine sends
//     into each, nobody looks at their length, and senders wait when they are full. (Where a send
//     into a full channel is an error, taking a message early could hide it.)
//
// No claim sees a step if the classes of the machine before and after it are the same, and those of the
// channels are not looked at, or if the class before settles the claim (Claim.Mute).
//
// Claims about what can still be reached (Possible) hold in the smaller graph if they do in the whole one as long as there is
// no choice among the steps done first, and nothing but classes decides what a claim sees.
//
// No step is put off for ever: a deaf machine does not become deaf again by such steps, and each of the
// others takes a message away and sends none, so that no cycle consists of them alone.

// Deaf is implemented by machines that take no message at some values: there Receive emits
// nothing, for any message.
type Deaf interface{ Deaf(v []byte) bool }

// ample is what the engine knows of it.
type ample struct {
	local, receive bool
	single         bool    // only one step, not a choice, may be done first: a claim is about what can still be reached
	into           [][]int // by machine: the channels that lead to it
	broken         string  // a promise of the system that was not kept
}

// initAmple decides whether to use it, and says why not.
func (e *engine) initAmple() {
	a := ample{local: e.opt.Reduce&ReduceLocal != 0, receive: e.opt.Reduce&ReducePartialOrder != 0, into: make([][]int, len(e.procs))}
	if !a.local && !a.receive || e.opt.Mode == RandomWalk {
		return
	}
	name := "partial order"
	if !a.receive {
		name = "local steps"
	}
	if len(e.sys.Watches) > 0 {
		e.refused = append(e.refused, name+": what is remembered of a run depends on the order of its steps")
		return
	}
	for i := range e.sys.Claims {
		c := &e.sys.Claims[i]
		a.single = a.single || c.Kind == Possible
		if c.Kind > Possible || c.Kind == Possible && c.Calm {
			e.refused = append(e.refused, name+": "+quote(c.Name)+" is about the order of steps or about fair runs, and not every order is looked at")
			return
		}
	}
	if e.opt.Checks&CheckStuck != 0 {
		e.refused = append(e.refused, name+": configurations in which only some steps are possible would be passed over")
		return
	}
	waits := len(e.chans) > 0
	for k := range e.chans {
		c := e.chans[k].spec
		a.into[c.To] = append(a.into[c.To], k)
		waits = waits && c.yields()
	}
	if a.receive && !waits {
		e.refused = append(e.refused, "partial order of receptions: it needs channels that keep order and messages, that belong to one sender, at whose length nobody looks, and that make senders wait when they are full (where that is an error, taking a message early could hide it)")
		a.receive = false
	}
	if a.local || a.receive {
		e.ample = &a
	}
}

// yields says whether taking a message early from this channel changes nothing for others.
func (c *Channel) yields() bool {
	return c.Private && c.Block && c.Order == FIFO && !c.Lossy && !c.Dup && !c.Swap
}

// keepsPromises looks at a new rule.
func (e *engine) keepsPromises(p int, s *Step) {
	for _, x := range s.Sends {
		if c := &e.sys.Channels[x.Channel]; c.Private && c.From != p {
			e.ample.broken = fmt.Sprintf("%s sends into %s, which is private to %s", e.procName(p), e.chanName(x.Channel), e.procName(c.From))
		}
	}
	for _, x := range s.Lens {
		if e.sys.Channels[x.Channel].Private {
			e.ample.broken = fmt.Sprintf("%s looks at the length of %s, which is private", e.procName(p), e.chanName(x.Channel))
		}
	}
}

// firstOnly says whether a run of rules of machine p at a is such that, if nothing else is possible for
// it, the steps of others may wait. ch is -1 for local steps.
func (e *engine) firstOnly(p int, a uint32, ch int, rules []rule) bool {
	deaf, ok := e.procs[p].proc.(Deaf)
	isDeaf := func(id uint32) bool { return ok && deaf.Deaf([]byte(e.procs[p].locals.vals[id])) }
	if ch < 0 && (!e.ample.local || !isDeaf(a)) || ch >= 0 && !e.ample.receive {
		return false
	}
	if e.ample.single && len(rules) > 1 {
		return false
	}
	for i := range rules {
		r := &rules[i]
		if r.kind == faultRule || r.lens != 0 || r.flags&crashFlag != 0 || isDeaf(r.next) {
			return false
		}
		sends := e.sends[r.sends.off : r.sends.off+r.sends.n]
		touched := make([]int, 0, len(sends)+1)
		for _, x := range sends {
			if c := e.chans[x.ch].spec; !c.Private || c.From != p || ch >= 0 {
				return false
			}
			touched = append(touched, int(x.ch))
		}
		if ch >= 0 {
			touched = append(touched, ch)
		}
		for j := range e.sys.Claims {
			if e.sees(&e.sys.Claims[j], p, a, r.next, touched) {
				return false
			}
		}
	}
	return true
}

// sees says whether a claim can tell a configuration from the one after a step of machine p from a to b
// that touches some channels.
func (e *engine) sees(c *Claim, p int, a, b uint32, touched []int) bool {
	class := e.class(c, p, a)
	if c.Mute != nil && c.Kind != Possible && c.observes(p, len(e.procs)) && c.Mute(p, class) {
		return false
	}
	if class != e.class(c, p, b) || c.At == Quiescent && len(touched) > 0 {
		return true
	}
	proc := e.procs[p].proc
	if c.At == AtEnd && proc.Final([]byte(e.procs[p].locals.vals[a])) != proc.Final([]byte(e.procs[p].locals.vals[b])) {
		return true
	}
	for _, k := range touched {
		if c.observes(len(e.procs)+k, len(e.procs)) {
			return true
		}
	}
	return false
}

// alone finds a machine whose steps are enough at w.ids, by look-up alone: -1 if there is none. known
// is false if something is missing in the tables.
func (w *worker) alone() (p int, known bool) {
	e := w.e
	for p := range e.procs {
		m := &e.procs[p]
		a := w.ids[p]
		if int(a) >= len(m.runs) || m.runs[a] == 0 {
			return -1, false
		}
		run, ok := m.runs[a], false
		switch {
		case run == 1:
			ok, known = w.allWait(p)
		case m.hot[run].flags&firstFlag != 0:
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

// allWait says whether a message lies in every channel to a machine without local steps, and all it
// does with them may be done first.
func (w *worker) allWait(p int) (ok, known bool) {
	e := w.e
	if !e.ample.receive {
		return false, true
	}
	for _, k := range e.ample.into[p] {
		word := w.ids[len(e.procs)+k]
		if word == 0 {
			return false, true
		}
		l := &e.chans[k].heads[word]
		if l.msg == unknownMsg {
			return false, false
		}
		switch run := e.chans[k].recv.get(w.ids[p], l.msg); {
		case run == 0:
			return false, false
		case run == 1: // deferred until the machine has changed
		case e.procs[p].hot[run].flags&firstFlag == 0:
			return false, true
		case l.rest == unknownWord:
			return false, false
		case ok && e.ample.single:
			return false, true
		default:
			ok = true
		}
	}
	return ok, true
}

// haveRoom says whether what a run of rules sends finds room.
func (w *worker) haveRoom(m *machine, run uint32) (ok, known bool) {
	e := w.e
	copy(w.next, w.ids)
	for i := run; ; i++ {
		r := &m.rules[i]
		for _, x := range e.sends[r.sends.off : r.sends.off+r.sends.n] {
			at := len(e.procs) + int(x.ch)
			switch n := e.chans[x.ch].append.get(w.next[at], x.msg); n {
			case 0:
				return false, false
			case overflowWord:
				return false, true
			default:
				w.next[at] = n
			}
		}
		copy(w.next, w.ids)
		if r.flags&lastFlag != 0 {
			return true, true
		}
	}
}

// expandOne appends the successors of c by machine p.
func (w *worker) expandOne(c []uint64, p int) bool {
	e := w.e
	m := &e.procs[p]
	if run := m.runs[w.ids[p]]; run != 1 {
		return w.take(c, p, run, -1, 0)
	}
	for _, k := range e.ample.into[p] {
		l := &e.chans[k].heads[w.ids[len(e.procs)+k]]
		if run := e.chans[k].recv.get(w.ids[p], l.msg); run != 1 && !w.take(c, p, run, k, l.rest) {
			return false
		}
	}
	return true
}

// take takes a run of rules, of a message at the head of channel at if that is not -1.
func (w *worker) take(c []uint64, p int, run uint32, at int, rest uint32) bool {
	e := w.e
	if e.lay.stride > 1 {
		return w.runN(c, p, run, at, rest)
	}
	base := c[0]
	if at >= 0 {
		f := len(e.procs) + at
		base += (uint64(rest) - uint64(w.ids[f])) << (e.lay.fields[f].shift & 63)
	}
	return w.run1(base, &e.procs[p], run, at, rest)
}

// ampleReports says what came of it.
func (s *search) ampleReports(r *Result) {
	a := s.e.ample
	if a == nil {
		return
	}
	n := uint64(0)
	for _, w := range s.workers {
		n += w.singles
	}
	name := "local steps"
	if a.receive {
		name = "partial order"
	}
	r.Reductions = append(r.Reductions, fmt.Sprintf("%s: in %d configurations the steps of one machine were enough; counterexamples need not be shortest", name, n))
}

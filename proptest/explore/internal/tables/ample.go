package tables

import (
	"fmt"

	"github.com/parley-go/parley/proptest/explore/internal/api"
)

// Partial-order reduction by ample sets (Peled, CAV 1993; Clarke, Grumberg, Peled: Model Checking,
// 1999, chapter 10).
//
// Of a configuration only the steps of one machine are taken, if they are an ample set:
//
//   - C0: the machine has a step, so no deadlock is made.
//   - C1: whatever other machines do first, the machine can still do the same with the same
//     outcome, and what it does makes no difference to them.
//   - C2: its steps are invisible: no claim sees them. So runs that differ only in the order of
//     such steps are alike but for stuttering.
//   - C3, the cycle proviso: no step is left out along a whole cycle.
//
// Two kinds of machines satisfy C1:
//
//   - ReduceLocal: the machine takes no message (it is deaf), and has local steps without guards
//     over channels, after which it is no longer deaf. They send, if at all, into channels of its
//     own, which have room.
//   - ReducePartialOrder: the machine has no local steps, a message lies at the head of every
//     channel to it, and what it does with each sends nothing. These channels keep their order and
//     their messages, only one machine sends into each, no guard looks at their length, and senders
//     wait when they are full. (Where a send into a full channel is an error, taking a message
//     early could hide it.)
//
// A step is invisible to a claim if the classes of the machine before and after it are the same,
// and those of the channels are not looked at, or if the class before it settles the claim
// ([api.Claim].Invisible).
//
// C3 holds since a deaf machine does not become deaf again by such steps, and each of the
// others takes a message away and sends none: no cycle consists of them alone.
//
// Claims about what can still be reached (Possible) are not about single runs. They hold in the
// reduced graph if they do in the whole one as long as an ample set is one step, and nothing but
// classes decides what a claim sees.

// ample says which ample sets are looked for.
type ample struct {
	local, Receive bool

	// Single: only one step, not a choice, is an ample set, since a claim is about what can still
	// be reached.
	Single bool
	Into   [][]int // by machine: the channels that lead to it
	Broken string  // a promise of the system that was not kept
}

// initAmple decides whether to use it, and says why not.
func (e *Engine) initAmple() {
	a := ample{
		local:   e.Opt.Reduce&api.ReduceLocal != 0,
		Receive: e.Opt.Reduce&api.ReducePartialOrder != 0,
		Into:    make([][]int, len(e.Procs)),
	}
	if !a.local && !a.Receive || e.Opt.Mode == api.RandomWalk {
		return
	}
	name := "partial order"
	if !a.Receive {
		name = "local steps"
	}
	refuse := func(why string) { e.Refused = append(e.Refused, name+": "+why) }
	if len(e.Sys.Watches) > 0 {
		refuse("what is remembered of a run depends on the order of its steps")
		return
	}
	for i := range e.Sys.Claims {
		c := &e.Sys.Claims[i]
		a.Single = a.Single || c.Kind == api.Possible
		if c.Kind > api.Possible || c.Kind == api.Possible && c.Calm {
			refuse(quote(c.Name) + " is about the order of steps or about fair runs, " +
				"and not every order is looked at")
			return
		}
	}
	if e.Opt.Checks&api.CheckStuck != 0 {
		refuse("configurations in which only some steps are possible would be passed over")
		return
	}
	waits := len(e.Chans) > 0
	for k := range e.Chans {
		c := e.Chans[k].Spec
		a.Into[c.To] = append(a.Into[c.To], k)
		waits = waits && yields(c)
	}
	if a.Receive && !waits {
		e.Refused = append(e.Refused, "partial order of receptions: it needs channels "+
			"that keep order and messages, that belong to one sender, at whose length nobody looks, "+
			"and that make senders wait when they are full "+
			"(where that is an error, taking a message early could hide it)")
		a.Receive = false
	}
	if a.local || a.Receive {
		e.Ample = &a
	}
}

// yields reports whether taking a message early from this channel changes nothing for others.
func yields(c *api.Channel) bool {
	return c.Private && c.Block && c.Order == api.FIFO && !c.Lossy && !c.Dup && !c.Swap && c.Tail == nil
}

// keepsPromises looks at a new rule.
func (e *Engine) keepsPromises(p int, s *api.Step) {
	for _, x := range s.Sends {
		if c := &e.Sys.Channels[x.Channel]; c.Private && c.From != p {
			e.Ample.Broken = fmt.Sprintf("%s sends into %s, which is private to %s",
				e.ProcName(p), e.ChanName(x.Channel), e.ProcName(c.From))
		}
	}
	for _, x := range s.Lens {
		if e.Sys.Channels[x.Channel].Private {
			e.Ample.Broken = fmt.Sprintf("%s looks at the length of %s, which is private",
				e.ProcName(p), e.ChanName(x.Channel))
		}
	}
}

// isAmple reports whether a run of rules of machine p at a satisfies C1 and C2, if nothing else is
// possible for the machine. ch is -1 for local steps.
func (e *Engine) isAmple(p int, a uint32, ch int, rules []Rule) bool {
	deaf, ok := e.Procs[p].Proc.(api.Deaf)
	isDeaf := func(id uint32) bool { return ok && deaf.Deaf([]byte(e.Procs[p].Locals.Vals[id])) }
	if ch < 0 && (!e.Ample.local || !isDeaf(a)) || ch >= 0 && !e.Ample.Receive {
		return false
	}
	if e.Ample.Single && len(rules) > 1 {
		return false
	}
	for i := range rules {
		r := &rules[i]
		if r.Kind == FaultRule || r.Lens != 0 || r.Spends != 0 || r.Ages.N > 0 || isDeaf(r.Next) {
			return false
		}
		sends := e.Sends[r.Sends.Off : r.Sends.Off+r.Sends.N]
		touched := make([]int, 0, len(sends)+1)
		for _, x := range sends {
			if c := e.Chans[x.Ch].Spec; !c.Private || c.From != p || ch >= 0 {
				return false
			}
			touched = append(touched, int(x.Ch))
		}
		if ch >= 0 {
			touched = append(touched, ch)
		}
		for j := range e.Sys.Claims {
			if e.sees(&e.Sys.Claims[j], p, a, r.Next, touched) {
				return false
			}
		}
	}
	return true
}

// sees reports whether a step of machine p from a to b that touches some channels is visible to a
// claim.
func (e *Engine) sees(c *api.Claim, p int, a, b uint32, touched []int) bool {
	class := e.class(c, p, a)
	if c.Invisible != nil && c.Kind != api.Possible && observes(c, p, len(e.Procs)) && c.Invisible(p, class) {
		return false
	}
	if class != e.class(c, p, b) || c.At == api.Quiescent && len(touched) > 0 {
		return true
	}
	m := &e.Procs[p]
	final := func(local uint32) bool { return m.Proc.Final([]byte(m.Locals.Vals[local])) }
	if c.At == api.AtEnd && final(a) != final(b) {
		return true
	}
	for _, k := range touched {
		if observes(c, len(e.Procs)+k, len(e.Procs)) {
			return true
		}
	}
	return false
}

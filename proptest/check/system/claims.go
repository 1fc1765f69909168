package system

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

var kindOf = map[model.ClaimKind]explore.ClaimKind{
	model.Always: explore.Always, model.Agree: explore.Always, model.Sometimes: explore.Sometimes,
	model.Reachable: explore.Possible, model.Confluent: explore.Confluent,
	model.Eventually: explore.Eventually, model.LeadsTo: explore.LeadsTo,
}

var fairnessOf = map[string]explore.Fairness{
	"": explore.Unfair, "weak": explore.Weak, "strong": explore.Strong, "messages": explore.StrongMessages,
}

// claims adds the stated claims, and deadlock if the check says where rest is allowed.
func (s *Machines) claims() {
	for _, c := range s.Check.Claims {
		s.claim(c)
	}
	if s.Check.Quiet != nil || s.Check.Time != nil {
		s.Checks &^= explore.CheckDeadlock
		if s.Check.Time == nil {
			s.Checks |= explore.CheckLeft
		}
		if slices.ContainsFunc(s.Check.Channels(), func(c model.Channel) bool { return c.Full == model.FullWait }) {
			s.Checks |= explore.CheckStuck
		}
		s.quiet()
	}
}

// claim translates one stated claim.
func (s *Machines) claim(c *model.Claim) {
	e := explore.Claim{Name: c.Name, Kind: kindOf[c.Kind], Fair: fairnessOf[c.Fair]}
	if c.Quiescent {
		e.At = explore.Quiescent
	}
	var p *cond.Predicate
	switch c.Kind {
	case model.Always:
		when, body := core.Of(c.When), core.Of(c.Expr)
		if x, ok := body.(*core.If); ok && x.Form == core.FormImplies && when == nil {
			when, body = x.Cond, x.Then
		}
		p = cond.New(s.Parts, core.Conjuncts(when), body, cond.Implies)
	case model.Agree:
		p = cond.New(s.Parts, core.Conjuncts(core.Of(c.When)), core.Of(cond.Equalities(c)), cond.Implies)
	case model.Sometimes, model.Eventually:
		p = cond.New(s.Parts, core.Conjuncts(core.Of(c.Expr)), nil, cond.Need)
	case model.LeadsTo:
		if c.Within > 0 {
			s.within(c)
		} else {
			s.leadsTo(c, e)
		}
		return
	case model.Reachable:
		if c.When != nil {
			s.leadsTo(c, e)
			return
		}
		p = cond.New(s.Parts, core.Conjuncts(core.Of(c.Expr)), nil, cond.Need)
	case model.Confluent:
		e.Exempt = func(a, b uint32) bool { return s.exempt(c, a) || s.exempt(c, b) || s.chosen(a, b) }
		s.add(c.Name, c, e, nil)
		return
	}
	s.observe(&e, p)
	e.Eval = p.Holds
	e.Invisible = func(_ int, class uint32) bool { return class == cond.Irrelevant }
	if (c.Kind == model.Always || c.Kind == model.Agree) && p.Guarded() {
		e.Relevant = p.Relevant
	}
	s.add(c.Name, c, e, p)
}

// leadsTo (and reachable from where a condition holds) needs two predicates over the same classes:
// the guard is the trigger, the body is the target.
func (s *Machines) leadsTo(c *model.Claim, e explore.Claim) {
	p := cond.NewApart(s.Parts, c)
	s.observe(&e, p)
	e.Eval = p.Goal
	e.Relevant = p.When
	s.add(c.Name, c, e, p)
}

// observe sets the class functions of a claim, only where something is looked at.
func (s *Machines) observe(e *explore.Claim, p *cond.Predicate) {
	e.Procs = make([]func([]byte) uint32, s.Parts.MonitorsAt+len(s.Joint))
	e.Chans = make([]func(explore.Word) uint32, len(s.System.Channels))
	for i := range s.Parts.Layouts {
		if p.LooksAtInstance(i) {
			e.Procs[s.Parts.Machine(i)] = func(b []byte) uint32 { return p.OfInstance(i, b) }
		}
	}
	for k := range s.Own {
		if p.LooksAtChannel(k) {
			e.Chans[k] = func(w explore.Word) uint32 { return p.OfChannel(k, w) }
		}
	}
}

func (s *Machines) add(name string, c *model.Claim, e explore.Claim, p *cond.Predicate) {
	s.Claims = append(s.Claims, Claim{Name: name, Stated: c, Index: len(s.System.Claims), Eval: p})
	s.System.Claims = append(s.System.Claims, e)
}

// exempt reports whether a confluence claim leaves out the event of a label, or a transition that it stands for.
func (s *Machines) exempt(c *model.Claim, label uint32) bool {
	if s.isSpecial(label) {
		return true
	}
	l := s.System.Labels[label]
	if l.Proc < 0 || len(s.Taken[label]) == 0 {
		return slices.Contains(c.Except, l.Name)
	}
	all := s.Procs[l.Proc].Role.Transitions
	return slices.Contains(c.Except, all[s.Taken[label][0]].Event.Name) ||
		slices.ContainsFunc(s.Taken[label], func(t int) bool { return slices.Contains(c.Except, all[t].Name) })
}

// chosen reports whether two labels are commands of one instance: its program decides their order.
func (s *Machines) chosen(a, b uint32) bool {
	x, y := s.System.Labels[a], s.System.Labels[b]
	if x.Proc != y.Proc || x.Proc < 0 {
		return false
	}
	for _, l := range []uint32{a, b} {
		if len(s.Taken[l]) == 0 || s.Procs[x.Proc].Role.Transitions[s.Taken[l][0]].Event.Kind != model.EventCommand {
			return false
		}
	}
	return true
}

// quiet adds the claim that where nothing but commands is possible every
// machine is final or the check's quiet holds. What is possible follows from
// classes: of an instance, whether it can move by itself; of a channel, whether something lies in it. That
// nobody can take that is [explore.CheckStuck]'s business.
func (s *Machines) quiet() {
	quiet := s.Check.Quiet
	if quiet == nil { // the clock goes on for ever, so that this is the only way to see the end
		quiet = &model.Lit{ExprBase: model.ExprBase{T: &model.Type{Kind: model.KindBool}}}
	}
	p := cond.New(s.Parts, nil, core.Of(quiet), cond.Implies)
	e := explore.Claim{Name: report.Deadlock, Kind: explore.Always,
		Procs: make([]func([]byte) uint32, len(s.Procs)),
		Chans: make([]func(explore.Word) uint32, len(s.System.Channels))}
	rest := make([]cond.Classes, len(s.Procs))
	words := make([]cond.Classes, len(s.System.Channels))
	for i := range s.Procs {
		e.Procs[i] = func(b []byte) uint32 {
			tuple := append(s.resting(i, b), int64(p.OfInstance(i, b)))
			return rest[i].Number(tuple)
		}
	}
	for k := range s.System.Channels[:s.Own] {
		e.Chans[k] = func(w explore.Word) uint32 {
			return words[k].Number([]int64{int64(len(w)), int64(p.OfChannel(k, w))})
		}
	}
	for k := s.Own; k < s.clockAt; k++ {
		e.Chans[k] = func(w explore.Word) uint32 { return uint32(len(w)) }
	}
	e.Invisible = func(i int, class uint32) bool { return rest[i].Tuples[class][0] != 0 }
	e.Eval = func(procs, chans []uint32) bool {
		final := true
		inner := make([]uint32, len(procs))
		for i, c := range procs[:len(s.Procs)] {
			t := rest[i].Tuples[c]
			if t[0] != 0 {
				return true
			}
			final = final && t[1] != 0
			inner[i] = uint32(t[2])
		}
		innerChans := make([]uint32, len(chans))
		for k, c := range chans[:s.Own] {
			t := words[k].Tuples[c]
			if t[0] != 0 {
				return true
			}
			innerChans[k] = uint32(t[1])
		}
		for _, n := range chans[s.Own:s.clockAt] {
			if n != 0 {
				return true
			}
		}
		return final || p.Holds(inner, innerChans)
	}
	s.add(report.Deadlock, nil, e, p)
}

// resting describes how an instance rests at a local value: can it move without a command, is it final.
func (s *Machines) resting(i int, b []byte) []int64 {
	p := s.Procs[i]
	l := p.Unpack(b)
	if p.Inst.IsHostile() {
		return []int64{0, 1} // it need not do anything, and its own end of a link waits for ever
	}
	if s.Check.Quiet == nil && p.remains(l) {
		return []int64{1, 1} // as where a command is possible
	} else if l.Get(p.AtDown) != 0 {
		return []int64{0, 1} // others may still send to it; that is dropped
	}
	moves := !l.Started || l.Get(p.atWaiting) != 0
	for _, t := range p.Timers {
		moves = moves || l.Value[t.slot] != 0
	}
	e := p.end(l)
	moves = moves || world.Go(&s.Rules, i, e, l.Value, stepper{p}).What == world.Done
	moves = moves || world.Due(&s.Rules, &e, l.Value, stepper{p}) >= 0 || s.Check.Quiet == nil && p.commanded(b)
	t := []int64{0, 0}
	if moves {
		t[0] = 1
	}
	if p.Role.States[l.Value[0]].Final {
		t[1] = 1
	}
	return t
}

// commanded reports whether the program can give a command; channel lengths are not looked at. That a link may break
// is a fault, which need not happen.
func (p *Process) commanded(b []byte) bool {
	found := false
	p.Local(b, func(s explore.Step) {
		found = found || !p.sys.isSpecial(s.Label) && s.Spends&explore.SpendsBreak == 0
	})
	return found
}

// Faulted says where a claim that cannot be evaluated everywhere cannot be.
func (c *Claim) Faulted() string {
	return "it cannot be evaluated everywhere: " + cond.FaultText(c.Eval.Fault)
}

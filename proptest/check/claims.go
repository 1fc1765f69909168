package check

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
)

// The names of built-in claims.
const (
	UnspecifiedReception = "unspecified-reception"
	FaultClaim           = "fault"
	Overflow             = "overflow"
	Deadlock             = "deadlock"
	OrphanMessage        = "orphan-message"
	NeverFires           = "never-fires"
	UnreachableState     = "unreachable-state"
)

var kindOf = map[model.ClaimKind]explore.ClaimKind{
	model.Always: explore.Always, model.Agree: explore.Always, model.Sometimes: explore.Sometimes,
	model.Reachable: explore.Possible, model.Confluent: explore.Confluent,
	model.Eventually: explore.Eventually, model.LeadsTo: explore.LeadsTo,
}

var fairnessOf = map[string]explore.Fairness{"": explore.Unfair, "weak": explore.Weak, "strong": explore.Strong}

// claims adds the stated claims, and deadlock if the check says where rest is allowed.
func (s *System) claims() {
	for _, c := range s.Check.Claims {
		s.claim(c)
	}
	if s.Check.Quiet != nil || s.Check.Time != nil {
		s.Checks &^= explore.CheckDeadlock
		s.quiet()
	}
}

// claim translates one stated claim.
func (s *System) claim(c *model.Claim) {
	e := explore.Claim{Name: c.Name, Kind: kindOf[c.Kind], Fair: fairnessOf[c.Fair]}
	if c.Quiescent {
		e.At = explore.Quiescent
	}
	var p *predicate
	switch c.Kind {
	case model.Always:
		guards, body := conjuncts(c.When), c.Expr
		if b, ok := c.Expr.(*model.Binary); ok && b.Op == model.OpImplies && c.When == nil {
			guards, body = conjuncts(b.X), b.Y
		}
		p = newPredicate(s, guards, body, false)
	case model.Agree:
		p = newPredicate(s, conjuncts(c.When), equalities(c), false)
	case model.Sometimes, model.Eventually:
		p = newPredicate(s, conjuncts(c.Expr), nil, true)
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
		p = newPredicate(s, conjuncts(c.Expr), nil, true)
	case model.Confluent:
		e.Exempt = func(a, b uint32) bool { return s.exempt(c, a) || s.exempt(c, b) }
		s.add(c.Name, c, e, nil)
		return
	}
	s.observe(&e, p)
	e.Eval = p.holds
	e.Mute = func(_ int, class uint32) bool { return class == irrelevant }
	if (c.Kind == model.Always || c.Kind == model.Agree) && len(p.guards) > 0 {
		e.Relevant = p.relevant
	}
	s.add(c.Name, c, e, p)
}

// equalities says that all values of an agree claim are equal.
func equalities(c *model.Claim) model.Expr {
	var all model.Expr
	for _, x := range c.Exprs[1:] {
		base := model.ExprBase{T: &model.Type{Kind: model.KindBool}, Span: x.Pos()}
		eq := model.Expr(&model.Binary{ExprBase: base, Op: model.OpEq, X: c.Exprs[0], Y: x})
		if all != nil {
			eq = &model.Binary{ExprBase: base, Op: model.OpAnd, X: all, Y: eq}
		}
		all = eq
	}
	return all
}

// leadsTo (and reachable from where a condition holds) needs two predicates over the same classes: guards are the trigger,
// the body is the target, and no class may be irrelevant, since the target is asked on its own.
func (s *System) leadsTo(c *model.Claim, e explore.Claim) {
	p := newImplication(s, c)
	s.observe(&e, p)
	both := p.body.(*model.Binary)
	e.Eval = func(procs, chans []uint32) bool { return p.load(procs, chans) && p.bool(both.Y) }
	e.Relevant = func(procs, chans []uint32) bool { return p.load(procs, chans) && p.bool(both.X) }
	s.add(c.Name, c, e, p)
}

// observe sets the class functions of a claim, only where something is looked at.
func (s *System) observe(e *explore.Claim, p *predicate) {
	e.Procs = make([]func([]byte) uint32, len(s.procs))
	e.Chans = make([]func(explore.Word) uint32, len(s.System.Channels))
	for i := range p.procs {
		if len(p.procs[i].atoms) > 0 || p.procs[i].whole {
			e.Procs[i] = func(b []byte) uint32 { return p.procClass(i, b) }
		}
	}
	for k := range p.chans {
		if len(p.chans[k].counters) > 0 {
			e.Chans[k] = func(w explore.Word) uint32 { return p.chanClass(k, w) }
		}
	}
}

func (s *System) add(name string, c *model.Claim, e explore.Claim, p *predicate) {
	s.Claims = append(s.Claims, Claim{Name: name, Stated: c, index: len(s.System.Claims), eval: p})
	s.System.Claims = append(s.System.Claims, e)
}

// exempt says whether a confluence claim leaves out the events of a label.
func (s *System) exempt(c *model.Claim, label uint32) bool {
	if s.isSpecial(label) {
		return true
	}
	l := s.System.Labels[label]
	if l.Proc < 0 || len(s.taken[label]) == 0 {
		return slices.Contains(c.Except, l.Name)
	}
	t := s.procs[l.Proc].role.Transitions[s.taken[label][0]]
	return slices.Contains(c.Except, t.Event.Name)
}

// quiet adds the claim that where nothing but commands is possible every
// machine is final or the check's quiet holds. What is possible follows from
// classes: of an instance, whether it can move by itself and which messages it
// defers; of a channel, which messages it could deliver.
func (s *System) quiet() {
	quiet := s.Check.Quiet
	if quiet == nil { // the clock goes on for ever, so that this is the only way to see the end
		quiet = &model.Lit{ExprBase: model.ExprBase{T: &model.Type{Kind: model.KindBool}}}
	}
	p := newPredicate(s, nil, quiet, false)
	e := explore.Claim{Name: Deadlock, Kind: explore.Always, Procs: make([]func([]byte) uint32, len(s.procs)), Chans: make([]func(explore.Word) uint32, len(s.System.Channels))}
	rest := make([]procClasses, len(s.procs))
	words := make([]chanClasses, len(s.System.Channels))
	for i := range s.procs {
		e.Procs[i] = func(b []byte) uint32 {
			tuple := append(s.resting(i, b), int64(p.procClass(i, b)))
			return intern(&rest[i].ids, &rest[i].tuples, tuple)
		}
	}
	for k := range s.System.Channels[:s.own] {
		e.Chans[k] = func(w explore.Word) uint32 {
			return intern(&words[k].ids, &words[k].tuples, []int64{s.deliverable(k, w), int64(p.chanClass(k, w))})
		}
	}
	e.Mute = func(i int, class uint32) bool { return rest[i].tuples[class][0] != 0 }
	e.Eval = func(procs, chans []uint32) bool {
		final := true
		inner := make([]uint32, len(procs))
		for i, c := range procs[:len(s.procs)] {
			t := rest[i].tuples[c]
			if t[0] != 0 {
				return true
			}
			final = final && t[1] != 0
			inner[i] = uint32(t[3])
		}
		innerChans := make([]uint32, len(chans))
		for k, c := range chans[:s.own] {
			t := words[k].tuples[c]
			if t[0]&^rest[s.System.Channels[k].To].tuples[procs[s.System.Channels[k].To]][2] != 0 {
				return true
			}
			innerChans[k] = uint32(t[1])
		}
		return final || p.holds(inner, innerChans)
	}
	s.add(Deadlock, nil, e, p)
}

// resting describes how an instance rests at a local value: can it move without a
// command, is it final, which messages does it defer (a bit mask by index, at most 62).
func (s *System) resting(i int, b []byte) []int64 {
	p := s.procs[i]
	l := p.unpack(b)
	st := p.role.States[l.value[0]]
	t := []int64{0, 0, 0}
	if l.get(p.atDown) != 0 {
		return []int64{0, 1, 0} // others may still send to it; that is dropped
	}
	running := false
	for i, t := range p.timers {
		running = running || l.value[t.slot] != 0 && (!p.timed() || l.used[p.atLeft+i] != spent)
	}
	if !l.started || running || p.waiting(l) != 0 || s.Check.Quiet == nil && p.commanded(b) {
		t[0] = 1
	}
	if st.Final {
		t[1] = 1
	}
	for _, h := range st.Handlers {
		if h != nil && h.Mode == model.Defer && h.Event.Kind == model.EventMessage && h.Event.Message.Index < 62 {
			t[2] |= 1 << h.Event.Message.Index
		}
	}
	return t
}

// commanded says whether the program can give a command; channel lengths are not looked at.
func (p *process) commanded(b []byte) bool {
	found := false
	p.Local(b, func(s explore.Step) { found = found || !p.sys.isSpecial(s.Label) })
	return found
}

// deliverable is the set of messages that channel k could deliver.
func (s *System) deliverable(k int, w explore.Word) int64 {
	mask := int64(0)
	for _, msg := range w {
		mask |= 1 << min(messageIndex(msg), 62)
		if s.System.Channels[k].Order == explore.FIFO {
			break
		}
	}
	return mask
}

// noteVacuous says that the condition of a claim never held. Where it could not be evaluated that is what is to be said.
func (c *Claim) noteVacuous(out *ClaimReport) {
	switch faulted := c.eval != nil && c.eval.fault != nil; {
	case !out.Vacuous:
	case faulted && out.Result == Violated:
		out.Vacuous = false
	case faulted:
		out.Note = "its condition never held where it can be evaluated, so it says nothing; " + c.faulted()
	default:
		out.Note = "its condition never held, so it says nothing"
	}
}

// faulted says where a claim that cannot be evaluated everywhere cannot be.
func (c *Claim) faulted() string {
	return "it cannot be evaluated everywhere: " + faultText(c.eval.fault)
}

package export

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
)

// assertion is a condition that must hold in every configuration. The monitor checks it.
type assertion struct {
	flag      string
	cond      *term
	doc       string
	sometimes bool // the condition is one that must hold somewhere: the assertion must fail
	stuck     bool // only where nothing is possible
}

// assertions returns the claims of the check that Promela can express, built-in ones first.
func (sys *system) assertions() []assertion {
	var out []assertion
	final, empty := yes, yes
	for _, in := range sys.insts {
		final = and(final, or(not(in.there()), in.ended()))
	}
	for _, row := range sys.chans {
		for _, ch := range row {
			if len(ch.sent) > 0 {
				empty = and(empty, compare("==", raw("len("+ch.name+")", 255), no))
			}
		}
	}
	out = append(out, sys.deadlock(final),
		assertion{flag: orphanFlag, cond: or(not(final), empty),
			doc: "no message is left when all have ended", stuck: true})
	for _, c := range sys.c.Claims {
		if a, ok := sys.claim(c, empty); ok {
			out = append(out, a)
		}
	}
	return out
}

// deadlock returns the assertion that there is none: something is possible, or all have ended. If quiet
// is set, commands do not count.
func (sys *system) deadlock(final *term) assertion {
	a := assertion{flag: deadlockFlag, cond: final, doc: "something is possible, or all have ended",
		stuck: true}
	if sys.c.Quiet == nil {
		return a
	}
	sc := &scope{l: sys.layout, locals: make([]*term, sys.c.QuietLocals)}
	v, ok := sc.eval(core.Of(sys.c.Quiet))
	rest := or(final, and(ok, asBool(v[0])))
	for _, in := range sys.insts {
		rest = or(rest, and(in.there(), not(in.begun())))
		rest = or(rest, sys.running(in, in.model.Role, 0))
		if in.down != nil {
			rest = or(rest, and(in.begun(), in.ended()))
		}
		for k := range sys.insts {
			for _, ch := range sys.between(k, in.index) {
				if k != in.index && len(ch.sent) > 0 {
					rest = or(rest, waiting(ch))
				}
			}
		}
	}
	return assertion{flag: deadlockFlag, cond: rest,
		doc: "something but commands is possible, or this is rest: " + model.ExprString(sys.c.Quiet)}
}

// running returns the condition that a timer of a machine or of its parts runs.
func (sys *system) running(in *instance, m *model.Machine, base int) *term {
	any := no
	for _, t := range m.Timers {
		for i := range t.Count {
			any = or(any, read(in.slots[base+t.Offset+i]))
		}
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			any = or(any, sys.running(in, p.Machine, base+p.Offset+i*p.Machine.Size))
		}
	}
	return any
}

// inTheEnd says why a liveness claim is left out. Spin knows weak fairness of processes alone, so it
// would judge other runs.
func inTheEnd(c *model.Claim) string {
	text := "what must come in the end is no assertion"
	switch c.Fair {
	case "weak", "strong":
		text += ", and Spin is not fair to each transition and channel"
	case "messages":
		text += ", and Spin is not fair to each message"
	}
	return text + "; fsmgen check decides it"
}

// claim returns one of the author's claims, if Promela can express it.
func (sys *system) claim(c *model.Claim, empty *term) (assertion, bool) {
	why := map[model.ClaimKind]string{
		model.Reachable:  "that something can be reached from everywhere is no assertion",
		model.Confluent:  "confluence is no assertion",
		model.Eventually: inTheEnd(c),
		model.LeadsTo:    inTheEnd(c),
	}[c.Kind]
	if why != "" {
		sys.left = append(sys.left, c.Name+": "+why)
		return assertion{}, false
	}
	sc := &scope{l: sys.layout, locals: make([]*term, c.Locals)}
	when := yes
	if c.When != nil {
		v, ok := sc.eval(core.Of(c.When))
		when = and(ok, asBool(v[0]))
	}
	cond := yes
	if c.Kind == model.Agree {
		first, ok := sc.eval(core.Of(c.Exprs[0]))
		for _, e := range c.Exprs[1:] {
			v, fine := sc.eval(core.Of(e))
			ok = and(ok, fine)
			cond = and(cond, equal(c.Exprs[0].Type(), first, e.Type(), v))
		}
		cond = and(ok, cond)
	} else {
		v, ok := sc.eval(core.Of(c.Expr))
		cond = and(ok, asBool(v[0]))
	}
	if c.Quiescent {
		when = and(empty, when)
	}
	doc := c.Why
	if doc == "" {
		doc = model.ExprString(c.Expr)
	}
	return assertion{flag: sys.names.take(c.Name), cond: or(not(when), cond), doc: doc,
		sometimes: c.Kind == model.Sometimes}, true
}

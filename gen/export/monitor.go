package export

import (
	"github.com/parley-go/parley/gen/model"
)

// assertion is what the monitor watches: a condition that must hold in every configuration.
type assertion struct {
	flag      string
	cond      *term
	doc       string
	sometimes bool // the condition is one that must hold somewhere: the assertion must fail
	stuck     bool // only where nothing is possible
}

// assertions are the claims of the check that Promela can say, built-in ones first.
func (g *generator) assertions() []assertion {
	var out []assertion
	final, empty := yes, yes
	for _, in := range g.insts {
		is := no
		for _, st := range in.model.Role.States {
			if st.Final {
				is = or(is, compare("==", read(in.slots[0]), number(int64(st.Index))))
			}
		}
		final = and(final, is)
	}
	for _, row := range g.chans {
		for _, ch := range row {
			if len(ch.sent) > 0 {
				empty = and(empty, compare("==", raw("len("+ch.name+")", 255), no))
			}
		}
	}
	out = append(out, g.deadlock(final),
		assertion{flag: orphanFlag, cond: or(not(final), empty), doc: "no message is left when all have ended", stuck: true})
	for _, c := range g.c.Claims {
		if a, ok := g.claim(c, empty); ok {
			out = append(out, a)
		}
	}
	return out
}

// deadlock is that something is possible or all have ended. With quiet, commands do not count.
func (g *generator) deadlock(final *term) assertion {
	a := assertion{flag: deadlockFlag, cond: final, doc: "something is possible, or all have ended", stuck: true}
	if g.c.Quiet == nil {
		return a
	}
	s := g.step(nil, 0, false)
	v, ok := s.eval(&scope{locals: make([]*term, g.c.QuietLocals)}, g.c.Quiet)
	rest := or(final, and(ok, asBool(v[0])))
	for _, in := range g.insts {
		rest = or(rest, not(in.begun()))
		rest = or(rest, g.running(in, in.model.Role, 0))
		for k := range g.insts {
			ch := g.chans[k][in.index]
			if k == in.index || len(ch.sent) == 0 {
				continue
			}
			kept := no
			for i, m := range g.p.Messages {
				if ev := receptionOf(in.model.Role, m); ev != nil && ch.sent[i] {
					kept = or(kept, g.kept(in, ch, i, ev))
				}
			}
			rest = or(rest, and(compare(">", raw("len("+ch.name+")", 255), no), not(kept)))
		}
	}
	return assertion{flag: deadlockFlag, cond: rest, doc: "something but commands is possible, or this is rest: " + model.ExprString(g.c.Quiet)}
}

// running says whether a timer of a machine or of its parts runs.
func (g *generator) running(in *instance, m *model.Machine, base int) *term {
	any := no
	for _, t := range m.Timers {
		for i := range t.Count {
			any = or(any, read(in.slots[base+t.Offset+i]))
		}
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			any = or(any, g.running(in, p.Machine, base+p.Offset+i*p.Machine.Size))
		}
	}
	return any
}

// claim is one of the author's claims, if Promela can say it.
func (g *generator) claim(c *model.Claim, empty *term) (assertion, bool) {
	why := map[model.ClaimKind]string{
		model.Reachable: "that something can be reached from everywhere is no assertion", model.Confluent: "confluence is no assertion",
		model.Eventually: "what must come in the end is no assertion", model.LeadsTo: "what must come in the end is no assertion",
	}[c.Kind]
	if why != "" {
		g.left = append(g.left, c.Name+": "+why)
		return assertion{}, false
	}
	s := g.step(nil, 0, false)
	sc := &scope{locals: make([]*term, c.Locals)}
	when := yes
	if c.When != nil {
		v, ok := s.eval(sc, c.When)
		when = and(ok, asBool(v[0]))
	}
	cond := yes
	if c.Kind == model.Agree {
		first, ok := s.eval(sc, c.Exprs[0])
		for _, e := range c.Exprs[1:] {
			v, fine := s.eval(sc, e)
			ok = and(ok, fine)
			cond = and(cond, equal(c.Exprs[0].Type(), first, e.Type(), v))
		}
		cond = and(ok, cond)
	} else {
		v, ok := s.eval(sc, c.Expr)
		cond = and(ok, asBool(v[0]))
	}
	if c.Quiescent {
		when = and(empty, when)
	}
	doc := c.Why
	if doc == "" {
		doc = model.ExprString(c.Expr)
	}
	return assertion{flag: g.names.take(c.Name), cond: or(not(when), cond), doc: doc, sometimes: c.Kind == model.Sometimes}, true
}

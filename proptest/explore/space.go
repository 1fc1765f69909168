package explore

// Space is the set of reached configurations, for comparing other machines
// with the ones explored; get it from Result.Space.
type Space struct{ e *engine }

// LocalUse is one local value with what can really happen at it in some
// reachable configuration.
type LocalUse struct {
	Proc  int
	Value []byte
	// Steps are the local steps, in the order they were emitted, whether or
	// not their Lens ever allowed them.
	Steps []Step
	// Receptions are the messages that could be delivered at this value.
	Receptions []Reception
}

// Reception is one message at one local value.
type Reception struct {
	Channel int
	Msg     []byte
	Steps   []Step
}

// ForEachConfiguration calls visit for each reached configuration, nearest
// first, in no particular order among those at one depth, until it returns
// false. Configurations are built anew for each call and may be kept.
func (s *Space) ForEachConfiguration(visit func(depth int, c Configuration) bool) {
	e := s.e
	for depth, l := range e.levels {
		for _, b := range l.blocks {
			for ; len(b) > 0; b = b[e.lay.stride:] {
				if !visit(depth, e.configuration(e.unpack(b[:e.lay.stride]))) {
					return
				}
			}
		}
	}
}

// ForEachLocal calls visit for each local value that occurs in an expanded
// configuration, with every message that was deliverable at it in one of them,
// until it returns false. The order depends on the search.
func (s *Space) ForEachLocal(visit func(LocalUse) bool) {
	e := s.e
	e.widen()
	for p := range e.procs {
		m := &e.procs[p]
		for a, run := range m.runs {
			if run == 0 {
				continue
			}
			u := LocalUse{Proc: p, Value: []byte(m.locals.vals[a]), Steps: e.steps(p, run)}
			u.Receptions = e.receptions(p, uint32(a))
			if !visit(u) {
				return
			}
		}
	}
}

func (e *engine) receptions(p int, a uint32) []Reception {
	var out []Reception
	for k := range e.chans {
		c := &e.chans[k]
		if c.spec.To != p {
			continue
		}
		for msg, b := range c.msgs.vals {
			if run := c.recv.get(a, uint32(msg)); run != 0 {
				out = append(out, Reception{k, []byte(b), e.steps(p, run)})
			}
		}
	}
	return out
}

// steps gives a run of rules as the steps they came from.
func (e *engine) steps(p int, run uint32) []Step {
	var out []Step
	if run == 1 {
		return nil
	}
	m := &e.procs[p]
	for i := run; ; i++ {
		r := &m.rules[i]
		s := Step{Label: r.label, Note: e.notes[r.note].note, Fault: e.notes[r.note].fault,
			Spontaneous: r.flags&spontaneousFlag != 0, Crash: r.flags&crashFlag != 0}
		for _, u := range e.duties[r.does] {
			s.Duties = append(s.Duties, int(u)-len(e.sys.Labels)-len(e.chans))
		}
		if s.Fault == nil {
			s.Next = []byte(m.locals.vals[r.next])
		}
		for _, x := range e.sends[r.sends.off : r.sends.off+r.sends.n] {
			s.Sends = append(s.Sends, Send{int(x.ch), []byte(e.chans[x.ch].msgs.vals[x.msg])})
		}
		for j := r.lens; j != 0; j++ {
			x := e.lens[j]
			s.Lens = append(s.Lens, LenRange{int(x.ch), int(x.lo), int(x.hi), x.kind})
			if x.last {
				break
			}
		}
		out = append(out, s)
		if r.flags&lastFlag != 0 {
			return out
		}
	}
}

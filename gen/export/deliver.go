package export

import (
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// deliver gives an event to a machine and handles what its parts then have to say.
func (s *step) deliver(c *machine, ev *model.Event, args []*term) {
	s.handle(c, ev, args)
	s.drain(c)
}

// drain handles the events that wait at c. All of them are known beforehand; whether each waits may
// not be.
func (s *step) drain(c *machine) {
	for !s.b.dead {
		i := slices.IndexFunc(s.b.pend, func(p *pendingEvent) bool { return p.at == c })
		if i < 0 {
			return
		}
		p := s.b.pend[i]
		s.b.pend = slices.Delete(slices.Clone(s.b.pend), i, i+1)
		came := option{cond: p.when, note: p.ev.Name, body: func() { s.handle(c, p.ev, p.args) }}
		s.choose([]option{came}, true, nil)
	}
}

func (s *step) enqueue(c *machine, ev *model.Event, args []*term) {
	if s.pending++; s.pending > maxPending {
		refuse("a step in which parts may report more than %d times", maxPending)
	}
	s.b.pend = append(s.b.pend, &pendingEvent{at: c.up, ev: ev, args: s.hold(args), when: yes})
}

// handle writes what one machine does with an event in each of its states.
func (s *step) handle(c *machine, ev *model.Event, args []*term) {
	state := s.inst.slots[c.base]
	var options []option
	for _, st := range c.m.States {
		cond := compare("==", s.b.known.read(state), number(int64(st.Index)))
		h := handlerOf(st, ev)
		silent := ev.Kind == model.EventStart || ev.Kind == model.EventUp || ev.Kind == model.EventLost
		if cond.is(0) || h != nil && h.Mode == model.Defer || h == nil && !silent {
			continue
		}
		o := option{cond: cond, note: st.Name + " " + ev.Name,
			body: func() { s.inState(c, st, ev, h, args) }}
		if h != nil && len(h.Branches) > 0 {
			o.note = h.Branches[0].Name
			o.note += lineNote(h.Branches[0].Span)
		}
		options = append(options, o)
	}
	s.choose(options, true, func() { s.fail(unspecifiedFlag, ev.Name+" is not handled") })
}

func handlerOf(st *model.State, ev *model.Event) *model.Handler {
	if ev.Index < len(st.Handlers) {
		return st.Handlers[ev.Index]
	}
	return nil
}

func (s *step) inState(c *machine, st *model.State, ev *model.Event, h *model.Handler, args []*term) {
	switch {
	case h == nil && ev.Kind == model.EventStart:
		if st == c.m.Initial {
			s.entry(c, st)
		}
		return
	case h == nil:
		return
	case h.Mode == model.Ignore:
		if s.command && c.up == nil {
			s.fail(unspecifiedFlag, "")
		}
		return
	}
	if ev.Kind == model.EventTimer {
		keys := make([]int64, len(ev.Timer.Keys))
		for i := range keys {
			keys[i] = args[i].lo
		}
		s.set(s.inst.slots[c.base+ev.Timer.Offset+interp.TimerIndex(ev.Timer, keys)], no)
	}
	s.branches(c, h, args, 0)
}

// branches tries the branches of a handler from i on.
func (s *step) branches(c *machine, h *model.Handler, args []*term, i int) {
	if i == len(h.Branches) {
		s.fail(unspecifiedFlag, "no guard of "+h.Event.Name+" holds")
		return
	}
	t := h.Branches[i]
	frame := make([]*term, max(t.Locals, len(args)))
	from := 0
	for _, l := range t.Params {
		n := l.Type.Slots()
		copy(frame[l.Offset:l.Offset+n], args[from:from+n])
		from += n
	}
	c.locals = frame
	if t.When == nil {
		s.take(c, t)
		return
	}
	v, ok := s.scalar(c, t.When)
	s.fault(ok, t.When.Pos(), "the guard faults")
	note := t.Name + lineNote(t.Span)
	taken := option{cond: asBool(v), note: note, body: func() { c.locals = frame; s.take(c, t) }}
	s.choose([]option{taken}, true, func() { s.branches(c, h, args, i+1) })
}

// take runs a branch: its statements, its goto, and the entry of the new state.
func (s *step) take(c *machine, t *model.Transition) {
	s.run(c, t.Body)
	if s.b.dead {
		return
	}
	if t.To == nil {
		if t.Event.Kind == model.EventStart && t.From == c.m.Initial {
			s.entry(c, t.From)
		}
		return
	}
	s.set(s.inst.slots[c.base], number(int64(t.To.Index)))
	if t.To.Final && c.up != nil {
		for _, ev := range c.up.m.Events {
			if ev.Kind == model.EventFinished && ev.Part == c.part {
				s.enqueue(c, ev, c.keys())
				break
			}
		}
	}
	s.entry(c, t.To)
}

func (s *step) entry(c *machine, st *model.State) {
	if len(st.Entry) > 0 {
		c.locals = make([]*term, st.EntryLocals)
		s.run(c, st.Entry)
	}
}

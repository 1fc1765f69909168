package export

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// deliver gives an event to a machine, and then handles the events that its parts have queued.
func (s *step) deliver(c *machine, ev *model.Event, args []*term) {
	s.handle(c, ev, args)
	s.drain(c)
}

// drain handles the events that are queued at c. The list of possible events is known; whether each of
// them is queued may not be.
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
		cond := compare("==", s.b.known.read(state), number(int64(st.Model.Index)))
		h := handlerOf(st, ev)
		silent := ev.Kind == model.EventStart || ev.Kind == model.EventUp || ev.Kind == model.EventLost
		if cond.is(0) || h != nil && h.Model.Mode == model.Defer || h == nil && !silent {
			continue
		}
		o := option{cond: cond, note: st.Model.Name + " " + ev.Name,
			body: func() { s.inState(c, st, ev, h, args) }}
		if h != nil && len(h.Branches) > 0 {
			t := h.Branches[0].Model
			o.note = t.Name + lineNote(t.Span)
		}
		options = append(options, o)
	}
	s.choose(options, true, func() { s.fail(unspecifiedFlag, ev.Name+" is not handled") })
}

func handlerOf(st *core.State, ev *model.Event) *core.Handler {
	if ev.Index < len(st.Handlers) {
		return st.Handlers[ev.Index]
	}
	return nil
}

func (s *step) inState(c *machine, st *core.State, ev *model.Event, h *core.Handler, args []*term) {
	switch {
	case h == nil && ev.Kind == model.EventStart:
		if st.Model == c.m.Model.Initial {
			s.entry(c, st)
		}
		return
	case h == nil:
		return
	case h.Model.Mode == model.Ignore:
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

// branches writes the branches of a handler from number i on.
func (s *step) branches(c *machine, h *core.Handler, args []*term, i int) {
	if i == len(h.Branches) {
		s.fail(unspecifiedFlag, "no guard of "+h.Model.Event.Name+" holds")
		return
	}
	b := h.Branches[i]
	t := b.Model
	frame := make([]*term, max(t.Locals, len(args)))
	from := 0
	for _, l := range t.Params {
		n := l.Type.Slots()
		copy(frame[l.Offset:l.Offset+n], args[from:from+n])
		from += n
	}
	c.locals = frame
	if b.When == nil {
		s.take(c, b)
		return
	}
	v, ok := s.scalar(c, b.When)
	s.fault(ok, b.When.Node().Pos(), "the guard faults")
	note := t.Name + lineNote(t.Span)
	taken := option{cond: asBool(v), note: note, body: func() { c.locals = frame; s.take(c, b) }}
	s.choose([]option{taken}, true, func() { s.branches(c, h, args, i+1) })
}

// take writes a branch: its statements, its goto, and the entry of the new state.
func (s *step) take(c *machine, b *core.Transition) {
	s.run(c, b.Body)
	if s.b.dead {
		return
	}
	t := b.Model
	if b.To == nil {
		if t.Event.Kind == model.EventStart && t.From == c.m.Model.Initial {
			s.entry(c, c.m.States[t.From.Index])
		}
		return
	}
	s.set(s.inst.slots[c.base], number(int64(t.To.Index)))
	if t.To.Final && c.up != nil {
		for _, ev := range c.up.m.Model.Events {
			if ev.Kind == model.EventFinished && ev.Part == c.part.Model {
				s.enqueue(c, ev, c.keys())
				break
			}
		}
	}
	s.entry(c, b.To)
}

func (s *step) entry(c *machine, st *core.State) {
	if len(st.Entry) > 0 {
		c.locals = make([]*term, st.Model.EntryLocals)
		s.run(c, st.Entry)
	}
}

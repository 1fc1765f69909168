package export

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// machine is one machine inside a step: that of the instance, or of a part.
type machine struct {
	m      *model.Machine
	base   int // its first slot in the instance's value
	up     *machine
	part   *model.Part
	index  int
	locals []*term
}

// pendingEvent is an event of a part that waits for the end of its parent's statements.
type pendingEvent struct {
	at   *machine // the parent
	ev   *model.Event
	args []*term
	when *term // whether it waits at all
}

// Bounds of what is written for one step.
const (
	maxPending = 200
	maxStmts   = 20000
)

// step writes what an instance does with one event. sender is the number of the instance it comes from.
type step struct {
	g       *generator
	inst    *instance
	sender  int
	command bool // an event that is not handled is no error but not available
	b       *block
	temps   int
	pending int
	stmts   int
}

func (s *step) emit(x stmt) {
	if s.b.dead {
		return
	}
	if s.stmts++; s.stmts > maxStmts {
		refuse("a step of more than %d statements", maxStmts)
	}
	s.b.list = append(s.b.list, x)
}

// set gives a variable a value.
func (s *step) set(v *variable, x *term) {
	if s.b.dead || same(s.read(v), x) && s.read(v).constant() {
		return
	}
	s.emit(&assign{v, x})
	delete(s.b.known, v)
	if x.constant() {
		s.b.known[v] = x
	}
}

func (s *step) read(v *variable) *term {
	if x := s.b.known[v]; x != nil {
		return x
	}
	return read(v)
}

// fail ends the block with an error.
func (s *step) fail(flag, why string) {
	if !s.b.dead {
		s.emit(&failure{flag, why})
		s.b.dead = true
	}
}

func (s *step) fault(ok *term, at diag.Span, why string) {
	if ok.is(1) || s.b.dead {
		return
	}
	f := failure{faultFlag, s.g.place(at) + why}
	if ok.is(0) {
		s.fail(f.flag, f.why)
		return
	}
	s.emit(&require{ok, f})
}

// option is one arm of a choice while it is written.
type option struct {
	cond *term
	note string
	body func()
}

// choose runs the first option whose condition holds, else otherwise (nil: nothing).
func (s *step) choose(options []option, exclusive bool, otherwise func()) {
	if s.b.dead {
		return
	}
	var open []option
	for _, o := range options {
		if o.cond.is(0) {
			continue
		}
		if o.cond.lo > 0 {
			if len(open) == 0 {
				o.body()
				return
			}
			otherwise = o.body
			break
		}
		open = append(open, o)
	}
	if len(open) == 0 {
		if otherwise != nil {
			otherwise()
		}
		return
	}
	before := s.b
	c := &choice{exclusive: exclusive}
	var ends []*block
	for _, o := range open {
		s.b = before.fork()
		s.assume(o.cond)
		o.body()
		ends = append(ends, s.b)
	}
	s.b = before.fork()
	if otherwise != nil {
		otherwise()
	}
	ends = append(ends, s.b)
	s.b = before
	s.join(c, open, ends)
}

// assume remembers what a condition says of variables.
func (s *step) assume(cond *term) {
	switch {
	case cond.op == "&&":
		s.assume(cond.x[0])
		s.assume(cond.x[1])
	case cond.op == "==" && cond.x[0].op == "var" && cond.x[1].constant():
		s.b.known[cond.x[0].v] = cond.x[1]
	case cond.op == "var" && cond.boolean():
		s.b.known[cond.v] = yes
	case cond.op == "!" && cond.x[0].op == "var" && cond.x[0].boolean():
		s.b.known[cond.x[0].v] = no
	}
}

// join puts the arms together behind what was known before. Events that only some arms leave pending
// get a flag each.
func (s *step) join(c *choice, open []option, ends []*block) {
	alive := 0
	for _, e := range ends {
		if !e.dead {
			alive++
		}
	}
	for _, e := range ends {
		if e.dead {
			continue
		}
		for _, p := range e.pend {
			if alive > 1 {
				flag := s.temp(1)
				s.emit(&assign{flag, no})
				e.list = append(e.list, &assign{flag, p.when})
				p.when = read(flag)
			}
			s.b.pend = append(s.b.pend, p)
		}
	}
	for i, o := range open {
		c.arms = append(c.arms, arm{o.cond, ends[i].list, o.note})
	}
	c.otherwise = ends[len(ends)-1].list
	s.emit(c)
	if alive == 0 {
		s.b.dead = true
		return
	}
	var known map[*variable]*term
	for _, e := range ends {
		switch {
		case e.dead:
		case known == nil:
			known = e.known
		default:
			for v, t := range known {
				if e.known[v] == nil || !same(e.known[v], t) {
					delete(known, v)
				}
			}
		}
	}
	s.b.known = known
}

// temp is a fresh variable for a value inside the step.
func (s *step) temp(hi int64) *variable {
	v := s.g.temp(s.temps)
	s.temps++
	w := *v
	w.hi = hi
	if hi > 1 {
		w.lo = least
	}
	return &w
}

// hold keeps values from changing under what follows.
func (s *step) hold(list []*term) []*term {
	out := slices.Clone(list)
	for i, x := range list {
		volatile := false
		x.visit(func(v *variable) { volatile = volatile || v.kind != fieldVar })
		if !volatile {
			continue
		}
		v := s.temp(x.hi)
		v.lo, v.hi = x.lo, x.hi
		s.emit(&assign{v, x})
		out[i] = read(v)
	}
	return out
}

// deliver gives an event to a machine and handles what its parts then have to say.
func (s *step) deliver(c *machine, ev *model.Event, args []*term) {
	s.handle(c, ev, args)
	s.drain(c)
}

// drain handles the events that wait at c. All of them are known beforehand; whether each waits may not be.
func (s *step) drain(c *machine) {
	for !s.b.dead {
		i := slices.IndexFunc(s.b.pend, func(p *pendingEvent) bool { return p.at == c })
		if i < 0 {
			return
		}
		p := s.b.pend[i]
		s.b.pend = slices.Delete(slices.Clone(s.b.pend), i, i+1)
		s.choose([]option{{cond: p.when, note: p.ev.Name, body: func() { s.handle(c, p.ev, p.args) }}}, true, nil)
	}
}

func (s *step) enqueue(c *machine, ev *model.Event, args []*term) {
	if s.pending++; s.pending > maxPending {
		refuse("a step in which parts may report more than %d times", maxPending)
	}
	s.b.pend = append(s.b.pend, &pendingEvent{at: c.up, ev: ev, args: s.hold(args), when: yes})
}

// handle is what one machine does with an event, by its state.
func (s *step) handle(c *machine, ev *model.Event, args []*term) {
	state := s.inst.slots[c.base]
	var options []option
	for _, st := range c.m.States {
		cond := compare("==", s.read(state), number(int64(st.Index)))
		h := handlerOf(st, ev)
		if cond.is(0) || h != nil && h.Mode == model.Defer || h == nil && ev.Kind != model.EventStart && ev.Kind != model.EventUp && ev.Kind != model.EventLost {
			continue
		}
		o := option{cond: cond, note: st.Name + " " + ev.Name, body: func() { s.inState(c, st, ev, h, args) }}
		if h != nil && len(h.Branches) > 0 {
			o.note = h.Branches[0].Name
			o.note += s.g.comment(h.Branches[0].Span)
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
	note := t.Name + s.g.comment(t.Span)
	s.choose([]option{{cond: asBool(v), note: note, body: func() { c.locals = frame; s.take(c, t) }}}, true, func() { s.branches(c, h, args, i+1) })
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

// keys are the keys of the part that c is.
func (c *machine) keys() []*term { return numbers(partKeys(c.part)(c.index)) }

func numbers(list []int64) []*term {
	out := make([]*term, len(list))
	for i, n := range list {
		out[i] = number(n)
	}
	return out
}

func (c *machine) enter(p *model.Part, index int) *machine {
	return &machine{m: p.Machine, base: c.base + p.Offset + index*p.Machine.Size, up: c, part: p, index: index}
}

// comment is the place of a branch, for comments.
func (g *generator) comment(at diag.Span) string {
	if at.IsZero() {
		return ""
	}
	return fmt.Sprintf(", %s:%d", at.File, at.Start.Line)
}

func (g *generator) place(at diag.Span) string {
	if at.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", at.File, at.Start.Line)
}

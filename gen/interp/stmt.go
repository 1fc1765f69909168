package interp

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// run runs statements in order; ev is the event in whose course they run. It
// returns false if one faulted or refused, which is noted in x.fault.
func (x *Machine) run(c *context, ev *model.Event, list []model.Stmt) bool {
	for _, s := range list {
		if !x.stmt(c, ev, s) {
			return false
		}
	}
	return true
}

func (x *Machine) stmt(c *context, ev *model.Event, s model.Stmt) bool {
	switch s := s.(type) {
	case *model.Set:
		return x.set(c, s) || x.failed(c, ev)
	case *model.Send:
		slots, ok := x.fields(c, s.Fields, s.Message.Fields)
		if !ok {
			return x.failed(c, ev)
		}
		to, ok := x.destination(c, s.Dest, s.To)
		return ok && x.send(c, s.Message, slots, s.Dest, to) || x.failed(c, ev)
	case *model.ReportStmt:
		return x.report(c, ev, s)
	case *model.Run:
		return x.runPart(c, ev, s)
	case *model.Restart:
		return x.restart(c, s) || x.failed(c, ev)
	case *model.StartTimer:
		return x.startTimer(c, s) || x.failed(c, ev)
	case *model.StopTimer:
		return x.stopTimer(c, s) || x.failed(c, ev)
	case *model.If:
		v, ok := x.x.scalar(&c.scope, s.Cond)
		if !ok {
			return x.failed(c, ev)
		}
		if v != 0 {
			return x.run(c, ev, s.Then)
		}
		return x.run(c, ev, s.Else)
	case *model.Each:
		return x.each(c, ev, s)
	case *model.Close:
		to, ok := x.destination(c, s.Dest, s.To)
		return ok && x.close(c, s.Dest, to) || x.failed(c, ev)
	case *model.Refuse:
		x.refuse(c, Refusal, ev)
		x.fault.Reason, x.fault.Span = s.Reason, s.Span
		return false
	}
	x.x.fail(s.Pos(), "the interpreter does not know this kind of statement")
	return x.failed(c, ev)
}

// set assigns to a variable or a place inside it.
func (x *Machine) set(c *context, s *model.Set) bool {
	e := &x.x
	mark := e.arena.mark()
	defer e.arena.release(mark)
	t, at := s.Var.Type, c.base+s.Var.Offset
	for k, sel := range s.Select {
		if sel.Field != nil {
			if t.Kind == model.KindOptional {
				if c.v[at] == 0 {
					return e.fail(s.Span, model.PlaceString(s, k)+" is none")
				}
				at++
			}
			at, t = at+sel.Field.Offset, sel.Field.Type
			continue
		}
		i, ok := e.scalar(&c.scope, sel.Index)
		if !ok {
			return false
		}
		off, why := element(t, c.v[at:], i)
		if why != "" {
			return e.fail(sel.Index.Pos(), model.PlaceString(s, k+1)+": "+why)
		}
		at, t = at+off, t.Elem
	}
	v, ok := e.temp(&c.scope, s.Value)
	if !ok {
		return false
	}
	place := e.arena.alloc(t.Slots())
	if why := e.fit(t, place, s.Value.Type(), v); why != "" {
		return e.fail(s.Span, s.Var.Name+": "+why)
	}
	copy(c.v[at:], place)
	return true
}

// fields evaluates the fields of a message or report, or the arguments of an event.
func (x *Machine) fields(c *context, exprs []model.Expr, fields []*model.Field) ([]int64, bool) {
	slots := x.x.arena.alloc(FieldSlots(fields))
	at := 0
	for i, f := range fields {
		n := f.Type.Slots()
		if !x.x.store(&c.scope, exprs[i], f.Type, slots[at:at+n]) {
			return nil, false
		}
		at += n
	}
	return slots, true
}

// destination gives the instance number for a Dest.
func (x *Machine) destination(c *context, d model.Dest, to model.Expr) (int, bool) {
	switch d {
	case model.ToSender:
		return x.ev.Sender, true
	case model.ToBroadcast:
		return int(fsm.Broadcast), true
	case model.ToExpr:
		v, ok := x.x.scalar(&c.scope, to)
		return int(v), ok
	}
	return 0, true
}

// send emits a message, through the mappings of all parents.
func (x *Machine) send(c *context, msg *model.Message, slots []int64, d model.Dest, to int) bool {
	if c.up == nil {
		x.effects = append(x.effects, Effect{Kind: fsm.Send, Dest: d, To: to, Message: msg, Slots: slots})
		return true
	}
	p := c.at.Part
	ps := p.Sends[msg.Index]
	if ps == nil {
		return true
	}
	if d, to = x.peer(c, d, to); d == noPeer {
		return false
	}
	up, old := c.up, c.up.locals
	defer func() { up.locals = old }()
	up.locals = x.x.keyFrame(p, c.at.Index, len(slots))
	from := 0
	for _, l := range ps.Params {
		n := l.Type.Slots()
		up.setLocal(l, slots[from:from+n])
		from += n
	}
	mapped, ok := x.fields(up, ps.Send.Fields, ps.Send.Message.Fields)
	if !ok {
		return false
	}
	if ps.Send.Dest != model.ToPeer {
		if to, ok = x.destination(up, ps.Send.Dest, ps.Send.To); !ok {
			return false
		}
		d = ps.Send.Dest
	}
	return x.send(up, ps.Send.Message, mapped, d, to)
}

// noPeer is the destination where a part's peer has no value.
const noPeer = model.Dest(255)

// peer gives what a part sends without a destination that of its peer.
func (x *Machine) peer(c *context, d model.Dest, to int) (model.Dest, int) {
	p := c.at.Part
	if d != model.ToPeer || p.To == nil {
		return d, to
	}
	s := scope{v: c.v, base: c.up.base, locals: x.x.keyFrame(p, c.at.Index, p.ToLocals)}
	v, ok := x.x.scalar(&s, p.To)
	if !ok {
		return noPeer, 0
	}
	return model.ToExpr, int(v)
}

// close asks for a link to be closed; without a destination that to the peer of the nearest part that has one.
func (x *Machine) close(c *context, d model.Dest, to int) bool {
	for ; c.up != nil; c = c.up {
		if d, to = x.peer(c, d, to); d == noPeer {
			return false
		}
	}
	x.effects = append(x.effects, Effect{Kind: fsm.Close, Dest: d, To: to})
	return true
}

// report tells the embedding program, or queues an event at the parent.
func (x *Machine) report(c *context, cause *model.Event, s *model.ReportStmt) bool {
	slots, ok := x.fields(c, s.Fields, s.Report.Fields)
	if !ok {
		return x.failed(c, cause)
	}
	if c.up == nil {
		x.effects = append(x.effects, Effect{Kind: fsm.Report, Report: s.Report, Slots: slots})
		return true
	}
	for _, ev := range c.up.m.Events {
		if ev.Kind == model.EventReport && ev.Part == c.at.Part && ev.Report == s.Report {
			n := len(c.at.Part.Keys)
			args := x.x.arena.alloc(n + len(slots))
			PartKeys(c.at.Part, c.at.Index, args[:n])
			copy(args[n:], slots)
			return x.enqueue(c, ev, args, cause)
		}
	}
	x.x.fail(s.Span, "the parent has no event for report "+s.Report.Name)
	return x.failed(c, cause)
}

// runPart gives a part an event inside this step.
func (x *Machine) runPart(c *context, ev *model.Event, s *model.Run) bool {
	i, ok := x.x.instance(&c.scope, s.Part, s.Keys)
	if !ok {
		return x.failed(c, ev)
	}
	args, ok := x.fields(c, s.Args, s.Event.Fields)
	if !ok {
		return x.failed(c, ev)
	}
	sub := x.enter(c, At{s.Part, i})
	switch code, _ := x.deliver(&sub, s.Event, args); code {
	case fsm.Deferred:
		x.refuse(&sub, Kept, s.Event)
		x.fault.Span = s.Span
		return false
	case fsm.Refused:
		return false
	}
	return true
}

// restart puts a part back to its beginning and stops its timers.
func (x *Machine) restart(c *context, s *model.Restart) bool {
	first, last := 0, s.Part.Count-1
	if len(s.Keys) > 0 {
		i, ok := x.x.instance(&c.scope, s.Part, s.Keys)
		if !ok {
			return false
		}
		first, last = i, i
	}
	for i := first; i <= last; i++ {
		p := s.Part
		x.stopAll(p.Machine, c.v, c.base+p.Offset+i*p.Machine.Size, append(c.path(nil), At{p, i}))
		if !x.x.createPart(p, i, c.v, c.base) {
			return false
		}
	}
	return true
}

// stopAll stops the armed timers of a machine, then those of its parts.
func (x *Machine) stopAll(m *model.Machine, v []int64, base int, path []At) {
	for _, t := range m.Timers {
		x.stop(t, 0, t.Count, v, base, path)
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			x.stopAll(p.Machine, v, base+p.Offset+i*p.Machine.Size, append(path[:len(path):len(path)], At{p, i}))
		}
	}
}

// startTimer arms a timer, or arms it anew.
func (x *Machine) startTimer(c *context, s *model.StartTimer) bool {
	t := s.Timer
	k, ok := x.x.timer(&c.scope, t, s.Keys)
	if !ok {
		return false
	}
	ticks := []int64{t.Ticks}
	if s.Ticks != nil && !x.x.store(&c.scope, s.Ticks, t.Length, ticks) {
		return false
	}
	c.v[c.base+t.Offset+k] = 1
	x.effects = append(x.effects, Effect{Kind: fsm.StartTimer, Timer: t, At: c.path(nil), Index: k, Ticks: ticks[0]})
	return true
}

// stopTimer disarms an instance of a timer, or all.
func (x *Machine) stopTimer(c *context, s *model.StopTimer) bool {
	first, last := 0, s.Timer.Count
	if len(s.Keys) > 0 {
		k, ok := x.x.timer(&c.scope, s.Timer, s.Keys)
		if !ok {
			return false
		}
		first, last = k, k+1
	}
	x.stop(s.Timer, first, last, c.v, c.base, c.path(nil))
	return true
}

// stop disarms the instances of a timer from first up to but not including last.
func (x *Machine) stop(t *model.Timer, first, last int, v []int64, base int, path []At) {
	for k := first; k < last; k++ {
		if at := base + t.Offset + k; v[at] != 0 {
			v[at] = 0
			x.effects = append(x.effects, Effect{Kind: fsm.StopTimer, Timer: t, At: path, Index: k})
		}
	}
}

// each runs statements for each element. A statement that fails has noted why
// itself; only the loop's own faults are noted here.
func (x *Machine) each(c *context, ev *model.Event, s *model.Each) bool {
	inside := false
	ok := x.x.forEach(&c.scope, s.Local, s.Values, s.Over, s.Span, func() (bool, bool) {
		inside = !x.run(c, ev, s.Body)
		return true, !inside
	})
	if ok || inside {
		return ok
	}
	return x.failed(c, ev)
}

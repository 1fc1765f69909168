package interp

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// run runs statements in order; ev is the event in whose course they run. It
// returns false if one faulted or refused, which is noted in x.fault.
func (x *Machine) run(c *context, ev *model.Event, list []core.Stmt) bool {
	for _, s := range list {
		if !x.stmt(c, ev, s) {
			return false
		}
	}
	return true
}

func (x *Machine) stmt(c *context, ev *model.Event, s core.Stmt) bool {
	switch s := s.(type) {
	case *core.Assign:
		return x.assign(c, s) || x.failed(c, ev)
	case *core.Emit:
		return x.emit(c, ev, s)
	case *core.Timer:
		return x.timer(c, s) || x.failed(c, ev)
	case *core.Give:
		return x.give(c, ev, s)
	case *core.Reset:
		return x.reset(c, s) || x.failed(c, ev)
	case *core.Branch:
		v, ok := x.x.num(&c.scope, s.Cond)
		if !ok {
			return x.failed(c, ev)
		}
		if v != 0 {
			return x.run(c, ev, s.Then)
		}
		return x.run(c, ev, s.Else)
	case *core.For:
		return x.each(c, ev, s)
	case *core.Refuse:
		x.refuse(c, Refusal, ev)
		x.fault.Reason, x.fault.Span = s.Reason, s.Pos()
		return false
	}
	x.x.fail(s.Node().Pos(), "the interpreter does not know this kind of statement")
	return x.failed(c, ev)
}

// assign gives a variable, a place inside it, or a local a value.
func (x *Machine) assign(c *context, s *core.Assign) bool {
	e := &x.x
	mark := e.arena.mark()
	defer e.arena.release(mark)
	at := 0
	if s.Var != nil {
		at = c.base + s.Var.Offset
	}
	for k := range s.Select {
		sel := &s.Select[k]
		if sel.Field != nil {
			if sel.T.Kind == model.KindOptional {
				if c.v[at] == 0 {
					return e.fail(s.Pos(), model.PlaceString(s.From.(*model.Set), k)+" is none")
				}
				at++
			}
			at += sel.Field.Offset
			continue
		}
		i, ok := e.num(&c.scope, sel.Index)
		if !ok {
			return false
		}
		off, why := element(sel.T, c.v[at:], i)
		if why != "" {
			return e.fail(sel.Index.Node().Pos(), model.PlaceString(s.From.(*model.Set), k+1)+": "+why)
		}
		at += off
	}
	v, ok := e.value(&c.scope, s.Value)
	if ok && s.Var == nil {
		c.setLocal(s.Local, v)
	} else if ok {
		copy(c.v[at:], v)
	}
	return ok
}

// fields evaluates the fields of a message or report, or the arguments of an event.
func (x *Machine) fields(c *context, list []core.Expr) ([]int64, bool) {
	n := 0
	for _, e := range list {
		n += e.Node().Slots
	}
	slots := x.x.arena.alloc(n)
	at := 0
	for _, e := range list {
		if !x.x.into(&c.scope, e, slots[at:]) {
			return nil, false
		}
		at += e.Node().Slots
	}
	return slots, true
}

// emit sends, reports or closes.
func (x *Machine) emit(c *context, ev *model.Event, s *core.Emit) bool {
	slots, ok := x.fields(c, s.Fields)
	if !ok {
		return x.failed(c, ev)
	}
	if s.Report != nil {
		return x.report(c, ev, s, slots)
	}
	to, ok := x.destination(c, s.Dest, s.To)
	if ok && s.Message != nil {
		ok = x.send(c, s.Pos(), s.Message, slots, s.Dest, to)
	} else if ok {
		ok = x.close(c, s.Dest, to)
	}
	return ok || x.failed(c, ev)
}

// destination gives the instance number for a Dest.
func (x *Machine) destination(c *context, d model.Dest, to core.Expr) (int, bool) {
	switch d {
	case model.ToSender:
		return x.ev.Sender, true
	case model.ToBroadcast:
		return int(fsm.Broadcast), true
	case model.ToExpr:
		v, ok := x.x.num(&c.scope, to)
		return int(v), ok
	}
	return 0, true
}

// send emits a message, through the mappings of all parents.
func (x *Machine) send(c *context, at diag.Span, msg *model.Message, slots []int64, d model.Dest, to int) bool {
	if c.up == nil {
		x.effects = append(x.effects,
			Effect{Kind: fsm.Send, Dest: d, To: to, Message: msg, Slots: slots, Span: at})
		return true
	}
	p := c.part.Model
	ps := c.part.Sends[msg.Index]
	if ps == nil {
		return true
	}
	if d, to = x.peer(c, d, to); d == noPeer {
		return false
	}
	up, old := c.up, c.up.locals
	defer func() { up.locals = old }()
	up.locals = x.x.keyFrame(p, c.index, len(slots))
	from := 0
	for _, l := range ps.Model.Params {
		n := l.Type.Slots()
		up.setLocal(l, slots[from:from+n])
		from += n
	}
	mapped, ok := x.fields(up, ps.Send.Fields)
	if !ok {
		return false
	}
	if ps.Send.Dest != model.ToPeer {
		if to, ok = x.destination(up, ps.Send.Dest, ps.Send.To); !ok {
			return false
		}
		d = ps.Send.Dest
	}
	return x.send(up, ps.Send.Pos(), ps.Send.Message, mapped, d, to)
}

// noPeer is the destination where a part's peer has no value.
const noPeer = model.Dest(255)

// peer gives what a part sends without a destination that of its peer.
func (x *Machine) peer(c *context, d model.Dest, to int) (model.Dest, int) {
	p := c.part
	if d != model.ToPeer || p.To == nil {
		return d, to
	}
	s := scope{v: c.v, base: c.up.base, locals: x.x.keyFrame(p.Model, c.index, p.Model.ToLocals)}
	v, ok := x.x.num(&s, p.To)
	if !ok {
		return noPeer, 0
	}
	return model.ToExpr, int(v)
}

// close asks for a link to be closed; without a destination that to the peer of the nearest part
// that has one.
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
func (x *Machine) report(c *context, cause *model.Event, s *core.Emit, slots []int64) bool {
	if c.up == nil {
		x.effects = append(x.effects, Effect{Kind: fsm.Report, Report: s.Report, Slots: slots})
		return true
	}
	for _, ev := range c.up.m.Model.Events {
		if ev.Kind == model.EventReport && ev.Part == c.part.Model && ev.Report == s.Report {
			n := len(c.part.Model.Keys)
			args := x.x.arena.alloc(n + len(slots))
			keysAt(c.part.Model.Keys, c.index, args[:n])
			copy(args[n:], slots)
			return x.enqueue(c, ev, args, cause)
		}
	}
	x.x.fail(s.Pos(), "the parent has no event for report "+s.Report.Name)
	return x.failed(c, cause)
}

// give gives a part an event inside this step.
func (x *Machine) give(c *context, ev *model.Event, s *core.Give) bool {
	_, at, ok := x.x.address(&c.scope, &s.Place)
	if !ok {
		return x.failed(c, ev)
	}
	args, ok := x.fields(c, s.Args)
	if !ok {
		return x.failed(c, ev)
	}
	sub := x.enter(c, s.Part, indexOf(c, s.Part.Model, at))
	switch code, _ := x.deliver(sub, s.Event, args); code {
	case fsm.Deferred:
		x.refuse(sub, Kept, s.Event)
		x.fault.Span = s.Pos()
		return false
	case fsm.Refused:
		return false
	}
	return true
}

// indexOf is which instance of a part begins at a slot.
func indexOf(c *context, p *model.Part, at int) int { return (at - c.base - p.Offset) / p.Machine.Size }

// reset puts a part back to its beginning and stops its timers.
func (x *Machine) reset(c *context, s *core.Reset) bool {
	p := s.Part.Model
	first, last := 0, p.Count-1
	if !s.All {
		_, at, ok := x.x.address(&c.scope, &s.Place)
		if !ok {
			return false
		}
		first = indexOf(c, p, at)
		last = first
	}
	for i := first; i <= last; i++ {
		x.stopAll(p.Machine, c.v, c.base+p.Offset+i*p.Machine.Size, append(c.path(nil), At{p, i}))
		if !x.x.createPart(s.Part, i, c.v, c.base) {
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

// timer starts a timer, or starts it anew, or stops an instance of it or all.
func (x *Machine) timer(c *context, s *core.Timer) bool {
	t := s.Timer
	if s.All {
		x.stop(t, 0, t.Count, c.v, c.base, c.path(nil))
		return true
	}
	_, at, ok := x.x.address(&c.scope, &s.Place)
	if !ok {
		return false
	}
	k := at - c.base - t.Offset
	if !s.Start {
		x.stop(t, k, k+1, c.v, c.base, c.path(nil))
		return true
	}
	ticks := t.Ticks
	if s.Ticks != nil {
		if ticks, ok = x.x.num(&c.scope, s.Ticks); !ok {
			return false
		}
	}
	c.v[at] = 1
	x.effects = append(x.effects, Effect{Kind: fsm.StartTimer, Timer: t, At: c.path(nil), Index: k, Ticks: ticks})
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
func (x *Machine) each(c *context, ev *model.Event, s *core.For) bool {
	inside := false
	ok := x.x.forEach(&c.scope, s.Local, s.Values, s.Over, s, func() (bool, bool) {
		inside = !x.run(c, ev, s.Body)
		return true, !inside
	})
	if ok || inside {
		return ok
	}
	return x.failed(c, ev)
}

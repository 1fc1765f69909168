package export

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

func (s *step) run(c *machine, list []core.Stmt) {
	for _, x := range list {
		if s.b.dead {
			return
		}
		s.stmt(c, x)
	}
}

func (s *step) stmt(c *machine, x core.Stmt) {
	switch x := x.(type) {
	case *core.Assign:
		s.assign(c, x)
	case *core.Emit:
		switch {
		case x.Message != nil:
			fields := s.fields(c, x.Fields)
			s.send(c, x.Message, fields, x.Dest, s.destination(c, x.Dest, x.To), lineNote(x.Pos()))
		case x.Report != nil:
			s.report(c, x)
		} // without faults there are no links to close
	case *core.Timer:
		s.timer(c, x)
	case *core.Give:
		p := x.Part.Model
		s.which(c, x.Keys, p.Count, func(i int) []int64 { return interp.PartKeys(p, i) }, "part "+p.Name, func(i int) {
			args := s.hold(s.fields(c, x.Args))
			s.deliver(c.enter(x.Part, i), x.Event, args)
		})
	case *core.Reset:
		s.reset(c, x)
	case *core.Branch:
		cond, ok := s.scalar(c, x.Cond)
		s.fault(ok, x.Cond.Node().Pos(), "the condition faults")
		s.choose([]option{{cond: asBool(cond), body: func() { s.run(c, x.Then) }}}, true,
			func() { s.run(c, x.Else) })
	case *core.For:
		s.each(c, x)
	case *core.Refuse:
		s.fail(unspecifiedFlag, x.Reason)
	default:
		refuse("a statement of the kind %T (%s)", x, x.Node().Pos())
	}
}

// scope returns the scope for the expressions in the statements of a machine.
func (s *step) scope(c *machine) *scope {
	return &scope{l: s.l, known: s.b.known, sender: s.sender, inst: s.inst, base: c.base,
		locals: c.locals}
}

// value evaluates an expression. A fault in it is an error of the step.
func (s *step) value(c *machine, e core.Expr) []*term {
	v, ok := s.scope(c).eval(e)
	s.fault(ok, e.Node().Pos(), "an expression faults")
	return v
}

func (s *step) scalar(c *machine, e core.Expr) (*term, *term) {
	v, ok := s.scope(c).eval(e)
	return v[0], ok
}

// stored evaluates an expression that the core has fitted to the place that stores it.
func (s *step) stored(c *machine, e core.Expr) []*term {
	v := s.value(c, core.Bare(e))
	if f, is := e.(*core.Fit); is {
		var ok *term
		v, ok = fit(f.T, f.X.Node().T, v)
		s.fault(ok, f.Pos(), "a value is outside its type")
	}
	return v
}

func (s *step) fields(c *machine, list []core.Expr) []*term {
	var out []*term
	for _, e := range list {
		out = append(out, s.stored(c, e)...)
	}
	return out
}

// assign sets a local, a variable or a place inside it. If an index is not known, each possible place is
// assigned either the new value or its own.
func (s *step) assign(c *machine, x *core.Assign) {
	if x.Local != nil {
		c.bind(x.Local, s.hold(s.stored(c, x.Value)))
		return
	}
	s.place(c, x, x.Select, x.Var.Type, c.base+x.Var.Offset)
}

// bind gives a local a value.
func (c *machine) bind(l *model.Local, v []*term) {
	if need := l.Offset + len(v); need > len(c.locals) {
		c.locals = append(c.locals, make([]*term, need-len(c.locals))...)
	}
	copy(c.locals[l.Offset:], v)
}

// place returns the places that the selectors can lead to. t is the type of the value at at.
func (s *step) place(c *machine, x *core.Assign, sel []core.Select, t *model.Type, at int) {
	if len(sel) == 0 {
		s.store(c, x, at)
		return
	}
	if f := sel[0].Field; f != nil {
		if t.Kind == model.KindOptional {
			s.fault(s.b.known.slot(s.inst, at), x.Pos(), "the value is none")
			at++
		}
		s.place(c, x, sel[1:], f.Type, at+f.Offset)
		return
	}
	i, ok := s.scalar(c, sel[0].Index)
	s.fault(ok, sel[0].Index.Node().Pos(), "an expression faults")
	n, low, first := t.Cap, int64(0), at+1
	bound := s.b.known.slot(s.inst, at)
	if t.Kind == model.KindArray {
		n, low, first = int(t.Index.Count()), t.Index.Lowest(), at
		bound = number(int64(n))
	}
	var options []option
	for k := range n {
		cond := and(compare("==", i, number(low+int64(k))), compare("<", number(int64(k)), bound))
		options = append(options, option{cond: cond, body: func() {
			s.place(c, x, sel[1:], t.Elem, first+k*t.Elem.Slots())
		}})
	}
	s.choose(options, true, func() { s.fail(faultFlag, linePrefix(x.Pos())+"an index is outside") })
}

func (s *step) store(c *machine, x *core.Assign, at int) {
	v := s.stored(c, x.Value)
	// places that are read by what is stored behind them keep their value in between
	set := map[*variable]bool{}
	for i := range v {
		if readsAny(v[i], set) {
			v = s.hold(v)
			break
		}
		set[s.inst.slots[at+i]] = true
	}
	for i := range v {
		s.set(s.inst.slots[at+i], v[i])
	}
}

// destination returns the number of the instance that a message goes to, if the statement names one.
func (s *step) destination(c *machine, d model.Dest, to core.Expr) *term {
	switch d {
	case model.ToSender:
		return number(int64(s.sender))
	case model.ToExpr:
		return s.value(c, to)[0]
	}
	return no
}

// send writes the sending of a message, through the mappings of all parents.
func (s *step) send(c *machine, msg *model.Message, fields []*term, d model.Dest, to *term,
	note string) {
	if s.b.dead {
		return
	}
	if c.up == nil {
		s.put(msg, fields, d, to, note)
		return
	}
	ps := c.part.Sends[msg.Index]
	if ps == nil {
		return
	}
	if d == model.ToPeer && c.part.To != nil {
		sc := s.scope(c.up)
		sc.locals = c.keyFrame(c.part.Model.ToLocals)
		v, ok := sc.eval(c.part.To)
		s.fault(ok, c.part.To.Node().Pos(), "an expression faults")
		d, to = model.ToExpr, v[0]
	}
	up, old := c.up, c.up.locals
	up.locals = c.keyFrame(ps.Model.Locals)
	from := 0
	for _, l := range ps.Model.Params {
		n := l.Type.Slots()
		copy(up.locals[l.Offset:l.Offset+n], fields[from:from+n])
		from += n
	}
	mapped := s.fields(up, ps.Send.Fields)
	if ps.Send.Dest != model.ToPeer {
		d, to = ps.Send.Dest, s.destination(up, ps.Send.Dest, ps.Send.To)
	}
	up.locals = old
	s.send(up, ps.Send.Message, mapped, d, to, note)
}

// keyFrame returns a frame of locals with the keys of the part that c is.
func (c *machine) keyFrame(n int) []*term {
	for _, l := range c.part.Model.KeyLocals {
		n = max(n, l.Offset+1)
	}
	frame := make([]*term, n)
	for i, l := range c.part.Model.KeyLocals {
		frame[l.Offset] = c.keys()[i]
	}
	return frame
}

// put writes a message into the channels that it goes to.
func (s *step) put(msg *model.Message, fields []*term, d model.Dest, to *term, note string) {
	me := s.inst.index
	if d == model.ToPeer {
		if len(s.l.insts) != 2 {
			s.fail(faultFlag, "a message to the peer in a check that has not two instances")
		}
		to = number(int64(1 - me))
	}
	var options []option
	for k := range s.l.insts {
		if k == me {
			continue
		}
		body := func() {
			s.emit(&send{ch: s.l.channel(me, k, msg.Channel), msg: msg.Index, fields: fields,
				note: msg.Name + note})
		}
		if d == model.ToBroadcast {
			body()
			continue
		}
		options = append(options, option{cond: compare("==", to, number(int64(k))), body: body})
	}
	if d != model.ToBroadcast {
		s.choose(options, true, func() {
			s.fail(faultFlag, msg.Name+" is sent to an instance that the check has not")
		})
	}
}

// report queues an event for the parent. A report to the embedding program does nothing here.
func (s *step) report(c *machine, x *core.Emit) {
	args := s.fields(c, x.Fields)
	if c.up == nil || s.b.dead {
		return
	}
	for _, ev := range c.up.m.Model.Events {
		if ev.Kind == model.EventReport && ev.Part == c.part.Model && ev.Report == x.Report {
			s.enqueue(c, ev, append(c.keys(), args...))
			return
		}
	}
	s.fail(faultFlag, "the parent has no event for report "+x.Report.Name)
}

// which runs body for the instance of a part or timer that the keys select.
func (s *step) which(c *machine, keys []core.Expr, count int, keysOf func(int) []int64,
	what string, body func(int)) {
	var values []*term
	for _, k := range keys {
		v, ok := s.scalar(c, core.Bare(k))
		s.fault(ok, k.Node().Pos(), "an expression faults")
		values = append(values, v)
	}
	if s.b.dead {
		return
	}
	var options []option
	for i := range count {
		options = append(options, option{cond: selects(values, keysOf(i)), body: func() { body(i) }})
	}
	s.choose(options, true, func() { s.fail(faultFlag, "no instance of "+what) })
}

// timer arms or disarms a timer, or disarms all its instances.
func (s *step) timer(c *machine, x *core.Timer) {
	t := x.Timer
	set := func(i int) { s.set(s.inst.slots[c.base+t.Offset+i], truth(x.Start)) }
	if x.All {
		for i := range t.Count {
			set(i)
		}
	} else {
		s.which(c, x.Keys, t.Count, func(i int) []int64 { return interp.TimerKeys(t, i) }, "timer "+t.Name, set)
	}
	if x.Ticks != nil {
		s.stored(c, x.Ticks)
	}
}

// reset puts one instance of a part, or all of them, back to the initial value.
func (s *step) reset(c *machine, x *core.Reset) {
	p := x.Part.Model
	reset := func(i int) {
		at := c.base + p.Offset + i*p.Machine.Size
		for k := at; k < at+p.Machine.Size; k++ {
			if s.inst.slots[k] != nil {
				s.set(s.inst.slots[k], number(s.inst.init[k]))
			}
		}
	}
	if !x.All {
		s.which(c, x.Keys, p.Count, func(i int) []int64 { return interp.PartKeys(p, i) }, "part "+p.Name, reset)
		return
	}
	for i := range p.Count {
		reset(i)
	}
}

// each writes statements for each element. It evaluates the list before the first round.
func (s *step) each(c *machine, x *core.For) {
	if x.Values != nil {
		for _, v := range domain(x.Values) {
			c.bind(x.Local, v)
			s.run(c, x.Body)
		}
		return
	}
	list := s.hold(s.value(c, x.Over))
	for _, el := range elements(x.Over.Node().T, list) {
		s.choose([]option{{cond: el.there, body: func() { c.bind(x.Local, el.v); s.run(c, x.Body) }}}, true, nil)
	}
}

package system

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

func (p *Process) Init() []byte {
	e := world.End0[string](&p.sys.Rules, p.Inst.Index)
	e.Started = p.noStart && !e.Down
	return p.after(p.put(codec.Local{Used: make([]int64, p.bounded)}, e), p.Initial)
}

func (p *Process) Final(b []byte) bool {
	l := p.Unpack(b)
	return p.Inst.IsHostile() || l.Get(p.AtDown) != 0 || p.Role.States[l.Value[0]].Final
}

func (p *Process) Local(b []byte, emit func(explore.Step)) {
	l := p.Unpack(b)
	if p.Inst.IsHostile() {
		return // others feel what it does
	}
	p.faults(l, emit)
	if l.Get(p.AtDown) != 0 {
		return
	}
	inner := emit
	emit = func(s explore.Step) { p.sys.roomy(s, inner) }
	r, i, e := &p.sys.Rules, p.Inst.Index, p.end(l)
	if !l.Started {
		l.Started = true
		p.emit(l, world.Begin(r, i, e, l.Value, stepper{p}), emit)
		return
	}
	if world.Due(r, &e, l.Value, stepper{p}) >= 0 {
		res := world.Offer(r, i, e, l.Value, stepper{p})
		p.emit(l, res, p.offered(l, res, emit))
		return
	}
	for ups := e.Waiting; ups != 0; ups &= ups - 1 {
		p.emit(l, world.LinkUp(r, i, e, l.Value, bits.TrailingZeros64(ups), stepper{p}), emit)
	}
	p.attacks(l, e, emit)
	for i := range p.Commands {
		c := &p.Commands[i]
		if p.unavailable(l, c) {
			continue
		}
		for _, args := range c.Args {
			p.command(l, c, args, emit)
		}
	}
	for t := range p.Timers {
		if e.Left[t].Least == 0 {
			p.expire(l, e, t, emit)
		}
	}
}

// expire lets a timer expire where the environment's rule allows it.
func (p *Process) expire(l codec.Local, e end, i int, emit func(explore.Step)) {
	t := &p.Timers[i]
	boxes := cond.Anywhere
	if t.Rule != nil {
		if t.Count >= 0 && l.Used[t.Count] >= int64(t.Rule.Env.Times) {
			return
		}
		if boxes = t.Rule.Boxes(l.Value[t.base:t.base+t.size], t.args); len(boxes) == 0 {
			return
		}
	}
	n := l.Own()
	if t.Count >= 0 {
		n.Used[t.Count]++
	}
	p.emit(n, world.Expire(&p.sys.Rules, p.Inst.Index, e, l.Value, i, stepper{p}), func(s explore.Step) {
		cond.Emit(s, boxes, emit)
	})
}

// unavailable reports whether no argument can make the command possible.
func (p *Process) unavailable(l codec.Local, c *command) bool {
	st := p.Role.States[l.Value[0]]
	if c.Event.Index >= len(st.Handlers) || st.Handlers[c.Event.Index] == nil {
		return true
	}
	return c.Count >= 0 && l.Used[c.Count] >= int64(c.Rule.Env.Times)
}

func (p *Process) event(kind model.EventKind) *model.Event {
	for _, ev := range p.Role.Events {
		if ev.Kind == kind {
			return ev
		}
	}
	return nil
}

// command offers a command where it is available and allowed.
func (p *Process) command(l codec.Local, c *command, args []int64, emit func(explore.Step)) {
	boxes := cond.Anywhere
	if c.Rule != nil && !c.Rule.LooksAtChannels() {
		if boxes = c.Rule.Boxes(l.Value, args); len(boxes) == 0 {
			return
		}
	}
	p.last.ev = interp.Event{Event: c.Event, Args: args}
	res := world.Give(&p.sys.Rules, p.Inst.Index, p.end(l), l.Value, "", stepper{p})
	if res.What == world.Blocked || res.Code != fsm.Took {
		p.sys.refused(p.last.fault)
		return
	}
	if c.Rule != nil && c.Rule.LooksAtChannels() {
		if boxes = c.Rule.Boxes(l.Value, args); len(boxes) == 0 {
			return
		}
	}
	if c.Count >= 0 {
		l.Used[c.Count]++
		defer func() { l.Used[c.Count]-- }()
	}
	p.emit(l, res, func(s explore.Step) {
		s.Spontaneous, s.Constraints = true, c.does
		cond.Emit(s, boxes, emit)
	})
}

// refused notes that a command was not available because something in it faulted.
func (s *Machines) refused(f *interp.Fault) {
	if f != nil && f.Kind == interp.Failed && s.Refusal == "" {
		s.Refusal = explain(f) + " (" + f.Span.Place() + ")"
	}
}

// Receive delivers a message, or news.
func (p *Process) Receive(b []byte, ch int, msg []byte, emit func(explore.Step)) {
	l := p.Unpack(b)
	r, i := &p.sys.Rules, p.Inst.Index
	switch {
	case ch >= p.sys.clockAt:
		p.beat(l, emit)
		return
	case ch >= p.sys.Own:
		res := world.Cutoff(r, i, p.end(l), l.Value, uint64(codec.Number(msg)), stepper{p})
		emit(p.step(codec.NoteCutoff, p.Pack(p.put(l, res.End), res.Value)))
		return
	}
	from := p.sys.System.Channels[ch].From
	e, item := p.end(l), codec.UnpackItem(p.sys.Protocol, msg)
	if r.Faults.Partition > 0 && world.Swallows(r, &r.Channels[ch], &e, item) {
		s := p.step(codec.NoteSwallow, b)
		s.Once = true
		emit(s)
	}
	res := world.Deliver(r, i, e, l.Value, from, item, stepper{p})
	p.emit(l, res, func(s explore.Step) { p.sys.roomy(s, emit) })
}

func (p *Process) Reception(m *model.Message) *model.Event {
	for _, ev := range p.Role.Events {
		if ev.Kind == model.EventMessage && ev.Message.Name == m.Name {
			return ev
		}
	}
	return nil
}

// emit makes the explorer's step of one of the world, from l, in which what rules count is counted
// already.
func (p *Process) emit(l codec.Local, r result, emit func(explore.Step)) {
	n := p.put(l, r.End)
	s := explore.Step{Sends: p.sends(r.Sends)}
	switch {
	case r.What == world.Blocked:
		return
	case r.What == world.Dropped, r.What == world.Stepped && p.unmentioned(r.Event.Kind):
		drop := p.step(codec.NoteDrop, p.Pack(n, l.Value))
		s.Label, s.Next, s.Note = drop.Label, drop.Next, drop.Note
	case r.What == world.Kept:
		p.last.ev = p.message(r.Event)
		p.saw(l.Value)
		_, _, res, _ := p.Machine.Step(l.Value, p.last.ev)
		s.Label, s.Tally, s.Note = p.labelOf(l, res, p.last.ev), p.tally(), codec.PackNote(p.last.ev)
		s.Next = p.Pack(n, l.Value)
	case r.Code == fsm.Took:
		s.Label, s.Tally, s.Note = p.labelTaken(p.last.ev), p.tally(), codec.PackNote(p.last.ev)
		p.say(&n)
		s.Next = p.after(n, r.Value)
	default:
		s.Label, s.Tally, s.Note = p.labelOf(l, p.last.res, p.last.ev), p.tally(), codec.PackNote(p.last.ev)
		s.Next = p.after(n, r.Value)
	}
	switch {
	case r.Fault == world.Refusal:
		s.Fault = &explore.Fault{Kind: explore.UnspecifiedReception, Text: explain(p.last.fault)}
		if p.last.fault.Kind == interp.Failed {
			s.Fault.Kind = explore.OtherFault
		}
	case r.Fault == world.DeferredOverflow:
		s.Fault = &explore.Fault{Kind: explore.DeferredOverflow,
			Text: fmt.Sprintf("%s holds %s already, and its role may defer no more",
				p.Inst.Name, diag.Counted(p.Role.DeferredMost(), "deferred message"))}
	case r.Code == fsm.Took && r.What == world.Stepped && p.last.lost != "":
		s.Fault = &explore.Fault{Kind: explore.OtherFault, Text: p.last.lost}
	case r.Code == fsm.Took && r.What == world.Stepped && p.last.bare != "":
		s.Fault = &explore.Fault{Kind: explore.Unencodable, Text: p.last.bare}
	}
	if s.Fault != nil {
		s.Next, s.Sends = nil, nil
	}
	emit(s)
	p.torn(l, r, s.Note, emit)
}

// unmentioned reports whether the role mentions news of links nowhere, so that it is not worth
// telling that it ignores it.
func (p *Process) unmentioned(kind world.EventKind) bool {
	return (kind == world.Up || kind == world.Lost) && !p.Role.Linked()
}

// sends turns what goes out into what the explorer sends.
func (p *Process) sends(list []world.Sent[string]) []explore.Send {
	var out []explore.Send
	for _, x := range list {
		msg := codec.PackItem(p.sys.Protocol, x.Item)
		out = append(out, explore.Send{Channel: p.sys.Channel(p.Inst.Index, x.To, x.Class), Msg: msg})
	}
	return out
}

// stepper is a process as the world steps it.
type stepper struct{ *Process }

// saw tells who wants to know that the machine is about to be given the last event.
func (p *Process) saw(v interp.Value) {
	if p.sys.Saw != nil {
		p.sys.Saw(p.Inst, v, p.last.ev)
	}
}

// Final implements [world.Machine].
func (p stepper) Final(v interp.Value) bool { return p.Role.States[v[0]].Final }

// Step implements [world.Machine]. The event of a command is in p.last already.
func (p stepper) Step(v interp.Value, ev world.Event[string]) world.Outcome[interp.Value, string] {
	switch ev.Kind {
	case world.Start:
		p.last.ev = interp.Event{Event: p.event(model.EventStart)}
	case world.Up:
		p.last.ev = interp.Event{Event: p.event(model.EventUp), Sender: ev.Peer}
	case world.Lost:
		p.last.ev = interp.Event{Event: p.event(model.EventLost), Sender: ev.Peer}
	case world.Message:
		p.last.ev = p.message(ev)
	case world.Timeout:
		t := &p.Timers[ev.Timer]
		p.last.ev = interp.Event{Event: t.ev, At: t.at, Args: t.args}
	}
	p.saw(v)
	next, effects, res, fault := p.Machine.Step(v, p.last.ev)
	p.last.res, p.last.fault, p.last.lost, p.last.bare = res, fault, "", ""
	if ev.Kind == world.Message && p.sys.Rules.IsHostile(ev.Peer) {
		p.sys.faulted(fault)
	}
	p.hear(effects)
	out := world.Outcome[interp.Value, string]{Code: res.Code, Value: next}
	for k := range effects {
		p.effect(&effects[k], &out)
	}
	return out
}

// effect adds one effect of a step.
func (p *Process) effect(e *interp.Effect, out *world.Outcome[interp.Value, string]) {
	switch e.Kind {
	case fsm.Send, fsm.Close:
		p.sys.Closes = p.sys.Closes || e.Kind == fsm.Close
		to, why := p.sys.Receivers(p.Inst.Index, e)
		if e.Kind == fsm.Send && why != "" && p.last.lost == "" {
			p.last.lost = why
		}
		f := world.Effect[string]{Kind: e.Kind}
		if e.Kind == fsm.Send {
			if why = p.frames.Refuses(e.Message, e.Slots); why != "" && p.last.bare == "" {
				text := interp.AppendMessage(nil, p.sys.Texts, e.Message, e.Slots)
				p.last.bare = stage.NoFrame(string(text), why, e)
			}
		}
		for _, f.To = range to {
			if e.Kind == fsm.Send {
				m, slots := p.sys.Crosses(p.Inst.Index, f.To, e)
				f.Message, f.Class = string(codec.PackMessage(m, slots)), m.Channel
			}
			out.Effects = append(out.Effects, f)
		}
	case fsm.StartTimer, fsm.StopTimer:
		i := slices.IndexFunc(p.Timers, func(t timer) bool {
			return t.ev.Timer == e.Timer && t.index == e.Index && slices.Equal(t.at, e.At)
		})
		out.Effects = append(out.Effects, world.Effect[string]{Kind: e.Kind, Timer: i, Ticks: e.Ticks})
	}
}

// message is the reception of a message.
func (p *Process) message(ev world.Event[string]) interp.Event {
	m, slots := codec.UnpackMessage(p.sys.Protocol, []byte(ev.Message))
	return interp.Event{Event: p.Reception(m), Args: slots, Sender: ev.Peer}
}

// Defers implements [world.Machine].
func (p stepper) Defers(v interp.Value, msg string) bool {
	m := p.sys.Protocol.Messages[codec.MessageIndex([]byte(msg))]
	ev := p.Reception(m)
	st := p.Role.States[v[0]]
	if ev.Index >= len(st.Handlers) || st.Handlers[ev.Index] == nil {
		return false
	}
	return st.Handlers[ev.Index].Mode == model.Defer
}

// Crashed implements [world.Crasher]: nothing of the machine will run out any more.
func (p stepper) Crashed(before, v interp.Value) interp.Value {
	w := slices.Clone(v)
	interp.Crashed(p.Role, before, w)
	for _, t := range p.Timers {
		w[t.slot] = 0
	}
	return w
}

// New implements [world.Comer].
func (p stepper) New() interp.Value { return slices.Clone(p.Initial) }

// Restarted implements [world.Crasher]: what is kept stays.
func (p stepper) Restarted(old interp.Value) interp.Value {
	return interp.Restarted(p.Role, p.Initial, old)
}

// explain says why a step was refused. The line is left out where the step shows it anyway.
func explain(f *interp.Fault) string {
	if f.Kind == interp.NoBranch {
		return f.Explain(diag.Span.Place)
	}
	return f.Explain(func(diag.Span) string { return "" })
}

// Pack makes the bytes of l with the machine's value next, of which what is dead is forgotten.
func (p *Process) Pack(l codec.Local, next interp.Value) []byte {
	l.Value = p.cleaned(next)
	return l.Pack()
}

// cleaned is a machine's value without what is dead in it.
func (p *Process) cleaned(v interp.Value) interp.Value {
	s := p.sys
	if s.Dead == nil {
		return v
	}
	out := slices.Clone(v)
	if s.Dead.Clean(p.Role, out, p.Initial) {
		s.Spared[string(codec.AppendSlots([]byte{byte(p.Inst.Index), byte(p.Inst.Index >> 8)}, v))] = true
	}
	return out
}

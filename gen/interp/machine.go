package interp

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// Event is one event for a machine.
type Event struct {
	// Event is one of the machine's events (or, with At, of the part's).
	Event *model.Event
	// Args are the slots of the event's fields, one after the other.
	Args []int64
	// Sender is the number of the instance a message came from, or whose link
	// came up or was lost.
	Sender int
	// At leads to the part an event is for: only for the expiry of a part's
	// timer, which the driver gives to the part itself.
	At []At
}

// Keyed returns how generated code tells an event: its name behind those of the parts that it is in,
// `part.timer`, and the number of the instance, of parts and of a timer with keys together; 0 if
// nothing has keys.
func (ev Event) Keyed() (name string, key int) {
	for _, at := range ev.At {
		name += at.Part.Name + "."
		key = key*at.Part.Count + at.Index
	}
	if ev.Event.Kind == model.EventTimer {
		key = key*ev.Event.Timer.Count + TimerIndex(ev.Event.Timer, ev.Args)
	}
	return name + ev.Event.Name, key
}

// Effect is one thing a step asks for, as fsm.Effect, with its payload.
type Effect struct {
	Kind fsm.EffectKind
	// Dest and To say where a Send or Close goes. To is an instance number,
	// -1 for ToBroadcast, 0 for ToPeer.
	Dest model.Dest
	To   int
	// Message, Report or Timer is set according to Kind.
	Message *model.Message
	Report  *model.Report
	Timer   *model.Timer
	// At leads to the part that owns Timer; empty for the machine's own.
	At []At
	// Index is the instance of Timer, Ticks how long a StartTimer lets it run.
	Index int
	Ticks int64
	// Slots are those of the message's or report's fields.
	Slots []int64
	// Span is the place of what gives the fields of a message that is sent: the statement, or the
	// mapping of the part that sends it.
	Span diag.Span
}

// Machine steps values of one model. It reuses its memory: what Step returns
// holds until the next Step. It is not safe for concurrent use.
type Machine struct {
	Model *model.Machine
	// Follow asks for the Trail of each step.
	Follow bool

	code    *core.Machine
	top     context    // of the machine itself
	subs    []*context // of the parts at work, by depth
	x       Eval
	next    []int64
	effects []Effect
	fired   []*model.Transition
	trail   []Mark
	queued  int
	fault   Fault
	refused bool
	v       Value
	ev      Event
}

// New makes a Machine; strs may be nil if no texts occur.
func New(m *model.Machine, strs *Strings) *Machine { return Run(core.Lower(m), strs) }

// Run is New for a machine that is lowered already.
func Run(m *core.Machine, strs *Strings) *Machine {
	return &Machine{Model: m.Model, code: m, x: Eval{Strings: strs}, next: make([]int64, m.Model.Size)}
}

// Fired lists the transitions of the machine itself (not of its parts) that the
// last step took, in order: first that of the event, then those of its parts' events. It holds
// until the next step.
func (x *Machine) Fired() []*model.Transition { return x.fired }

// Mark is something of a specification that a step used: a transition of the machine or of
// a part of it (handled, ignored or deferred), or the entry statements of a state.
type Mark struct {
	Transition *model.Transition
	Entry      *model.State
}

// Trail lists, if Follow is set, what the last step used, in order. If the step was refused it is
// what was tried. It holds until the next step.
func (x *Machine) Trail() []Mark { return x.trail }

func (x *Machine) follow(m Mark) {
	if x.Follow {
		x.trail = append(x.trail, m)
	}
}

// context is one machine at work inside a step: the outermost or a part.
type context struct {
	scope
	m     *core.Machine
	up    *context
	part  *core.Part // which part of up
	index int        // and which instance of it
	depth int        // how many machines are above
	queue []pending
}

// pending is an event of a part that waits for the end of its parent's statements.
type pending struct {
	ev   *model.Event
	args []int64
}

// Step gives the machine one event and handles it to its end. next is v itself unless the result is
// Took, or a timer that was ignored has expired: an expiry disarms the timer whatever is done with
// it. If it is Refused, fault says why; otherwise fault is nil. The sizes of v and ev.Args must be
// those of the model. What Step returns holds until the next call.
func (x *Machine) Step(v Value, ev Event) (next Value, effects []Effect, res fsm.Result, fault *Fault) {
	x.x.arena.reset()
	x.x.rounds, x.queued, x.refused = 0, 0, false
	x.effects, x.fired, x.trail = x.effects[:0], x.fired[:0], x.trail[:0]
	x.v, x.ev = v, ev
	x.x.sender = ev.Sender
	copy(x.next, v)
	x.top = context{scope: scope{v: x.next}, m: x.code, queue: x.top.queue[:0]}
	code, id := x.start(&x.top, ev)
	switch code {
	case fsm.Took:
		return x.next, x.effects, fsm.Result{Code: code, Transition: id}, nil
	case fsm.Refused:
		x.fired = x.fired[:0]
		f := &x.fault
		f.strs, f.value, f.outer, f.root = x.x.Strings, v, ev, x.Model
		return v, nil, fsm.Result{Code: code, Transition: id}, f
	}
	if code == fsm.Ignored && ev.Event.Kind == model.EventTimer {
		return x.next, nil, fsm.Result{Code: code, Transition: id}, nil
	}
	return v, nil, fsm.Result{Code: code, Transition: id}, nil
}

// start checks the arguments and delivers the event to the machine, or to the part it is for.
func (x *Machine) start(c *context, ev Event) (fsm.Code, uint16) {
	i := 0
	for _, f := range ev.Event.Fields {
		if why := x.x.fit(f.Type, x.x.arena.alloc(f.Type.Slots()), f.Type, ev.Args[i:]); why != "" {
			x.refuse(c, Failed, ev.Event)
			x.fault.Reason, x.fault.Span = "field "+f.Name+": "+why, noPlace
			return fsm.Refused, fsm.NoTransition
		}
		i += f.Type.Slots()
	}
	if t := x.Model.Sender; t != nil && ev.Event.FromPeer() && (int64(ev.Sender) < t.Lo || int64(ev.Sender) > t.Hi) {
		x.refuse(c, Failed, ev.Event)
		x.fault.Reason, x.fault.Span = "sender: "+x.x.outside(t, int64(ev.Sender)), noPlace
		return fsm.Refused, fsm.NoTransition
	}
	if len(ev.At) == 0 {
		return x.deliver(c, ev.Event, ev.Args)
	}
	return x.descend(c, ev.At, ev)
}

// descend gives an event to a part and then handles what the parts on the way queued.
func (x *Machine) descend(c *context, at []At, ev Event) (fsm.Code, uint16) {
	sub := x.enter(c, c.m.Parts[at[0].Part.Index], at[0].Index)
	var code fsm.Code
	if len(at) == 1 {
		code, _ = x.deliver(sub, ev.Event, ev.Args)
	} else {
		code, _ = x.descend(sub, at[1:], ev)
	}
	if code == fsm.Took && !x.drain(c) {
		code = fsm.Refused
	}
	return code, fsm.NoTransition
}

// enter returns the context of a part of c. It holds until c enters another: at each depth one
// machine is at work.
func (x *Machine) enter(c *context, p *core.Part, index int) *context {
	if c.depth == len(x.subs) {
		x.subs = append(x.subs, &context{})
	}
	sub := x.subs[c.depth]
	*sub = context{
		scope: scope{v: c.v, base: c.base + p.Model.Offset + index*p.Model.Machine.Size},
		m:     p.Machine, up: c, part: p, index: index, depth: c.depth + 1, queue: sub.queue[:0],
	}
	return sub
}

// deliver handles an event and all that parts queue meanwhile.
func (x *Machine) deliver(c *context, ev *model.Event, args []int64) (fsm.Code, uint16) {
	code, id := x.handle(c, ev, args)
	if code == fsm.Took && !x.drain(c) {
		code = fsm.Refused
	}
	return code, id
}

func (x *Machine) drain(c *context) bool {
	for i := 0; i < len(c.queue); i++ {
		p := c.queue[i]
		code, _ := x.handle(c, p.ev, p.args)
		if code == fsm.Deferred {
			x.refuse(c, Kept, p.ev)
			return false
		}
		if code == fsm.Refused {
			return false
		}
	}
	return true
}

// handle is steps 1 to 3 of docs/LANGUAGE.md, "One step".
func (x *Machine) handle(c *context, ev *model.Event, args []int64) (fsm.Code, uint16) {
	st := c.m.States[c.v[c.base]]
	if ev.Kind == model.EventTimer {
		armed := &c.v[c.base+ev.Timer.Offset+TimerIndex(ev.Timer, args)]
		if *armed == 0 {
			return fsm.Ignored, fsm.NoTransition
		}
		*armed = 0
	}
	var h *core.Handler
	if ev.Index < len(st.Handlers) {
		h = st.Handlers[ev.Index]
	}
	if h == nil {
		return x.unmentioned(c, st, ev)
	}
	if h.Model.Mode != model.Handle {
		code := fsm.Ignored
		if h.Model.Mode == model.Defer {
			code = fsm.Deferred
		}
		if len(h.Branches) == 0 {
			return code, fsm.NoTransition
		}
		t := h.Branches[0].Model
		x.follow(Mark{Transition: t})
		return code, uint16(t.ID)
	}
	t, ok := x.pick(c, h, args)
	if !ok {
		return fsm.Refused, fsm.NoTransition
	}
	if !x.take(c, t) {
		return fsm.Refused, uint16(t.Model.ID)
	}
	return fsm.Took, uint16(t.Model.ID)
}

// unmentioned handles an event that the state does not mention.
func (x *Machine) unmentioned(c *context, st *core.State, ev *model.Event) (fsm.Code, uint16) {
	switch ev.Kind {
	case model.EventUp, model.EventLost:
		return fsm.Ignored, fsm.NoTransition
	case model.EventStart:
		if st.Model == c.m.Model.Initial && !x.entry(c, st, ev) {
			return fsm.Refused, fsm.NoTransition
		}
		return fsm.Took, fsm.NoTransition
	}
	x.refuse(c, NoHandler, ev)
	return fsm.Refused, fsm.NoTransition
}

// pick finds the first branch whose guard holds and leaves its frame in c.locals.
func (x *Machine) pick(c *context, h *core.Handler, args []int64) (*core.Transition, bool) {
	for _, t := range h.Branches {
		mark := x.x.arena.mark()
		c.locals = x.x.arena.alloc(max(t.Model.Locals, len(args)))
		from := 0
		for _, l := range t.Model.Params {
			n := l.Type.Slots()
			copy(c.locals[l.Offset:l.Offset+n], args[from:from+n])
			from += n
		}
		if t.When == nil {
			return t, true
		}
		v, ok := x.x.num(&c.scope, t.When)
		if !ok {
			return nil, x.failed(c, h.Model.Event)
		}
		if v != 0 {
			return t, true
		}
		x.x.arena.release(mark)
	}
	x.refuse(c, NoBranch, h.Model.Event)
	for _, t := range h.Branches {
		x.fault.Guards = append(x.fault.Guards, t.Model.When.Pos())
	}
	return nil, false
}

// take runs a branch: its statements, its goto, and the entry of the new state.
func (x *Machine) take(c *context, b *core.Transition) bool {
	t := b.Model
	if c.up == nil {
		x.fired = append(x.fired, t)
	}
	x.follow(Mark{Transition: t})
	if !x.run(c, t.Event, b.Body) {
		return false
	}
	if b.To == nil {
		if t.Event.Kind == model.EventStart && t.From == c.m.Model.Initial {
			return x.entry(c, c.m.States[t.From.Index], t.Event)
		}
		return true
	}
	c.v[c.base] = int64(t.To.Index)
	if t.To.Final && c.up != nil && !x.finished(c, t) {
		return false
	}
	return x.entry(c, b.To, t.Event)
}

func (x *Machine) entry(c *context, st *core.State, ev *model.Event) bool {
	if len(st.Entry) == 0 {
		return true
	}
	x.follow(Mark{Entry: st.Model})
	c.locals = x.x.arena.alloc(st.Model.EntryLocals)
	return x.run(c, ev, st.Entry)
}

// finished queues part.finished at the parent.
func (x *Machine) finished(c *context, t *model.Transition) bool {
	for _, ev := range c.up.m.Model.Events {
		if ev.Kind == model.EventFinished && ev.Part == c.part.Model {
			args := x.x.arena.alloc(len(c.part.Model.Keys))
			keysAt(c.part.Model.Keys, c.index, args)
			return x.enqueue(c, ev, args, t.Event)
		}
	}
	return true
}

// enqueue puts an event of the part c into its parent's queue.
func (x *Machine) enqueue(c *context, ev *model.Event, args []int64, cause *model.Event) bool {
	if x.queued++; x.queued > MaxQueued {
		x.x.fail(ev.Span, "the step queues too many events of parts")
		return x.failed(c, cause)
	}
	c.up.queue = append(c.up.queue, pending{ev, args})
	return true
}

// refuse notes the innermost machine that refuses; returns false.
func (x *Machine) refuse(c *context, kind FaultKind, ev *model.Event) bool {
	f := &x.fault
	*f = Fault{Kind: kind, Machine: c.m.Model, State: c.m.Model.States[c.v[c.base]], Event: ev,
		Path: c.path(f.Path[:0]), Guards: f.Guards[:0]}
	f.Span = f.State.Span
	x.refused = true
	return false
}

// failed notes a fault of the expression or statement just evaluated.
func (x *Machine) failed(c *context, ev *model.Event) bool {
	x.refuse(c, Failed, ev)
	x.fault.Reason, x.fault.Span = x.x.reason, x.x.span
	return false
}

// path appends the way from the outermost machine to c.
func (c *context) path(b []At) []At {
	if c.up == nil {
		return b
	}
	return append(c.up.path(b), At{c.part.Model, c.index})
}

package check

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
)

// process is one instance as the explorer steps it.
type process struct {
	sys      *System
	inst     *model.Instance
	role     *model.Machine
	m        *interp.Machine
	init     interp.Value
	noStart  bool // start does nothing: the machine begins as if it were done
	commands []command
	bounded  int // rules with a number of times
	timers   []timer
	label    int // of transition 0
	specials int // label of the first step that is no event
	// places in the local value of what faults and time need; -1: not needed
	atDown, atDeaf, atUps, atCrashes, atRestarts, atLeft int

	peers      int64 // instances to which there is a link
	monitors   []monitor
	quietInput []explore.LenRange // nothing is under way to the instance
	ages       []age              // of what is under way to it, if that may take several beats
	watch      interp.Eval
	watched    []int64
	// memory for unpacking
	used  []int64
	value interp.Value
}

// command is a command with all its arguments.
type command struct {
	ev    *model.Event
	args  [][]int64
	rule  *rule // nil: always
	count int   // which counter bounds it, -1: none
	does  []int // the duties of the program that it is one way to do
}

// timer is a timer of the machine or of one of its parts.
type timer struct {
	ev    *model.Event
	at    []interp.At
	index int     // instance of a keyed timer
	args  []int64 // its keys
	slot  int
	base  int // where the values of the machine that has the timer begin, a part's or one's own
	size  int
	rule  *rule // nil: always; it is over those values
	count int   // which counter bounds it, -1: none
}

func (p *process) Init() []byte {
	l := local{started: p.noStart, used: make([]int64, p.bounded)}
	return p.after(l, p.init, nil)
}

func (p *process) Final(b []byte) bool {
	l := p.unpack(b)
	return l.get(p.atDown) != 0 || p.role.States[l.value[0]].Final
}

func (p *process) Local(b []byte, emit func(explore.Step)) {
	l := p.unpack(b)
	p.faults(l, emit)
	if l.get(p.atDown) != 0 {
		return
	}
	inner := emit
	emit = func(s explore.Step) { p.sys.roomy(s, inner) }
	if !l.started {
		p.start(l, emit)
		return
	}
	p.linksUp(l, emit)
	for i := range p.commands {
		c := &p.commands[i]
		if p.unavailable(l, c) {
			continue
		}
		for _, args := range c.args {
			p.command(l, c, args, emit)
		}
	}
	for i := range p.timers {
		if p.due(&l, i) {
			p.expire(l, i, emit)
		}
	}
}

// expire lets a timer expire where the environment's rule allows it.
func (p *process) expire(l local, i int, emit func(explore.Step)) {
	t := &p.timers[i]
	boxes := anywhere
	if t.rule != nil {
		if t.count >= 0 && l.used[t.count] >= int64(t.rule.env.Times) {
			return
		}
		if boxes = t.rule.boxes(p, l.value[t.base:t.base+t.size], t.args); len(boxes) == 0 {
			return
		}
	}
	n := l.own()
	if t.count >= 0 {
		n.used[t.count]++
	}
	if p.timed() {
		n.used[p.atLeft+i] = spent
	}
	s, ok := p.step(n, interp.Event{Event: t.ev, At: t.at, Args: t.args})
	if !ok {
		return
	}
	for _, box := range boxes {
		s.Lens = box
		emit(s)
	}
}

// unavailable says whether no argument can make the command possible.
func (p *process) unavailable(l local, c *command) bool {
	st := p.role.States[l.value[0]]
	if c.ev.Index >= len(st.Handlers) || st.Handlers[c.ev.Index] == nil {
		return true
	}
	return c.count >= 0 && l.used[c.count] >= int64(c.rule.env.Times)
}

// start handles the event start; nothing else happens before it.
func (p *process) start(l local, emit func(explore.Step)) {
	l.started = true
	if s, ok := p.step(l, interp.Event{Event: p.event(model.EventStart)}); ok {
		emit(s)
	}
}

func (p *process) event(kind model.EventKind) *model.Event {
	for _, ev := range p.role.Events {
		if ev.Kind == kind {
			return ev
		}
	}
	return nil
}

// command offers a command where it is available and allowed.
func (p *process) command(l local, c *command, args []int64, emit func(explore.Step)) {
	boxes := anywhere
	if c.rule != nil && len(c.rule.dims) == 0 {
		if boxes = c.rule.boxes(p, l.value, args); len(boxes) == 0 {
			return
		}
	}
	ev := interp.Event{Event: c.ev, Args: args}
	next, effects, res, fault := p.m.Step(l.value, ev)
	if res.Code != fsm.Took {
		p.sys.refused(fault)
		return
	}
	if c.rule != nil && len(c.rule.dims) > 0 {
		if boxes = c.rule.boxes(p, l.value, args); len(boxes) == 0 {
			return
		}
	}
	if c.count >= 0 {
		l.used[c.count]++
		defer func() { l.used[c.count]-- }()
	}
	s := p.took(l, ev, next, effects)
	s.Spontaneous, s.Duties = true, c.does
	for _, box := range boxes {
		s.Lens = box
		emit(s)
	}
}

// refused notes that a command was not available because something in it faulted.
func (s *System) refused(f *interp.Fault) {
	if f != nil && f.Kind == interp.Failed && s.refusal == "" {
		s.refusal = explain(f) + " (" + place(f.Span) + ")"
	}
}

// Receive delivers a message.
func (p *process) Receive(b []byte, ch int, msg []byte, emit func(explore.Step)) {
	l := p.unpack(b)
	from := p.sys.System.Channels[ch].From
	p.arrived(l, ch)
	if n, ok := p.sys.newsOf(msg); ok {
		if n == newsBeat {
			p.beat(l, emit)
		} else {
			p.hear(l, from, n, emit)
		}
		return
	}
	if p.unheard(l, from) {
		emit(explore.Step{Label: p.special(noteDrop), Next: p.pack(l, l.value), Note: packSpecial(noteDrop)})
		return
	}
	if !l.started || p.waiting(l)>>from&1 != 0 {
		return
	}
	m, slots := unpackMessage(p.sys.Protocol, msg)
	ev := interp.Event{Event: p.reception(m), Args: slots, Sender: from}
	if s, ok := p.step(l, ev); ok {
		p.sys.roomy(s, emit)
	}
}

func (p *process) reception(m *model.Message) *model.Event {
	for _, ev := range p.role.Events {
		if ev.Kind == model.EventMessage && ev.Message.Name == m.Name {
			return ev
		}
	}
	return nil
}

// step handles an event that must not be refused; false means deferred.
func (p *process) step(l local, ev interp.Event) (explore.Step, bool) {
	next, effects, res, fault := p.m.Step(l.value, ev)
	switch res.Code {
	case fsm.Took:
		return p.took(l, ev, next, effects), true
	case fsm.Ignored:
		return explore.Step{Label: p.labelOf(res, ev), Tally: p.tally(), Next: p.after(l, l.value, nil), Note: packNote(ev)}, true
	case fsm.Deferred:
		return explore.Step{}, false
	}
	s := explore.Step{Label: p.labelOf(res, ev), Tally: p.tally(), Note: packNote(ev), Fault: &explore.Fault{Kind: explore.UnspecifiedReception, Text: explain(fault)}}
	if fault.Kind == interp.Failed {
		s.Fault.Kind = explore.OtherFault
	}
	return s, true
}

// explain says why a step was refused. The line is left out where the step shows it anyway.
func explain(f *interp.Fault) string {
	if f.Kind == interp.NoBranch {
		return f.Explain(place)
	}
	return f.Explain(func(diag.Span) string { return "" })
}

// took makes the explorer's step of a step that was taken.
func (p *process) took(l local, ev interp.Event, next interp.Value, effects []interp.Effect) explore.Step {
	s := explore.Step{Label: p.labelTaken(ev), Tally: p.tally(), Next: p.after(l, next, effects), Note: packNote(ev)}
	for i := range effects {
		e := &effects[i]
		if e.Kind == fsm.Close {
			p.sys.closes = true
			p.closing(e, &s)
		}
		if e.Kind != fsm.Send {
			continue
		}
		to, why := p.sys.receivers(p.inst.Index, e)
		if why != "" {
			s.Fault = &explore.Fault{Kind: explore.OtherFault, Text: why}
			return s
		}
		msg := packMessage(e.Message, e.Slots)
		for _, k := range to {
			s.Sends = append(s.Sends, explore.Send{Channel: p.sys.channel(p.inst.Index, k), Msg: msg})
		}
	}
	return s
}

// receivers lists the instances a message goes to.
func (s *System) receivers(from int, e *interp.Effect) ([]int, string) {
	n := len(s.Check.Instances)
	switch {
	case e.Dest == model.ToPeer && n == 2:
		return []int{1 - from}, ""
	case e.Dest == model.ToPeer:
		return nil, e.Message.Name + " is sent to the peer, but this check has not two instances: say to whom"
	case e.To == int(fsm.Broadcast):
		var all []int
		for i := range n {
			if i != from {
				all = append(all, i)
			}
		}
		return all, ""
	case e.To == from:
		return nil, e.Message.Name + " is sent by an instance to itself"
	case e.To < 0 || e.To >= n:
		return nil, e.Message.Name + " is sent to an instance that the check has not"
	}
	return []int{e.To}, ""
}

// findTimers lists the timers of m and of its parts, at any depth.
func findTimers(m *model.Machine, base int, at []interp.At) []timer {
	var out []timer
	for _, ev := range m.Events {
		if ev.Kind != model.EventTimer {
			continue
		}
		for i := range ev.Timer.Count {
			out = append(out, timer{ev: ev, at: at, index: i, args: interp.TimerKeys(ev.Timer, i), slot: base + ev.Timer.Offset + i, base: base, size: m.Size, count: -1})
		}
	}
	for _, part := range m.Parts {
		for i := range part.Count {
			way := append(at[:len(at):len(at)], interp.At{Part: part, Index: i})
			out = append(out, findTimers(part.Machine, base+part.Offset+i*part.Machine.Size, way)...)
		}
	}
	return out
}

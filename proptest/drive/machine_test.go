package drive

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/fsm"
)

// actor runs a machine for a driver with the interpreter. Each driver has its own goroutine, so
// actors share nothing.
type actor struct {
	*model.Machine
	protocol *model.Protocol // with a wire format
	strs     *interp.Strings
	in       *interp.Machine
	alarms   []stage.Alarm
	info     *fsm.Info
	value    interp.Value
	last     interp.Event
	effects  []interp.Effect
	fault    string
	peer     fsm.Peer // the only other, whom the machine need not name
}

// newActor makes an actor whose machine has the value that a text describes.
func newActor(p *model.Protocol, m *model.Machine, text string, bound int, peer fsm.Peer) (*actor, error) {
	strs := &interp.Strings{}
	v, err := interp.ParseMachine(m, strs, text)
	if err != nil {
		return nil, err
	}
	p = model.WithDefaultWire(p)
	a := &actor{Machine: m, protocol: p, strs: strs, in: interp.New(m, strs), alarms: stage.Alarms(m), value: v,
		peer: peer}
	a.info = &fsm.Info{Protocol: p.Name, Role: m.Name, Hash: p.Hash, MaxFrame: p.Wire.Max,
		TickNanos: p.Tick.Nanoseconds(), Deferred: bound,
		Ordered: p.Channel.Ordered, Reliable: !p.Channel.Lossy, Duplicates: p.Channel.Duplicates}
	if p.Several() {
		a.info.News = p.News()
		for _, c := range p.Channels() {
			a.info.Channels = append(a.info.Channels,
				fsm.Channel{Name: c.Name, Ordered: c.Ordered, Reliable: !c.Lossy, Duplicates: c.Duplicates})
		}
		news := a.info.Channels[a.info.News]
		a.info.Ordered, a.info.Reliable, a.info.Duplicates = news.Ordered, news.Reliable, news.Duplicates
		for _, x := range p.Messages {
			a.info.ChannelOf = append(a.info.ChannelOf, uint8(x.Channel))
		}
	}
	for _, s := range m.States {
		a.info.States, a.info.Final = append(a.info.States, s.Name), append(a.info.Final, s.Final)
	}
	for _, x := range p.Messages {
		a.info.Messages = append(a.info.Messages, x.Name)
	}
	for _, x := range a.alarms {
		if !slices.Contains(a.info.Timers, x.Name) {
			a.info.Timers = append(a.info.Timers, x.Name)
		}
	}
	for _, t := range m.Transitions {
		a.info.Transitions = append(a.info.Transitions,
			fsm.Transition{Name: t.Name, File: t.Span.File, Line: t.Span.Start.Line, Col: t.Span.Start.Col})
	}
	return a, nil
}

// event finds the machine's event of a kind or, for a message, of a name.
func (a *actor) event(kind model.EventKind, m *model.Message) *model.Event {
	i := slices.IndexFunc(a.Events, func(e *model.Event) bool {
		return e.Kind == kind && (m == nil || e.Message.Name == m.Name)
	})
	return a.Events[i]
}

func (a *actor) do(ev interp.Event) fsm.Result {
	next, effects, res, fault := a.in.Step(a.value, ev)
	a.value, a.last, a.effects, a.fault = slices.Clone(next), ev, a.effects[:0], ""
	if fault != nil {
		a.fault = fault.Why()
	}
	if res.Code == fsm.Took {
		for _, e := range effects {
			e.Slots = slices.Clone(e.Slots)
			e.At = slices.Clone(e.At)
			a.effects = append(a.effects, e)
		}
	}
	return res
}

func (a *actor) Info() *fsm.Info   { return a.info }
func (a *actor) Start() fsm.Result { return a.do(interp.Event{Event: a.event(model.EventStart, nil)}) }
func (a *actor) State() uint16     { return uint16(a.value[0]) }
func (a *actor) Effects() int      { return len(a.effects) }

func (a *actor) LinkUp(p fsm.Peer) fsm.Result {
	return a.do(interp.Event{Event: a.event(model.EventUp, nil), Sender: int(p)})
}

func (a *actor) LinkLost(p fsm.Peer) fsm.Result {
	return a.do(interp.Event{Event: a.event(model.EventLost, nil), Sender: int(p)})
}

func (a *actor) Timeout(id uint16, key uint32) fsm.Result {
	return a.do(a.alarms[alarm(a.alarms, a.info.Timers[id], key)].Event)
}

func (a *actor) Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {
	return a.FrameOn(from, a.protocol.News(), frame)
}

// FrameOn implements [fsm.Channeled].
func (a *actor) FrameOn(from fsm.Peer, channel int, frame []byte) (fsm.Result, error) {
	m, slots, err := interp.DecodeFrame(a.protocol.Over(channel), a.strs, frame)
	if err.Problem != 0 {
		return fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}, err
	}
	return a.do(interp.Event{Event: a.event(model.EventMessage, m), Args: slots, Sender: int(from)}), nil
}

func (a *actor) FrameSize(b []byte) (int, error) { return a.FrameSizeOn(a.protocol.News(), b) }

// FrameSizeOn implements [fsm.Channeled].
func (a *actor) FrameSizeOn(channel int, b []byte) (int, error) {
	n, err := interp.FrameSize(a.protocol.Over(channel), b)
	if err.Problem != 0 {
		return 0, err
	}
	return n, nil
}

func (a *actor) Effect(i int) fsm.Effect {
	e := &a.effects[i]
	f := fsm.Effect{Kind: e.Kind, Peer: fsm.Peer(e.To)}
	if e.Kind == fsm.Send {
		f.ID = uint16(e.Message.Index)
	}
	switch {
	case e.Kind == fsm.StartTimer || e.Kind == fsm.StopTimer:
		x := a.alarms[stage.AlarmOf(a.alarms, e)]
		f.ID, f.Key, f.Ticks = uint16(slices.Index(a.info.Timers, x.Name)), x.Key, uint32(e.Ticks)
	case e.Dest == model.ToPeer:
		f.Peer = a.peer
	case e.Dest == model.ToBroadcast:
		f.Peer = fsm.Broadcast
	}
	return f
}

func (a *actor) AppendFrame(b []byte, i int) ([]byte, error) {
	e := &a.effects[i]
	b, err := interp.AppendFrame(a.protocol, a.strs, b, a.protocol.Messages[e.Message.Index], e.Slots)
	if err.Problem != 0 {
		return b, err
	}
	return b, nil
}

func (a *actor) AppendEvent(b []byte) []byte { return interp.AppendEvent(b, a.strs, a.last) }
func (a *actor) AppendEffect(b []byte, i int) []byte {
	return interp.AppendEffect(b, a.strs, &a.effects[i])
}
func (a *actor) AppendMachine(b []byte) []byte {
	return interp.AppendMachine(b, a.strs, a.Machine, a.value)
}
func (a *actor) AppendLegal(b []byte) []byte {
	var names []string
	for _, e := range interp.Legal(a.Machine, a.value) {
		names = append(names, e.Name)
	}
	return append(b, strings.Join(names, ", ")...)
}
func (a *actor) Refusal() fsm.Refusal { return fsm.Refusal{} }

// Command implements [fsm.Commander].
func (a *actor) Command(text string) (fsm.Result, error) {
	ev, err := interp.ParseEvent(a.Machine, a.strs, text)
	if err != nil {
		return fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}, err
	}
	return a.do(ev), nil
}

// Package stage puts the instances of a check into a world of runtime/world, with the interpreter
// as their machines. What goes through the channels is the text of a message, as in `UPDATE{value:
// 3}`. Start from [New].
package stage

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// World and Configuration are those of runtime/world for the machines of the interpreter.
type (
	World         = world.World[interp.Value, string]
	Configuration = world.Configuration[interp.Value, string]
	Move          = world.Move[string]
	Taken         = world.Taken[interp.Value, string]
)

// Stage is a check's instances in a world. One goroutine uses it.
type Stage struct {
	World   *World
	Check   *model.Check
	Strings *interp.Strings
	Parties []*Party
	// Wrong says that an instance has sent to itself or to nobody, or what has no frame; empty if none has.
	// Claim is then the built-in claim that says so.
	Wrong, Claim string
	// Frames are those of the messages that are sent.
	Frames *Frames
	sent   map[string]message
	// protocol is that of the parties.
	protocol *model.Protocol
}

// message is a message that was sent.
type message struct {
	m     *model.Message
	slots []int64
}

// Party is one instance. It implements [world.Machine], [world.Crasher] and [world.Comer].
type Party struct {
	*model.Machine
	Alarms []Alarm
	// Begin is its value before the event start.
	Begin interp.Value
	// Event, Result, Effects and Fault are those of its last step.
	Event   interp.Event
	Result  fsm.Result
	Effects []interp.Effect
	Fault   *interp.Fault

	stage    *Stage
	self     int
	in       *interp.Machine
	commands map[string]interp.Event
}

// Alarm is one instance of a timer, of a machine or of one of its parts. Name and Key are those of
// fsm.Info and of generated runners.
type Alarm struct {
	Name  string
	Key   uint32
	Event interp.Event
	// Slot is where a value of the machine has whether it is armed. Base and Size are the place of the
	// part that has the timer, or of the machine itself, in that value.
	Slot, Base, Size int
}

// New puts the instances of c, whose roles are looked up by name in p, on a stage. Their parameters
// become those of p's roles, which may have larger types than the model in which the check was
// specialised. What lies between them is for whoever tells a run by hand: there are links between
// all, and no bound to what goes wrong in a channel that does so. [Rules] are those of the check.
func New(p *model.Protocol, c *model.Check) (*Stage, error) { return Sharing(p, c, &interp.Strings{}) }

// Sharing is New for values whose texts are in a table that others use, too.
func Sharing(p *model.Protocol, c *model.Check, strs *interp.Strings) (*Stage, error) {
	rules := between(c, nil)
	lower := core.Once()
	s := &Stage{World: &World{Rules: rules}, Check: c, Strings: strs, sent: map[string]message{}, protocol: p,
		Frames: NewFrames(p, strs)}
	for i, inst := range c.Instances {
		at := slices.IndexFunc(p.Roles, func(m *model.Machine) bool { return m.Name == inst.Role.Name })
		m := p.Roles[at]
		args, err := Arguments(inst, m, s.Strings)
		if err != nil {
			return nil, err
		}
		v, err := interp.Begin(lower(m), s.Strings, args...)
		if err != nil {
			return nil, err
		}
		x := &Party{Machine: m, Alarms: Alarms(m), Begin: v, stage: s, self: i,
			in: interp.Run(lower(m), s.Strings), commands: map[string]interp.Event{}}
		s.Parties, s.World.Machines = append(s.Parties, x), append(s.World.Machines, x)
		rules.Timers[i] = len(x.Alarms)
	}
	for i, a := range s.Parties {
		for k, b := range s.Parties[i+1:] {
			l := link(i, i+1+k, a.Machine, b.Machine)
			l.Class, _ = newsClass(rules)
			rules.Links = append(rules.Links, l)
		}
	}
	return s, nil
}

// Follow has the stage keep to the rules of the check.
func (s *Stage) Follow() {
	rules := Rules(s.Check)
	rules.Timers = s.World.Rules.Timers
	s.World.Rules = rules
}

// Values are those with which the instances begin.
func (s *Stage) Values() []interp.Value {
	var list []interp.Value
	for _, p := range s.Parties {
		list = append(list, p.Begin)
	}
	return list
}

// Said is the message that a text told by Tell stands for.
func (s *Stage) Said(text string) (m *model.Message, slots []int64) {
	x := s.sent[text]
	return x.m, x.slots
}

// Channel is the index of the channel between two instances in which news of their link travels, the only one of
// most protocols; -1 if there is none.
func (s *Stage) Channel(from, to int) int {
	r := s.World.Rules
	return r.Channel(from, to, r.NewsClass(from, to))
}

// ChannelOf is the index of the channel that a step of a run is about, -1 if there is none.
func (s *Stage) ChannelOf(x *run.Step) int { return s.World.Rules.Channel(x.From, x.Who, s.class(x)) }

// ChannelName is a channel in words: `a -> b`, or `a -> b (state)` if there are several.
func (s *Stage) ChannelName(k int) string {
	ch := &s.World.Rules.Channels[k]
	text := s.Check.Instances[ch.From].Name + " -> " + s.Check.Instances[ch.To].Name
	if s.protocol.Several() {
		text += " (" + s.protocol.Channels()[ch.Class].Name + ")"
	}
	return text
}

// Tell is a message as the text by which machines know it.
func (s *Stage) Tell(m *model.Message, slots []int64) string {
	text := string(interp.AppendMessage(nil, s.Strings, m, slots))
	if _, ok := s.sent[text]; !ok {
		s.sent[text] = message{m, slices.Clone(slots)}
	}
	return text
}

// Arguments are the parameters of an instance as values of a role, which may be one with larger types.
func Arguments(inst *model.Instance, role *model.Machine, strs *interp.Strings) ([][]int64, error) {
	var args [][]int64
	for i, e := range inst.Args {
		v := make([]int64, e.Type().Slots())
		if err := (&interp.Eval{Strings: strs}).Into(core.Of(e), v, nil, nil); err != nil {
			return nil, err
		}
		full, err := interp.ParseValue(role.Params[i].Type, strs, string(interp.AppendValue(nil, strs, e.Type(), v)))
		if err != nil {
			return nil, err
		}
		args = append(args, full)
	}
	return args, nil
}

// Alarms lists the timers of a machine and of its parts, one for each combination of keys.
func Alarms(m *model.Machine) []Alarm { return alarms(m, "", nil, 0, 0) }

func alarms(m *model.Machine, prefix string, way []interp.At, key, base int) []Alarm {
	var out []Alarm
	for _, ev := range m.Events {
		if ev.Kind != model.EventTimer {
			continue
		}
		for i := range ev.Timer.Count {
			out = append(out, Alarm{prefix + ev.Timer.Name, uint32(key*ev.Timer.Count + i),
				interp.Event{Event: ev, At: way, Args: interp.TimerKeys(ev.Timer, i)},
				base + ev.Timer.Offset + i, base, m.Size})
		}
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			at := append(way[:len(way):len(way)], interp.At{Part: p, Index: i})
			inner := base + p.Offset + i*p.Machine.Size
			out = append(out, alarms(p.Machine, prefix+p.Name+".", at, key*p.Count+i, inner)...)
		}
	}
	return out
}

// AlarmOf is the place in a list of the timer that an effect starts or stops.
func AlarmOf(list []Alarm, e *interp.Effect) int {
	return slices.IndexFunc(list, func(a Alarm) bool {
		return a.Event.Event.Timer == e.Timer && interp.TimerIndex(e.Timer, a.Event.Args) == e.Index &&
			slices.Equal(a.Event.At, e.At)
	})
}

// Command is a command as the text by which the machine knows it.
func (p *Party) Command(ev interp.Event) string {
	text := string(interp.AppendEvent(nil, p.stage.Strings, ev))
	p.commands[text] = ev
	return text
}

// Of returns the machine's first event of a kind, nil if it has none.
func (p *Party) Of(kind model.EventKind) *model.Event {
	for _, e := range p.Events {
		if e.Kind == kind {
			return e
		}
	}
	return nil
}

// receives is the event of a message.
func (p *Party) receives(m *model.Message) *model.Event {
	for _, e := range p.Events {
		if e.Kind == model.EventMessage && e.Message.Name == m.Name {
			return e
		}
	}
	return nil
}

// Step implements [world.Machine].
func (p *Party) Step(v interp.Value, ev world.Event[string]) world.Outcome[interp.Value, string] {
	e := interp.Event{Sender: ev.Peer}
	switch ev.Kind {
	case world.Start:
		e.Event = p.Of(model.EventStart)
	case world.Up:
		e.Event = p.Of(model.EventUp)
	case world.Lost:
		e.Event = p.Of(model.EventLost)
	case world.Message:
		x := p.stage.sent[ev.Message]
		e.Event, e.Args = p.receives(x.m), x.slots
	case world.Timeout:
		e = p.Alarms[ev.Timer].Event
	case world.Command:
		e = p.commands[ev.Message]
	}
	next, effects, res, fault := p.in.Step(v, e)
	p.Event, p.Result, p.Effects, p.Fault = e, res, effects, fault
	out := world.Outcome[interp.Value, string]{Code: res.Code, Value: slices.Clone(next)}
	if fault != nil {
		out.Fault = fault.Why()
	}
	if res.Code != fsm.Took {
		return out
	}
	for i := range effects {
		if f, ok := p.effect(&effects[i]); ok {
			out.Effects = append(out.Effects, f)
		}
	}
	return out
}

// effect translates an effect for the world.
func (p *Party) effect(e *interp.Effect) (f world.Effect[string], ok bool) {
	f = world.Effect[string]{Kind: e.Kind, To: world.Everyone}
	all := len(p.stage.Parties)
	switch e.Kind {
	case fsm.Report:
		return f, false
	case fsm.StartTimer, fsm.StopTimer:
		f.Timer, f.Ticks = AlarmOf(p.Alarms, e), e.Ticks
		return f, true
	case fsm.Send:
		f.Message, f.Class = p.stage.Tell(e.Message, e.Slots), e.Message.Channel
		if why := p.stage.Frames.Refuses(e.Message, e.Slots); why != "" && p.stage.Wrong == "" {
			p.stage.Wrong, p.stage.Claim = NoFrame(f.Message, why, e), model.Unencodable
		}
	}
	switch {
	case e.Dest == model.ToPeer && all == 2:
		f.To = 1 - p.self
	case e.Dest == model.ToPeer || e.Dest == model.ToBroadcast || e.To == int(fsm.Broadcast):
	default:
		if f.To = e.To; f.To == p.self || f.To < 0 || f.To >= all {
			p.stage.Wrong, p.stage.Claim = fmt.Sprintf("instance %d sends to %d", p.self, f.To), model.FaultClaim
			return f, false
		}
	}
	return f, true
}

// Defers implements [world.Machine].
func (p *Party) Defers(v interp.Value, text string) bool {
	h, ev := p.States[v[0]].Handlers, p.receives(p.stage.sent[text].m)
	return ev != nil && ev.Index < len(h) && h[ev.Index] != nil && h[ev.Index].Mode == model.Defer
}

// Final implements [world.Machine].
func (p *Party) Final(v interp.Value) bool { return p.States[v[0]].Final }

// Crashed implements [world.Crasher]: no timer is armed any more, nothing is pending, and the rest of the value
// stays as it was.
func (p *Party) Crashed(before, v interp.Value) interp.Value {
	n := slices.Clone(v)
	interp.Crashed(p.Machine, before, n)
	for _, a := range p.Alarms {
		n[a.Slot] = 0
	}
	return n
}

// KeepTrail asks for the Trail of each step.
func (p *Party) KeepTrail() { p.in.Follow = true }

// Trail lists what the last step used of the specification. It holds until the next step.
func (p *Party) Trail() []interp.Mark { return p.in.Trail() }

// Fired lists the transitions that the last step took, of the machine and its parts. It holds until the next step.
func (p *Party) Fired() []*model.Transition { return p.in.Fired() }

// New implements [world.Comer].
func (p *Party) New() interp.Value { return slices.Clone(p.Begin) }

// Restarted implements [world.Crasher]: it is the beginning with the variables that are kept.
func (p *Party) Restarted(v interp.Value) interp.Value {
	return interp.Restarted(p.Machine, p.Begin, v)
}

package campaign

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// The world of a player knows values of machines, messages and commands by numbers. What the machine
// makes of an event is looked up, once it has been seen.
type (
	value  uint32 // of one party: its place in party.values
	letter uint32 // a message: its place in alphabet.texts; a command: its place in party.commands

	configuration = world.Configuration[value, letter]
	move          = world.Move[letter]
	taken         = world.Taken[value, letter]
	event         = world.Event[letter]
	outcome       = world.Outcome[value, letter]
)

// alphabet numbers the messages of a player.
type alphabet struct {
	texts    []string
	ids      map[string]letter
	messages []*model.Message
	slots    [][]int64
}

// number gives a message its number.
func (a *alphabet) number(s *stage.Stage, text string) letter {
	if id, ok := a.ids[text]; ok {
		return id
	}
	id := letter(len(a.texts))
	m, slots := s.Said(text)
	a.texts, a.ids[text] = append(a.texts, text), id
	a.messages, a.slots = append(a.messages, m), append(a.slots, slots)
	return id
}

// party is an instance as the world of a player steps it. It implements [world.Machine] and
// [world.Crasher].
type party struct {
	*stage.Party
	self     int
	stage    *stage.Stage
	alphabet *alphabet
	monitors []*stage.Monitor // of several instances
	values   []interp.Value
	ids      map[string]value
	steps    map[stepKey]*step
	defers   map[stepKey]bool
	commands []command
	forged   [][]letter // by instance: what a hostile one sends to it
	// first is the place of the first command of each kind in commands, and one more at the end.
	first []int
	// last is the step that the world has asked for last.
	last     *step
	key      []byte
	compare  Comparison // may be nil
	compared uint64
}

// Comparison gives an event to a machine with a value once more, elsewhere, and says where what comes
// of it differs.
type Comparison func(v interp.Value, ev interp.Event) error

// command is a command with its arguments.
type command struct {
	kind  int // place in Machine.Commands
	event interp.Event
	text  string
	rule  *rule
	// allowed is by value whether the rule allows it, if it looks at the machine alone.
	allowed map[value]bool
}

// stepKey is a value and an event.
type stepKey struct {
	v      value
	kind   world.EventKind
	peer   int8
	timer  int32
	letter letter
}

// step is what comes of an event.
type step struct {
	out outcome
	// fault says that the machine failed, so that a refusal is a fault and no unspecified reception.
	fault bool
	// wrong says that it sends to itself, or to nobody, or what has no frame. claim is the claim that says so.
	wrong, claim string
	// differs says that the machine that it is compared with does something else.
	differs error
	trail   []*model.Transition
	// heard is what each monitor of several instances hears.
	heard [][]interp.Event
	event interp.Event
	hits  uint64
}

func newParty(s *stage.Stage, i int, a *alphabet) *party {
	p := &party{Party: s.Parties[i], self: i, stage: s, alphabet: a}
	p.KeepTrail()
	p.forget()
	return p
}

// forget empties the tables.
func (p *party) forget() {
	p.values, p.ids, p.steps, p.defers = nil, map[string]value{}, map[stepKey]*step{}, map[stepKey]bool{}
	for k := range p.commands {
		p.commands[k].allowed = map[value]bool{}
	}
	p.number(p.Begin)
}

// begin is the number of the first value.
const begin value = 0

// number gives a value its number.
func (p *party) number(v interp.Value) value {
	b := p.key[:0]
	for _, x := range v {
		b = binary.AppendVarint(b, x)
	}
	p.key = b
	if id, ok := p.ids[string(b)]; ok {
		return id
	}
	id := value(len(p.values))
	p.ids[string(b)] = id
	p.values = append(p.values, slices.Clone(v))
	return id
}

// Step implements [world.Machine].
func (p *party) Step(v value, ev event) outcome {
	k := stepKey{v: v, kind: ev.Kind, peer: int8(ev.Peer), timer: int32(ev.Timer), letter: ev.Message}
	s := p.steps[k]
	if s == nil {
		s = p.make(v, ev)
		p.steps[k] = s
	}
	p.last = s
	return s.out
}

// make asks the machine.
func (p *party) make(v value, ev event) *step {
	asked := world.Event[string]{Kind: ev.Kind, Peer: ev.Peer, Timer: ev.Timer}
	switch ev.Kind {
	case world.Message:
		asked.Message = p.alphabet.texts[ev.Message]
	case world.Command:
		asked.Message = p.commands[ev.Message].text
	}
	p.stage.Wrong = ""
	out := p.Party.Step(p.values[v], asked)
	s := &step{wrong: p.stage.Wrong, claim: p.stage.Claim, event: p.Event}
	s.event.Args = slices.Clone(p.Event.Args)
	for _, m := range p.Trail() {
		if m.Transition != nil {
			s.trail = append(s.trail, m.Transition)
		}
	}
	s.out = outcome{Code: out.Code, Fault: out.Fault}
	s.fault = out.Code == fsm.Refused && p.Fault.Kind == interp.Failed
	if p.compare != nil {
		p.compared++
		s.differs = p.compare(p.values[v], s.event)
	}
	if ev.Kind == world.Command && out.Code != fsm.Took {
		s.out.Code = fsm.Refused // a check gives no command that is ignored
		return s
	}
	if out.Code == fsm.Refused {
		return s
	}
	s.out.Value = p.number(out.Value)
	for _, m := range p.monitors {
		s.heard = append(s.heard, m.Hears(p.self, s.event, p.Effects))
	}
	for _, e := range out.Effects {
		f := world.Effect[letter]{Kind: e.Kind, To: e.To, Class: e.Class, Timer: e.Timer, Ticks: e.Ticks}
		if e.Kind == fsm.Send {
			f.Message = p.alphabet.number(p.stage, e.Message)
		}
		s.out.Effects = append(s.out.Effects, f)
	}
	return s
}

// Defers implements [world.Machine].
func (p *party) Defers(v value, m letter) bool {
	k := stepKey{v: v, letter: m}
	yes, ok := p.defers[k]
	if !ok {
		yes = p.Party.Defers(p.values[v], p.alphabet.texts[m])
		p.defers[k] = yes
	}
	return yes
}

// Final implements [world.Machine].
func (p *party) Final(v value) bool { return p.Party.Final(p.values[v]) }

// Crashed implements [world.Crasher].
func (p *party) Crashed(before, v value) value {
	return p.number(p.Party.Crashed(p.values[before], p.values[v]))
}

// Restarted implements [world.Crasher].
func (p *party) Restarted(v value) value { return p.number(p.Party.Restarted(p.values[v])) }

// New implements [world.Comer].
func (p *party) New() value { return p.number(p.Party.New()) }

// Forged implements [world.Forger]: it lists what the instance sends to another one if it is hostile.
func (p *party) Forged(to int) []letter { return p.forged[to] }

// state is the control state of a value.
func (p *party) state(v value) *model.State { return p.States[p.values[v][0]] }

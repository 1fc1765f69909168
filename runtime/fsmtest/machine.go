package fsmtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/fsmtest/stepper"
	"github.com/parley-go/parley/runtime/world"
)

// letter is a message or a command as the world carries it.
type letter struct {
	text  string // as people read it, with its fields
	frame string // its encoding; "" for a command
}

// name returns the message's name, without its fields.
func (l letter) name() string {
	name, _, _ := strings.Cut(l.text, "{")
	return name
}

// party is a machine that takes part in the world. The world never goes back to an earlier
// configuration, so the runner itself holds the machine's value. A party implements
// [world.Machine], [world.Crasher] and [world.Comer].
type party struct {
	Machine
	w      *World
	i      int
	give   func() fsm.Result // gives the machine the command of this step
	timers []timer           // the world knows a timer by its index here
	ruled  []uint16          // timers that rules of the check may keep from expiring
}

// timer is how a runner names a timer.
type timer struct {
	id  uint16
	key uint32
}

// value is the world's value of a machine: nothing, since its runner has it.
type value = struct{}

// Step implements [world.Machine].
func (p *party) Step(_ value, ev world.Event[letter]) (out world.Outcome[value, letter]) {
	r := p.Runner
	var res fsm.Result
	text := ev.Kind.String()
	switch ev.Kind {
	case world.Start:
		res = r.Start()
	case world.Up:
		res = r.LinkUp(fsm.Peer(ev.Peer))
	case world.Lost:
		res = r.LinkLost(fsm.Peer(ev.Peer))
	case world.Message:
		var err error
		if res, err = p.frame(fsm.Peer(ev.Peer), ev.Message); err != nil {
			p.w.t.Fatalf("%s cannot decode %s: %v", p.Name, ev.Message.text, err)
		}
		text = ev.Message.text
	case world.Timeout:
		t := p.timers[ev.Timer]
		res, text = r.Timeout(t.id, t.key), r.Info().Timers[t.id]
	case world.Command:
		res, text = p.give(), ev.Message.text
	}
	if out.Code = res.Code; res.Code == fsm.Refused {
		out.Fault = p.Name + " refuses " + text + " in " + r.Info().States[r.State()] + reason(r, res)
	}
	if res.Code == fsm.Took {
		for k := range r.Effects() {
			p.effect(k, &out)
		}
	}
	return out
}

// frame gives the machine a message, over its channel where there are several.
func (p *party) frame(from fsm.Peer, l letter) (fsm.Result, error) {
	if r, ok := p.Runner.(fsm.Channeled); ok && len(p.w.classes) > 0 {
		return r.FrameOn(from, p.w.classOf(l), []byte(l.frame))
	}
	info := p.Runner.Info()
	k := slices.Index(info.Messages, l.name())
	if r, ok := p.Runner.(fsm.Phased); ok && 0 <= k && k < len(info.PhaseOf) {
		_, res, err := r.FrameIn(from, info.PhaseOf[k], []byte(l.frame))
		return res, err
	}
	return p.Runner.Frame(from, []byte(l.frame))
}

// effect adds effect k of the runner's last step to what the world hears of the step.
func (p *party) effect(k int, out *world.Outcome[value, letter]) {
	r := p.Runner
	e := r.Effect(k)
	f := world.Effect[letter]{Kind: e.Kind, Ticks: int64(e.Ticks)}
	switch e.Kind {
	case fsm.StartTimer, fsm.StopTimer:
		f.Timer = p.timer(timer{e.ID, e.Key})
	case fsm.Close:
		f.To = p.receiver(e.Peer, "close", string(r.AppendEffect(nil, k)))
	case fsm.Send:
		frame, err := r.AppendFrame(nil, k)
		text := string(r.AppendEffect(nil, k))
		if err != nil {
			p.w.nobody = fmt.Sprintf("%s sends %s, which has no frame: %v", p.Name, message(text), err)
			return
		}
		f.Message = letter{message(text), string(frame)}
		f.Class = p.w.classOf(f.Message)
		f.To = p.receiver(e.Peer, "send "+f.Message.text, text)
	default:
		return
	}
	if f.To == nobody {
		if e.Kind == fsm.Send {
			p.w.nobody = p.Name + " sends " + f.Message.text + " to nobody"
		}
		return
	}
	out.Effects = append(out.Effects, f)
}

// timer returns the number of a timer.
func (p *party) timer(t timer) int {
	n := slices.Index(p.timers, t)
	if n < 0 {
		n = len(p.timers)
		p.timers = append(p.timers, t)
	}
	return n
}

// message returns the message in the text of a send, which also names its destination.
func message(effect string) string {
	text := strings.TrimPrefix(effect, "send ")
	if end := strings.LastIndexByte(text, '}'); end >= 0 {
		return text[:end+1]
	}
	text, _, _ = strings.Cut(text, " to ")
	return text
}

// nobody is the receiver of what is addressed to no machine of the run.
const nobody = -2

// receiver returns for whom an effect is. Where there are two machines, an effect that names no
// receiver is for the other one. Its text is then bare.
func (p *party) receiver(to fsm.Peer, bare, text string) int {
	all := len(p.w.parties)
	switch {
	case to == fsm.Broadcast:
		return world.Everyone
	case all == 2 && text == bare:
		return 1 - p.i
	case int(to) == p.i || to < 0 || int(to) >= all:
		return nobody
	}
	return int(to)
}

// Defers implements [world.Machine]. It asks the machine's table of transitions.
func (p *party) Defers(_ value, l letter) bool {
	info, state := p.Runner.Info(), p.Runner.State()
	name := info.States[state] + " " + l.name()
	return slices.ContainsFunc(info.Transitions, func(t fsm.Transition) bool {
		return t.Code == fsm.Deferred && t.From == state && t.Name == name
	})
}

// Final implements [world.Machine].
func (p *party) Final(value) bool { return p.Runner.Info().Final[p.Runner.State()] }

// Crashed implements [world.Crasher].
func (p *party) Crashed(_, v value) value { return v }

// Restarted implements [world.Crasher].
func (p *party) Restarted(v value) value {
	if p.Restart == nil {
		p.w.t.Fatalf("the run restarts %s, but its Machine has no Restart", p.Name)
	}
	p.Restart()
	return v
}

// New implements [world.Comer].
func (p *party) New() value {
	p.Come()
	return value{}
}

// reason tells why a machine refused its last event.
func reason(r fsm.Runner, res fsm.Result) string {
	if res.Transition != fsm.NoTransition {
		t := &r.Info().Transitions[res.Transition]
		return ": " + t.Name + " cannot be carried out"
	}
	switch x := r.Refusal(); x.Reason {
	case fsm.OutOfRange:
		return ": " + x.Field + " is not in " + x.Type
	case fsm.Unguarded:
		return ": no guard of its branches holds"
	}
	if legal := string(r.AppendLegal(nil)); legal != "" {
		return ", which handles or ignores: " + legal
	}
	return ", which handles nothing"
}

// Keep copies what a machine keeps over a crash: fields of a machine from another of its type, as [stepper.Keep]
// does.
func Keep(to, from any, fields ...string) { stepper.Keep(to, from, fields...) }

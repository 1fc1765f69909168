package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// Startless reports whether nothing comes of a machine's event start. Runs do not tell it then: the
// machine begins, and begins again, as if it were done. With variables that are kept it may begin again with
// other values, so that what does nothing at first may do something then.
func Startless(m *interp.Machine, begin interp.Value) bool {
	if len(m.Model.Initial.Entry) > 0 && keeps(m.Model) {
		return false
	}
	k := slices.IndexFunc(m.Model.Events, func(e *model.Event) bool { return e.Kind == model.EventStart })
	if k < 0 {
		return true
	}
	next, effects, res, _ := m.Step(begin, interp.Event{Event: m.Model.Events[k]})
	return res.Code != fsm.Refused && len(effects) == 0 && next.Equal(begin) && len(m.Fired()) == 0
}

// keeps reports whether a machine or a part of it has variables that are kept.
func keeps(m *model.Machine) bool {
	return slices.ContainsFunc(m.Vars, func(v *model.Var) bool { return v.Kept && v.Ghost == model.NoGhost }) ||
		slices.ContainsFunc(m.Parts, func(p *model.Part) bool { return keeps(p.Machine) })
}

// Startless reports whether runs do not tell that the instance starts.
func (p *Party) Startless() bool { return Startless(p.in, p.Begin) }

// Moves are the moves of the world that a step of a run is, one after the other, in a configuration
// in which it is the next. There are two where an instance begins again whose start is not told.
func (s *Stage) Moves(c *Configuration, x *run.Step) ([]Move, error) {
	mv, err := s.move(c, x)
	if err != nil {
		return nil, err
	}
	if (x.Kind == run.Restart || x.Kind == run.Come) && s.Parties[x.Who].Startless() {
		return []Move{mv, {Kind: world.MoveStart, Who: x.Who}}, nil
	}
	return []Move{mv}, nil
}

var plainMoves = map[run.Kind]world.MoveKind{
	run.Start: world.MoveStart, run.Offer: world.MoveOffer,
	run.Crash: world.MoveCrash, run.Restart: world.MoveRestart,
	run.Come: world.MoveCome, run.Go: world.MoveGo,
	run.Beat: world.MoveBeat, run.Clock: world.MoveTick,
	run.Message: world.MoveDeliver, run.Drop: world.MoveDeliver, run.LinkLost: world.MoveDeliver,
	run.Copy: world.MoveCopy, run.Lost: world.MoveLose, run.Swapped: world.MoveOvertake,
	run.Command: world.MoveCommand, run.Timer: world.MoveExpire,
	run.LinkUp: world.MoveUp, run.Break: world.MoveLost, run.Return: world.MoveReturn,
	run.Cutoff: world.MoveCutoff, run.Partition: world.MovePartition,
}

func (s *Stage) move(c *Configuration, x *run.Step) (mv Move, err error) {
	mv = Move{Who: x.Who, Peer: x.From, Torn: x.Torn}
	var ok bool
	if mv.Kind, ok = plainMoves[x.Kind]; !ok && x.Kind != run.Malformed {
		return mv, fmt.Errorf("a step is %q, which is nothing that the world does", x.Kind)
	}
	var queue []world.Item[string]
	if mv.Channel = s.ChannelOf(x); mv.Channel >= 0 {
		queue = c.Queues[mv.Channel]
	}
	news := len(queue) > 0 && queue[0].News != world.NoNews
	if x.From >= 0 && s.World.Rules.IsHostile(x.From) {
		if is, err := s.attack(&mv, x); is || err != nil {
			return mv, err
		}
	}
	switch x.Kind {
	case run.LinkUp:
		if c.Ends[x.Who].Waiting>>x.From&1 == 0 && news { // one of the two has begun anew
			mv.Kind = world.MoveDeliver
		}
	case run.LinkLost:
		if !news {
			return mv, fmt.Errorf("%s hears of no link that is lost", s.Parties[x.Who].Name)
		}
	case run.Partition:
		if mv.Set = uint64(x.At); mv.Set == 0 {
			mv.Kind = world.MoveHeal
		}
	case run.Swapped:
		mv.At = nth(queue, x.At)
	case run.Message, run.Drop, run.Copy, run.Lost:
		mv.At = s.place(queue, x)
		switch {
		case x.Kind == run.Lost && mv.At >= 0 && x.Note == run.Swallowed:
			mv.Kind = world.MoveSwallow
		case x.Kind == run.Lost && mv.At >= 0 && s.gone(mv.Channel, queue, mv.At):
			mv.Kind = world.MoveTail
		case mv.At >= 0:
		case x.Kind == run.Drop && news:
			mv.At = 0
		default:
			return mv, fmt.Errorf("%s is not under way", x.Event)
		}
	case run.Command, run.Timer:
		p := s.Parties[x.Who]
		ev, err := interp.ParseEvent(p.Machine, s.Strings, x.Event)
		if err != nil {
			return mv, err
		}
		if x.Kind == run.Command {
			mv.Message = p.Command(ev)
			return mv, nil
		}
		text := string(interp.AppendEvent(nil, s.Strings, ev))
		mv.Timer = slices.IndexFunc(p.Alarms, func(a Alarm) bool {
			return string(interp.AppendEvent(nil, s.Strings, a.Event)) == text
		})
		if mv.Timer < 0 {
			return mv, fmt.Errorf("%s has no timer %s", p.Name, text)
		}
	}
	return mv, nil
}

// class is that of the channel that a step is about: the one that it names, that of its message, or that of news of
// the link.
func (s *Stage) class(x *run.Step) int {
	if !s.protocol.Several() {
		return 0
	}
	if k := slices.IndexFunc(s.protocol.Channels(), func(c model.Channel) bool { return c.Name == x.Channel }); k >= 0 {
		return k
	}
	name, _, _ := strings.Cut(x.Event, "{")
	for _, m := range s.protocol.Messages {
		if m.Name == name {
			return m.Channel
		}
	}
	return s.World.Rules.NewsClass(x.From, x.Who)
}

// attack makes mv what a hostile instance does, if x is that.
func (s *Stage) attack(mv *Move, x *run.Step) (is bool, err error) {
	switch x.Kind {
	case run.Message:
		mv.Kind = world.MoveForge
		mv.Message, err = s.Forged(x.Who, x.Event)
	case run.LinkLost:
		mv.Kind = world.MoveHangup
	case run.Malformed:
		mv.Kind = world.MoveMalformed
	default:
		return false, nil
	}
	return true, err
}

// Forged reads a message in words, as a hostile instance sends it to a party, and returns it as the
// text by which machines know it.
func (s *Stage) Forged(to int, text string) (string, error) {
	ev, err := interp.ParseEvent(s.Parties[to].Machine, s.Strings, text)
	if err != nil {
		return "", err
	}
	if ev.Event.Kind != model.EventMessage {
		return "", fmt.Errorf("%s is no message", ev.Event.Name)
	}
	return s.Tell(ev.Event.Message, ev.Args), nil
}

// Frame returns the bytes of a message that was told.
func (s *Stage) Frame(text string) ([]byte, error) {
	x := s.sent[text]
	full := model.WithDefaultWire(s.protocol)
	i := slices.IndexFunc(full.Messages, func(m *model.Message) bool { return m.Name == x.m.Name })
	frame, err := interp.AppendFrame(full, s.Strings, nil, full.Messages[i], x.slots)
	if err.Problem != 0 {
		return nil, fmt.Errorf("%s has no frame: %v", text, err)
	}
	return frame, nil
}

// gone reports whether a message can only have been lost with its sender.
func (s *Stage) gone(k int, queue []world.Item[string], at int) bool {
	return at+1 < len(queue) && queue[at+1].News == world.Reset && !s.World.Rules.Channels[k].Lossy
}

// place is where the message of a step lies in its channel, -1 if it is not there.
func (s *Stage) place(queue []world.Item[string], x *run.Step) int {
	// a line of a scenario says the place alone
	if at := nth(queue, x.At); at >= 0 && (x.Event == "" || queue[at].Message == x.Event) {
		return at
	}
	return -1
}

// nth is where the n-th message of a channel lies in it, from 0, -1 if there are not so many.
func nth(queue []world.Item[string], n int) int {
	for i, item := range queue {
		if item.News != world.NoNews {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return -1
}

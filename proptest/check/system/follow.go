package system

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// Move is one move of a world, in the bytes of the checker.
type Move struct {
	world.Move[string]
	// Event is that of a command or of the expiry of a timer.
	Event interp.Event
	// After is the configuration that the world comes to; nil if the move is an error.
	After *world.Configuration[interp.Value, string]
	// Overflow says that the error is a full channel, and what found no room there.
	Overflow *explore.Send
}

// Follow takes the moves of a run in the explorer's form of the system: each has to be a step of its
// own machines and channels that leads to what the world comes to. It returns the steps and the last
// configuration, in case of an error the one before it.
func (s *Machines) Follow(moves []Move) (steps []explore.TraceStep, end explore.Configuration, err error) {
	f := follower{Machines: s}
	values := s.Beginnings()
	for _, p := range s.System.Procs {
		f.locals = append(f.locals, p.Init())
	}
	f.words = make([]explore.Word, len(s.System.Channels))
	for n := range moves {
		x, err := f.step(&moves[n])
		if err != nil {
			return nil, end, fmt.Errorf("step %d, %s: %w", n+1, moves[n].Move, err)
		}
		s.Hearing(values, x.Proc, x.After)
		steps = append(steps, x)
	}
	for k, v := range values {
		f.locals[s.Parts.MonitorsAt+k] = PackMonitor(v)
	}
	for k := range f.words {
		if s.System.Channels[k].Order == explore.Bag {
			slices.SortFunc(f.words[k], bytes.Compare)
		}
	}
	return steps, explore.Configuration{Locals: f.locals, Channels: f.words}, nil
}

// follower is where a run that is followed has come to.
type follower struct {
	*Machines
	locals [][]byte
	words  []explore.Word
}

// step takes one move.
func (f *follower) step(mv *Move) (x explore.TraceStep, err error) {
	x = explore.TraceStep{Proc: -1, Label: -1, Channel: -1}
	k, at := f.source(mv)
	if k >= 0 && at >= len(f.words[k]) {
		return x, errors.New("the checker has nothing there")
	}
	words := slices.Clone(f.words)
	if k >= 0 {
		x.Channel, x.Msg = k, f.words[k][at]
		if mv.Kind != world.MoveCopy {
			words[k] = slices.Delete(slices.Clone(words[k]), at, at+1)
		}
	}
	switch mv.Kind {
	case world.MoveLose, world.MoveTail:
		x.Kind, f.words = explore.LoseStep, words
		return x, nil
	case world.MoveOvertake:
		x.Kind, x.Msg = explore.SwapStep, nil
		for _, msg := range f.words[k][:at] {
			if free := f.System.Channels[k].Free; free == nil || !free(msg) {
				x.At++
			}
		}
		words[k] = slices.Insert(words[k], at+1, f.words[k][at])
		f.words = words
		return x, nil
	}
	x.Proc = f.mover(mv)
	x.Before = f.locals[x.Proc]
	var found *explore.Step
	emit := func(st explore.Step) {
		if found == nil && f.fits(mv, &st, x.Proc, words) {
			own := st
			own.Next, own.Note = slices.Clone(st.Next), slices.Clone(st.Note)
			found = &own
		}
	}
	if p := f.System.Procs[x.Proc]; k >= 0 {
		x.Kind = explore.ReceiveStep
		if mv.Kind == world.MoveCopy {
			x.Kind = explore.DupStep
		}
		p.Receive(x.Before, k, x.Msg, emit)
	} else {
		p.Local(x.Before, emit)
	}
	if found == nil {
		return x, errors.New("the checker has no such step")
	}
	x.Label, x.Note, x.Sends, x.Fault = int(found.Label), found.Note, found.Sends, found.Fault
	if mv.After == nil {
		if x.Fault == nil && mv.Overflow != nil {
			c := &f.System.Channels[mv.Overflow.Channel]
			x.Fault = &explore.Fault{Kind: explore.ChannelOverflow,
				Text: fmt.Sprintf("%s holds %d already and has no room for %s",
					c.Name, c.Cap, f.MessageText(mv.Overflow.Msg))}
		}
		if x.Fault == nil {
			return x, errors.New("for the checker that is no error")
		}
		return x, nil
	}
	x.After = found.Next
	f.locals[x.Proc], f.words = f.Settle(x.Proc, found.Next), sent(words, found.Sends)
	return x, nil
}

// source is the channel, and the place in it, that a move takes something from; -1 if it takes nothing.
func (f *follower) source(mv *Move) (k, at int) {
	switch mv.Kind {
	case world.MoveDeliver, world.MoveCopy, world.MoveLose, world.MoveOvertake, world.MoveSwallow:
		return mv.Channel, mv.At
	case world.MoveTail:
		at := slices.IndexFunc(f.words[mv.Channel], func(msg []byte) bool {
			n, ok := codec.NewsOf(f.Protocol, msg)
			return ok && n == codec.NewsReset
		}) - 1
		for at > 0 && f.System.Channels[mv.Channel].Free(f.words[mv.Channel][at]) {
			at--
		}
		return mv.Channel, max(at, 0)
	case world.MoveCutoff:
		return f.Own + mv.Who, 0
	case world.MoveBeat:
		return f.clockAt + mv.Who, 0
	}
	return -1, 0
}

// mover is the machine that a move is a step of.
func (f *follower) mover(mv *Move) int {
	switch mv.Kind {
	case world.MoveDeliver, world.MoveCopy, world.MoveSwallow:
		return f.System.Channels[mv.Channel].To
	case world.MovePartition, world.MoveHeal:
		return len(f.Procs)
	case world.MoveTick:
		return slices.Index(f.System.ProcNames, "clock")
	}
	return mv.Who
}

// fits reports whether a step is the move.
func (f *follower) fits(mv *Move, st *explore.Step, who int, words []explore.Word) bool {
	how, from, msg, note := codec.Attacked(st.Note)
	note, torn := codec.Torn(note)
	if torn+1 != mv.Torn || !strikes(mv, how, from, msg) || !f.means(mv, note, who) {
		return false
	}
	if mv.After == nil {
		return st.Fault != nil || mv.Overflow != nil
	}
	if st.Fault != nil {
		return false
	}
	if who < len(f.Procs) {
		p := f.Procs[who]
		l := p.Unpack(st.Next)
		got := p.packed(p.end(l), slices.Clone(l.Value))
		if !bytes.Equal(got, p.packed(mv.After.Ends[who], mv.After.Values[who])) {
			return false
		}
	}
	for k, w := range sent(words, st.Sends)[:f.Own] {
		if !slices.EqualFunc(w, mv.After.Queues[k], func(msg []byte, x world.Item[string]) bool {
			y := codec.UnpackItem(f.Protocol, msg)
			return y.News == x.News && y.Number == x.Number && y.Heard == x.Heard &&
				(x.News != world.NoNews || y.Message == x.Message)
		}) {
			return false
		}
	}
	return true
}

// strikes reports whether what a hostile instance has done is the move.
func strikes(mv *Move, how, from int, msg []byte) bool {
	switch mv.Kind {
	case world.MoveForge:
		return how == codec.Sends && from == mv.Peer && string(msg) == mv.Message
	case world.MoveHangup:
		return how == codec.Closes && from == mv.Peer
	case world.MoveMalformed:
		return how == codec.SendsGarbage && from == mv.Peer
	}
	return how < 0 || how == codec.Held
}

// means reports whether a note tells the event of a move.
func (f *follower) means(mv *Move, note []byte, who int) bool {
	kind, special := codec.SpecialNote(note)
	if who >= len(f.Procs) {
		side := []int64{0}
		codec.ReadSlots(note, side)
		return mv.Kind == world.MoveTick || uint64(side[0]) == mv.Set
	}
	if special {
		switch kind {
		case codec.NoteCrash:
			return mv.Kind == world.MoveCrash
		case codec.NoteRestart:
			return mv.Kind == world.MoveRestart
		case codec.NoteCome:
			return mv.Kind == world.MoveCome
		case codec.NoteGo:
			return mv.Kind == world.MoveGo
		case codec.NoteReturn:
			return mv.Kind == world.MoveReturn && codec.NotePeer(note) == mv.Peer
		case codec.NoteSilence:
			return mv.Kind == world.MoveLost && codec.NotePeer(note) == mv.Peer
		}
		// Of a reception there is one, and perhaps one that a partition takes the message.
		return (kind == codec.NoteSwallow) == (mv.Kind == world.MoveSwallow)
	}
	ev := codec.UnpackNote(f.Procs[who].Role, note)
	switch mv.Kind {
	case world.MoveCommand, world.MoveExpire:
		return ev.Event == mv.Event.Event && slices.Equal(ev.Args, mv.Event.Args) && slices.Equal(ev.At, mv.Event.At)
	case world.MoveUp:
		return ev.Event.Kind == model.EventUp && ev.Sender == mv.Peer
	case world.MoveLost:
		return ev.Event.Kind == model.EventLost && ev.Sender == mv.Peer
	case world.MoveStart:
		return ev.Event.Kind == model.EventStart
	case world.MoveOffer:
		return ev.Event.Kind == model.EventMessage || ev.Event.Kind == model.EventLost
	}
	switch mv.Kind {
	case world.MoveDeliver, world.MoveCopy, world.MoveForge, world.MoveHangup, world.MoveMalformed:
		return true
	}
	return false
}

// packed is a local value in which nothing is counted but what the world knows of an instance.
func (p *Process) packed(e end, v interp.Value) []byte {
	if p.noStart && !e.Down {
		e.Started = true // a start that does nothing is no step
	}
	return p.Pack(p.put(codec.Local{Used: make([]int64, p.bounded)}, e), v)
}

// sent are the channels behind what a step sends.
func sent(words []explore.Word, sends []explore.Send) []explore.Word {
	words = slices.Clone(words)
	for _, x := range sends {
		words[x.Channel] = append(slices.Clip(words[x.Channel]), x.Msg)
	}
	return words
}

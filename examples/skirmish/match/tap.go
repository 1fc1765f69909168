package match

import (
	"context"
	"sync"

	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/machines/battleend"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// A duel has no server of frames whom one could look on at. But its host hears all that the two say, and so makes a
// recording of it, as far as it has come: that is what those get who look on.

// lookOn is what somebody sends to the door for frames who looks on at a duel, in the place of a key.
const lookOn = 0

// The bounds of a tap: of its recording in bytes, of those who look on, of those of one address, and of inputs that one
// side is ahead.
const (
	mostHistory = 16 << 20
	mostLook    = 12
	mostOfOne   = 4
	mostAhead   = 256
)

// tap hears both sides of a duel. It never holds them up, and hears nothing more of one that says what no duel has.
type tap struct {
	slots []int // of the two sides
	names [game.Players]string

	mu      sync.Mutex
	heard   [2][]byte // the beginning of a message
	inputs  [2][]game.Input
	talk    []Said // in no turn yet
	before  [game.Players]game.Input
	frame   uint32
	record  *frames.Recorder
	history *speech // what record has written; it ends with the duel
	looks   *doors.Numbers
}

func newTap(seed uint32, slots []int, names [game.Players]string) *tap {
	t := &tap{slots: slots, names: names, history: newSpeech(), looks: doors.New(mostLook)}
	t.looks.Each = mostOfOne
	for side := range t.inputs {
		t.inputs[side] = make([]game.Input, delay) // the first ones are empty
	}
	t.record, _ = frames.NewRecorder(t.history) // it never fails
	t.record.Begin(seed, slots)
	return t
}

// hear takes what one side has said.
func (t *tap) hear(side int, b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard[side] = append(t.heard[side], b...)
	for !t.history.over() {
		n, err := battleend.FrameSize(t.heard[side])
		if err == nil && (n == 0 || n > len(t.heard[side])) {
			return
		}
		var m battleend.Message
		if err == nil {
			err = battleend.DecodeMessage(t.heard[side][:n], &m)
		}
		if err != nil || len(t.inputs[side]) > mostAhead || t.history.len() > mostHistory {
			t.history.end()
			return
		}
		t.heard[side] = t.heard[side][n:]
		if m.Kind == battleend.MessageBattleinput {
			t.inputs[side] = append(t.inputs[side], game.Input(m.Battleinput.Bits))
			t.play()
		}
	}
	t.heard[side] = nil
}

// play records the frames of which both inputs are there.
func (t *tap) play() {
	for len(t.inputs[0]) > 0 && len(t.inputs[1]) > 0 {
		now, who := t.before, game.Mask(0)
		for side, slot := range t.slots {
			now[slot], who = t.inputs[side][0], who.With(slot)
			t.inputs[side] = t.inputs[side][1:]
		}
		t.record.Turn(frameOf(t.frame, frameTime, who, t.before, now, &t.names, t.talk), 0, false)
		t.names, t.talk, t.before = [game.Players]string{}, nil, now // they are told once
		t.frame++
	}
}

// say takes a line of talk, for the next turn.
func (t *tap) say(s Said) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.talk) < lines {
		t.talk = append(t.talk, s)
	}
}

// leave ends the recording with a turn in which a player leaves.
func (t *tap) leave(slot int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.history.over() {
		last := frameOf(t.frame, frameTime, 0, t.before, t.before, &t.names, t.talk)
		last.Left = []int{slot}
		t.record.Turn(last, 0, false)
		t.history.end()
	}
}

// end ends the recording.
func (t *tap) end() {
	t.mu.Lock() // what is being written becomes whole
	defer t.mu.Unlock()
	t.history.end()
}

// show gives the recording to somebody who looks on, as it grows.
func (t *tap) show(ctx context.Context, l transport.Link) {
	stop := context.AfterFunc(ctx, func() { l.Abort() })
	defer stop()
	t.mu.Lock()
	n, ok := fsm.Peer(0), false
	if !t.history.over() {
		n, ok = t.looks.Try(doors.From(l))
	}
	t.mu.Unlock()
	if !ok {
		l.Abort()
		return
	}
	place := t.looks.Door(n, l)
	if t.history.say(ctx, place, 0) != nil {
		place.Abort()
	}
}

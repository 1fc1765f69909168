// Package frames plays a deterministic simulation in lockstep over machines/lockstep: a program gives it the
// simulation and a link, and gets command frames, in their order, the same everywhere. A [Server] relays and paces;
// a [Client] plays or watches; a [Recorder] writes what happened into a file, and [Play] plays it again.
//
// What is sent when, who may say what, and when a frame may be executed is the business of the machines. Here is what
// they leave to a program: time, the commands that wait for their frame, snapshots as bytes, and files. The package
// must not know what a command means. Start from [NewServer] and [NewClient].
package frames

import (
	"slices"
	"time"

	"github.com/parley-go/parley/machines/lockstep"
)

// Slots is the number of slots for players.
const Slots = 8

// Turn is a command frame: what all simulations do at this point. First those in Joined play and those in Left do not
// play any more, then the orders are carried out as they stand, then come Next - Due game frames.
type Turn struct {
	Frame  uint32        // its number
	Due    uint32        // the game frame before which it is executed
	Next   uint32        // that of the next command frame
	Length time.Duration // of a game frame from here on
	Joined []int         // slots
	Left   []int
	Orders []Order // by slot; slots without commands are left out
}

// Order is what the player in a slot wants done.
type Order struct {
	Slot     int
	Commands []lockstep.Command
}

// Game is a deterministic simulation. One goroutine calls all of it.
type Game interface {
	// Start begins a game with these slots.
	Start(seed uint32, players []int)
	// Restore goes on with a game that runs already, from a snapshot.
	Restore(snapshot []byte) error
	// Snapshot returns the state as bytes, and Sum a checksum of it. Equal states have equal sums.
	Snapshot() []byte
	Sum() uint32
	// Turn executes a command frame. The turn is the game's to keep.
	Turn(t *Turn)
	// Step executes a game frame.
	Step()
}

// Keys returns the command of a game of action: these keys are down.
func Keys(keys uint16) lockstep.Command {
	return lockstep.Command{Kind: lockstep.KindKeys, Keys: lockstep.Optional[uint16]{Present: true, Value: keys}}
}

// Data returns a command of at most 64 bytes, whatever they mean; ok is false if there are more.
func Data(b []byte) (c lockstep.Command, ok bool) {
	d, ok := lockstep.NewBytesUpTo64(string(b))
	return lockstep.Command{Kind: lockstep.KindData,
		Data: lockstep.Optional[lockstep.BytesUpTo64]{Present: true, Value: d}}, ok
}

// Words returns the command that says something to somebody; ok is false if that is longer than 80 bytes.
func Words(whom uint8, text string) (c lockstep.Command, ok bool) {
	speech, ok := lockstep.NewSpeech(text)
	return lockstep.Command{Kind: lockstep.KindWords, Words: lockstep.Optional[lockstep.Words]{Present: true,
		Value: lockstep.Words{Whom: whom, Words: speech}}}, ok
}

// queue keeps what was told of frames to come until they are executed.
type queue struct {
	first uint32 // the next frame
	turns []Turn // from the first on
	told  int    // how many of them have been announced
}

// reset begins anew at a frame.
func (q *queue) reset(frame uint32) { *q = queue{first: frame, turns: q.turns[:0]} }

// at returns the turn of a frame, or nil if that is over or was never ours. Machines have seen to it that a frame is
// not far ahead.
func (q *queue) at(frame uint32) *Turn {
	i := int(int32(frame - q.first))
	if i < 0 {
		return nil
	}
	for len(q.turns) <= i {
		q.turns = append(q.turns, Turn{Frame: q.first + uint32(len(q.turns))})
	}
	return &q.turns[i]
}

func (q *queue) commands(slot lockstep.Slot, frame lockstep.Frame, c *lockstep.Commands) {
	t := q.at(uint32(frame))
	if t == nil || c.Len == 0 {
		return
	}
	o := Order{Slot: int(slot), Commands: slices.Clone(c.Items[:c.Len])}
	i, _ := slices.BinarySearchFunc(t.Orders, o.Slot, func(o Order, slot int) int { return o.Slot - slot })
	t.Orders = slices.Insert(t.Orders, i, o)
}

func (q *queue) announced(
	frame lockstep.Frame, due lockstep.GameFrame, length lockstep.Length, next lockstep.GameFrame,
) {
	t := q.at(uint32(frame))
	if t == nil {
		return
	}
	t.Due, t.Next, t.Length = uint32(due), uint32(next), time.Duration(length)*time.Millisecond
	q.told = max(q.told, int(t.Frame-q.first)+1)
}

func (q *queue) joined(slot lockstep.Slot, frame lockstep.Frame) {
	if t := q.at(uint32(frame)); t != nil {
		t.Joined = append(t.Joined, int(slot))
	}
}

func (q *queue) left(slot lockstep.Slot, frame lockstep.Frame) {
	if t := q.at(uint32(frame)); t != nil {
		t.Left = append(t.Left, int(slot))
	}
}

// take returns the next turn, which the machine has executed.
func (q *queue) take() *Turn {
	t := q.turns[0]
	q.turns = slices.Delete(q.turns, 0, 1)
	q.first++
	q.told--
	return &t
}

// players lists the members of a set.
func players(s lockstep.Slots) (list []int) {
	for i := range Slots {
		if s.Has(lockstep.Slot(i)) {
			list = append(list, i)
		}
	}
	return list
}

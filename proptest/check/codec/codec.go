// Package codec packs what the explorer keeps as bytes: messages and news of links in channels, the
// local values of instances, and the notes that say what a step handled.
package codec

import (
	"encoding/binary"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// All are numbers one after the other, small ones in one byte.

// AppendSlots adds slots to b.
func AppendSlots(b []byte, slots []int64) []byte {
	for _, v := range slots {
		b = binary.AppendVarint(b, v)
	}
	return b
}

// ReadSlots fills slots from b and returns what is left of b.
func ReadSlots(b []byte, slots []int64) []byte {
	for i := range slots {
		v, n := binary.Varint(b)
		if n <= 0 {
			return nil
		}
		slots[i], b = v, b[n:]
	}
	return b
}

// PackMessage makes the bytes of a message.
func PackMessage(m *model.Message, slots []int64) []byte {
	b := binary.AppendUvarint(make([]byte, 0, 4+len(slots)), uint64(m.Index))
	return AppendSlots(b, slots)
}

// UnpackMessage is the inverse of PackMessage.
func UnpackMessage(p *model.Protocol, b []byte) (*model.Message, []int64) {
	i, n := binary.Uvarint(b)
	m := p.Messages[i]
	slots := make([]int64, interp.FieldSlots(m.Fields))
	ReadSlots(b[n:], slots)
	return m, slots
}

// MessageIndex reads which message the bytes are.
func MessageIndex(b []byte) int {
	i, _ := binary.Uvarint(b)
	return int(i)
}

// PackNote makes the note of an event. A note says which event a step handled, so that a trace can be
// told again: the kind of event, the event's index, the arguments, and the path to a part for the expiry
// of its timer.
func PackNote(ev interp.Event) []byte {
	b := binary.AppendUvarint(nil, uint64(len(ev.At)))
	for _, at := range ev.At {
		b = binary.AppendUvarint(b, uint64(at.Part.Index))
		b = binary.AppendUvarint(b, uint64(at.Index))
	}
	b = binary.AppendUvarint(b, uint64(ev.Event.Index))
	b = AppendSlots(b, ev.Args)
	if ev.Event.FromPeer() {
		b = AppendSlots(b, []int64{int64(ev.Sender)})
	}
	return b
}

// UnpackNote is the inverse of PackNote.
func UnpackNote(m *model.Machine, b []byte) interp.Event {
	var ev interp.Event
	next := func() int {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return int(v)
	}
	for range next() {
		p := m.Parts[next()]
		ev.At = append(ev.At, interp.At{Part: p, Index: next()})
		m = p.Machine
	}
	ev.Event = m.Events[next()]
	ev.Args = make([]int64, interp.FieldSlots(ev.Event.Fields))
	b = ReadSlots(b, ev.Args)
	if ev.Event.FromPeer() {
		sender := make([]int64, 1)
		ReadSlots(b, sender)
		ev.Sender = int(sender[0])
	}
	return ev
}

// Steps of an instance that are no event of its machine. Their notes begin with a number that no path
// to a part has as its length.
const (
	NoteCrash = iota
	NoteRestart
	NoteDrop
	NoteBeat
	NoteReturn // then the peer
	NoteCutoff
	NoteSilence // then the peer
	NoteSwallow
	NoteCome
	NoteGo
	NoteTorn // then after how many sends, and the note of the whole step
	NoteKinds

	noteSpecial = 1 << 16
)

// SpecialNames are the names of such steps.
var SpecialNames = [NoteKinds]string{"crash", "restart", "drop", "beat", "return", "cut off", "silence",
	"swallow", "come", "go", "torn"}

// PackSpecial makes the note of a step that is no event; some have more behind it.
func PackSpecial(kind int) []byte { return binary.AppendUvarint(nil, uint64(noteSpecial+kind)) }

// SpecialNote tells such notes from those of events.
func SpecialNote(b []byte) (kind int, ok bool) {
	v, n := binary.Uvarint(b)
	return int(v) - noteSpecial, n > 0 && v >= noteSpecial
}

// NotePeer is the instance that follows the kind in such a note.
func NotePeer(b []byte) int {
	peer := make([]int64, 1)
	ReadSlots(afterSpecial(b), peer)
	return int(peer[0])
}

// afterSpecial is what follows the kind in such a note.
func afterSpecial(b []byte) []byte {
	_, n := binary.Uvarint(b)
	return b[n:]
}

// Torn takes the note of a step in the course of which the instance crashed apart: the note of the whole
// step, and how much it had sent; -1 if the step is whole.
func Torn(b []byte) (note []byte, sent int) {
	if kind, ok := SpecialNote(b); !ok || kind != NoteTorn {
		return b, -1
	}
	b = afterSpecial(b)
	v, n := binary.Uvarint(b)
	return b[n:], int(v)
}

// What a hostile instance has done.
const (
	Sends        = iota // a message
	Closes              // the link
	SendsGarbage        // what is no message
	Held                // sent a message before, which was deferred and is refused now
)

// noteAttack begins the note of such a step.
const noteAttack = noteSpecial + NoteKinds

// PackAttack puts what a hostile instance has done before the note of the step that it led to.
func PackAttack(how, from int, msg, step []byte) []byte {
	b := binary.AppendUvarint(binary.AppendUvarint(nil, noteAttack), uint64(how))
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(from)), uint64(len(msg)))
	return append(append(b, msg...), step...)
}

// Attacked is the inverse of PackAttack. how is -1 for the notes of other steps.
func Attacked(b []byte) (how, from int, msg, step []byte) {
	next := func() int {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return int(v)
	}
	whole := b
	if next() != noteAttack {
		return -1, 0, nil, whole
	}
	how, from = next(), next()
	n := next()
	return how, from, b[:n], b[n:]
}

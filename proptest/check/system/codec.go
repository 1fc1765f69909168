package system

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
)

// The explorer sees local values, messages and notes as bytes: numbers one after the
// other, small ones in one byte.

func appendSlots(b []byte, slots []int64) []byte {
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
	return appendSlots(b, slots)
}

// UnpackMessage is the inverse of packMessage.
func UnpackMessage(p *model.Protocol, b []byte) (*model.Message, []int64) {
	i, n := binary.Uvarint(b)
	m := p.Messages[i]
	slots := make([]int64, interp.FieldSlots(m.Fields))
	ReadSlots(b[n:], slots)
	return m, slots
}

// number is what comes with news.
func number(msg []byte) int64 {
	n := make([]int64, 1)
	_, at := binary.Uvarint(msg)
	ReadSlots(msg[at:], n)
	return n[0]
}

// MessageIndex reads which message the bytes are.
func MessageIndex(b []byte) int {
	i, _ := binary.Uvarint(b)
	return int(i)
}

// A note says which event a step handled, so that a trace can be told again:
// the kind of event, the event's index, the arguments, and the path to a part for the expiry
// of its timer.
func PackNote(ev interp.Event) []byte {
	b := binary.AppendUvarint(nil, uint64(len(ev.At)))
	for _, at := range ev.At {
		b = binary.AppendUvarint(b, uint64(at.Part.Index))
		b = binary.AppendUvarint(b, uint64(at.Index))
	}
	b = binary.AppendUvarint(b, uint64(ev.Event.Index))
	b = appendSlots(b, ev.Args)
	if ev.Event.FromPeer() {
		b = appendSlots(b, []int64{int64(ev.Sender)})
	}
	return b
}

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
	NoteTorn    // then after how many sends, and the note of the whole step
	NoteKinds

	noteSpecial = 1 << 16
)

var specialNames = [NoteKinds]string{"crash", "restart", "drop", "beat", "return", "cut off", "silence", "torn"}

func packSpecial(kind int) []byte { return binary.AppendUvarint(nil, uint64(noteSpecial+kind)) }

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

// emitBoxes emits a step once for each box of channel lengths in which it is possible.
func emitBoxes(s explore.Step, boxes [][]explore.LenRange, emit func(explore.Step)) {
	own := s.Lens
	for _, box := range boxes {
		if s.Lens = box; len(own) > 0 {
			s.Lens = append(slices.Clip(box), own...)
		}
		emit(s)
	}
}

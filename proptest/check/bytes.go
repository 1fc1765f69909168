package check

import (
	"encoding/binary"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// The explorer sees local values and messages as bytes: numbers one after the
// other, small ones in one byte. A local value is a flag (has start been
// handled?), what is used up of each bounded environment rule, and the slots.

func appendSlots(b []byte, slots []int64) []byte {
	for _, v := range slots {
		b = binary.AppendVarint(b, v)
	}
	return b
}

// readSlots fills slots from b and returns what is left of b.
func readSlots(b []byte, slots []int64) []byte {
	for i := range slots {
		v, n := binary.Varint(b)
		if n <= 0 {
			return nil
		}
		slots[i], b = v, b[n:]
	}
	return b
}

// local is a local value, unpacked.
type local struct {
	started bool
	used    []int64 // by bounded rule; then what faults and time need
	value   interp.Value
}

func (p *process) unpack(b []byte) local {
	l := local{started: b[0] != 0, used: p.used, value: p.value}
	readSlots(readSlots(b[1:], l.used), l.value)
	l.value[:len(l.value)+1][len(l.value)] = l.get(p.atDown) // where claims look for down
	return l
}

func (p *process) pack(l local, next interp.Value) []byte {
	flag := byte(0)
	if l.started {
		flag = 1
	}
	b := append(make([]byte, 0, 8+len(next)), flag)
	return appendSlots(appendSlots(b, l.used), p.cleaned(next))
}

// packMessage makes the bytes of a message.
func packMessage(m *model.Message, slots []int64) []byte {
	b := binary.AppendUvarint(make([]byte, 0, 4+len(slots)), uint64(m.Index))
	return appendSlots(b, slots)
}

// unpackMessage is the inverse of packMessage.
func unpackMessage(p *model.Protocol, b []byte) (*model.Message, []int64) {
	i, n := binary.Uvarint(b)
	m := p.Messages[i]
	slots := make([]int64, interp.FieldSlots(m.Fields))
	readSlots(b[n:], slots)
	return m, slots
}

// messageIndex reads which message the bytes are.
func messageIndex(b []byte) int {
	i, _ := binary.Uvarint(b)
	return int(i)
}

// A note says which event a step handled, so that a trace can be told again:
// the kind of event, the event's index, the arguments, and the path to a part for the expiry
// of its timer.
func packNote(ev interp.Event) []byte {
	b := binary.AppendUvarint(nil, uint64(len(ev.At)))
	for _, at := range ev.At {
		b = binary.AppendUvarint(b, uint64(at.Part.Index))
		b = binary.AppendUvarint(b, uint64(at.Index))
	}
	b = binary.AppendUvarint(b, uint64(ev.Event.Index))
	b = appendSlots(b, ev.Args)
	if ev.Event.Kind == model.EventUp || ev.Event.Kind == model.EventLost {
		b = appendSlots(b, []int64{int64(ev.Sender)})
	}
	return b
}

func unpackNote(m *model.Machine, b []byte) interp.Event {
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
	b = readSlots(b, ev.Args)
	if ev.Event.Kind == model.EventUp || ev.Event.Kind == model.EventLost {
		sender := make([]int64, 1)
		readSlots(b, sender)
		ev.Sender = int(sender[0])
	}
	return ev
}

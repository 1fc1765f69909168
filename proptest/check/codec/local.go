package codec

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/runtime/world"
)

// Local is a local value, unpacked. In bytes it is a flag for Started, Used, the slots of Value, and
// what is held.
type Local struct {
	Started bool    // start was handled
	Used    []int64 // by rule with a number of times; then what links, faults and time need
	Value   interp.Value
	Held    []world.Held[string] // deferred messages, oldest first
}

// Get reads a place of Used; 0 if at is negative.
func (l *Local) Get(at int) int64 {
	if at < 0 {
		return 0
	}
	return l.Used[at]
}

// Set writes a place of Used, unless at is negative.
func (l *Local) Set(at int, v int64) {
	if at >= 0 {
		l.Used[at] = v
	}
}

// Own gives the local value memory of its own for what is not the machine's value, to be changed.
func (l Local) Own() Local {
	l.Used = slices.Clone(l.Used)
	return l
}

// Pack makes the bytes of a local value.
func (l *Local) Pack() []byte {
	flag := byte(0)
	if l.Started {
		flag = 1
	}
	b := append(make([]byte, 0, 8+len(l.Value)), flag)
	b = AppendSlots(AppendSlots(b, l.Used), l.Value)
	for _, h := range l.Held {
		b = binary.AppendUvarint(b, uint64(h.From))
		b = binary.AppendUvarint(b, uint64(len(h.Message)))
		b = append(b, h.Message...)
	}
	return b
}

// Layout says how long the parts of an instance's local value are.
type Layout struct {
	down  int // the place in Used that says whether the instance is down; -1 if it never is
	used  []int64
	value interp.Value // with one slot behind it, for what is at down
}

// NewLayout returns the layout of local values with so many places in Used and in the machine's value.
// At down in Used stands whether the instance is down; -1 if it never is.
func NewLayout(used, size, down int) *Layout {
	return &Layout{down: down, used: make([]int64, used), value: make(interp.Value, size, size+1)}
}

// Unpack takes a local value apart. The result uses memory of the layout: it lasts until the next
// call. Behind the machine's value, in its capacity, stands whether the instance is down; claims look
// for it there.
func (y *Layout) Unpack(b []byte) Local {
	l := Local{Started: b[0] != 0, Used: y.used, Value: y.value}
	b = ReadSlots(ReadSlots(b[1:], l.Used), l.Value)
	for len(b) > 0 {
		from, n := binary.Uvarint(b)
		size, m := binary.Uvarint(b[n:])
		b = b[n+m:]
		l.Held = append(l.Held, world.Held[string]{From: int(from), Message: string(b[:size])})
		b = b[size:]
	}
	l.Value[:len(l.Value)+1][len(l.Value)] = l.Get(y.down)
	return l
}

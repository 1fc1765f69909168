package interp

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// xored returns a number as it is written, or read, in a frame.
func xored(v uint64, n model.Number, frame []byte) uint64 {
	v ^= n.Xor
	if n.XorAt > 0 {
		v ^= wire.Unsigned(frame[n.XorAt-1:n.XorAt-1+n.Bits/8], n.Little)
	}
	return v
}

// place returns where an anchor is; without an item it is otherwise.
func place(begins [][]int, a model.Anchor, otherwise int) int {
	if a.Index < 0 {
		return otherwise
	}
	return begins[len(begins)-1-a.Up][a.Index]
}

var sums = map[model.Sum]wire.Sum{model.CRC32: wire.CRC32, model.CRC32C: wire.CRC32C,
	model.Adler32: wire.Adler32, model.Internet: wire.Internet}

// sum reads a checksum and compares it.
func (d *decoder) sum(it *model.WireSum) bool {
	got, size, ok := d.number(it.Number, "checksum")
	if !ok {
		return false
	}
	if it.Ends && d.at+size != d.whole {
		return d.fail("checksum", d.at+size, wire.Trailing, int64(d.whole-d.at-size), 0)
	}
	want := sums[it.Sum].Of(d.b[place(d.begins, it.From, 0):place(d.begins, it.To, d.at)])
	if got != want {
		return d.fail("checksum", d.at, wire.BadSum, int64(got), int64(want))
	}
	d.at += size
	return true
}

// sum writes a checksum. One over the length is that of a frame which ends behind it.
func (e *encoder) sum(it *model.WireSum) {
	at := len(e.b)
	if it.Ends {
		n := uint64(at + it.Bits/8 - it.Less)
		wire.AppendUnsigned(e.b[:it.LengthAt], n, it.Length.Bits/8, it.Length.Little)
		e.last, e.ended = true, true
	}
	e.number(it.Number, sums[it.Sum].Of(e.b[place(e.begins, it.From, 0):place(e.begins, it.To, at)]))
}

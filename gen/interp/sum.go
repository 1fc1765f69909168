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

var sumOf = map[model.Sum]wire.Sum{model.CRC32: wire.CRC32, model.CRC32C: wire.CRC32C,
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
	want := sumOf[it.Sum].Of(d.b[place(d.begins, it.From, 0):place(d.begins, it.To, d.at)])
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
	e.number(it.Number, sumOf[it.Sum].Of(e.b[place(e.begins, it.From, 0):place(e.begins, it.To, at)]))
}

// sumAhead is a checksum that stands before the end of its bytes: where, and which number was read.
type sumAhead struct {
	it  *model.WireSum
	at  int
	got uint64
}

// sumAhead reads a checksum whose bytes end later.
func (d *decoder) sumAhead(it *model.WireSum, sums *[]sumAhead) bool {
	got, size, ok := d.number(it.Number, "checksum")
	if ok {
		*sums = append(*sums, sumAhead{it, d.at, got})
		d.at += size
	}
	return ok
}

// summed compares the checksums whose bytes end before item i of their list.
func (d *decoder) summed(sums []sumAhead, i int) bool {
	for _, s := range sums {
		if s.it.To.Index != i {
			continue
		}
		from := place(d.begins, s.it.From, 0)
		if want := sumOf[s.it.Sum].Around(d.b[from:d.at], s.at-from); s.got != want {
			return d.fail("checksum", s.at, wire.BadSum, int64(s.got), int64(want))
		}
	}
	return true
}

// summed fills in the checksums whose bytes end before item i of their list.
func (e *encoder) summed(sums []sumAhead, i int) {
	for _, s := range sums {
		if s.it.To.Index != i {
			continue
		}
		if s.it.Ends {
			wire.AppendUnsigned(e.b[:s.it.LengthAt], uint64(len(e.b)-s.it.Less), s.it.Length.Bits/8, s.it.Length.Little)
		}
		from := place(e.begins, s.it.From, 0)
		v := sumOf[s.it.Sum].Around(e.b[from:], s.at-from)
		appendNumber(e.b[:s.at], s.it.Number, xored(v, s.it.Number, e.b))
	}
}

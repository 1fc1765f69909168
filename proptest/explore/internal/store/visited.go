// Package store has the visited set and what it is made of: configurations packed into machine
// words (state vectors), a hash set of them without pointers, of which only hashes may be kept
// (hash compaction: Wolper, Leroy 1993), and bits by slot of the set. It must not know what a
// configuration means. Start from [Table] and [Layout].
package store

import (
	"math/bits"
	"runtime"
	"sync/atomic"
)

// Table is the visited set: open addressing over packed configurations, each
// stored exactly, with no pointers in it. A slot is free if its first word is
// 0; a stored first word is one more than that of the configuration. The home
// of a configuration grows with its hash, so that a table is copied into a
// larger one in order, streaming through both.
type Table struct {
	Slots  []uint64
	N      uint64 // number of slots
	Stride uint64
	Used   uint64 // slots in use, brought up to date between phases
	Yield  func() // for tests, see tuning
	// hashed: entries are fingerprints, of one word, whatever the stride of the
	// configurations they stand for.
	Hashed bool
}

// padSlots follow the last slot and stay free, so that looking one ahead needs
// no test for the end.
const PadSlots = 8

const busySlot = ^uint64(0) // the words of this slot are being written

// maxLoad is in sixteenths: above it, look-ups would pass many slots.
const maxLoad = 12

func NewTable(n uint64, stride int) (*Table, error) {
	slots, err := allocWords(n*uint64(stride) + PadSlots)
	if err != nil {
		return nil, err
	}
	return &Table{Slots: slots, N: n, Stride: uint64(stride)}, nil
}

func (t *Table) Free() {
	freeWords(t.Slots)
	t.Slots = nil
}

func (t *Table) Bytes() uint64 { return t.N * t.Stride * 8 }

// Room returns how many more configurations can be inserted.
func (t *Table) Room() int64 { return int64(t.N*maxLoad/16) - int64(t.Used) }

// Hash1 spreads a packed word over 64 bits.
func Hash1(c uint64) uint64 {
	hi, lo := bits.Mul64(c^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return (hi ^ lo) * 0xff51afd7ed558ccd
}

func HashN(c []uint64) uint64 {
	h := uint64(0)
	for _, x := range c {
		hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15^h, 0xd6e8feb86659fd93)
		h = hi ^ lo
	}
	return h * 0xff51afd7ed558ccd
}

// Home returns the first slot to look at for a hash.
func (t *Table) Home(h uint64) uint64 {
	hi, _ := bits.Mul64(h, t.N)
	return hi
}

// Insert1 adds c if it is not there, and reports whether it was added. Any number of goroutines may
// insert at once. The table must have room.
func (t *Table) Insert1(c, home uint64) bool {
	i := home
	for {
		v := atomic.LoadUint64(&t.Slots[i])
		if v == c+1 {
			return false
		}
		if v == 0 {
			if t.Yield != nil {
				t.Yield()
			}
			if atomic.CompareAndSwapUint64(&t.Slots[i], 0, c+1) {
				return true
			}
			continue
		}
		if i++; i == t.N {
			i = 0
		}
	}
}

// InsertN does what Insert1 does, for several words.
func (t *Table) InsertN(c []uint64, home uint64) bool {
	i := home
	for {
		at := i * t.Stride
		v := atomic.LoadUint64(&t.Slots[at])
		switch {
		case v == busySlot:
			runtime.Gosched()
			continue
		case v == c[0]+1:
			if t.sameTail(at, c) {
				return false
			}
		case v == 0:
			if !atomic.CompareAndSwapUint64(&t.Slots[at], 0, busySlot) {
				continue
			}
			if t.Yield != nil {
				t.Yield()
			}
			for j := 1; j < len(c); j++ {
				atomic.StoreUint64(&t.Slots[at+uint64(j)], c[j])
			}
			atomic.StoreUint64(&t.Slots[at], c[0]+1)
			return true
		}
		if i++; i == t.N {
			i = 0
		}
	}
}

func (t *Table) sameTail(at uint64, c []uint64) bool {
	for j := 1; j < len(c); j++ {
		if atomic.LoadUint64(&t.Slots[at+uint64(j)]) != c[j] {
			return false
		}
	}
	return true
}

// At copies the configuration in a slot to c. It returns false if the slot is free. The table must
// not be one of fingerprints.
func (t *Table) At(slot uint64, c []uint64) bool {
	from := t.Slots[slot*t.Stride:][:t.Stride]
	if from[0] == 0 {
		return false
	}
	copy(c, from)
	c[0]--
	return true
}

// Find returns the slot of c, or false if c is not there.
func (t *Table) Find(c []uint64) (uint64, bool) {
	if t.Hashed {
		k := [1]uint64{Fingerprint(c)}
		return t.FindFrom(t.Home(Hash1(k[0])), k[:])
	}
	return t.FindFrom(t.Home(t.hash(c)), c)
}

// FindFrom does what Find does, for an entry as it is stored, whose home is known.
func (t *Table) FindFrom(home uint64, c []uint64) (uint64, bool) {
	for i := home; ; {
		at := i * t.Stride
		v := t.Slots[at]
		if v == 0 {
			return 0, false
		}
		if v == c[0]+1 && t.sameTail(at, c) {
			return i, true
		}
		if i++; i == t.N {
			i = 0
		}
	}
}

func (t *Table) hash(c []uint64) uint64 {
	if t.Stride == 1 {
		return Hash1(c[0])
	}
	return HashN(c)
}

// Insert adds the configuration c.
func (t *Table) Insert(c []uint64) bool {
	if t.Hashed {
		k := Fingerprint(c)
		return t.Insert1(k, t.Home(Hash1(k)))
	}
	return t.InsertEntry(c)
}

// Fingerprint stands for a configuration in a hashed table; it has 63 bits.
func Fingerprint(c []uint64) uint64 {
	h := uint64(0x2545f4914f6cdd1d)
	for _, x := range c {
		hi, lo := bits.Mul64(x^h, 0xa0761d6478bd642f)
		h = hi ^ lo ^ x>>32
	}
	return Hash1(h) >> 1
}

// InsertEntry adds c as it is stored, whatever the stride.
func (t *Table) InsertEntry(c []uint64) bool {
	if t.Stride == 1 {
		return t.Insert1(c[0], t.Home(Hash1(c[0])))
	}
	return t.InsertN(c, t.Home(HashN(c)))
}

// MoveUp takes the entries in slots [lo, hi) of a table that had old slots and
// puts those whose new home is in the image of this range, and not below
// least, into it. The others are returned.
func (t *Table) MoveUp(old, lo, hi, least uint64) (aside []uint64) {
	s := t.Stride
	if s == 1 {
		return t.moveUp1(old, lo, hi, least)
	}
	from, to := max(mulDiv(lo, t.N, old), least), mulDiv(hi, t.N, old)
	c := make([]uint64, s)
	for i := hi; i > lo; {
		i--
		at := i * s
		if t.Slots[at] == 0 {
			continue
		}
		copy(c, t.Slots[at:at+s])
		t.Slots[at] = 0
		c[0]--
		h := t.Home(t.hash(c))
		for h >= from && h < to && t.Slots[h*s] != 0 {
			h++
		}
		if h < from || h >= to {
			aside = append(aside, c...)
			continue
		}
		copy(t.Slots[h*s:h*s+s], c)
		t.Slots[h*s]++
	}
	return aside
}

// moveUp1 is moveUp for one word.
func (t *Table) moveUp1(old, lo, hi, least uint64) (aside []uint64) {
	from, to := max(mulDiv(lo, t.N, old), least), mulDiv(hi, t.N, old)
	slots := t.Slots
	for i := hi; i > lo; {
		i--
		v := slots[i]
		if v == 0 {
			continue
		}
		slots[i] = 0
		h := t.Home(Hash1(v - 1))
		for h >= from && h < to && slots[h] != 0 {
			h++
		}
		if h < from || h >= to {
			aside = append(aside, v-1)
			continue
		}
		slots[h] = v
	}
	return aside
}

func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	q, _ := bits.Div64(hi, lo, c)
	return q
}

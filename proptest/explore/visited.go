package explore

import (
	"math/bits"
	"runtime"
	"sync/atomic"
)

// table is the visited set: open addressing over packed configurations, each
// stored exactly, with no pointers in it. A slot is free if its first word is
// 0; a stored first word is one more than that of the configuration. The home
// of a configuration grows with its hash, so that a table is copied into a
// larger one in order, streaming through both.
type table struct {
	slots  []uint64
	n      uint64 // number of slots
	stride uint64
	used   uint64 // slots in use, brought up to date between phases
	yield  func() // for tests, see tuning
	// hashed: entries are fingerprints, of one word, whatever the stride of the
	// configurations they stand for.
	hashed bool
}

// padSlots follow the last slot and stay free, so that looking one ahead needs
// no test for the end.
const padSlots = 8

const busySlot = ^uint64(0) // the words of this slot are being written

// maxLoad is in sixteenths: above it, look-ups would pass many slots.
const maxLoad = 12

func newTable(n uint64, stride int) (*table, error) {
	slots, err := allocWords(n*uint64(stride) + padSlots)
	if err != nil {
		return nil, err
	}
	return &table{slots: slots, n: n, stride: uint64(stride)}, nil
}

func (t *table) free() {
	freeWords(t.slots)
	t.slots = nil
}

func (t *table) bytes() uint64 { return t.n * t.stride * 8 }

// room is how many more configurations may be inserted.
func (t *table) room() int64 { return int64(t.n*maxLoad/16) - int64(t.used) }

// hash1 spreads a packed word over 64 bits.
func hash1(c uint64) uint64 {
	hi, lo := bits.Mul64(c^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return (hi ^ lo) * 0xff51afd7ed558ccd
}

func hashN(c []uint64) uint64 {
	h := uint64(0)
	for _, x := range c {
		hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15^h, 0xd6e8feb86659fd93)
		h = hi ^ lo
	}
	return h * 0xff51afd7ed558ccd
}

// home is the first slot to look at for a hash.
func (t *table) home(h uint64) uint64 {
	hi, _ := bits.Mul64(h, t.n)
	return hi
}

// insert1 adds c if it is not there and says whether it was added. Any number
// of goroutines may insert at once. The table must have room.
func (t *table) insert1(c, home uint64) bool {
	i := home
	for {
		v := atomic.LoadUint64(&t.slots[i])
		if v == c+1 {
			return false
		}
		if v == 0 {
			if t.yield != nil {
				t.yield()
			}
			if atomic.CompareAndSwapUint64(&t.slots[i], 0, c+1) {
				return true
			}
			continue
		}
		if i++; i == t.n {
			i = 0
		}
	}
}

// insertN is insert1 for several words.
func (t *table) insertN(c []uint64, home uint64) bool {
	i := home
	for {
		at := i * t.stride
		v := atomic.LoadUint64(&t.slots[at])
		switch {
		case v == busySlot:
			runtime.Gosched()
			continue
		case v == c[0]+1:
			if t.sameTail(at, c) {
				return false
			}
		case v == 0:
			if !atomic.CompareAndSwapUint64(&t.slots[at], 0, busySlot) {
				continue
			}
			if t.yield != nil {
				t.yield()
			}
			for j := 1; j < len(c); j++ {
				atomic.StoreUint64(&t.slots[at+uint64(j)], c[j])
			}
			atomic.StoreUint64(&t.slots[at], c[0]+1)
			return true
		}
		if i++; i == t.n {
			i = 0
		}
	}
}

func (t *table) sameTail(at uint64, c []uint64) bool {
	for j := 1; j < len(c); j++ {
		if atomic.LoadUint64(&t.slots[at+uint64(j)]) != c[j] {
			return false
		}
	}
	return true
}

// find gives the slot of c, or false.
func (t *table) find(c []uint64) (uint64, bool) {
	if t.hashed {
		c = []uint64{fingerprint(c)}
	}
	for i := t.home(t.hash(c)); ; {
		at := i * t.stride
		v := t.slots[at]
		if v == 0 {
			return 0, false
		}
		if v == c[0]+1 && t.sameTail(at, c) {
			return i, true
		}
		if i++; i == t.n {
			i = 0
		}
	}
}

func (t *table) hash(c []uint64) uint64 {
	if t.stride == 1 {
		return hash1(c[0])
	}
	return hashN(c)
}

// insert adds the configuration c.
func (t *table) insert(c []uint64) bool {
	if t.hashed {
		k := fingerprint(c)
		return t.insert1(k, t.home(hash1(k)))
	}
	return t.insertEntry(c)
}

// fingerprint stands for a configuration in a hashed table; it has 63 bits.
func fingerprint(c []uint64) uint64 {
	h := uint64(0x2545f4914f6cdd1d)
	for _, x := range c {
		hi, lo := bits.Mul64(x^h, 0xa0761d6478bd642f)
		h = hi ^ lo ^ x>>32
	}
	return hash1(h) >> 1
}

// insertEntry adds c as it is stored, whatever the stride.
func (t *table) insertEntry(c []uint64) bool {
	if t.stride == 1 {
		return t.insert1(c[0], t.home(hash1(c[0])))
	}
	return t.insertN(c, t.home(hashN(c)))
}

// moveUp takes the entries in slots [lo, hi) of a table that had old slots and
// puts those whose new home is in the image of this range, and not below
// least, into it. The others are returned.
func (t *table) moveUp(old, lo, hi, least uint64) (aside []uint64) {
	s := t.stride
	if s == 1 {
		return t.moveUp1(old, lo, hi, least)
	}
	from, to := max(mulDiv(lo, t.n, old), least), mulDiv(hi, t.n, old)
	c := make([]uint64, s)
	for i := hi; i > lo; {
		i--
		at := i * s
		if t.slots[at] == 0 {
			continue
		}
		copy(c, t.slots[at:at+s])
		t.slots[at] = 0
		c[0]--
		h := t.home(t.hash(c))
		for h >= from && h < to && t.slots[h*s] != 0 {
			h++
		}
		if h < from || h >= to {
			aside = append(aside, c...)
			continue
		}
		copy(t.slots[h*s:h*s+s], c)
		t.slots[h*s]++
	}
	return aside
}

// moveUp1 is moveUp for one word.
func (t *table) moveUp1(old, lo, hi, least uint64) (aside []uint64) {
	from, to := max(mulDiv(lo, t.n, old), least), mulDiv(hi, t.n, old)
	slots := t.slots
	for i := hi; i > lo; {
		i--
		v := slots[i]
		if v == 0 {
			continue
		}
		slots[i] = 0
		h := t.home(hash1(v - 1))
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

package search

import (
	"sync/atomic"

	"github.com/parley-go/parley/proptest/explore/internal/store"
)

// flush inserts the successors in buf. It is false, and leaves them there, if
// the visited set has to grow first.
func (w *Worker) flush() bool {
	if len(w.Buf) == 0 {
		return true
	}
	n := w.waiting()
	if n > w.quota && !w.reserve(n) {
		return false
	}
	if w.Engine.Lay.Stride == 1 {
		w.flush1()
	} else if w.Search.Visited.Hashed {
		w.flushHashed()
	} else {
		w.flushN()
	}
	w.Buf = w.Buf[:0]
	return true
}

// waiting is the number of successors in buf.
func (w *Worker) waiting() int64 { return int64(len(w.Buf) / w.Engine.Lay.Stride) }

// reserve gets the right to insert n, and perhaps some more.
func (w *Worker) reserve(n int64) bool {
	need := max(n-w.quota, w.Search.Tune.Quota)
	if w.Search.reserved.Add(-need) < 0 {
		w.Search.reserved.Add(need)
		w.Search.pause.Store(true)
		return false
	}
	w.quota += need
	return true
}

// flush1 works in passes over short arrays, each simple enough that many of
// its memory accesses are under way at once: drop what was seen a moment ago,
// fetch a slot for each of the others, drop those found there, insert the rest.
func (w *Worker) flush1() {
	t := w.Search.Visited
	if len(w.homes) < len(w.Buf) {
		w.homes = make([]uint64, 2*len(w.Buf))
		w.keys = make([]uint64, 2*len(w.Buf))
	}
	if w.recent == nil {
		w.recent = make([]uint64, recentSize)
	}
	n := w.dropRecent(t)
	for from := 0; from < n; from += lookAhead {
		to := min(from+lookAhead, n)
		w.insertSome(t, w.keys[from:to], w.homes[from:to])
	}
}

// lookAhead is how many slots are asked for at once: enough that the memory is
// kept busy, few enough that they are still in the first cache when used.
const lookAhead = 128

// insertSome inserts keys and keeps those that are new. It uses its arguments
// up.
func (w *Worker) insertSome(t *store.Table, keys, homes []uint64) {
	n := 0
	for i, c := range keys {
		h := homes[i]
		d := atomic.LoadUint64(&t.Slots[h]) ^ (c + 1)
		d2 := atomic.LoadUint64(&t.Slots[h+1]) ^ (c + 1)
		keys[n], homes[n] = c, h
		n += int(((d | -d) & (d2 | -d2)) >> 63)
	}
	keys, homes = keys[:n], homes[:n]
	n = 0
	for i, c := range keys {
		if t.Insert1(c, homes[i]) {
			keys[n] = c
			n++
		}
	}
	w.quota -= int64(n)
	w.keep(keys[:n])
}

const recentSize = 1 << recentBits

const recentBits = 12

// dropRecent puts those successors that were not met a moment ago into keys
// and their homes into homes. It forgets at random, so nothing depends on it.
func (w *Worker) dropRecent(t *store.Table) int {
	recent := (*[recentSize]uint64)(w.recent)
	keys, homes := w.keys[:len(w.Buf)], w.homes[:len(w.Buf)]
	n := 0
	for _, c := range w.Buf {
		h := store.Hash1(c)
		r := &recent[h%recentSize]
		d := *r ^ (c + 1)
		*r = c + 1
		keys[n], homes[n] = c, t.Home(h)
		n += int((d | -d) >> 63)
	}
	return n
}

// flushN is flush1 for several words, without the shortcut for those found at
// the first look.
func (w *Worker) flushN() {
	t := w.Search.Visited
	stride := w.Engine.Lay.Stride
	n := len(w.Buf) / stride
	if len(w.homes) < n {
		w.homes = make([]uint64, 2*n)
	}
	homes := w.homes[:n]
	sum := uint64(0)
	for i := range homes {
		h := t.Home(store.HashN(w.Buf[i*stride : (i+1)*stride]))
		homes[i] = h
		sum += atomic.LoadUint64(&t.Slots[h*t.Stride])
	}
	w.sink = sum
	fresh := 0
	for i, h := range homes {
		c := w.Buf[i*stride : (i+1)*stride]
		if t.InsertN(c, h) {
			copy(w.Buf[fresh*stride:], c)
			fresh++
		}
	}
	w.quota -= int64(fresh)
	w.keep(w.Buf[:fresh*stride])
}

// flushHashed is flushN for a visited set of fingerprints.
func (w *Worker) flushHashed() {
	t := w.Search.Visited
	stride := w.Engine.Lay.Stride
	n := len(w.Buf) / stride
	if len(w.homes) < n || len(w.keys) < n {
		w.homes, w.keys = make([]uint64, 2*n), make([]uint64, 2*n)
	}
	sum := uint64(0)
	for i := range n {
		k := store.Fingerprint(w.Buf[i*stride : (i+1)*stride])
		h := t.Home(store.Hash1(k))
		w.keys[i], w.homes[i] = k, h
		sum += atomic.LoadUint64(&t.Slots[h])
	}
	w.sink = sum
	fresh := 0
	for i := range n {
		if t.Insert1(w.keys[i], w.homes[i]) {
			copy(w.Buf[fresh*stride:], w.Buf[i*stride:(i+1)*stride])
			fresh++
		}
	}
	w.quota -= int64(fresh)
	w.keep(w.Buf[:fresh*stride])
}

// keep adds new configurations to the next level.
func (w *Worker) keep(cs []uint64) {
	stride := w.Engine.Lay.Stride
	w.fresh += uint64(len(cs) / stride)
	for len(cs) > 0 {
		last := len(w.out) - 1
		if last < 0 || len(w.out[last]) == cap(w.out[last]) {
			size := 64 * stride
			if last >= 0 {
				size = min(4*cap(w.out[last]), blockWords*stride)
			}
			w.out = append(w.out, make([]uint64, 0, size))
			last++
		}
		b := w.out[last]
		n := min(len(cs), cap(b)-len(b))
		w.out[last] = append(b, cs[:n]...)
		cs = cs[n:]
	}
}

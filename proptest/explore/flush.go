package explore

import "sync/atomic"

// flush inserts the successors in buf. It is false, and leaves them there, if
// the visited set has to grow first.
func (w *worker) flush() bool {
	if len(w.buf) == 0 {
		return true
	}
	n := w.waiting()
	if n > w.quota && !w.reserve(n) {
		return false
	}
	if w.e.lay.stride == 1 {
		w.flush1()
	} else if w.e.visited.hashed {
		w.flushHashed()
	} else {
		w.flushN()
	}
	w.buf = w.buf[:0]
	return true
}

// waiting is the number of successors in buf.
func (w *worker) waiting() int64 { return int64(len(w.buf) / w.e.lay.stride) }

// reserve gets the right to insert n, and perhaps some more.
func (w *worker) reserve(n int64) bool {
	need := max(n-w.quota, w.s.tune.quota)
	if w.s.reserved.Add(-need) < 0 {
		w.s.reserved.Add(need)
		w.s.pause.Store(true)
		return false
	}
	w.quota += need
	return true
}

// flush1 works in passes over short arrays, each simple enough that many of
// its memory accesses are under way at once: drop what was seen a moment ago,
// fetch a slot for each of the others, drop those found there, insert the rest.
func (w *worker) flush1() {
	t := w.e.visited
	if len(w.homes) < len(w.buf) {
		w.homes = make([]uint64, 2*len(w.buf))
		w.keys = make([]uint64, 2*len(w.buf))
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
func (w *worker) insertSome(t *table, keys, homes []uint64) {
	n := 0
	for i, c := range keys {
		h := homes[i]
		d := atomic.LoadUint64(&t.slots[h]) ^ (c + 1)
		d2 := atomic.LoadUint64(&t.slots[h+1]) ^ (c + 1)
		keys[n], homes[n] = c, h
		n += int(((d | -d) & (d2 | -d2)) >> 63)
	}
	keys, homes = keys[:n], homes[:n]
	n = 0
	for i, c := range keys {
		if t.insert1(c, homes[i]) {
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
func (w *worker) dropRecent(t *table) int {
	recent := (*[recentSize]uint64)(w.recent)
	keys, homes := w.keys[:len(w.buf)], w.homes[:len(w.buf)]
	n := 0
	for _, c := range w.buf {
		h := hash1(c)
		r := &recent[h%recentSize]
		d := *r ^ (c + 1)
		*r = c + 1
		keys[n], homes[n] = c, t.home(h)
		n += int((d | -d) >> 63)
	}
	return n
}

// flushN is flush1 for several words, without the shortcut for those found at
// the first look.
func (w *worker) flushN() {
	t := w.e.visited
	stride := w.e.lay.stride
	n := len(w.buf) / stride
	if len(w.homes) < n {
		w.homes = make([]uint64, 2*n)
	}
	homes := w.homes[:n]
	sum := uint64(0)
	for i := range homes {
		h := t.home(hashN(w.buf[i*stride : (i+1)*stride]))
		homes[i] = h
		sum += atomic.LoadUint64(&t.slots[h*t.stride])
	}
	w.sink = sum
	fresh := 0
	for i, h := range homes {
		c := w.buf[i*stride : (i+1)*stride]
		if t.insertN(c, h) {
			copy(w.buf[fresh*stride:], c)
			fresh++
		}
	}
	w.quota -= int64(fresh)
	w.keep(w.buf[:fresh*stride])
}

// flushHashed is flushN for a visited set of fingerprints.
func (w *worker) flushHashed() {
	t := w.e.visited
	stride := w.e.lay.stride
	n := len(w.buf) / stride
	if len(w.homes) < n || len(w.keys) < n {
		w.homes, w.keys = make([]uint64, 2*n), make([]uint64, 2*n)
	}
	sum := uint64(0)
	for i := range n {
		k := fingerprint(w.buf[i*stride : (i+1)*stride])
		h := t.home(hash1(k))
		w.keys[i], w.homes[i] = k, h
		sum += atomic.LoadUint64(&t.slots[h])
	}
	w.sink = sum
	fresh := 0
	for i := range n {
		if t.insert1(w.keys[i], w.homes[i]) {
			copy(w.buf[fresh*stride:], w.buf[i*stride:(i+1)*stride])
			fresh++
		}
	}
	w.quota -= int64(fresh)
	w.keep(w.buf[:fresh*stride])
}

// keep adds new configurations to the next level.
func (w *worker) keep(cs []uint64) {
	stride := w.e.lay.stride
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

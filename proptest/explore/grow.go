package explore

import (
	"fmt"
	"sync"
)

// Growth of the visited set and change of the layout, both between rounds.

// grow enlarges the visited set if it is nearly full.
func (s *search) grow() {
	t := s.e.visited
	need := s.tune.quota * int64(len(s.workers))
	for _, w := range s.workers {
		need += w.waiting()
	}
	for t.room() < need && !s.stop.Load() {
		if !s.enlarge(t.n + t.n/2) {
			return
		}
		t = s.e.visited
	}
}

// enlarge lengthens the visited set to n slots.
func (s *search) enlarge(n uint64) bool {
	e := s.e
	t := e.visited
	most := e.opt.MaxBytes
	need := e.bytes(s.total) + (n-t.n)*t.stride*8
	if most > 0 && need > most {
		s.halt(fmt.Sprintf("the memory limit of %d bytes was reached: a larger visited set needs %d", most, need))
		return false
	}
	slots, err := growWords(t.slots, n*t.stride+padSlots)
	if err != nil {
		s.halt("no memory for a larger visited set: " + err.Error())
		return false
	}
	old := t.n
	t.slots, t.n = slots, n
	e.peak = max(e.peak, e.bytes(s.total))
	s.spread(t, old)
	return true
}

// spread moves the contents of a table that had old slots to where they belong
// now. Homes only move up, in order, so it works from the top down in pieces
// [lo, hi) whose new places lie at hi or above, where all is free or moved
// already. Workers share a piece and each writes only to the part of the table
// that its part of the piece maps to. What does not fit this (a few entries far
// from home or at a boundary) is set aside and inserted in the end.
func (s *search) spread(t *table, old uint64) {
	var mu sync.Mutex
	var aside []uint64
	for hi := old; hi > 0; {
		lo := hi*old/t.n + 1
		if hi < s.tune.piece {
			lo = 0
		}
		s.parallel(hi-lo, func(a, b uint64) {
			left := t.moveUp(old, lo+a, lo+b, hi)
			mu.Lock()
			aside = append(aside, left...)
			mu.Unlock()
		})
		hi = lo
	}
	for c := aside; len(c) > 0; c = c[t.stride:] {
		t.insertEntry(c[:t.stride])
	}
}

// parallel calls f on pieces of [0, n), one for each worker.
func (s *search) parallel(n uint64, f func(lo, hi uint64)) {
	k := uint64(len(s.workers))
	if n < s.tune.share {
		k = 1
	}
	var wg sync.WaitGroup
	for i := range k {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f(n*i/k, n*(i+1)/k)
		}()
	}
	wg.Wait()
}

// relayout chooses a layout for the ids in use and adapts the rules to it.
func (s *search) relayout() {
	e := s.e
	e.lay = newLayout(e.fields(), e.counts(), max(e.lay.stride, 1))
	for p := range e.procs {
		m := &e.procs[p]
		for i := range m.hot {
			m.hot[i] = e.heat(p, &m.rules[i])
		}
	}
}

// repack changes the layout and everything that is packed: all levels, what
// the workers hold, the tasks and the visited set.
func (s *search) repack(current *level) {
	e := s.e
	old := e.lay
	s.relayout()
	move := func(b []uint64) []uint64 { return e.lay.repack(&old, b) }
	for i := range e.levels {
		for j, b := range e.levels[i].blocks {
			e.levels[i].blocks[j] = move(b)
		}
	}
	for i, b := range s.tasks {
		s.tasks[i] = move(b)
	}
	for _, w := range s.workers {
		w.buf = move(w.buf)
		clear(w.recent)
		for i, b := range w.out {
			w.out[i] = move(b)
		}
		for k, c := range w.found {
			w.found[k] = move(c)
		}
	}
	for i := range s.finds {
		s.finds[i].c = move(s.finds[i].c)
	}
	s.rebuild()
}

// newVisited makes an empty visited set for the present layout.
func (s *search) newVisited(n uint64) (*table, error) {
	e := s.e
	stride, hashed := e.lay.stride, e.opt.Reduce&ReduceHash != 0 && e.lay.stride > 1
	if hashed {
		stride = 1
	}
	t, err := newTable(n, stride)
	if err == nil {
		t.yield, t.hashed = s.tune.yield, hashed
	}
	return t, err
}

// rebuild makes the visited set anew from the levels.
func (s *search) rebuild() {
	e := s.e
	n := e.visited.n
	e.visited.free()
	t, err := s.newVisited(n)
	if err != nil {
		s.halt("no memory for the visited set: " + err.Error())
		t, _ = newTable(1<<12, e.lay.stride)
		e.visited = t
		return
	}
	e.visited = t
	for _, l := range e.levels {
		for _, b := range l.blocks {
			s.insertAll(b)
		}
	}
	for _, w := range s.workers {
		for _, b := range w.out {
			s.insertAll(b)
		}
	}
}

func (s *search) insertAll(b []uint64) {
	for stride := s.e.lay.stride; len(b) > 0; b = b[stride:] {
		s.insertOne(b[:stride])
	}
}

// repack gives a copy of block b, packed by old, in this layout.
func (l *layout) repack(old *layout, b []uint64) []uint64 {
	n := len(b) / old.stride
	out := make([]uint64, n*l.stride, cap(b)/old.stride*l.stride)
	ids := make([]uint32, len(l.fields))
	for i := range n {
		old.unpack(b[i*old.stride:(i+1)*old.stride], ids)
		l.pack(ids, out[i*l.stride:(i+1)*l.stride])
	}
	return out
}

package search

import (
	"fmt"
	"sync"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/store"
)

// Growth of the visited set and change of the layout, both between rounds.

// grow enlarges the visited set if it is nearly full.
func (s *Search) grow() {
	t := s.Visited
	need := s.Tune.Quota * int64(len(s.Workers))
	for _, w := range s.Workers {
		need += w.waiting()
	}
	for t.Room() < need && !s.Stop.Load() {
		if !s.Enlarge(t.N + t.N/2) {
			return
		}
		t = s.Visited
	}
}

// Enlarge grows the visited set to n slots.
func (s *Search) Enlarge(n uint64) bool {
	e := s.Engine
	t := s.Visited
	most := e.Opt.MaxBytes
	need := s.Bytes() + (n-t.N)*t.Stride*8
	if most > 0 && need > most {
		s.Halt(fmt.Sprintf("the memory limit of %d bytes was reached: a larger visited set needs %d", most, need))
		return false
	}
	slots, err := store.GrowWords(t.Slots, n*t.Stride+store.PadSlots)
	if err != nil {
		s.Halt("no memory for a larger visited set: " + err.Error())
		return false
	}
	old := t.N
	t.Slots, t.N = slots, n
	s.Peak = max(s.Peak, s.Bytes())
	s.spread(t, old)
	return true
}

// spread moves the contents of a table that had old slots to where they belong
// now. Homes only move up, in order, so it works from the top down in pieces
// [lo, hi) whose new places lie at hi or above, where all is free or moved
// already. Workers share a piece and each writes only to the part of the table
// that its part of the piece maps to. What does not fit this (a few entries far
// from home or at a boundary) is set aside and inserted in the end.
func (s *Search) spread(t *store.Table, old uint64) {
	var mu sync.Mutex
	var aside []uint64
	for hi := old; hi > 0; {
		lo := hi*old/t.N + 1
		if hi < s.Tune.Piece {
			lo = 0
		}
		s.parallel(hi-lo, func(a, b uint64) {
			left := t.MoveUp(old, lo+a, lo+b, hi)
			mu.Lock()
			aside = append(aside, left...)
			mu.Unlock()
		})
		hi = lo
	}
	for c := aside; len(c) > 0; c = c[t.Stride:] {
		t.InsertEntry(c[:t.Stride])
	}
}

// parallel calls f on pieces of [0, n), one for each worker.
func (s *Search) parallel(n uint64, f func(lo, hi uint64)) {
	k := uint64(len(s.Workers))
	if n < s.Tune.Share {
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
func (s *Search) relayout() {
	e := s.Engine
	e.Lay = store.NewLayout(e.Fields(), e.Counts(), max(e.Lay.Stride, 1))
	for p := range e.Procs {
		m := &e.Procs[p]
		for i := range m.Hot {
			m.Hot[i] = e.Heat(p, &m.Rules[i])
		}
	}
}

// repack changes the layout and everything that is packed: all levels, what
// the workers hold, the tasks and the visited set.
func (s *Search) repack(current *Level) {
	e := s.Engine
	old := e.Lay
	s.relayout()
	move := func(b []uint64) []uint64 { return e.Lay.Repack(&old, b) }
	for i := range s.Levels {
		for j, b := range s.Levels[i].Blocks {
			s.Levels[i].Blocks[j] = move(b)
		}
	}
	for i, b := range s.Tasks {
		s.Tasks[i] = move(b)
	}
	for _, w := range s.Workers {
		w.Buf = move(w.Buf)
		clear(w.recent)
		for i, b := range w.out {
			w.out[i] = move(b)
		}
		for k, c := range w.found {
			w.found[k] = move(c)
		}
	}
	for i := range s.Finds {
		s.Finds[i].Conf = move(s.Finds[i].Conf)
	}
	s.rebuild()
}

// newVisited makes an empty visited set for the present layout.
func (s *Search) newVisited(n uint64) (*store.Table, error) {
	e := s.Engine
	stride, hashed := e.Lay.Stride, e.Opt.Reduce&api.ReduceHash != 0 && e.Lay.Stride > 1
	if hashed {
		stride = 1
	}
	t, err := store.NewTable(n, stride)
	if err == nil {
		t.Yield, t.Hashed = s.Tune.Yield, hashed
	}
	return t, err
}

// rebuild makes the visited set anew from the levels.
func (s *Search) rebuild() {
	e := s.Engine
	n := s.Visited.N
	s.Visited.Free()
	t, err := s.newVisited(n)
	if err != nil {
		s.Halt("no memory for the visited set: " + err.Error())
		t, _ = store.NewTable(1<<12, e.Lay.Stride)
		s.Visited = t
		return
	}
	s.Visited = t
	for _, l := range s.Levels {
		for _, b := range l.Blocks {
			s.insertAll(b)
		}
	}
	for _, w := range s.Workers {
		for _, b := range w.out {
			s.insertAll(b)
		}
	}
}

func (s *Search) insertAll(b []uint64) {
	for stride := s.Engine.Lay.Stride; len(b) > 0; b = b[stride:] {
		s.insertOne(b[:stride])
	}
}

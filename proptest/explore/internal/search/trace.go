package search

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/store"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// parents maps a configuration to the one before it on the way from the start.
type parents map[string][]uint64

// Trails finds a shortest path to every finding by going back through the levels once. Among the
// configurations of the level before that have a step to the wanted one, it takes the least.
func (s *Search) Trails(finds []Finding) parents {
	e := s.Engine
	before := parents{}
	want := map[string]bool{}
	for depth := len(s.Levels) - 1; depth > 0; depth-- {
		for _, f := range finds {
			if f.Depth == depth {
				want[packedKey(e, f.Conf)] = true
			}
		}
		if len(want) == 0 {
			continue
		}
		found := s.sweep(&s.Levels[depth-1], want)
		clear(want)
		for child, parent := range found {
			before[child] = parent
			want[packedKey(e, parent)] = true
		}
	}
	return before
}

// sweep finds, for each wanted configuration, the least one in l that has a
// step to it.
func (s *Search) sweep(l *Level, want map[string]bool) parents {
	filter := newFilter(s.Engine, want)
	n := len(s.Workers)
	found := make([]parents, n)
	s.Each(func(i int, w *Worker) {
		found[i] = parents{}
		for b := i; b < len(l.Blocks); b += n {
			w.sweepBlock(l.Blocks[b], filter, want, found[i])
		}
	})
	best := found[0]
	for _, f := range found[1:] {
		for child, parent := range f {
			if old, ok := best[child]; !ok || s.Engine.Compare(parent, old) < 0 {
				best[child] = parent
			}
		}
	}
	return best
}

// Each runs f for all workers at once.
func (s *Search) Each(f func(i int, w *Worker)) {
	s.Engine.Widen()
	done := make(chan struct{})
	for i, w := range s.Workers {
		go func() {
			f(i, w)
			done <- struct{}{}
		}()
	}
	for range s.Workers {
		<-done
	}
}

func (w *Worker) sweepBlock(b []uint64, f *filter, want map[string]bool, found parents) {
	e := w.Engine
	stride := e.Lay.Stride
	for ; len(b) > 0; b = b[stride:] {
		if !w.Successors(b[:stride]) {
			continue // was never expanded, so nothing was found through it
		}
		for next := w.Buf; len(next) > 0; next = next[stride:] {
			if !f.has(next[0]) {
				continue
			}
			key := packedKey(e, next[:stride])
			if !want[key] {
				continue
			}
			if old, ok := found[key]; !ok || e.Compare(b[:stride], old) < 0 {
				found[key] = slices.Clone(b[:stride])
			}
		}
	}
	w.Buf = w.Buf[:0]
}

// filter says quickly that most configurations are not wanted.
type filter [1 << 10]uint64

func newFilter(e *tables.Engine, want map[string]bool) *filter {
	f := new(filter)
	for k := range want {
		h := store.Hash1(unpackedKey(e, k)[0]) >> 48
		f[h>>6] |= 1 << (h & 63)
	}
	return f
}

func (f *filter) has(c uint64) bool {
	h := store.Hash1(c) >> 48
	return f[h>>6]>>(h&63)&1 != 0
}

// packedKey gives a packed configuration as a map key.
func packedKey(e *tables.Engine, c []uint64) string {
	var b strings.Builder
	for _, x := range c {
		for i := range 8 {
			b.WriteByte(byte(x >> (8 * i)))
		}
	}
	return b.String()
}

func unpackedKey(e *tables.Engine, k string) []uint64 {
	c := make([]uint64, len(k)/8)
	for i := range len(k) {
		c[i/8] |= uint64(k[i]) << (8 * (i % 8))
	}
	return c
}

// Trace returns the steps from the start to c, and the ids in which it ends: those of c, or of a
// renaming of c if the search kept one configuration for many.
func (s *Search) Trace(before parents, c []uint64) ([]api.TraceStep, []uint32) {
	e := s.Engine
	path := [][]uint64{c}
	for s.Nodes == nil {
		p, ok := before[packedKey(e, c)]
		if !ok {
			break
		}
		path = append(path, p)
		c = p
	}
	slices.Reverse(path)
	if s.Nodes != nil {
		path = s.Nodes.way(s, c)
	}
	if e.Canon != nil {
		return e.Lift(path)
	}
	var steps []api.TraceStep
	for i := 1; i < len(path); i++ {
		steps = append(steps, e.StepBetween(path[i-1], path[i]))
	}
	return steps, e.Unpack(path[len(path)-1])
}

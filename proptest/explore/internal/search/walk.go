package search

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
)

// RandomWalks makes runs from the start, drawing each step evenly from all possible ones. Equal
// seeds make equal walks.
func (s *Search) RandomWalks() {
	e := s.Engine
	walks, length := max(e.Opt.Walks, 1), e.Opt.WalkLength
	if length <= 0 {
		length = 1000
	}
	rng := rand.New(rand.NewPCG(e.Opt.Seed, 0))
	for range walks {
		if s.Stop.Load() || len(s.Walked) > 0 && !e.Opt.KeepGoing {
			break
		}
		s.walk(rng, length)
	}
	s.Halt(fmt.Sprintf("%d random walks of at most %d steps from seed %d are no proof", walks, length, e.Opt.Seed))
}

// walk does one run and reports what it found.
func (s *Search) walk(rng *rand.Rand, length int) {
	e, w := s.Engine, s.Workers[0]
	path := [][]uint32{e.Initial()}
	for n := 0; n <= length && !s.Stop.Load(); n++ {
		s.learnWay(path[n])
		if !e.Lay.Fits(e.Counts()) {
			s.relayout()
		}
		c := make([]uint64, e.Lay.Stride)
		e.Lay.Pack(path[n], c)
		w.Buf = w.Buf[:0]
		if !w.expand(c) { // a bundle of claims was laid out anew
			n--
			continue
		}
		s.Total++
		s.Deepest = max(s.Deepest, n)
		if s.found(w, path) && !e.Opt.KeepGoing || len(w.Buf) == 0 {
			return
		}
		ids := make([]uint32, e.Fields())
		e.Lay.Unpack(w.Buf[rng.IntN(len(w.Buf)/e.Lay.Stride)*e.Lay.Stride:], ids)
		path = append(path, ids)
	}
}

// learnWay interns what one configuration needs.
func (s *Search) learnWay(ids []uint32) {
	c := make([]uint64, s.Engine.Lay.Stride)
	if !s.Engine.Lay.Fits(s.Engine.Counts()) {
		s.relayout()
	}
	s.Engine.Lay.Pack(ids, c)
	s.fetch([][]uint64{c})
}

// found turns what the worker noted at the end of path into reports.
func (s *Search) found(w *Worker, path [][]uint32) (bad bool) {
	e := s.Engine
	var keys []FindKey
	for k := range w.found {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareKeys)
	for _, k := range keys {
		s.reported[k] = true
		f := Finding{Key: k, Conf: w.found[k]}
		for i := 1; i < len(path); i++ {
			a, b := make([]uint64, e.Lay.Stride), make([]uint64, e.Lay.Stride)
			e.Lay.Pack(path[i-1], a)
			e.Lay.Pack(path[i], b)
			f.Stem = append(f.Stem, e.StepBetween(a, b))
		}
		if f.End = f.Conf; k.What == FoundWitness {
			s.Seen = append(s.Seen, api.Witness{Claim: k.Claim, Trace: f.Stem, End: e.Configuration(e.Unpack(f.Conf))})
			continue
		}
		bad = true
		s.Walked = append(s.Walked, s.Violation(&f, parents{}))
	}
	clear(w.found)
	return bad
}

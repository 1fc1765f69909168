package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// randomWalks does runs from the start, each step drawn evenly from all that
// are possible. Equal seeds give equal walks.
func (s *search) randomWalks() {
	e := s.e
	walks, length := max(e.opt.Walks, 1), e.opt.WalkLength
	if length <= 0 {
		length = 1000
	}
	rng := rand.New(rand.NewPCG(e.opt.Seed, 0))
	for range walks {
		if s.stop.Load() || len(s.walked) > 0 && !e.opt.KeepGoing {
			break
		}
		s.walk(rng, length)
	}
	s.halt(fmt.Sprintf("%d random walks of at most %d steps from seed %d are no proof", walks, length, e.opt.Seed))
}

// walk does one run and reports what it found.
func (s *search) walk(rng *rand.Rand, length int) {
	e, w := s.e, s.workers[0]
	path := [][]uint32{e.initial()}
	for n := 0; n <= length && !s.stop.Load(); n++ {
		s.learnWay(path[n])
		if !e.lay.fits(e.counts()) {
			s.relayout()
		}
		c := make([]uint64, e.lay.stride)
		e.lay.pack(path[n], c)
		w.buf = w.buf[:0]
		if !w.expand(c) { // a bundle of claims was laid out anew
			n--
			continue
		}
		s.total++
		s.deepest = max(s.deepest, n)
		if s.found(w, path) && !e.opt.KeepGoing || len(w.buf) == 0 {
			return
		}
		ids := make([]uint32, e.fields())
		e.lay.unpack(w.buf[rng.IntN(len(w.buf)/e.lay.stride)*e.lay.stride:], ids)
		path = append(path, ids)
	}
}

// learnWay interns what one configuration needs.
func (s *search) learnWay(ids []uint32) {
	c := make([]uint64, s.e.lay.stride)
	if !s.e.lay.fits(s.e.counts()) {
		s.relayout()
	}
	s.e.lay.pack(ids, c)
	s.fetch([][]uint64{c})
}

// found turns what the worker noted at the end of path into reports.
func (s *search) found(w *worker, path [][]uint32) (bad bool) {
	e := s.e
	var keys []findKey
	for k := range w.found {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareKeys)
	for _, k := range keys {
		s.reported[k] = true
		f := finding{key: k, c: w.found[k]}
		for i := 1; i < len(path); i++ {
			a, b := make([]uint64, e.lay.stride), make([]uint64, e.lay.stride)
			e.lay.pack(path[i-1], a)
			e.lay.pack(path[i], b)
			f.stem = append(f.stem, e.stepBetween(a, b))
		}
		if f.end = f.c; k.what == foundWitness {
			s.seen = append(s.seen, Witness{k.claim, f.stem, e.configuration(e.unpack(f.c))})
			continue
		}
		bad = true
		s.walked = append(s.walked, s.violation(&f, parents{}))
	}
	clear(w.found)
	return bad
}

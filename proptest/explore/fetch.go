package explore

import (
	"fmt"
	"slices"
	"time"
)

// What happens between rounds, on one goroutine.

// gather takes what the workers missed and how many they found.
func (s *search) gather() (missed [][]uint64) {
	for _, w := range s.workers {
		if len(w.miss) > 0 {
			missed = append(missed, w.miss)
			w.miss = nil
		}
		s.total += w.fresh
		s.e.visited.used += w.fresh
		w.fresh = 0
	}
	if most := s.e.opt.MaxConfigurations; most > 0 && s.total > most {
		s.halt(fmt.Sprintf("the limit of %d configurations was reached", most))
	}
	return missed
}

func (s *search) pending() bool {
	return slices.ContainsFunc(s.workers, func(w *worker) bool { return len(w.buf) > 0 })
}

// room hands out the free part of the visited set afresh.
func (s *search) room() {
	room := s.e.visited.room()
	if most := s.e.opt.MaxConfigurations; most > 0 {
		room = min(room, max(int64(most)-int64(s.total), 0)+int64(len(s.workers))*s.tune.quota)
	}
	for _, w := range s.workers {
		w.quota = 0
		if e := s.e; e.opt.MaxConfigurations > 0 {
			room = min(room+w.waiting(), e.visited.room())
		}
	}
	s.reserved.Store(room)
}

// fetch interns everything the missed configurations need. It is true if ids
// no longer fit the layout.
func (s *search) fetch(missed [][]uint64) bool {
	e := s.e
	stride := e.lay.stride
	ids, rep := make([]uint32, e.fields()), make([]uint32, e.fields())
	met := func(m *move) bool {
		if e.canon != nil && m.fault == nil {
			e.canon.learn(m.next, rep)
		}
		return true
	}
	for _, t := range missed {
		for ; len(t) > 0; t = t[stride:] {
			e.lay.unpack(t[:stride], ids)
			e.moves(ids, met)
			for i := 0; i < len(e.bundles); i++ {
				if b := e.bundles[i]; e.applies(b.where, ids) && b.outcome(ids) == 0 && !e.learn(b, ids) {
					s.divide(i)
					i--
				}
			}
		}
	}
	e.widen()
	if e.ample != nil && e.ample.broken != "" {
		s.halt("a promise about channels was not kept: " + e.ample.broken)
	}
	for _, w := range s.workers {
		w.counts = e.room(w.counts)
	}
	return !e.lay.fits(e.counts())
}

// widen makes room in the tables of pairs for all messages met. Whoever reads
// them by look-up alone needs this: a number beyond the columns of a table
// would read another word's.
func (e *engine) widen() {
	for k := range e.chans {
		c := &e.chans[k]
		c.append.widen(len(c.msgs.vals))
		c.recv.widen(len(c.msgs.vals))
	}
	if e.canon != nil {
		e.canon.widen()
	}
}

// divide replaces a bundle by two with half of its claims each.
func (s *search) divide(i int) {
	e := s.e
	s.count(i)
	b := e.bundles[i]
	half := len(b.claims) / 2
	e.bundles[i] = e.newBundle(b.where, b.claims[:half])
	e.bundles = append(e.bundles, e.newBundle(b.where, b.claims[half:]))
	for _, w := range s.workers {
		w.said = append(w.said, 0)
		w.by = append(w.by, nil)
	}
}

// count adds the workers' counts for a bundle to those of its claims.
func (s *search) count(i int) {
	b := s.e.bundles[i]
	for _, w := range s.workers {
		for v, n := range w.by[i] {
			if n == 0 {
				continue // there is room for outcomes yet to come
			}
			for j, claim := range b.claims {
				bits := b.outcomes[v].bits[j]
				s.held[claim] += n * uint64(bits&heldBit)
				s.relevant[claim] += n * uint64(bits/relevantBit)
			}
		}
		w.by[i] = nil
	}
}

// collect joins what the workers kept into the next level.
func (s *search) collect() level {
	var l level
	for _, w := range s.workers {
		for _, b := range w.out {
			l.n += uint64(len(b) / s.e.lay.stride)
		}
		l.blocks = append(l.blocks, w.out...)
		w.out = nil
	}
	return l
}

func (s *search) report(depth int, frontier uint64) {
	e := s.e
	e.peak = max(e.peak, e.bytes(s.total))
	if e.opt.Progress == nil {
		return
	}
	p := Progress{Configurations: s.total, Depth: depth, Frontier: frontier, Bytes: e.bytes(s.total), Elapsed: time.Since(s.start)}
	for _, w := range s.workers {
		p.Steps += w.steps
	}
	e.opt.Progress(p)
}

// bytes is the memory of the visited set, the levels and the tables.
func (e *engine) bytes(configurations uint64) uint64 {
	n := configurations * uint64(e.lay.stride) * 8
	if e.visited != nil {
		n += e.visited.bytes()
	}
	for i := range e.chans {
		c := &e.chans[i]
		n += c.append.bytes() + c.recv.bytes() + uint64(len(c.words))*(64+uint64(4*c.widest))
	}
	for i := range e.procs {
		n += uint64(len(e.procs[i].rules))*56 + uint64(len(e.procs[i].locals.vals))*64
	}
	if e.canon != nil {
		n += e.canon.bytes()
	}
	return n
}

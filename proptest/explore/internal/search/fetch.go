package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// What happens between rounds, on one goroutine.

// gather takes what the workers missed and how many they found.
func (s *Search) gather() (missed [][]uint64) {
	for _, w := range s.Workers {
		if len(w.miss) > 0 {
			missed = append(missed, w.miss)
			w.miss = nil
		}
		s.Total += w.fresh
		s.Visited.Used += w.fresh
		w.fresh = 0
	}
	if most := s.Engine.Opt.MaxConfigurations; most > 0 && s.Total > most {
		s.Halt(fmt.Sprintf("the limit of %d configurations was reached", most))
	}
	return missed
}

func (s *Search) pending() bool {
	return slices.ContainsFunc(s.Workers, func(w *Worker) bool { return len(w.Buf) > 0 })
}

// room hands out the free part of the visited set afresh.
func (s *Search) room() {
	room := s.Visited.Room()
	if most := s.Engine.Opt.MaxConfigurations; most > 0 {
		room = min(room, max(int64(most)-int64(s.Total), 0)+int64(len(s.Workers))*s.Tune.Quota)
	}
	for _, w := range s.Workers {
		w.quota = 0
		if e := s.Engine; e.Opt.MaxConfigurations > 0 {
			room = min(room+w.waiting(), s.Visited.Room())
		}
	}
	s.reserved.Store(room)
}

// fetch interns everything the missed configurations need, unless a limit ends the search before. It
// is true if ids no longer fit the layout.
func (s *Search) fetch(missed [][]uint64) bool {
	e := s.Engine
	stride := e.Lay.Stride
	ids, rep := make([]uint32, e.Fields()), make([]uint32, e.Fields())
	moves := 0
	met := func(m *tables.Move) bool {
		if moves++; moves&(1<<12-1) == 0 && s.over() {
			return false
		}
		if e.Canon != nil && m.Fault == nil {
			e.Canon.Learn(m.Next, rep)
		}
		return true
	}
	for _, t := range missed {
		for ; len(t) > 0 && !s.Stop.Load(); t = t[stride:] {
			e.Lay.Unpack(t[:stride], ids)
			e.Moves(ids, met)
			for i := 0; i < len(e.Bundles); i++ {
				if b := e.Bundles[i]; e.Applies(b.Where, ids) && b.Outcome(ids) == 0 && !e.Learn(b, ids) {
					s.divide(i)
					i--
				}
			}
		}
	}
	e.Widen()
	if e.Ample != nil && e.Ample.Broken != "" {
		s.Halt("a promise about channels was not kept: " + e.Ample.Broken)
	}
	if e.Canon != nil && e.Canon.Broken != "" {
		s.Halt("no symmetry: " + e.Canon.Broken)
	}
	for _, w := range s.Workers {
		w.Counts = e.Room(w.Counts)
	}
	return !e.Lay.Fits(e.Counts())
}

// over reports whether the search has come to a limit. A configuration with very many steps fills the
// tables long before there are many configurations.
func (s *Search) over() bool {
	if most := s.Engine.Opt.MaxBytes; most > 0 && s.Bytes() > most {
		s.Halt(fmt.Sprintf("the memory limit of %d bytes was reached", most))
	}
	return s.Stop.Load()
}

// divide replaces a bundle by two with half of its claims each.
func (s *Search) divide(i int) {
	e := s.Engine
	s.Count(i)
	b := e.Bundles[i]
	half := len(b.Claims) / 2
	e.Bundles[i] = e.NewBundle(b.Where, b.Claims[:half])
	e.Bundles = append(e.Bundles, e.NewBundle(b.Where, b.Claims[half:]))
	for _, w := range s.Workers {
		w.said = append(w.said, 0)
		w.by = append(w.by, nil)
	}
}

// Count adds the workers' counts for a bundle to those of its claims.
func (s *Search) Count(i int) {
	b := s.Engine.Bundles[i]
	for _, w := range s.Workers {
		for v, n := range w.by[i] {
			if n == 0 {
				continue // there is room for outcomes yet to come
			}
			for j, claim := range b.Claims {
				bits := b.Outcomes[v].Bits[j]
				s.Held[claim] += n * uint64(bits&tables.HeldBit)
				s.Relevant[claim] += n * uint64(bits/tables.RelevantBit)
			}
		}
		w.by[i] = nil
	}
}

// collect joins what the workers kept into the next level.
func (s *Search) collect() Level {
	var l Level
	for _, w := range s.Workers {
		for _, b := range w.out {
			l.N += uint64(len(b) / s.Engine.Lay.Stride)
		}
		l.Blocks = append(l.Blocks, w.out...)
		w.out = nil
	}
	return l
}

func (s *Search) report(depth int, frontier uint64) {
	e := s.Engine
	s.Peak = max(s.Peak, s.Bytes())
	if e.Opt.Progress == nil {
		return
	}
	p := api.Progress{Configurations: s.Total, Depth: depth, Frontier: frontier, Bytes: s.Bytes(),
		Elapsed: time.Since(s.Start)}
	for _, w := range s.Workers {
		p.Steps += w.Steps
	}
	e.Opt.Progress(p)
}

// Bytes returns the memory of the visited set, the levels and the tables, in bytes.
func (s *Search) Bytes() uint64 {
	n := s.Total*uint64(s.Engine.Lay.Stride)*8 + s.Engine.Bytes()
	if s.Visited != nil {
		n += s.Visited.Bytes()
	}
	return n
}

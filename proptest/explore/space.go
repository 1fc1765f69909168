package explore

import (
	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// space is the reached set of a search.
type space struct {
	e      *tables.Engine
	levels []search.Level
	worker *search.Worker
}

// ForEachExpansion is of [Space].
func (s *space) ForEachExpansion(visit func(c Configuration, next []Configuration, errors []Kind) bool) {
	e := s.e
	e.Widen()
	for _, l := range s.levels {
		for _, b := range l.Blocks {
			for ; len(b) > 0; b = b[e.Lay.Stride:] {
				from := b[:e.Lay.Stride]
				if !s.worker.Successors(from) {
					continue
				}
				var next []Configuration
				for c := s.worker.Buf; len(c) > 0; c = c[e.Lay.Stride:] {
					next = append(next, e.Configuration(e.Unpack(c[:e.Lay.Stride])))
				}
				if !visit(e.Configuration(e.Unpack(from)), next, s.worker.Errors()) {
					return
				}
			}
		}
	}
}

// ForEachConfiguration is of [Space].
func (s *space) ForEachConfiguration(visit func(depth int, c Configuration) bool) {
	e := s.e
	for depth, l := range s.levels {
		for _, b := range l.Blocks {
			for ; len(b) > 0; b = b[e.Lay.Stride:] {
				if !visit(depth, e.Configuration(e.Unpack(b[:e.Lay.Stride]))) {
					return
				}
			}
		}
	}
}

// ForEachLocal is of [Space].
func (s *space) ForEachLocal(visit func(LocalUse) bool) {
	e := s.e
	e.Widen()
	for p := range e.Procs {
		m := &e.Procs[p]
		for a, run := range m.Runs {
			if run == 0 {
				continue
			}
			u := LocalUse{Proc: p, Value: []byte(m.Locals.Vals[a]), Steps: e.Steps(p, run)}
			u.Receptions = e.Receptions(p, uint32(a))
			if !visit(u) {
				return
			}
		}
	}
}

// Values is of [Space].
func (s *space) Values(proc int) []string { return s.e.Procs[proc].Locals.Vals }

// Messages is of [Space].
func (s *space) Messages(channel int) []string { return s.e.Chans[channel].Messages() }

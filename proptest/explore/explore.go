// Package explore is the exhaustive checker: it visits every configuration
// that a set of communicating machines can reach and says which claims hold.
//
// It must not know the spec language, the interpreter or any protocol. All it
// knows is a [System]: machines as functions over opaque byte strings, the
// channels between them, and claims as functions over small classes of local
// values and channel contents. Start from [System], then [Run] and [Result].
//
// The functions of a system are called once for each distinct argument and
// their answers are kept in tables, so they may be slow; the search itself is
// look-ups only.
package explore

import (
	"context"

	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// Run searches sys. The error is about the system or the options only; limits,
// cancellation of ctx and violations are in the result.
func Run(ctx context.Context, sys *System, opt Options) (*Result, error) {
	if err := sys.Check(); err != nil {
		return nil, err
	}
	if opt.Mode != BreadthFirst {
		opt.Workers = 1
	}
	s := searched(ctx, tables.NewEngine(sys, opt))
	if why := s.Engine.Untrue(); why != "" {
		s.Close()
		less := *sys
		less.Symmetry = sys.Symmetry.Believed()
		s = searched(ctx, tables.NewEngine(&less, opt))
		s.Engine.Refused = append(s.Engine.Refused, why)
	}
	defer s.Close()
	return resultOf(s), nil
}

// searched visits all there is to visit.
func searched(ctx context.Context, e *tables.Engine) *search.Search {
	s, opt := search.NewSearch(ctx, e), e.Opt
	switch opt.Mode {
	case RandomWalk:
		s.RandomWalks()
	case DepthFirst:
		s.OneByOne(&search.Stack{})
	case Guided:
		s.OneByOne(search.NewNearest(s.Engine))
	default:
		s.BreadthFirst()
	}
	return s
}

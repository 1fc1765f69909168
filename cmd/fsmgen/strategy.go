package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
)

// strategy has the flags that say how to search; the zero value is the usual search.
type strategy struct {
	reduce []string
	search string
}

var searches = map[string]explore.Mode{
	"breadth-first": explore.BreadthFirst, "depth-first": explore.DepthFirst, "guided": explore.Guided,
	"walk": explore.RandomWalk,
}

var reductions = map[string]explore.Reduction{
	"none": 0, "auto": explore.ReduceSymmetry | explore.ReduceDead, "symmetry": explore.ReduceSymmetry,
	"hash":           explore.ReduceHash,
	"dead-variables": explore.ReduceDead, "local-steps": explore.ReduceLocal,
	"partial-order": explore.ReduceLocal | explore.ReducePartialOrder,
}

func (s *strategy) flags(c *cobra.Command, cfg *check.Config) {
	f := c.Flags()
	f.StringSliceVar(&s.reduce, "reduce", []string{"none"},
		"`reductions` to use: none, auto (all that are exact and keep counterexamples shortest), or a list "+
			"of symmetry, dead-variables, local-steps, partial-order, hash (fingerprints instead of configurations)")
	f.StringVar(&s.search, "search", "breadth-first",
		"`order` of the search: breadth-first, depth-first, guided (see --aim), walk (at random; see --walks)")
	f.StringVar(&cfg.Aim, "aim", "", "the `claim` that a guided search tries to violate (default: any error)")
	f.IntVar(&cfg.Explore.MaxDepth, "max-depth", 0, "look only at what can be reached in this `number` of steps")
	f.IntVar(&cfg.Explore.Walks, "walks", 100, "`number` of random walks")
	f.IntVar(&cfg.Explore.WalkLength, "walk-length", 1000, "`steps` of a random walk at most")
	f.Uint64Var(&cfg.Explore.Seed, "seed", 1, "`seed` of the random walks; equal seeds give equal walks")
}

func (s *strategy) parse(cfg *check.Config) error {
	var ok bool
	if cfg.Explore.Mode, ok = searches[s.search]; !ok && s.search != "" {
		return fmt.Errorf("--search %s: write one of breadth-first, depth-first, guided, walk", s.search)
	}
	for _, name := range s.reduce {
		r, ok := reductions[name]
		if !ok && name != "" {
			return fmt.Errorf("--reduce %s: there is no reduction %q; there are %s", strings.Join(s.reduce, ","), name,
				strings.Join(reductionNames(), ", "))
		}
		cfg.Explore.Reduce |= r
	}
	if cfg.Aim != "" && cfg.Explore.Mode != explore.Guided {
		return fmt.Errorf("--aim is for --search guided")
	}
	return nil
}

func reductionNames() []string {
	var names []string
	for n := range reductions {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

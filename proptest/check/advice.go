package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
)

// maxAdvised is how many types are named whose values multiply a search.
const maxAdvised = 3

// advice says what may help after a search that did not see everything: only what this check and
// these options leave to do. It is empty for a whole search.
func (s *System) advice(o explore.Options, res *explore.Result) []string {
	if res.Complete {
		return nil
	}
	if o.Mode == explore.RandomWalk {
		return []string{"--search breadth-first or depth-first: random walks find errors, but never exclude them"}
	}
	var out []string
	if strings.HasPrefix(res.Why, "the depth limit") {
		return []string{"a greater --max-depth, or none"}
	}
	if strings.HasPrefix(res.Why, "a channel is full") {
		return []string{"mend the overflow first; --max-configurations NUMBER searches on without that"}
	}
	out = append(out, s.reducible(o)...)
	if n := len(s.Check.Instances); n > 2 {
		out = append(out, fmt.Sprintf("fewer instances: the check has %d, and each multiplies the configurations", n))
	}
	out = append(out, s.smaller()...)
	if s.Own > 0 {
		n := slices.Max(res.Widest[:s.Own])
		k := slices.Index(res.Widest, n)
		if n > 1 {
			out = append(out, fmt.Sprintf("a smaller `capacity`, now %d: %d messages were in one channel",
				s.System.Channels[k].Cap, n))
		}
	}
	switch {
	case strings.Contains(res.Why, "memory"):
		out = append(out, fmt.Sprintf("more memory: --max-memory, now %d MB", o.MaxBytes>>20))
		if o.Reduce&explore.ReduceHash == 0 && o.Mode == explore.BreadthFirst {
			out = append(out, "--reduce hash: fingerprints need less memory; the report says how likely one "+
				"is that hides a configuration")
		}
	case strings.HasPrefix(res.Why, "the time limit"):
		out = append(out, fmt.Sprintf("more time: --timeout, now %v", o.MaxTime))
	case strings.HasPrefix(res.Why, "the limit of"):
		out = append(out, fmt.Sprintf("a greater --max-configurations, now %d", o.MaxConfigurations))
	}
	if o.Mode == explore.BreadthFirst {
		out = append(out, "to find errors rather than to exclude them: --search depth-first, guided (--aim "+
			"CLAIM) or walk")
	}
	return out
}

// remedies say what may be done about the bounds of channels and of deferred messages that were too small and were not
// expected to be: what is too small may be a bound, or a sender that should wait.
func remedies(r *Report) (out []string) {
	for i := range r.Claims {
		c := &r.Claims[i]
		if c.Result != Violated || c.Expected {
			continue
		}
		switch c.Name {
		case Overflow:
			out = append(out, "overflow: a greater `capacity`, or a sender that waits; `when` and `times` in the "+
				"`environment` bound its commands; `full: lose` or `full: wait`, if the medium does that")
		case DeferredOverflow:
			out = append(out, "deferred-overflow: a greater `deferred` of the role, or a sender that waits")
		}
	}
	return out
}

// reducible reports whether the usual reductions would find something; it asks a system of its own, as
// they change the one they are given.
func (s *System) reducible(o explore.Options) []string {
	const auto = explore.ReduceSymmetry | explore.ReduceDead
	if o.Reduce&auto == auto {
		return nil
	}
	t, err := New(s.Protocol, s.Check)
	if err != nil {
		return nil
	}
	t.reduce(auto)
	var finds []string
	if t.System.Symmetry != nil && o.Reduce&explore.ReduceSymmetry == 0 {
		finds = t.System.Symmetry.Names
	}
	if t.Dead != nil && o.Reduce&explore.ReduceDead == 0 {
		finds = append(finds, "there are variables that nobody reads any more")
	}
	if len(finds) == 0 {
		return nil
	}
	return []string{"--reduce auto: " + strings.Join(finds, ", ")}
}

// smaller names the types with most values, and the fields with many whose types have no name.
func (s *System) smaller() []string {
	var types []*model.Type
	for _, t := range s.Protocol.Types {
		switch t.Kind {
		case model.KindInt, model.KindEnum, model.KindOpaque, model.KindBytes:
			if t.Count() > 2 {
				types = append(types, t)
			}
		}
	}
	var inPlace []string
	for _, ev := range s.given() {
		for _, f := range ev.Fields {
			if f.Type.Name == "" && f.Type.Count() > manyListed {
				inPlace = append(inPlace,
					fmt.Sprintf("fewer values of %s in %s: %s", f.Name, ev.Name, interp.Narrow(f)))
			}
		}
	}
	if len(types) == 0 {
		return inPlace
	}
	slices.SortStableFunc(types, func(a, b *model.Type) int { return cmp.Compare(b.Count(), a.Count()) })
	var names []string
	for _, t := range types[:min(len(types), maxAdvised)] {
		names = append(names, fmt.Sprintf("%s has %d values", t.Name, t.Count()))
	}
	return append([]string{"smaller `domains:` in the check: " + strings.Join(names, ", ")}, inPlace...)
}

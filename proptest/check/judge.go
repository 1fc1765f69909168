package check

import (
	"slices"

	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
)

// coverage notes which lines and states this check reached.
func (s *System) coverage(r *Report, res *explore.Result) {
	r.Taken, r.Reached = map[string]bool{}, map[string]bool{}
	count := slices.Clone(res.LabelCount)
	for _, x := range res.Violations {
		if x.Label >= 0 {
			count[x.Label]++ // a step that is an error was taken, too
		}
	}
	for l, n := range count {
		proc := s.System.Labels[l].Proc
		if n == 0 || proc < 0 || proc >= len(s.Procs) {
			continue
		}
		for _, id := range s.Taken[l] {
			t := s.Procs[proc].Role.Transitions[id]
			r.Taken[report.LineKey(t)] = true
			if t.To != nil {
				r.Reached[report.StateKey(s.Procs[proc].Role, t.To)] = true
			}
		}
	}
	for _, p := range s.Procs {
		if p.Inst.IsHostile() {
			continue
		}
		r.Reached[report.StateKey(p.Role, p.Role.Initial)] = true
		if slices.Contains(r.Roles, p.Role.Name) {
			continue
		}
		r.Roles = append(r.Roles, p.Role.Name)
		seen := map[string]bool{}
		for _, t := range p.Role.Transitions {
			if k := report.LineKey(t); report.Judged(t) && !r.Taken[k] && !seen[k] {
				seen[k] = true
				r.NeverTaken = append(r.NeverTaken, Place{Role: p.Role.Name, Name: t.Name, Where: t.Span.Place()})
			}
		}
	}
}

package explore

import (
	"fmt"
	"time"

	"github.com/parley-go/parley/proptest/explore/internal/after"
	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// resultOf puts together what the search found.
func resultOf(s *search.Search) *Result {
	e := s.Engine
	r := &Result{Configurations: s.Total, Depth: max(len(s.Levels)-1, s.Deepest), Frontier: s.Unexpanded,
		Reductions: e.Reduced, Refused: e.Refused}
	if why := s.Why.Load(); why != nil {
		r.Why = *why
	}
	r.Complete = r.Frontier == 0 && r.Why == ""
	var pairs []after.Conflict
	if r.Complete {
		pairs = after.Decide(s)
		if why := s.Why.Load(); why != nil {
			r.Complete, r.Why = false, *why
		}
	}
	for _, l := range s.Levels {
		if s.Nodes != nil {
			break // it has no levels
		}
		r.Levels = append(r.Levels, l.N)
	}
	sum(s, r)
	sizes(s, r)
	findings(s, r)
	r.Violations = append(r.Violations, s.Walked...)
	r.Witnesses = append(r.Witnesses, s.Seen...)
	after.Report(s, r, pairs)
	claimVerdicts(s, r)
	switch {
	case len(r.Violations) > 0 || len(r.Conflicts) > 0:
		r.Verdict = Violated
		if !r.Complete && r.Why == "" {
			r.Why = "stopped at the first violation"
		}
	case r.Complete && r.Why == "":
		r.Verdict = Holds
	}
	r.Space = &space{e, s.Levels, s.Workers[0]}
	r.Seconds = time.Since(s.Start).Seconds()
	return r
}

// sum adds up what the workers counted.
func sum(s *search.Search, r *Result) {
	n := len(s.Engine.Sys.Labels)
	r.LabelCount = make([]uint64, n)
	r.Claims = make([]ClaimVerdict, len(s.Engine.Sys.Claims))
	for _, w := range s.Workers {
		r.Steps += w.Steps
		r.Faults.Dups += w.Counts[n+tables.DupCount]
		r.Faults.Losses += w.Counts[n+tables.LostCount]
		r.Faults.Swaps += w.Counts[n+tables.SwapCount]
		for i := range r.LabelCount {
			r.LabelCount[i] += w.Counts[i]
		}
	}
	tallied(s, r)
	for i := range s.Engine.Bundles {
		s.Count(i)
	}
	for i := range r.Claims {
		r.Claims[i].Relevant, r.Claims[i].Held = s.Relevant[i], s.Held[i]
	}
}

func sizes(s *search.Search, r *Result) {
	e := s.Engine
	for i := range e.Procs {
		r.Locals = append(r.Locals, len(e.Procs[i].Runs))
	}
	for i := range e.Chans {
		r.Widest = append(r.Widest, e.Chans[i].Widest)
		r.Words = append(r.Words, len(e.Chans[i].Words))
	}
	e.WidestOfAll(r.Widest)
	exactness(s, r)
	s.AmpleReports(r)
	if s.Visited != nil {
		r.TableBytes = s.Visited.Bytes()
	}
	r.PeakBytes = s.Peak
	r.KeyBits = e.Lay.Bits(e.Counts())
}

// findings turns what was found into violations and witnesses.
func findings(s *search.Search, r *Result) {
	s.Order()
	finds := s.Finds
	if !s.Engine.Opt.KeepGoing {
		finds = nil
		bad := false
		for _, f := range s.Finds {
			if f.Key.What == search.FoundWitness || !bad {
				finds = append(finds, f)
			}
			bad = bad || f.Key.What != search.FoundWitness
		}
	}
	before := s.Trails(finds)
	for i := range finds {
		f := &finds[i]
		if f.Key.What == search.FoundWitness {
			trace, end := s.Trace(before, f.Conf)
			r.Witnesses = append(r.Witnesses,
				Witness{Claim: f.Key.Claim, Trace: trace, End: s.Engine.Configuration(end)})
			continue
		}
		r.Violations = append(r.Violations, s.Violation(f, before))
	}
}

// claimVerdicts judges each claim by what was found.
func claimVerdicts(s *search.Search, r *Result) {
	for i := range s.Engine.Sys.Claims {
		c, v := &s.Engine.Sys.Claims[i], &r.Claims[i]
		v.Name = c.Name
		if r.Complete {
			v.Verdict = Holds
			if c.Kind != Confluent && c.Kind != Sometimes && v.Relevant == 0 {
				r.Vacuous = append(r.Vacuous, c.Name)
			}
		}
		for _, w := range r.Witnesses {
			if w.Claim == i {
				v.Verdict = Holds
			}
		}
		for _, x := range r.Violations {
			if x.Kind == ClaimViolated && x.Claim == i {
				v.Verdict = Violated
			}
		}
		for _, x := range r.Conflicts {
			if x.Claim == i {
				v.Verdict = Violated
			}
		}
		if c.Kind == Sometimes && r.Complete && v.Held == 0 {
			v.Verdict = Violated
			r.Violations = append(r.Violations, Violation{Kind: ClaimViolated, Claim: i, Label: -1,
				Text: "no reachable configuration satisfies \"" + c.Name + "\""})
		}
	}
}

// exactness says what a visited set of fingerprints means.
func exactness(s *search.Search, r *Result) {
	switch e := s.Engine; {
	case e.Opt.Reduce&ReduceHash == 0 || s.Visited == nil:
	case !s.Visited.Hashed:
		r.Refused = append(r.Refused, "hash: a configuration fits into one word, so it is kept exactly in "+
			"the same memory")
	default:
		n := float64(s.Total)
		r.Overlooked = n * n / (1 << 32) / (1 << 32)
		r.Reductions = append(r.Reductions,
			fmt.Sprintf("hash: configurations are told apart by 63 bits; the chance that any was overlooked "+
				"is at most %.2g", r.Overlooked))
	}
}

// tallied adds up what the workers counted under tallies.
func tallied(s *search.Search, r *Result) {
	e := s.Engine
	base := len(e.Sys.Labels) + tables.MoreCounts
	for i, k := range e.Tallies.Keys {
		t := Tally{Label: uint64(k.Label), Tally: uint64(k.Tally)}
		for _, w := range s.Workers {
			t.Taken += e.Room(w.Counts)[base+i]
			t.Faults += e.Room(w.Faults)[base+i]
		}
		r.LabelCount[k.Label] += t.Taken
		r.Tallies = append(r.Tallies, t)
	}
}

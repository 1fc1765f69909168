package explore

import (
	"fmt"
	"time"
)

// result puts together what the search found.
func (s *search) result() *Result {
	e := s.e
	r := &Result{Configurations: s.total, Depth: max(len(e.levels)-1, s.deepest), Frontier: s.unexpanded,
		Reductions: e.reduced, Refused: e.refused}
	if why := s.why.Load(); why != nil {
		r.Why = *why
	}
	r.Complete = r.Frontier == 0 && r.Why == ""
	if r.Complete {
		s.afterwards()
		if why := s.why.Load(); why != nil {
			r.Complete, r.Why = false, *why
		}
	}
	for _, l := range e.levels {
		if s.nodes != nil {
			break // it has no levels
		}
		r.Levels = append(r.Levels, l.n)
	}
	s.sum(r)
	s.sizes(r)
	s.findings(r)
	r.Violations = append(r.Violations, s.walked...)
	r.Witnesses = append(r.Witnesses, s.seen...)
	s.conflictReports(r)
	s.claimVerdicts(r)
	switch {
	case len(r.Violations) > 0 || len(r.Conflicts) > 0:
		r.Verdict = Violated
		if !r.Complete && r.Why == "" {
			r.Why = "stopped at the first violation"
		}
	case r.Complete && r.Why == "":
		r.Verdict = Holds
	}
	r.Space = &Space{e: e}
	r.Seconds = time.Since(s.start).Seconds()
	return r
}

// sum adds up what the workers counted.
func (s *search) sum(r *Result) {
	n := len(s.e.sys.Labels)
	r.LabelCount = make([]uint64, n)
	r.Claims = make([]ClaimVerdict, len(s.e.sys.Claims))
	for _, w := range s.workers {
		r.Steps += w.steps
		r.Faults.Dups += w.counts[n+dupCount]
		r.Faults.Losses += w.counts[n+lostCount]
		r.Faults.Swaps += w.counts[n+swapCount]
		for i := range r.LabelCount {
			r.LabelCount[i] += w.counts[i]
		}
	}
	s.tallied(r)
	for i := range s.e.bundles {
		s.count(i)
	}
	for i := range r.Claims {
		r.Claims[i].Relevant, r.Claims[i].Held = s.relevant[i], s.held[i]
	}
}

func (s *search) sizes(r *Result) {
	e := s.e
	for i := range e.procs {
		r.Locals = append(r.Locals, len(e.procs[i].runs))
	}
	for i := range e.chans {
		r.Widest = append(r.Widest, e.chans[i].widest)
		r.Words = append(r.Words, len(e.chans[i].words))
	}
	e.widestOfAll(r.Widest)
	s.exactness(r)
	s.ampleReports(r)
	if e.visited != nil {
		r.TableBytes = e.visited.bytes()
	}
	r.PeakBytes = e.peak
	r.KeyBits = e.lay.bits(e.counts())
}

// findings turns what was found into violations and witnesses.
func (s *search) findings(r *Result) {
	s.order()
	finds := s.finds
	if !s.e.opt.KeepGoing {
		finds = nil
		bad := false
		for _, f := range s.finds {
			if f.key.what == foundWitness || !bad {
				finds = append(finds, f)
			}
			bad = bad || f.key.what != foundWitness
		}
	}
	before := s.trails(finds)
	for i := range finds {
		f := &finds[i]
		if f.key.what == foundWitness {
			trace, end := s.trace(before, f.c)
			r.Witnesses = append(r.Witnesses, Witness{f.key.claim, trace, s.e.configuration(end)})
			continue
		}
		r.Violations = append(r.Violations, s.violation(f, before))
	}
}

// claimVerdicts judges each claim by what was found.
func (s *search) claimVerdicts(r *Result) {
	for i := range s.e.sys.Claims {
		c, v := &s.e.sys.Claims[i], &r.Claims[i]
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
func (s *search) exactness(r *Result) {
	switch e := s.e; {
	case e.opt.Reduce&ReduceHash == 0 || e.visited == nil:
	case !e.visited.hashed:
		r.Refused = append(r.Refused, "hash: a configuration fits into one word, so it is kept exactly in the same memory")
	default:
		n := float64(s.total)
		r.Overlooked = n * n / (1 << 32) / (1 << 32)
		r.Reductions = append(r.Reductions, fmt.Sprintf("hash: configurations are told apart by 63 bits; the chance that any was overlooked is at most %.2g", r.Overlooked))
	}
}

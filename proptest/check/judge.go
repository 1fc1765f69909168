package check

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
)

// coverage notes which lines and states this check reached.
func (s *System) coverage(r *Report, res *explore.Result) {
	r.taken, r.reached = map[string]bool{}, map[string]bool{}
	count := slices.Clone(res.LabelCount)
	for _, x := range res.Violations {
		if x.Label >= 0 {
			count[x.Label]++ // a step that is an error was taken, too
		}
	}
	for l, n := range count {
		proc := s.System.Labels[l].Proc
		if n == 0 || proc < 0 || proc >= len(s.procs) {
			continue
		}
		for _, id := range s.taken[l] {
			t := s.procs[proc].role.Transitions[id]
			r.taken[lineKey(t)] = true
			if t.To != nil {
				r.reached[stateKey(s.procs[proc].role, t.To)] = true
			}
		}
	}
	for _, p := range s.procs {
		r.reached[stateKey(p.role, p.role.Initial)] = true
		if slices.Contains(r.roles, p.role.Name) {
			continue
		}
		r.roles = append(r.roles, p.role.Name)
		seen := map[string]bool{}
		for _, t := range p.role.Transitions {
			if k := lineKey(t); judged(t) && !r.taken[k] && !seen[k] {
				seen[k] = true
				r.NeverTaken = append(r.NeverTaken, Place{p.role.Name, t.Name, place(t.Span)})
			}
		}
	}
}

// lineKey tells the lines of a specification apart: a common handler has one
// line and a transition in each of its states.
func lineKey(t *model.Transition) string { return t.Span.String() + " " + t.Event.Name }

func stateKey(m *model.Machine, st *model.State) string { return m.Name + "." + st.Name }

// judged says whether a transition must be taken in some check. One that only refuses
// never is: it says what does not happen.
func judged(t *model.Transition) bool {
	return t.Mode == model.Handle && t.Event.Kind != model.EventUp && t.Event.Kind != model.EventLost &&
		!slices.ContainsFunc(t.Body, func(s model.Stmt) bool { _, refuses := s.(*model.Refuse); return refuses })
}

// judge gives the verdict and says whether it is what the check expects.
// never-fires and unreachable-state are left to the suite.
func (s *System) judge(r *Report, res *explore.Result) {
	overAll := []string{NeverFires, UnreachableState}
	unexpected, missing, open := []string{}, []string{}, []string{}
	errors := r.Errors()
	violated := false
	for i := range r.Claims {
		c := &r.Claims[i]
		switch {
		case c.Result == Violated:
			violated = true
			if !c.Expected {
				unexpected = append(unexpected, c.Name)
			}
		case c.Result != Holds:
			open = append(open, c.Name)
		case c.Expected:
			missing = append(missing, c.Name+c.limitedTo(errors))
		}
	}
	for _, name := range r.Expect {
		if !slices.Contains(overAll, name) && !slices.ContainsFunc(r.Claims, func(c ClaimReport) bool { return c.Name == name }) {
			missing = append(missing, name)
		}
	}
	switch {
	case violated:
		r.Verdict = Violated
	case len(open) > 0 || !res.Complete:
		r.Verdict = Incomplete
	default:
		r.Verdict = Holds
	}
	fails := len(unexpected)+len(missing)+len(s.ruleFaults) > 0
	r.Open = !fails && (len(open) > 0 || !res.Complete)
	r.Passes = !fails && !r.Open
	if !res.Complete && res.Why != "" {
		r.Why = append(r.Why, "the search is incomplete: "+res.Why)
	}
	why := func(what string, names []string) {
		if len(names) > 0 {
			r.Why = append(r.Why, what+": "+strings.Join(names, ", "))
		}
	}
	why("violated and not expected", unexpected)
	why("expected to be violated, but holds", missing)
	why("not decided", open)
	r.Why = append(r.Why, s.ruleFaults...)
}

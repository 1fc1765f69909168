package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// LineKey identifies a line of the specification: a common handler has one line and a transition in
// each of its states.
func LineKey(t *model.Transition) string { return t.Span.String() + " " + t.Event.Name }

// StateKey identifies a state of a role.
func StateKey(m *model.Machine, st *model.State) string { return m.Name + "." + st.Name }

// Judged reports whether a transition must be taken in some check. A transition that only refuses
// need not: it states what does not happen.
func Judged(t *model.Transition) bool {
	return t.Mode == model.Handle && t.Event.Kind != model.EventUp && t.Event.Kind != model.EventLost &&
		!slices.ContainsFunc(t.Body, func(s model.Stmt) bool { _, refuses := s.(*model.Refuse); return refuses })
}

// Judge returns the verdict, and whether it is the one that the check expects. complete reports
// whether the search was complete, and why says why not. faults are errors in the check itself;
// with these it never passes. never-fires and unreachable-state are left to the suite.
func (r *Report) Judge(complete bool, why string, faults []string) {
	overAll := model.ClaimsOverAll()
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
		if !slices.Contains(overAll, name) && !slices.ContainsFunc(r.Claims,
			func(c ClaimReport) bool { return c.Name == name }) {
			missing = append(missing, name)
		}
	}
	if !complete {
		r.Ended = cmp.Or(why, "it was stopped")
	}
	fails := len(unexpected)+len(missing)+len(faults) > 0
	r.Open = !fails && (len(open) > 0 || !complete)
	r.Passes = !fails && !r.Open
	switch {
	case violated && !r.Open:
		r.Verdict = Violated
	case len(open) > 0 || !complete:
		r.Verdict = Incomplete
	default:
		r.Verdict = Holds
	}
	if !complete {
		r.Why = append(r.Why, "the search is incomplete: "+r.Ended)
	}
	add := func(what string, names []string) {
		if len(names) > 0 {
			r.Why = append(r.Why, what+": "+strings.Join(names, ", "))
		}
	}
	add("violated and not expected", unexpected)
	add("expected to be violated, but holds", missing)
	add("not decided", open)
	r.Why = append(r.Why, faults...)
}

// Searched says how far a search came that was cut off, and what it left out; empty for a complete
// one.
func (r *Report) Searched() string {
	if r.Ended == "" {
		return ""
	}
	if r.Search == Walks {
		return fmt.Sprintf("searched: %s configurations on random walks, those met again counted again; not "+
			"searched: whatever they did not come to", diag.Thousands(r.Configurations))
	}
	n := r.Configurations - min(r.Unexpanded, r.Configurations)
	text := fmt.Sprintf("searched: %s of the %s configurations that were found", diag.Thousands(n),
		diag.Thousands(r.Configurations))
	switch {
	case r.Unexpanded == 0:
		return text + "; not searched: whatever was not found by then, and what claims say of all that can follow"
	case r.Within > 0:
		text += ", among them all that " + diag.Counted(r.Within, "step") + " or fewer lead to"
	}
	return text + "; not searched: the other " + diag.Thousands(r.Unexpanded) + ", and what comes after them"
}

// Cut lists the checks whose search was cut off.
func (r *SuiteReport) Cut() []string {
	var out []string
	for _, c := range r.Checks {
		if c.Ended != "" {
			out = append(out, c.Check)
		}
	}
	return out
}

// NotJudged says why it was not judged over all checks whether something never fires or is never
// reached; empty if it was, or if checks were left out on purpose.
func (r *SuiteReport) NotJudged() string {
	cut := r.Cut()
	if r.Judged || len(cut) == 0 {
		return ""
	}
	return fmt.Sprintf("%s and %s are not judged: the search of %s was cut off", NeverFires, UnreachableState,
		strings.Join(cut, ", "))
}

// Worst is the worst verdict of the checks and of what was judged over them.
func (r *SuiteReport) Worst() string {
	verdict := Holds
	if len(r.Checks) == 0 {
		return Unchecked
	}
	if !r.Complete {
		verdict = Incomplete
	}
	for _, c := range r.Checks {
		if c.Verdict == Violated {
			return Violated
		}
	}
	if len(r.NeverFires)+len(r.Unreachable)+len(r.DefensiveFires) > 0 && !r.Passes {
		return Violated
	}
	return verdict
}

// JudgeAll reports what no check of the specification ever took. A finding is expected if one of
// the checks expects it.
func (r *SuiteReport) JudgeAll(p *model.Protocol) {
	r.Judged = len(r.Checks) > 0 && len(r.Checks) == len(p.Checks) && r.Complete
	if !r.Judged {
		return
	}
	taken, reached, roles := map[string]bool{}, map[string]bool{}, map[string]bool{}
	honest := map[string]bool{} // taken where all instances keep to their roles
	for _, c := range r.Checks {
		for k := range c.Taken {
			taken[k] = true
			honest[k] = honest[k] || len(c.Hostile) == 0
		}
		for k := range c.Reached {
			reached[k] = true
		}
		for _, name := range c.Roles {
			roles[name] = true
		}
	}
	for _, m := range p.Roles {
		if !roles[m.Name] || m.External {
			continue
		}
		defence := defences(m)
		for _, t := range m.Transitions {
			switch k, at := LineKey(t), (Place{m.Name, t.Name, t.Span.Place()}); {
			case Judged(t) && t.Defensive && honest[k]:
				honest[k] = false // once for each line
				r.DefensiveFires = append(r.DefensiveFires, at)
			case Judged(t) && !t.Defensive && !defence[t.From] && !taken[k]:
				taken[k] = true
				r.NeverFires = append(r.NeverFires, at)
			}
		}
		for _, st := range m.States {
			if !defence[st] && !reached[StateKey(m, st)] {
				r.Unreachable = append(r.Unreachable, Place{m.Name, st.Name, st.Span.Place()})
			}
		}
	}
	for _, c := range r.Checks {
		c.overall = r.NeverFires
	}
	r.expected(NeverFires, len(r.NeverFires) > 0)
	r.expected(UnreachableState, len(r.Unreachable) > 0)
	r.expected(DefensiveFires, len(r.DefensiveFires) > 0)
}

// defences returns the states of a role to which only defensive branches lead: they, and what leaves
// them, are part of the defence.
func defences(m *model.Machine) map[*model.State]bool {
	all, open := led(m, true), led(m, false)
	for st := range open {
		delete(all, st)
	}
	return all
}

// led returns the states to which branches lead, with the defensive ones or without.
func led(m *model.Machine, defensive bool) map[*model.State]bool {
	seen := map[*model.State]bool{m.Initial: true}
	for again := true; again; {
		again = false
		for _, t := range m.Transitions {
			if t.To != nil && (defensive || !t.Defensive) && seen[t.From] && !seen[t.To] {
				seen[t.To], again = true, true
			}
		}
	}
	return seen
}

// toDo says what can be done about a finding over all checks.
var toDo = map[string]string{
	NeverFires: "let some check come to it, take it out, or write `defensive: true` in a branch that is " +
		"only a defence; a check of something known to be wrong says `expect: [never-fires]`",
	UnreachableState: "let some check come to it, take it out, or, if it is meant so, write `expect: " +
		"[unreachable-state]` in a check",
	DefensiveFires: "take `defensive` away from it, or, if it is meant so, write `expect: " +
		"[defensive-fires]` in a check",
}

func (r *SuiteReport) expected(name string, found bool) {
	expects := false
	for _, c := range r.Checks {
		expects = expects || slices.Contains(c.Expect, name)
	}
	switch {
	case found && !expects:
		r.Why = append(r.Why, name+": violated and not expected by any check: "+toDo[name])
	case !found && expects:
		r.Why = append(r.Why, name+": expected to be violated, but holds")
	}
	r.Passes = r.Passes && found == expects
}

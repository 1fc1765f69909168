package suggest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
)

// Reasons to doubt a suggestion, the worst last.
const (
	leavesUnused = 1 + iota // something never fires, or is never reached, as before
	leavesFinal             // it goes on from a final state
	leavesLittle            // most of what was possible no longer is
	spoiled                 // something never fires, or is never reached, that did or was before
)

// weigh reports whether every check passes alone, and notes what a reader has to weigh. A
// suggestion spoils something if a line never fires, or a state is never reached, that did or was
// before.
func (s *searcher) weigh(x *Suggestion, r *check.SuiteReport, edits []edit) (sound, spoils bool) {
	for _, e := range edits {
		if e.kind == holdMore {
			continue
		}
		if st := s.base.Roles[e.role].States[e.state]; st.Final && e.kind != addLike && e.to != none &&
			e.to != e.state {
			x.Notes = append(x.Notes, fmt.Sprintf("it leaves the final state %s: what was finished goes on", st.Name))
			x.doubt = leavesFinal
		}
	}
	if !r.Complete || slices.ContainsFunc(r.Checks, func(c *check.Report) bool { return !s.fine(c) }) {
		return false, false
	}
	if x.Passes = r.Passes; x.Passes {
		return true, false
	}
	left := s.unused(r)
	if len(s.o.IgnoreExpect) > 0 {
		if x.Passes = len(left) == 0; x.Passes {
			return true, false
		}
	}
	for _, u := range left {
		if s.idle[u.key] {
			x.Notes = append(x.Notes, u.text+", as before")
			x.doubt = max(x.doubt, leavesUnused)
			continue
		}
		x.Notes = append(x.Notes, u.text+" with it")
		x.doubt, spoils = spoiled, true
	}
	return len(left) > 0, spoils
}

// idle is a line or a state that no check uses although none expects that.
type idle struct{ key, text string }

// unused lists what no check uses. Where it stands is said of the text as it is, before an edit has moved its
// lines; what only an edit has made stands where it would.
func (s *searcher) unused(r *check.SuiteReport) []idle {
	expects := func(name string) bool {
		return slices.ContainsFunc(r.Checks, func(c *check.Report) bool { return slices.Contains(c.Expect, name) })
	}
	var out []idle
	add := func(claim, what string, list []check.Place) {
		if expects(claim) {
			return
		}
		for _, p := range list {
			where := cmp.Or(s.places[part{p.Role, p.Name}], p.Where)
			out = append(out, idle{claim + " " + p.Role + " " + p.Name, fmt.Sprintf(what, p.Role, p.Name, where)})
		}
	}
	add(check.NeverFires, "%s: %s (%s) never fires", r.NeverFires)
	add(check.UnreachableState, "%s: state %s (%s) is never reached", r.Unreachable)
	add(check.DefensiveFires, "%s: %s (%s) fires although it is defensive", r.DefensiveFires)
	return out
}

// part is a state or a transition of a role, by its name.
type part struct{ role, name string }

// places says where the states and transitions of a specification stand.
func places(p *model.Protocol) map[part]string {
	all := map[part]string{}
	for _, m := range p.Roles {
		for _, st := range m.States {
			all[part{m.Name, st.Name}] = st.Span.Place()
		}
		for _, t := range m.Transitions {
			all[part{m.Name, t.Name}] = t.Span.Place()
		}
	}
	return all
}

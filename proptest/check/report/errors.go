package report

import (
	"fmt"
	"slices"
	"strings"
)

// Ending is a kind of error that ends a run: the search does not go on behind it.
type Ending struct {
	Name string `json:"name"`
	// Ways is in how many different ways it was found, at least 1.
	Ways int `json:"ways"`
}

// endsRuns are the built-in claims behind whose violations there is no configuration. At a deadlock
// and an orphan message a run ends by itself, so nothing is left out there.
var endsRuns = []string{UnspecifiedReception, FaultClaim, Overflow, DeferredOverflow, Unencodable}

// NoteErrors records the errors at which runs ended, expected or not, and marks all claims that
// hold: their result leaves out what would come after these errors. Counterexamples, and runs to
// sometimes claims, stay valid.
func (r *Report) NoteErrors() {
	for i := range r.Claims {
		if c := &r.Claims[i]; c.endsRuns() {
			r.EndedBy = append(r.EndedBy, Ending{c.Name, 1 + len(c.Others)})
		}
	}
	if len(r.EndedBy) == 0 {
		return
	}
	for i := range r.Claims {
		c := &r.Claims[i]
		c.NotBehind = c.NotBehind || c.Result == Holds && c.Witness == nil ||
			c.Result == Violated && c.Kind == "sometimes"
	}
}

func (c *ClaimReport) endsRuns() bool {
	return c.Kind == "built-in" && c.Result == Violated && slices.Contains(endsRuns, c.Name)
}

// Doubtful returns the number of claims that are violated only as far as was looked.
func (r *Report) Doubtful() int {
	n := 0
	for i := range r.Claims {
		if c := &r.Claims[i]; c.NotBehind && c.Result == Violated {
			n++
		}
	}
	return n
}

// Limited returns the number of claims that hold only as far as was looked.
func (r *Report) Limited() int {
	n := 0
	for i := range r.Claims {
		if c := &r.Claims[i]; c.NotBehind && c.Result == Holds {
			n++
		}
	}
	return n
}

// Errors names the errors behind which the search did not look: `the error (fault)`, `the 3 errors
// (unspecified-reception, fault)`. It returns "" if no run ended at an error.
func (r *Report) Errors() string {
	n, names := 0, []string{}
	for _, e := range r.EndedBy {
		n += e.Ways
		names = append(names, e.Name)
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "the error (" + names[0] + ")"
	}
	return fmt.Sprintf("the %d errors (%s)", n, strings.Join(names, ", "))
}

// limitedTo is how the result of a claim is qualified, empty if it is not; errors is [Report.Errors].
func (c *ClaimReport) limitedTo(errors string) string {
	if !c.NotBehind {
		return ""
	}
	return " as far as was looked: not behind " + errors + " above"
}

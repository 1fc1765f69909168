package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
)

// Need says whether the verdict of a check rests on one of its assumptions about the channel. For
// that, the check is run again with a single fault of that kind allowed in each run, at the worst
// moment and place.
type Need struct {
	// Assumption is what the check assumes, Fault what was allowed instead.
	Assumption string `json:"assumption"`
	Fault      string `json:"fault"`
	// Result is "needed", "not needed" (everything that held still holds with
	// one such fault) or "undecided" (the search ended before it was complete).
	Result string `json:"result"`
	// Broken are the claims that held and are violated by one fault, each with a
	// shortest run in its counterexample.
	Broken []ClaimReport `json:"broken,omitempty"`
	// Configurations is the size of the search, Why the reason if it is undecided.
	Configurations uint64 `json:"configurations"`
	Why            string `json:"why,omitempty"`
}

// The results of a Need.
const (
	Needed    = "needed"
	NotNeeded = "not needed"
	Undecided = "undecided"
)

// NewNeed says whether an assumption is needed, from the reports of the check with it and with one
// fault.
func NewNeed(assumption, fault string, before, after *Report) Need {
	n := Need{Assumption: assumption, Fault: fault, Result: NotNeeded, Configurations: after.Configurations}
	for _, c := range after.Claims {
		held := slices.ContainsFunc(before.Claims, func(b ClaimReport) bool {
			return b.Name == c.Name && b.Kind == c.Kind && b.Result == Holds
		})
		switch {
		case !held:
		case c.Result == Violated:
			n.Result = Needed
			n.Broken = append(n.Broken, c)
		case c.Result != Holds && n.Result == NotNeeded:
			n.Result = Undecided
			n.Why = strings.Join(after.Why, "; ")
		}
	}
	return n
}

// text renders a need: what is broken, and the shortest of the runs to it.
func (n *Need) text(b *strings.Builder) {
	fmt.Fprintf(b, "    - %s: %s", n.Assumption, n.Result)
	var best *ClaimReport
	var names []string
	for i := range n.Broken {
		c := &n.Broken[i]
		names = append(names, c.Name)
		if c.Counterexample != nil && (best == nil || tellingMore(c, best)) {
			best = c
		}
	}
	switch n.Result {
	case Needed:
		fmt.Fprintf(b, ". If %s, %s no longer %s\n", n.Fault, strings.Join(names, ", "), holdWord(len(names)))
	case NotNeeded:
		fmt.Fprintf(b, ". Even if %s, everything that holds still does (%s %s)\n", n.Fault,
			diag.Thousands(n.Configurations), diag.OneOr(n.Configurations, "configuration", "configurations"))
	default:
		fmt.Fprintf(b, ". If %s: %s\n", n.Fault, n.Why)
	}
	if best == nil {
		return
	}
	for _, line := range strings.Split(strings.TrimRight(best.Counterexample.Text(), "\n"), "\n") {
		b.WriteString(strings.TrimRight("        "+line, " ") + "\n")
	}
}

// tellingMore reports whether the run to c explains more than that to d: it ends where
// something is wrong, not only where something can no longer come right, or it is shorter.
func tellingMore(c, d *ClaimReport) bool {
	if future := c.Kind == "reachable"; future != (d.Kind == "reachable") {
		return !future
	}
	return len(c.Counterexample.Steps) < len(d.Counterexample.Steps)
}

func holdWord(n int) string {
	if n == 1 {
		return "holds"
	}
	return "hold"
}

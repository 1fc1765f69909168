package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/parley-go/parley/proptest/check"
)

// printTable prints one line for each check, and what concerns a whole specification.
func printTable(w io.Writer, reports []*check.SuiteReport) error {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tspecification\tcheck\tverdict\tconfigurations\tsteps\tdepth\twidest\tseconds")
	for _, r := range reports {
		for _, c := range r.Checks {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%.2f\n", mark(c), c.Spec, c.Check, words(c),
				c.Configurations, c.Steps, c.Depth, c.WidestChannel, c.Seconds)
		}
		if mark, found := together(r); found != "" {
			fmt.Fprintf(t, "%s\t%s\t(all checks)\t%s\t\t\t\t\t\n", mark, r.Spec, found)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) { // lines over all checks end in empty columns
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
	for _, r := range reports {
		for _, line := range overAll(r) {
			fmt.Fprintf(w, "%s: %s\n", r.Spec, line)
		}
	}
	return nil
}

// together is the line of the table for what was judged over all checks of a specification, empty
// if there is nothing to say.
func together(r *check.SuiteReport) (mark, found string) {
	var names []string
	if len(r.NeverFires) > 0 {
		names = append(names, check.NeverFires)
	}
	if len(r.Unreachable) > 0 {
		names = append(names, check.UnreachableState)
	}
	if len(r.DefensiveFires) > 0 {
		names = append(names, check.DefensiveFires)
	}
	switch found = strings.Join(names, ", "); {
	case len(r.Why) > 0 && found == "":
		return "✗", "not as expected"
	case len(r.Why) > 0:
		return "✗", found
	case found != "":
		return "✓", found + ", as expected"
	}
	return "", ""
}

func mark(c *check.Report) string {
	switch {
	case c.Passes:
		return "✓"
	case c.Open:
		return "?"
	}
	return "✗"
}

// words is the verdict; ~ says that claims hold only as far as was looked, which a line below the
// table tells.
func words(c *check.Report) string {
	text := c.Verdict
	switch {
	case c.Verdict == check.Violated && c.Passes:
		text += ", as expected"
	case c.Verdict == check.Violated && c.Ended != "":
		text += ", search cut off"
	}
	if c.Limited()+c.Doubtful() > 0 {
		text += " ~"
	}
	return text
}

// overAll says what was judged over all checks of a specification.
func overAll(r *check.SuiteReport) []string {
	var out []string
	for _, c := range r.Checks {
		n, m := c.Limited(), c.Doubtful()
		if n+m == 0 {
			continue
		}
		text := fmt.Sprintf("check %s: ~ only as far as was looked, not behind %s: %d of %d claims hold",
			c.Check, c.Errors(), n, len(c.Claims))
		if m > 0 {
			text += fmt.Sprintf(", %d violated", m)
		}
		out = append(out, text)
	}
	for _, c := range r.Checks {
		if s := c.Searched(); s != "" {
			out = append(out, "check "+c.Check+": "+s)
		}
	}
	for _, p := range r.NeverFires {
		out = append(out, fmt.Sprintf("never fires in any check: %s: %s (%s)", p.Role, p.Name, p.Where))
	}
	for _, p := range r.Unreachable {
		out = append(out, fmt.Sprintf("never reached in any check: %s: state %s (%s)", p.Role, p.Name, p.Where))
	}
	for _, p := range r.DefensiveFires {
		out = append(out, fmt.Sprintf("fires although it is defensive: %s: %s (%s)", p.Role, p.Name, p.Where))
	}
	if s := r.NotJudged(); s != "" {
		out = append(out, s)
	}
	return append(out, r.Why...)
}

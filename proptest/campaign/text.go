package campaign

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/parley-go/parley/gen/diag"
)

// Text tells the result for people; spec names the specification, again the command that repeats the
// run of a seed of a check. all: also the runs that the checks expect. timed: how long it took.
func (r *Result) Text(spec string, again func(check string, seed uint64) string, all, timed bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s from seed %d, %s of at most %d a run", spec, plural(r.Runs, "run"), r.Seed,
		plural(r.Steps, "step"), r.Most)
	if r.Compared > 0 {
		fmt.Fprintf(&b, "; %s compared with generated code", plural(r.Compared, "different step"))
	}
	b.WriteString("\n")
	if timed && r.Seconds > 0 {
		fmt.Fprintf(&b, "  %.1f s, %.0f runs/s, %.0f steps/s, %d at a time\n", r.Seconds,
			float64(r.Runs)/r.Seconds, float64(r.Steps)/r.Seconds, r.Workers)
	}
	r.table(&b)
	for i := range r.Checks {
		r.Checks[i].text(&b, again, all)
	}
	r.never(&b)
	return b.String()
}

// Line tells the result in one line.
func (r *Result) Line(spec string) string {
	mark, expected, unexpected, missed := "✓", 0, 0, 0
	for i := range r.Checks {
		missed += len(r.Checks[i].Missed)
		for _, f := range r.Checks[i].Found {
			if f.Expected && f.Trouble == "" {
				expected++
			} else {
				mark, unexpected = "✗", unexpected+1
			}
		}
	}
	text := fmt.Sprintf("%s %s: %s, %s, %d unexpected", mark, spec, plural(r.Runs, "run"),
		plural(r.Steps, "step"), unexpected)
	if expected+missed > 0 {
		text += fmt.Sprintf(", %d of %d expected ones found", expected, expected+missed)
	}
	if r.Compared > 0 {
		text += fmt.Sprintf(", %s compared with generated code", plural(r.Compared, "different step"))
	}
	return text + fmt.Sprintf(", %.1f s", r.Seconds)
}

func plural(n uint64, what string) string {
	text := diag.Counted(int(min(n, 2)), what)
	_, text, _ = strings.Cut(text, " ")
	return diag.Thousands(n) + " " + text
}

// table has a line for each check.
func (r *Result) table(b *strings.Builder) {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tcheck\truns\tsteps\tcame to rest\twent on\tfaults")
	for i := range r.Checks {
		c := &r.Checks[i]
		mark := "✓"
		for _, f := range c.Found {
			if !f.Expected || f.Trouble != "" {
				mark = "✗"
			}
		}
		var faults []string
		for _, f := range c.Faults {
			faults = append(faults, f.Name+" "+diag.Thousands(f.Times))
		}
		if len(faults) == 0 {
			faults = []string{"none"}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", mark, c.Name, diag.Thousands(c.Runs), diag.Thousands(c.Steps),
			diag.Thousands(c.Rested), diag.Thousands(c.Long),
			strings.Join(faults, ", "))
	}
	t.Flush() // into a builder, which takes everything
	for line := range strings.Lines(text.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// text tells what was found in the runs of a check.
func (c *CheckResult) text(b *strings.Builder, again func(check string, seed uint64) string, all bool) {
	for _, x := range c.Reached {
		if x.Runs == 0 {
			fmt.Fprintf(b, "check %s: no run has come to %s%s\n", c.Name, x.Claim, c.early())
		}
	}
	for i := range c.Found {
		f := &c.Found[i]
		verdict := "not as expected"
		if f.Expected {
			verdict = "as expected"
		}
		fmt.Fprintf(b, "check %s: %s, %s, in %s, first with seed %d", c.Name, f.Claim, verdict,
			plural(f.Runs, "run"), f.Seed)
		if f.Run != nil {
			fmt.Fprintf(b, "; %s, shrunk to %d",
				plural(uint64(f.Moves), "step"), len(f.Run.Steps))
		}
		b.WriteString("\n")
		if f.Trouble != "" && f.Run == nil { // else the run says it
			fmt.Fprintf(b, "  %s\n", strings.ReplaceAll(f.Trouble, "\n", "\n  "))
		}
		if f.Run != nil && (all || !f.Expected) {
			for line := range strings.Lines(f.Run.Text()) {
				b.WriteString(strings.TrimRight("      "+line, " \n") + "\n")
			}
		}
		if !f.Expected {
			fmt.Fprintf(b, "  again: %s\n", again(c.Name, f.Seed))
		}
	}
	for _, name := range c.Missed {
		fmt.Fprintf(b, "check %s: %s is expected, and no run has shown it\n", c.Name, name)
	}
	if len(c.Unasked) > 0 {
		fmt.Fprintf(b, "check %s: runs cannot decide %s\n", c.Name, diag.And(c.Unasked))
	}
}

// early says how many runs ended at a violation, if they are so many that the others say little.
func (c *CheckResult) early() string {
	switch ended := c.Runs - c.Rested - c.Long; {
	case c.Runs == 0 || ended < c.Runs-ended:
		return ""
	case ended == c.Runs:
		return ", but all runs ended early, at the violations told here"
	default:
		return fmt.Sprintf(", but %s of %s ended early, at the violations told here", diag.Thousands(ended),
			plural(c.Runs, "run"))
	}
}

// never lists the transitions that no run has taken.
func (r *Result) never(b *strings.Builder) {
	n := 0
	for _, u := range r.Transitions {
		if u.Taken > 0 {
			n++
		}
	}
	fmt.Fprintf(b, "%d of %d transitions taken\n", n, len(r.Transitions))
	for _, u := range r.Transitions {
		if u.Taken == 0 {
			fmt.Fprintf(b, "  never: %s: %s (%s)\n", u.Machine, u.Name, u.Where)
		}
	}
}

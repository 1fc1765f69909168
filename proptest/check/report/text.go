package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/runtime/run"
)

// Text renders the report for people, with times only if times is true.
func (r *Report) Text(times bool) string { return r.text(times, false) }

// TextAll returns [Report.Text] with all other ways to violate each claim in full.
func (r *Report) TextAll(times bool) string { return r.text(times, true) }

func (r *Report) text(times, all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, check %s%s: %s", r.Spec, r.Check, r.hostile(), r.Verdict)
	switch {
	case r.Verdict == Violated && r.Passes:
		b.WriteString(", as expected")
	case r.Open && slices.ContainsFunc(r.Claims, func(c ClaimReport) bool { return c.Result == Violated }):
		b.WriteString(", as expected so far")
	case !r.Open && !r.Passes:
		b.WriteString(", not as expected")
	}
	b.WriteString("\n")
	if r.Doc != "" {
		b.WriteString("  " + r.Doc + "\n")
	}
	for _, w := range r.Why {
		b.WriteString("  " + w + "\n")
	}
	list(&b, "what multiplies the configurations", r.Multiplied)
	list(&b, "what may help", r.Advice)
	fmt.Fprintf(&b, "  %s %s, %s %s, depth %d, at most %s in a channel",
		diag.Thousands(r.Configurations), diag.OneOr(r.Configurations, "configuration", "configurations"),
		diag.Thousands(r.Steps), diag.OneOr(r.Steps, "step", "steps"), r.Depth,
		diag.Counted(r.WidestChannel, "message"))
	if times {
		fmt.Fprintf(&b, ", %.2f s, %d MB", r.Seconds, r.PeakBytes>>20)
	}
	b.WriteString("\n")
	never := "transitions this check never takes"
	if s := r.Searched(); s != "" {
		b.WriteString("  " + s + "\n")
		never = "transitions this check did not take until it was cut off"
	}
	for _, c := range r.byCause() {
		c.text(&b, r.Errors(), all)
	}
	list(&b, "assumes", r.Assumptions)
	if len(r.Needs) > 0 {
		b.WriteString("  of its assumptions about the channel, the verdict needs\n")
	}
	for i := range r.Needs {
		r.Needs[i].text(&b)
	}
	list(&b, "reduced by", r.Reductions)
	list(&b, "not reduced", r.NotReduced)
	var lines []string
	for _, p := range r.NeverTaken {
		if !slices.Contains(r.overall, p) {
			lines = append(lines, p.Role+": "+p.Name+" ("+p.Where+")")
		}
	}
	if n := len(r.NeverTaken) - len(lines); n > 0 {
		lines = append(lines, fmt.Sprintf("%d that no check takes, which the table lists", n))
	}
	list(&b, never, lines)
	reductions := "no reductions"
	if len(r.Reductions) > 0 {
		reductions = "reduced as said above"
	}
	b.WriteString("  search        " + r.Search + ", " + reductions + "\n")
	if r.Command != "" {
		b.WriteString("  command       " + r.Command + "\n")
	}
	b.WriteString("  specification " + r.Hash + "\n  its machines  " + r.Machines + "\n")
	return b.String()
}

// hostile says who is, for the heading.
func (r *Report) hostile() string {
	if len(r.Hostile) == 0 {
		return ""
	}
	text := ", " + diag.And(r.Hostile) + diag.OneOr(len(r.Hostile), " is", " are") + " hostile"
	if r.Sampled {
		text += " with some values (see what it assumes)"
	}
	return text
}

func list(b *strings.Builder, head string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString("  " + head + "\n")
	for _, it := range items {
		b.WriteString("    - " + it + "\n")
	}
}

var marks = map[string]string{Holds: "✓", Violated: "✗", Incomplete: "?"}

// limitedMark is that of a claim that holds as far as was looked.
const limitedMark = "~"

// byCause lists the claims as they are printed: violated ones that tend to be the cause of others
// first.
func (r *Report) byCause() []*ClaimReport {
	var first, rest []*ClaimReport
	for i := range r.Claims {
		c := &r.Claims[i]
		if c.endsRuns() {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	return append(first, rest...)
}

// maxOthers is how many other ways are listed with a line each.
const maxOthers = 20

// others lists the other ways in which a claim is violated.
func (c *ClaimReport) others(b *strings.Builder, all bool) {
	if len(c.Others) == 0 {
		return
	}
	if all {
		for i, r := range c.Others {
			fmt.Fprintf(b, "      way %d of %d\n", i+2, len(c.Others)+1)
			indented(b, runText(r, all))
		}
		return
	}
	b.WriteString("      the other ways (--all prints each in full):\n")
	for i, r := range c.Others {
		if i == maxOthers {
			fmt.Fprintf(b, "        … and %d more\n", len(c.Others)-i)
			break
		}
		fmt.Fprintf(b, "        %s\n", r.Brief())
	}
}

func runText(r *run.Run, all bool) string {
	if all {
		return r.TextAll()
	}
	return r.Text()
}

func indented(b *strings.Builder, text string) {
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("      "+line, " \n") + "\n")
	}
}

// text writes a claim; errors are those behind which nothing was looked at.
func (c *ClaimReport) text(b *strings.Builder, errors string, all bool) {
	mark := marks[c.Result]
	if c.NotBehind {
		mark = map[string]string{Holds: limitedMark, Violated: mark + limitedMark}[c.Result]
	}
	fmt.Fprintf(b, "  %s %s", mark, c.Name)
	if c.Kind != "built-in" {
		b.WriteString(", " + c.Kind)
	}
	b.WriteString(": " + c.Result)
	if c.Result == Holds || c.Kind != "sometimes" {
		b.WriteString(c.limitedTo(errors))
	}
	if c.Expected && c.Result == Violated {
		b.WriteString(", as expected")
	}
	if c.Note != "" {
		b.WriteString("; " + c.Note)
		if c.Result == Violated && c.Kind == "sometimes" {
			b.WriteString(c.limitedTo(errors))
		}
	}
	b.WriteString("\n")
	if c.Why != "" {
		b.WriteString("      " + c.Why + "\n")
	}
	if c.Counterexample != nil {
		indented(b, runText(c.Counterexample, all))
	}
	if all && c.Witness != nil {
		indented(b, runText(c.Witness, all))
	}
	c.others(b, all)
}

// LimitWords describe which limits had no part in the result.
func LimitWords(list []Limit) []string {
	var out []string
	words := map[string]string{"number": "%s never exceeds %d (limit %d)",
		"list": "%s never holds more than %d (limit %d)", "times": "%s was given at most %s (limit %d)"}
	for _, x := range list {
		if x.Free && x.Kind == "times" {
			out = append(out, fmt.Sprintf(words[x.Kind], x.Name, diag.Counted(int(x.Most), "time"), x.Limit))
		} else if x.Free {
			out = append(out, fmt.Sprintf(words[x.Kind], x.Name, x.Most, x.Limit))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return []string{strings.Join(out, "; ") + ": nothing was refused for such a limit, compares with it, or " +
		"goes through all values below it, so the result holds for every larger one"}
}

package check

import (
	"fmt"
	"strings"
)

// maxTextChart is the greatest number of steps of which a chart made of letters is an overview.
const maxTextChart = 15

// Text renders the run as numbered steps in columns, what each changes below it, what is wrong at the end,
// the last configuration, what the claim reads in it, and, if the run is short, a chart of the messages. It has no times and is
// the same wherever the specification lies, so that it can be kept as a text to compare with.
func (r *Run) Text() string { return r.text(false) }

// text is [Run.Text]; all changes of variables in full only if all is set.
func (r *Run) text(all bool) string {
	var b strings.Builder
	n := r.table(&b, r.Steps, 0, all)
	if len(r.Loop) > 0 {
		b.WriteString("and then for ever:\n")
		r.table(&b, r.Loop, n, all)
	}
	if len(r.Steps)+len(r.Loop) == 0 {
		b.WriteString("at the beginning\n")
	}
	b.WriteString("\n")
	if r.Problem != "" {
		for line := range strings.Lines(r.Problem) {
			wrapped(&b, strings.TrimRight(line, "\n"), 0)
		}
		b.WriteString("\n")
	}
	for _, line := range r.End {
		wrapped(&b, line, 2)
	}
	r.reads(&b, all)
	if n := len(r.Steps) + len(r.Loop); r.chart != nil && n > 0 && n <= maxTextChart {
		c := *r.chart
		c.End = ""
		b.WriteString("\n" + c.Text())
	}
	return b.String()
}

// How many parts of a claim that are false, and values that it reads, are shown, unless all is asked for.
const (
	maxFalse = 5
	maxReads = 20
)

// reads writes what the claim looks at in the last configuration.
func (r *Run) reads(b *strings.Builder, all bool) {
	lines, head := readLines(r.Reads), "what the claim reads here:"
	if len(r.False) > 0 {
		b.WriteString("\nwhat of it is false here:\n")
		head = "what that reads:"
	}
	for i, text := range r.False {
		if i == maxFalse && !all {
			fmt.Fprintf(b, "  … %d more\n", len(r.False)-i)
			break
		}
		wrapped(b, text, 2)
	}
	if len(lines) > 0 {
		b.WriteString("\n" + head + "\n")
	}
	for i, line := range lines {
		if i == maxReads && !all {
			fmt.Fprintf(b, "  … %d more\n", len(lines)-i)
			break
		}
		wrapped(b, line, 2)
	}
}

// columns are what happened, the state, and the effects.
func (s *Step) columns() [3]string {
	what := s.Instance + ": " + s.Event
	from := ""
	if s.From != "" {
		from = " from " + s.From
	}
	switch s.Kind {
	case "message":
		what = s.Instance + " ← " + s.Event + from
	case "copy":
		what = s.Instance + " ← " + s.Event + from + " (a copy; it stays under way)"
	case "drop":
		what = s.Instance + " ← " + s.Event + from
	case "up", "link":
		what += from
	case "timer":
		what += " expires"
	case "clock", "break":
		what = s.Event
	case "crash", "restart", "beat":
		what = s.Instance + " " + s.Event
	case "lost":
		what = s.Event + " is lost (" + s.From + ")"
	case "swapped":
		what = s.Event + " (" + s.From + ")"
	}
	effects := strings.Join(s.Effects, ", ")
	if s.Fault != "" {
		effects = "✗ " + s.Fault
	}
	return [3]string{what, s.State, effects}
}

// Text renders the report for people; times only if times is true.
func (r *Report) Text(times bool) string { return r.text(times, false) }

// TextAll is [Report.Text] with every other way to violate a claim in full.
func (r *Report) TextAll(times bool) string { return r.text(times, true) }

func (r *Report) text(times, all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, check %s: %s", r.Spec, r.Check, r.Verdict)
	switch {
	case r.Verdict == Violated && r.Passes:
		b.WriteString(", as expected")
	case r.Open && r.Verdict == Violated:
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
	list(&b, "what may help", r.Advice)
	fmt.Fprintf(&b, "  %s %s, %s %s, depth %d, at most %s in a channel",
		thousands(r.Configurations), oneOr(int(min(r.Configurations, 2)), "configuration", "configurations"),
		thousands(r.Steps), oneOr(int(min(r.Steps, 2)), "step", "steps"), r.Depth, counted(r.WidestChannel, "message"))
	if times {
		fmt.Fprintf(&b, ", %.2f s, %d MB", r.Seconds, r.PeakBytes>>20)
	}
	b.WriteString("\n")
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
	var never []string
	for _, p := range r.NeverTaken {
		never = append(never, p.Role+": "+p.Name+" ("+p.Where+")")
	}
	list(&b, "transitions this check never takes", never)
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

// byCause lists the claims as they are printed: violated ones that tend to be the cause of others first.
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
			indented(b, r.text(all))
		}
		return
	}
	b.WriteString("      the other ways (--all prints each in full):\n")
	for i, r := range c.Others {
		if i == maxOthers {
			fmt.Fprintf(b, "        … and %d more\n", len(c.Others)-i)
			break
		}
		fmt.Fprintf(b, "        %s\n", r.brief())
	}
}

// brief says in one line how a run ends: what happens where, and after how many steps.
func (r *Run) brief() string {
	after := "after " + counted(len(r.Steps), "step")
	if len(r.Steps) == 0 || r.Steps[len(r.Steps)-1].Fault == "" {
		return after + ": " + strings.Join(r.End, ", ")
	}
	s := &r.Steps[len(r.Steps)-1]
	text := s.columns()[0]
	if s.State != "" {
		text += " in " + s.State
	}
	if s.Where != "" {
		text += " (" + s.Where + ")"
	}
	return text + ", " + after + ": " + s.Fault
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
		indented(b, c.Counterexample.text(all))
	}
	if all && c.Witness != nil {
		indented(b, c.Witness.text(all))
	}
	c.others(b, all)
}

// counted writes how many there are of something.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// thousands writes a number with separators.
func thousands(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

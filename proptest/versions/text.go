package versions

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/diag"
)

var verdicts = map[string]string{
	Same:       "the same: the machines, and all that they send, do not differ",
	Compatible: "compatible: programs of both versions can meet",
	Breaking:   "breaking: programs of both versions must not meet",
	Open:       "open: nothing was found to break, but not everything was searched",
}

// Text tells a report for people.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "OLD %s, NEW %s: %s\n", r.Old, r.New, verdicts[r.Verdict])
	if len(r.Changes) > 0 {
		b.WriteString("\non the wire\n")
	}
	var before *Change
	for i := range r.Changes {
		x := &r.Changes[i]
		x.text(&b, before != nil && before.Message == x.Message && before.Message != "")
		before = x
	}
	if len(r.Pairs) > 0 {
		b.WriteString("\nmixed pairs\n")
	}
	for _, p := range r.Pairs {
		p.text(&b)
	}
	if len(r.Left) > 0 {
		b.WriteString("\nclaims that no mixed pair was held against\n")
	}
	for _, l := range r.Left {
		fmt.Fprintf(&b, "  %s of check %s: %s\n", l.Claim, l.Check, l.Why)
	}
	if len(r.Unpaired) > 0 {
		b.WriteString("\nchecks that were not mixed\n")
	}
	for _, u := range r.Unpaired {
		fmt.Fprintf(&b, "  %s: %s\n", u.Check, u.Why)
	}
	if r.Verdict == Open && len(r.Pairs) == 0 {
		b.WriteString("\nno check could be mixed: give both versions a check of one name with instances of the same " +
			"names and roles\n")
	}
	return b.String()
}

// text tells a change: one line, and below it what each version makes of the other's bytes. told says that the change
// before it has told that already.
func (x *Change) text(b *strings.Builder, told bool) {
	mark := " "
	if x.Breaks {
		mark = "✗"
	}
	places := "OLD " + x.Old + ", NEW " + x.New
	switch "" {
	case x.Old:
		places = "NEW " + x.New
	case x.New:
		places = "OLD " + x.Old
	}
	fmt.Fprintf(b, "%s %s %s: %s\n", mark, x.Rule, places, x.Text)
	if !told {
		for _, t := range x.Tries {
			b.WriteString("    " + t.text() + "\n")
		}
		if x.Apart != "" {
			b.WriteString("    " + x.Apart + "\n")
		}
	}
	if x.Remedy != "" {
		b.WriteString("    → " + x.Remedy + "\n")
	}
}

func (t *Try) text() string {
	sent := t.Sent
	if t.Frame != "" {
		sent += " (" + t.Frame + ")"
	}
	other := names[0]
	if t.Reader == other {
		other = names[1]
	}
	switch t.Result {
	case Refuses:
		at := ""
		if t.Frame != "" {
			at = fmt.Sprintf(" at byte %d", t.At)
		}
		return fmt.Sprintf("%s refuses %s of %s%s: %s", t.Reader, sent, other, at, t.Why)
	case Misreads:
		return fmt.Sprintf("%s takes %s of %s for %s", t.Reader, sent, other, t.Read)
	}
	return fmt.Sprintf("%s reads %s of %s", t.Reader, sent, other)
}

func (p *Pair) text(b *strings.Builder) {
	size := diag.Thousands(p.Configurations) + " " + diag.OneOr(p.Configurations, "configuration", "configurations")
	switch p.Result {
	case Works:
		fmt.Fprintf(b, "✓ check %s, %s: they work together (%s)\n", p.Check, p.Who, size)
	case Parts:
		fmt.Fprintf(b, "✓ check %s, %s: they refuse each other cleanly (%s)\n", p.Check, p.Who, size)
		fmt.Fprintf(b, "    %s\n", p.Refusal)
	case CutOff:
		fmt.Fprintf(b, "? check %s, %s: nothing was found in %s; %s\n", p.Check, p.Who, size, p.Ended)
	case Breaks:
		fmt.Fprintf(b, "✗ check %s, %s: they break (%s)\n", p.Check, p.Who, size)
	}
	if len(p.Known) > 0 {
		fmt.Fprintf(b, "    OLD alone violates it, too: %s\n", diag.And(p.Known))
	}
	for i := range p.Broken {
		x := &p.Broken[i]
		fmt.Fprintf(b, "    %s: %s\n", x.Claim, x.Problem)
		if x.Why != "" {
			fmt.Fprintf(b, "      %s\n", x.Why)
		}
		fmt.Fprintf(b, "      → %s\n", x.Remedy)
		if x.Run == nil {
			continue
		}
		b.WriteString("\n")
		for line := range strings.Lines(x.Run.Text()) {
			b.WriteString(strings.TrimRight("      "+line, " \n") + "\n")
		}
		b.WriteString("\n")
	}
}

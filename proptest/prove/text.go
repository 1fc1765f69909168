package prove

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/diag"
)

// Text renders the report for people; times only if times is true.
func (r *Report) Text(times bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, check %s: %s", r.Spec, r.Check, r.Verdict)
	if r.Verdict == Proved && r.For != "" {
		b.WriteString(" for " + r.For)
	}
	switch r.Method {
	case ByClosure:
		fmt.Fprintf(&b, " (the channels close by themselves: %s, %s",
			diag.Counted(r.Configurations, "configuration"), diag.Counted(r.Steps, "step"))
	case ByCollapse:
		fmt.Fprintf(&b, " (runs of messages collapsed: %s, %s", diag.Counted(r.Configurations, "configuration"),
			diag.Counted(r.Steps, "step"))
	}
	if r.Method != "" {
		if times {
			fmt.Fprintf(&b, ", %.2f s", r.Seconds)
		}
		if r.Verified {
			b.WriteString("; certificate verified")
		}
		b.WriteString(")")
	}
	b.WriteString("\n")
	var wrong []*Claim
	for i := range r.Claims {
		if c := &r.Claims[i]; c.Expected && c.Result == Violated {
			wrong = append(wrong, c)
			continue
		}
		r.Claims[i].text(&b, "  ")
	}
	if len(wrong) > 0 {
		b.WriteString("  violated, as the check expects\n")
	}
	for _, c := range wrong {
		c.text(&b, "    ")
	}
	if len(r.Established) > 0 {
		b.WriteString("  established\n")
		for _, s := range r.Established {
			b.WriteString("    " + s + "\n")
		}
	}
	for _, s := range r.Why {
		b.WriteString("  " + s + "\n")
	}
	for i := range r.Claims {
		if c := &r.Claims[i]; c.Counterexample != nil {
			fmt.Fprintf(&b, "\n  %s: a real run\n", c.Name)
			for _, line := range strings.Split(strings.TrimRight(c.Counterexample.Text(), "\n"), "\n") {
				b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
			}
		}
	}
	return b.String()
}

func (c *Claim) text(b *strings.Builder, indent string) {
	mark := "✗"
	switch {
	case c.Result == NotEstablished:
		mark = "?"
	case c.Result == Proved && !c.Expected:
		mark = "✓"
	}
	fmt.Fprintf(b, "%s%s %s, %s: %s%s\n", indent, mark, c.Name, c.Kind, c.Result, c.tail())
}

func (c *Claim) tail() string {
	out := ""
	if c.Expected {
		if c.Result != Violated {
			out = ", but expected to be violated"
		}
	}
	if c.Note != "" {
		out += " (" + c.Note + ")"
	}
	return out
}

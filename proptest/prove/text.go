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
	for i := range r.Claims {
		c := &r.Claims[i]
		fmt.Fprintf(&b, "  %s %s, %s: %s%s\n", r.mark(c), c.Name, c.Kind, c.Result, c.tail())
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

func (r *Report) mark(c *Claim) string {
	switch {
	case c.Result == NotEstablished:
		return "?"
	case (c.Result == Violated) == c.Expected:
		return "✓"
	}
	return "✗"
}

func (c *Claim) tail() string {
	out := ""
	if c.Expected {
		out = ", as expected"
		if c.Result != Violated {
			out = ", but expected to be violated"
		}
	}
	if c.Note != "" {
		out += " (" + c.Note + ")"
	}
	return out
}

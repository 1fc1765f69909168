package probe

import (
	"fmt"
	"io"
	"strings"

	"github.com/parley-go/parley/gen/diag"
)

// WriteText renders the report for people. What the program has said may be anything: what would command a terminal
// is written visibly.
func (r *Report) WriteText(w io.Writer) {
	var b strings.Builder
	r.write(&b)
	io.WriteString(w, diag.Visible(b.String()))
}

// mostUncovered is how many transitions that were not seen are listed.
const mostUncovered = 12

func (r *Report) write(w io.Writer) {
	fmt.Fprintf(w, "%s at %s is %s of check %s; we are %s; seed %d\n", r.Spec, r.Address, r.Target, r.Check, r.Us,
		r.Seed)
	if r.Chosen != "" {
		fmt.Fprintf(w, "  taken: %s\n", r.Chosen)
	}
	fmt.Fprintf(w, "  %s, %s, %s hostile\n", diag.Counted(r.Sessions, "session"), diag.Counted(r.Acts, "act"),
		diag.Counted(r.Hostile, "session"))
	fmt.Fprintf(w, "  seen: %d of %s, %d of %s\n", r.Transitions[0], diag.Counted(r.Transitions[1], "transition"),
		r.Pairs[0], diag.Counted(r.Pairs[1], "pair"))
	if n := len(r.Uncovered); n > 0 {
		list := r.Uncovered[:min(n, mostUncovered)]
		more := ""
		if n > len(list) {
			more = fmt.Sprintf(", and %d more", n-len(list))
		}
		fmt.Fprintf(w, "  not seen: %s%s\n", strings.Join(list, ", "), more)
	}
	if r.External && r.Loose {
		fmt.Fprintf(w, "  the role is external: what it sends is compared by the names of messages (--exact: by "+
			"their values, too)\n")
	}
	for _, text := range r.Open {
		fmt.Fprintf(w, "  %s\n", text)
	}
	if r.Ended != "" {
		fmt.Fprintf(w, "  ended early: %s\n", r.Ended)
	}
	for i, f := range r.Findings {
		fmt.Fprintf(w, "\n%d. %s: %s\n", i+1, f.Kind, indent(f.Why))
		if f.After != "" {
			fmt.Fprintf(w, "   after %s\n", f.After)
		}
		if len(f.Script) > 0 {
			fmt.Fprintf(w, "   script:\n     %s\n", strings.Join(f.Script, "\n     "))
		}
		if f.Stays {
			fmt.Fprintf(w, "   the program stays so: every session shows it now\n")
		} else if !f.Steady && f.Kind != Mute {
			fmt.Fprintf(w, "   the script did not show it again\n")
		}
		if f.Run != nil {
			fmt.Fprintf(w, "\n%s", shift(f.Run.Chart().Text()))
		}
	}
	switch {
	case len(r.Findings) > 0:
		fmt.Fprintf(w, "verdict: %s in %s\n", diag.Counted(len(r.Findings), "finding"), r.Target)
	case r.Ended != "":
		fmt.Fprintf(w, "verdict: nothing found, and not all was tried\n")
	default:
		fmt.Fprintf(w, "verdict: nothing found\n")
	}
}

// indent puts the lines behind the first under it.
func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n   ") }

func shift(text string) string {
	return "   " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n   ") + "\n"
}

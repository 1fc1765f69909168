package suggest

import (
	"fmt"
	"strings"
)

// Text renders the report for people. diff renders a change.
func (r *Report) Text(diff func(Change) string) string {
	var b strings.Builder
	if r.Passes {
		return r.Spec + ": all checks pass; there is nothing to repair\n"
	}
	fmt.Fprintf(&b, "%s: %s\n", r.Spec, strings.Join(r.Violated, "; "))
	b.WriteString(r.searched() + "\n")
	for i, s := range r.Suggestions {
		var words []string
		for _, e := range s.Edits {
			words = append(words, e.Words+" ("+e.Where+")")
		}
		fmt.Fprintf(&b, "\n%d. %s\n", i+1, strings.Join(words, ", and "))
		for _, c := range s.Changes {
			for _, line := range strings.Split(strings.TrimRight(diff(c), "\n"), "\n") {
				b.WriteString("   " + line + "\n")
			}
		}
		fmt.Fprintf(&b, "   keeps %d %% of the runs that were followed\n", percent(s.Keeps))
		for _, n := range s.Notes {
			b.WriteString("   note: " + n + "\n")
		}
	}
	if len(r.Suggestions) > 0 {
		b.WriteString("\nA suggestion satisfies what the checks say, no more: read it before you take it.\n")
	}
	return b.String()
}

// searched says honestly how far the search came.
func (r *Report) searched() string {
	var parts []string
	for i, n := range r.Tried {
		size := fmt.Sprintf("sets of %d edits", i+1)
		if i == 0 {
			size = "single edits"
		}
		switch {
		case r.Complete > i:
			parts = append(parts, fmt.Sprintf("searched all %d %s that the counterexamples touch", n, size))
		case n > 0 && i == 0:
			parts = append(parts, fmt.Sprintf("searched %d of %d %s", n, r.Possible, size))
		case n > 0:
			parts = append(parts, fmt.Sprintf("searched %d %s, not all", n, size))
		}
	}
	if r.Why != "" {
		parts = append(parts, r.Why)
	}
	if r.Rejected > 0 {
		parts = append(parts,
			fmt.Sprintf("%d make each check pass but leave something else that never fires or is never "+
				"reached, and are not shown", r.Rejected))
	}
	if r.Unwritten > 0 {
		parts = append(parts, fmt.Sprintf("%d would pass but cannot be written into the text by this command",
			r.Unwritten))
	}
	if r.Undecided > 0 {
		parts = append(parts, fmt.Sprintf("%d were too large to decide", r.Undecided))
	}
	whole := 0
	for _, s := range r.Suggestions {
		if s.Passes {
			whole++
		}
	}
	switch rest := len(r.Suggestions) - whole; {
	case len(r.Suggestions) == 0:
		parts = append(parts, "none makes all checks pass"+r.beyond())
	case rest == 0:
		parts = append(parts, number(whole)+" all checks pass")
	case whole == 0:
		parts = append(parts, number(rest)+" each check pass, with something that never fires or is never "+
			"reached: see the notes")
	default:
		parts = append(parts, number(whole)+" all checks pass, "+number(rest)+
			" each check pass, with something that never fires or is never reached: see the notes")
	}
	return strings.Join(parts, "; ")
}

// beyond says what is left to do where all was searched and nothing found.
func (r *Report) beyond() string {
	switch {
	case r.Complete == 0 || r.Complete < len(r.Tried):
		return ""
	case len(r.Tried) == 1:
		return " (--max-edits 2 searches two edits at once)"
	}
	return ": more than two edits are needed, or one that this command does not know; mend by hand what one " +
		"counterexample shows (fsmgen check), and search again"
}

func number(n int) string {
	if n == 1 {
		return "one makes"
	}
	return fmt.Sprintf("%d make", n)
}

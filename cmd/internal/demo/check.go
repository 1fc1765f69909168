package demo

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/specs"
)

// check runs the checks of every specification: what ships first, then the
// literal readings of the document and of the game's code.
func (t *tour) check() error {
	for _, dir := range t.checked {
		names, err := fs.Glob(specs.FS, dir+"/*.yaml")
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := t.checkFile(name); err != nil {
				return err
			}
		}
	}
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "     protocol\tchecks\tclaims\tconfigurations\tsteps\tdepth\ttime\tverdict")
	for _, r := range t.sound {
		n := total(r)
		fmt.Fprintf(w, "     %s\t%d\t%d\t%s\t%s\t%d\t%s\t%s\n", r.Protocol, len(r.Checks), n.claims,
			diag.Thousands(n.configurations), diag.Thousands(n.steps), n.depth, seconds(n.seconds), verdict(r))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "\n     The same protocols read literally, from the document and from the game's code:\n")
	w = tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	for _, r := range t.literal {
		fmt.Fprintf(w, "     %s\t%s\n", strings.TrimSuffix(r.Spec, ".yaml"), literalVerdict(r))
	}
	return w.Flush()
}

// checkFile checks one specification if it has checks of its own. The large
// configuration that measures the checker is left to the benchmarks.
func (t *tour) checkFile(name string) error {
	if path.Base(name) == "big.yaml" {
		return nil
	}
	r, diags, err := check.Suite(t.ctx, name, check.Config{Compile: options()})
	if err != nil {
		return err
	}
	if r == nil {
		return diags
	}
	if len(r.Checks) == 0 {
		return nil
	}
	if !r.Passes {
		t.fail("%s does not pass: %s", name, strings.Join(reasons(r), "; "))
	}
	switch base := path.Base(name); {
	case base == "spec.yaml":
		t.sound = append(t.sound, r)
	case strings.HasPrefix(base, "documented"), strings.HasPrefix(base, "coded"):
		t.literal = append(t.literal, r)
	}
	return nil
}

func reasons(r *check.SuiteReport) []string {
	why := slices.Clone(r.Why)
	for _, c := range r.Checks {
		if !c.Passes {
			why = append(why, "check "+c.Check+" "+strings.Join(c.Why, ", "))
		}
	}
	return why
}

type sums struct {
	configurations, steps uint64
	claims, depth         int
	seconds               float64
}

func total(r *check.SuiteReport) sums {
	var s sums
	for _, c := range r.Checks {
		s.configurations += c.Configurations
		s.steps += c.Steps
		s.claims += len(c.Claims)
		s.depth = max(s.depth, c.Depth)
		s.seconds += c.Seconds
	}
	return s
}

// broken lists the claims of a specification that are violated.
func broken(r *check.SuiteReport) []string {
	var names []string
	for _, c := range r.Checks {
		for _, cl := range c.Claims {
			if cl.Result == check.Violated && !slices.Contains(names, cl.Name) {
				names = append(names, cl.Name)
			}
		}
	}
	return names
}

func verdict(r *check.SuiteReport) string {
	names := broken(r)
	switch {
	case !r.Passes:
		return "DOES NOT PASS"
	case len(names) == 0:
		return "holds"
	}
	return "holds; the checks that provoke it find " + strings.Join(names, ", ")
}

func literalVerdict(r *check.SuiteReport) string {
	names := broken(r)
	if len(names) == 0 {
		return "holds, too"
	}
	shortest := 0
	for _, c := range r.Checks {
		for _, cl := range c.Claims {
			if run := cl.Counterexample; run != nil && (shortest == 0 || len(run.Steps) < shortest) {
				shortest = len(run.Steps)
			}
		}
	}
	text := "violated: " + strings.Join(names, ", ")
	if shortest > 0 {
		text += fmt.Sprintf("; the shortest run that shows one: %d step%s", shortest, plural(shortest))
	}
	return text
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

package watch

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/symbols"
	"github.com/parley-go/parley/proptest/check"
)

// Verdict is the result of vet and check for one specification.
type Verdict struct {
	// Files are the files it consists of; a change of one makes the verdict old.
	Files    []string
	Findings diag.List
	// Checks are those of the newest text without errors; Checked says that it is this text.
	Checks  []Check
	Checked bool
	Problem string // why the checks could not be run
}

// Check is the verdict of one check.
type Check struct {
	Name           string
	Words          string // holds; violated, as expected; ...
	Passes         bool
	Configurations uint64
	Claims         []Claim
}

// Claim is the result of one claim, with a run that shows it where it is violated.
type Claim struct {
	Name, Result string
	Run          string
}

// onlyBefore is said of claims that hold where runs ended at errors.
const onlyBefore = ", but not looked behind errors"

// Judge compiles a specification and, if it has no errors, runs its checks. The verdict of a
// search that ctx ended means nothing.
func Judge(ctx context.Context, file string, cfg check.Config) Verdict {
	o := cfg.Compile
	o.Symbols = symbols.New()
	p, found := compile.Load(file, o)
	v := Verdict{Files: o.Symbols.Files, Findings: found}
	if !slices.Contains(v.Files, file) {
		v.Files = append(v.Files, filepath.ToSlash(file)) // it may appear
	}
	if p == nil {
		return v
	}
	cfg.Compile.More = nil // what it says is in Findings
	r, _, err := check.Suite(ctx, file, cfg)
	if err != nil {
		v.Problem = err.Error()
		return v
	}
	v.Checked = true
	for _, c := range r.Checks {
		one := Check{Name: c.Check, Words: words(c), Passes: c.Passes, Configurations: c.Configurations}
		for _, cl := range c.Claims {
			x := Claim{Name: cl.Name, Result: cl.Result}
			if cl.NotBehind && cl.Result == check.Holds {
				x.Result += onlyBefore
			}
			if cl.Counterexample != nil {
				x.Run = cl.Counterexample.Text()
			}
			one.Claims = append(one.Claims, x)
		}
		v.Checks = append(v.Checks, one)
	}
	v.Checks = append(v.Checks, overAll(r))
	return v
}

// overAll returns the findings over all checks together, as a check without a name.
func overAll(r *check.SuiteReport) Check {
	c := Check{Words: "as expected", Passes: r.Passes}
	if !r.Passes {
		c.Words = "not as expected"
	}
	if r.NotJudged() != "" {
		c.Words, c.Passes = "not judged", false
	}
	for _, p := range r.NeverFires {
		c.Claims = append(c.Claims, Claim{Name: "never fires: " + p.Role + ": " + p.Name, Result: "in no check"})
	}
	for _, p := range r.Unreachable {
		c.Claims = append(c.Claims, Claim{Name: "never reached: " + p.Role + ": state " + p.Name,
			Result: "in no check"})
	}
	for _, p := range r.DefensiveFires {
		c.Claims = append(c.Claims, Claim{Name: "fires although it is defensive: " + p.Role + ": " + p.Name,
			Result: "in a check"})
	}
	return c
}

func words(c *check.Report) string {
	switch {
	case c.Verdict == check.Violated && c.Passes:
		return "violated, as expected"
	case c.Verdict == check.Holds && !c.Passes && !c.Open:
		return "holds, not as expected"
	case c.Verdict == check.Violated && c.Ended != "":
		return "violated, search cut off"
	}
	return c.Verdict
}

// title names a check in a line.
func (c Check) title() string { return cmp.Or(c.Name, "all checks") }

// Diff renders what is different in a newer verdict. old may be nil; then all there is to say
// is said. The result ends in a line break.
func Diff(old *Verdict, now Verdict) string {
	var b strings.Builder
	if old == nil {
		old = &Verdict{}
	}
	findings(&b, old.Findings, now.Findings)
	if now.Problem != "" && now.Problem != old.Problem {
		fmt.Fprintf(&b, "  not checked: %s\n", now.Problem)
	}
	if now.Findings.HasErrors() {
		fmt.Fprintf(&b, "  %s; not checked until that is mended\n", diag.Counted(len(now.Findings.Errors()), "error"))
		return b.String()
	}
	before := b.Len()
	if now.Checked {
		checks(&b, old.Checks, now.Checks)
	}
	switch {
	case before == 0 && b.Len() == 0:
		b.WriteString("  nothing changed: " + summary(now) + "\n")
	case b.Len() == before && now.Checked:
		b.WriteString("  the checks are as before: " + summary(now) + "\n")
	}
	return b.String()
}

// key identifies a finding wherever its line has moved.
func key(d diag.Diagnostic) string { return d.Span.File + "\x00" + d.Code + "\x00" + d.Message }

func findings(b *strings.Builder, old, now diag.List) {
	had := map[string]int{}
	for _, d := range old {
		had[key(d)]++
	}
	for _, d := range now {
		if had[key(d)]--; had[key(d)] < 0 {
			fmt.Fprintf(b, "  + %s\n", d)
			if d.Hint != "" {
				fmt.Fprintf(b, "      %s\n", d.Hint)
			}
		}
	}
	for _, d := range old {
		if had[key(d)] > 0 {
			had[key(d)]--
			fmt.Fprintf(b, "  - %s [%s]\n", d.Message, d.Code)
		}
	}
}

func checks(b *strings.Builder, old, now []Check) {
	for _, c := range now {
		was := find(old, func(x Check) bool { return x.Name == c.Name })
		if c.Name == "" && len(c.Claims) == 0 && (was == nil || len(was.Claims) == 0) {
			continue // nothing to say over all checks
		}
		switch {
		case was == nil:
			fmt.Fprintf(b, "  %s %s: %s%s\n", mark(c.Passes), c.title(), c.Words, size(c))
		case was != nil && (was.Words != c.Words || was.Passes != c.Passes):
			fmt.Fprintf(b, "  %s %s: %s → %s%s\n", mark(c.Passes), c.title(), was.Words, c.Words, size(c))
		case was != nil && was.Configurations != c.Configurations:
			fmt.Fprintf(b, "  %s %s: %s, %d → %s\n", mark(c.Passes), c.title(), c.Words, was.Configurations,
				diag.Counted(c.Configurations, "configuration"))
		}
		if was == nil {
			was = &Check{}
		}
		claims(b, was.Claims, c.Claims)
	}
	for _, c := range old {
		if find(now, func(x Check) bool { return x.Name == c.Name }) == nil && c.Name != "" {
			fmt.Fprintf(b, "  - %s: gone\n", c.Name)
		}
	}
}

// claims tells whose result changed; a new one that holds goes without saying.
func claims(b *strings.Builder, old, now []Claim) {
	for _, c := range now {
		was := find(old, func(x Claim) bool { return x.Name == c.Name })
		switch {
		case was == nil && strings.TrimSuffix(c.Result, onlyBefore) == check.Holds, was != nil &&
			was.Result == c.Result && was.Run == c.Run:
			continue
		case was == nil:
			fmt.Fprintf(b, "      %s: %s\n", c.Name, c.Result)
		case was.Result == c.Result:
			fmt.Fprintf(b, "      %s: %s in another way\n", c.Name, c.Result)
		default:
			fmt.Fprintf(b, "      %s: %s → %s\n", c.Name, was.Result, c.Result)
		}
		for _, line := range strings.Split(strings.TrimRight(c.Run, "\n"), "\n") {
			if c.Run != "" {
				b.WriteString(strings.TrimRight("        "+line, " ") + "\n")
			}
		}
	}
	for _, c := range old {
		if find(now, func(x Claim) bool { return x.Name == c.Name }) == nil {
			fmt.Fprintf(b, "      %s: gone\n", c.Name)
		}
	}
}

func find[T any](list []T, fits func(T) bool) *T {
	if i := slices.IndexFunc(list, fits); i >= 0 {
		return &list[i]
	}
	return nil
}

func size(c Check) string {
	if c.Configurations == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", diag.Counted(c.Configurations, "configuration"))
}

func mark(passes bool) string {
	if passes {
		return "✓"
	}
	return "✗"
}

func summary(v Verdict) string {
	pass := 0
	named := 0
	for _, c := range v.Checks {
		if c.Name != "" {
			named++
			if c.Passes {
				pass++
			}
		}
	}
	return fmt.Sprintf("%d of %s %s, %s", pass, diag.Counted(named, "check"), "as expected",
		diag.Counted(len(v.Findings), "warning"))
}

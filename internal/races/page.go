package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/proptest/check"
)

// A maker runs checks, each once, and makes pages of what they find.
type maker struct {
	ctx   context.Context
	root  string
	known map[search]*check.Report
}

// run runs a check, or returns what it has found before.
func (m *maker) run(s search) (*check.Report, error) {
	if r := m.known[s]; r != nil {
		return r, nil
	}
	suite, list, err := check.Suite(m.ctx, filepath.Join(m.root, s.file), check.Config{Only: check.Only{s.name}})
	switch {
	case err != nil:
		return nil, err
	case suite == nil:
		return nil, list
	case len(suite.Checks) != 1:
		return nil, fmt.Errorf("%s has no check %s", s.file, s.name)
	}
	m.known[s] = suite.Checks[0]
	return suite.Checks[0], nil
}

// claim runs the check of a claim and returns what it says of it.
func (m *maker) claim(c claim) (*check.Report, *check.ClaimReport, error) {
	r, err := m.run(c.search)
	if err != nil {
		return nil, nil, err
	}
	for i := range r.Claims {
		if r.Claims[i].Name == c.name {
			return r, &r.Claims[i], nil
		}
	}
	return nil, nil, fmt.Errorf("check %s of %s has no claim %s", c.search.name, c.file, c.name)
}

// all makes every page and picture, by file name.
func (m *maker) all(list []*system) (map[string]string, error) {
	out := map[string]string{}
	var wrong []error
	for _, s := range list {
		for _, r := range s.races {
			found, err := m.race(s, r)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %s: %w", r.where, r.name, err))
			}
			for name, text := range found {
				if out[name] != "" {
					return nil, fmt.Errorf("%s: %s has been told before", r.where, r.name)
				}
				out[name] = text
			}
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	index, err := m.index(list)
	out["README.md"] = index
	return out, err
}

// race makes the page of a race and its pictures. It is an error if a check does not find what
// RACES.md says.
func (m *maker) race(s *system, r *entry) (map[string]string, error) {
	if r.reason != "" {
		return nil, nil
	}
	out := map[string]string{}
	var p strings.Builder
	fmt.Fprintf(&p, "%s\n# %s %s\n\n%s. [All races](README.md)\n\n%s\n", made, r.name, r.title, s.title, r.text)
	for i, c := range r.shown {
		_, found, err := m.shown(c)
		if err != nil {
			return nil, err
		}
		chart := found.Counterexample.Chart()
		chart.Title = r.name + " " + r.title
		name := r.name + ".svg"
		if i > 0 {
			name = fmt.Sprintf("%s-%d.svg", r.name, i+1)
		}
		out[name] = graph.ChartSVG(chart)
		fmt.Fprintf(&p, "\nThe shortest run that shows it, %s; [as text](../../%s):\n\n![%s](%s)\n", steps(c.steps),
			expected(c), chart.Title, name)
	}
	if err := m.rule(&p, r); err != nil {
		return nil, err
	}
	if err := m.table(&p, r); err != nil {
		return nil, err
	}
	out[r.name+".md"] = p.String()
	return out, nil
}

// rule writes what repairs a race, with the lines before and after.
func (m *maker) rule(p *strings.Builder, r *entry) error {
	if r.open != "" {
		fmt.Fprintf(p, "\n## Not repaired\n\n%s\n", r.open)
		return nil
	}
	fmt.Fprintf(p, "\n## The rule that repairs it\n\n%s\n\n```diff\n", strings.ToUpper(r.rule[:1])+r.rule[1:])
	for i, list := range [][]place{r.before, r.after} {
		for _, at := range list {
			lines, first, err := quote(m.root, at)
			if err != nil {
				return err
			}
			fmt.Fprintf(p, "@@ %s, line %d @@\n", at.file, first)
			for _, line := range lines {
				fmt.Fprintf(p, "%c %s\n", "-+"[i], line)
			}
		}
	}
	fmt.Fprintln(p, "```")
	return nil
}

// table writes which checks say so, and what they cost.
func (m *maker) table(p *strings.Builder, r *entry) error {
	fmt.Fprint(p, "\n## What was checked\n\n"+
		"| specification | check | claim | verdict | configurations | steps | seconds |\n"+
		"|---|---|---|---|--:|--:|--:|\n")
	for _, c := range r.shown {
		found, _, err := m.shown(c)
		if err != nil {
			return err
		}
		row(p, c, fmt.Sprintf("violated, %s", steps(c.steps)), found)
	}
	if r.holds == nil {
		return nil
	}
	found, err := m.holds(*r.holds)
	if err != nil {
		return err
	}
	row(p, *r.holds, "holds", found)
	return nil
}

func row(p *strings.Builder, c claim, verdict string, r *check.Report) {
	fmt.Fprintf(p, "| [%s](../../%s) | `%s` | `%s` | %s | %s | %s | %.2f s |\n", short(c.file), c.file, c.search.name,
		c.name, verdict, diag.Thousands(r.Configurations), diag.Thousands(r.Steps), r.Seconds)
}

// shown returns what violates a claim; it is an error if nothing does, or in another number of steps.
func (m *maker) shown(c claim) (*check.Report, *check.ClaimReport, error) {
	r, found, err := m.claim(c)
	switch {
	case err != nil:
		return nil, nil, err
	case found.Result != check.Violated || found.Counterexample == nil:
		return nil, nil, fmt.Errorf("claim %s of %s, check %s, is to be violated: %s", c.name, c.file, c.search.name,
			found.Result)
	case !found.Expected:
		return nil, nil, fmt.Errorf("check %s of %s does not expect %s", c.search.name, c.file, c.name)
	case len(found.Counterexample.Steps) != c.steps:
		return nil, nil, fmt.Errorf("the shortest run to %s of %s, check %s, has %s", c.name, c.file, c.search.name,
			steps(len(found.Counterexample.Steps)))
	}
	return r, found, found.Counterexample.Validate()
}

// holds returns the check of a claim that holds; it is an error if it does not, or says nothing, or
// if anything else is wrong in that check.
func (m *maker) holds(c claim) (*check.Report, error) {
	r, found, err := m.claim(c)
	switch {
	case err != nil:
		return nil, err
	case found.Result != check.Holds || found.Vacuous || r.Verdict != check.Holds:
		return nil, fmt.Errorf("claim %s of %s, check %s, is to hold: %s %s", c.name, c.file, c.search.name,
			found.Result, found.Note)
	}
	return r, nil
}

// made is the first line of each page.
const made = "<!-- made by internal/races: run `go generate ./...` -->\n"

// String names a claim as the index does.
func (c claim) String() string {
	return fmt.Sprintf("`%s` `%s`, `%s`", short(c.file), c.search.name, c.name)
}

func short(file string) string { return strings.TrimPrefix(file, "specs/") }

// expected is the file that keeps the run.
func expected(c claim) string {
	base := strings.TrimSuffix(path.Base(c.file), ".yaml")
	return path.Join(path.Dir(c.file), "expected", base+"."+c.search.name+"."+c.name+".txt")
}

func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}

// index is the page that leads to the others.
func (m *maker) index(list []*system) (string, error) {
	var p strings.Builder
	n := 0
	for _, s := range list {
		for _, r := range s.races {
			if r.reason == "" {
				n++
			}
		}
	}
	fmt.Fprintf(&p, `%s
# %d races of real games

Each of these was in a released program or in the document that describes it; most were seen on the
original programs. A literal specification shows it, with the shortest run that goes wrong, and a sound one repairs it.
The pages are made from the specifications, and a test runs their checks.
`, made, n)
	for _, s := range list {
		fmt.Fprintf(&p, "\n## %s\n\n[%s](../../%s)\n\n", s.title, s.dir, s.dir)
		fmt.Fprint(&p, "| race | shown by | steps | configurations | repaired in |\n|---|---|--:|--:|---|\n")
		for _, r := range s.races {
			if r.reason != "" {
				continue
			}
			for i, c := range r.shown {
				found, _, err := m.shown(c)
				if err != nil {
					return "", err
				}
				name, repaired := "", ""
				if i == 0 {
					name = fmt.Sprintf("[%s %s](%s.md)", r.name, r.title, r.name)
					if repaired = "not"; r.holds != nil {
						repaired = r.holds.String()
					}
				}
				fmt.Fprintf(&p, "| %s | %s | %d | %s | %s |\n", name, c, c.steps, diag.Thousands(found.Configurations),
					repaired)
			}
		}
		for _, r := range s.races {
			if r.reason != "" {
				fmt.Fprintf(&p, "\n**%s %s** has no check. %s\n", r.name, r.title, r.reason)
			}
		}
	}
	return p.String(), nil
}

var seconds = regexp.MustCompile(`\d+\.\d\d s`)

// timeless is a page without what differs from run to run.
func timeless(page string) string { return seconds.ReplaceAllString(page, "s") }

package opinions

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/compile"
	export "github.com/parley-go/parley/gen/export/tla"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/tla"
)

// failures are the built-in claims that a step violates which fails; a module has them in its variable `err`.
var failures = []string{"unspecified-reception", "fault", "overflow", "deferred-overflow"}

// mostRuns is how many configurations a check may have whose claims about runs are evaluated.
const mostRuns = 1000

var number = regexp.MustCompile(`^the number -?\d+, which`)

// TLA has the evaluator of proptest/tla search the export of a check of which the first checker has made a report,
// whole and without reductions.
func TLA(ctx context.Context, file string, first *report.Report) Opinion {
	p, list := compile.Load(file, compile.Options{Check: first.Check})
	if p == nil {
		return Opinion{Refused: list[0].Message}
	}
	files, err := export.Export(p, p.Checks[0], "Model")
	if err != nil {
		why, _, _ := strings.Cut(uses.ReplaceAllString(err.Error(), ""), " (")
		why = number.ReplaceAllString(why, "a number, which")
		return Opinion{Refused: why}
	}
	return Text(ctx, files, first)
}

// Text holds the module of a check against the report of the first checker: the configurations, what is
// violated, and in how many steps.
func Text(ctx context.Context, files *export.Files, first *report.Report) Opinion {
	var out []string
	differs := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	spec, err := tla.Parse(files.Module)
	if err != nil {
		return Opinion{Differs: []string{err.Error()}}
	}
	o := tla.Options{Failing: "err", Most: 10*int(first.Configurations) + 1000, Context: ctx,
		Invariants: []string{"NoError", "NoDeadlock", "NoOrphan"}}
	for _, c := range files.Claims {
		o.Invariants = append(o.Invariants, c.Invariant)
	}
	got, err := spec.Search(o)
	switch {
	case ctx.Err() != nil:
		return Opinion{Refused: "the time that it was given"}
	case err != nil:
		return Opinion{Differs: []string{err.Error()}}
	}
	if n := got.States - got.Failed; n != int(first.Configurations) || !got.Complete {
		differs("%d configurations, and the first checker has %d", n, first.Configurations)
	}
	claim := func(name string) report.ClaimReport {
		i := slices.IndexFunc(first.Claims, func(c report.ClaimReport) bool { return c.Name == name })
		if i < 0 {
			return report.ClaimReport{}
		}
		return first.Claims[i]
	}
	same := func(name string, is bool, length int) {
		c := claim(name)
		switch want := c.Result == "violated"; {
		case is != want:
			differs("%s is violated: %v, and for the first checker: %v", name, is, want)
		case is && c.Counterexample != nil && length != len(c.Counterexample.Steps):
			differs("%s is violated in %d steps, and for the first checker in %d", name, length,
				len(c.Counterexample.Steps))
		}
	}
	for _, name := range failures {
		length, is := got.Failures[name]
		same(name, is, length)
	}
	for _, x := range [][2]string{{"deadlock", "NoDeadlock"}, {"orphan-message", "NoOrphan"}} {
		length, is := got.Violated[x[1]]
		same(x[0], is, length)
	}
	for _, c := range files.Claims {
		length, is := got.Violated[c.Invariant]
		if !c.Sometimes {
			same(c.Name, is, length)
			continue
		}
		if w := claim(c.Name).Witness; is != (w != nil) || is && length != len(w.Steps) {
			differs("%s is reached: %v, in %d steps, and for the first checker: %v", c.Name, is, length, w != nil)
		}
	}
	if first.Configurations <= mostRuns {
		g, err := spec.Graph(ctx)
		for _, c := range files.Configs {
			for _, property := range c.Properties {
				is := false
				if err == nil {
					is, err = g.Violated(c.Spec, property)
				}
				if want := claim(c.Name).Result == "violated"; err == nil && is != want {
					differs("%s is violated by a run: %v, and for the first checker: %v", c.Name, is, want)
				}
			}
		}
		switch {
		case ctx.Err() != nil:
			return Opinion{Refused: "the time that it was given"}
		case err != nil:
			differs("%v", err)
		}
	}
	return Opinion{Agrees: out == nil, Differs: out}
}

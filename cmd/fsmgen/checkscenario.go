package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/gen/scenario"
	"github.com/parley-go/parley/proptest/check"
)

// writeScenarios writes every counterexample as a scenario, which fsmgen scenario runs, if that was asked for.
func (o *checkFlags) writeScenarios(cmd *cobra.Command, r *check.SuiteReport) error {
	if o.scenarios == "" {
		return nil
	}
	for _, c := range r.Checks {
		for i := range c.Claims {
			cl := &c.Claims[i]
			if cl.Counterexample == nil {
				continue
			}
			lines, why := scenarioLines(c, cl.Counterexample)
			if why != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: no scenario for check %s, %s: %s\n", r.Spec, c.Check, cl.Name, why)
				continue
			}
			blocks := []scenario.Block{{Line: 1, Head: remarks(cl), Input: lines}}
			got, _, err := scenario.Run(blocks, loader(r.Spec, cmd))
			if err != nil {
				return fmt.Errorf("the scenario of check %s, %s: %w", c.Check, cl.Name, err)
			}
			if err := os.MkdirAll(o.scenarios, 0o777); err != nil {
				return err
			}
			name := filepath.Join(o.scenarios, c.Check+"."+cl.Name+".txt")
			if err := os.WriteFile(name, []byte(scenario.Format(got)), 0o666); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", name)
		}
	}
	return nil
}

// remarks say what the scenario shows.
func remarks(cl *check.ClaimReport) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimPrefix(cl.Counterexample.Problem, "✗ "), "\n") {
		out = append(out, "# "+strings.TrimSpace(line))
	}
	return out
}

// scenarioLines are the steps of a run in the language of scenarios; why says what has no words there.
func scenarioLines(c *check.Report, run *check.Run) (lines []string, why string) {
	lines = []string{"check " + c.Check}
	name := func(i int) string { return c.Instances[i] }
	for _, m := range run.Moves() {
		channel := ""
		if m.From >= 0 {
			channel = name(m.From) + " -> " + name(m.Who)
		}
		switch {
		case m.Kind == "start": // scenarios begin behind it
		case slices.Contains([]string{"command", "timer"}, m.Kind):
			lines = append(lines, name(m.Who)+" "+m.Event)
		case m.Kind == "message" && m.At == 0:
			lines = append(lines, "deliver "+channel)
		case m.Kind == "lost" && m.At == 0:
			lines = append(lines, "drop "+channel)
		default:
			return nil, "scenarios have no words for this step: " + m.Event
		}
	}
	return append(lines, "show"), ""
}

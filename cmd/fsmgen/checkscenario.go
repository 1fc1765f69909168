package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/scenario"
	"github.com/parley-go/parley/proptest/check"
	runs "github.com/parley-go/parley/runtime/run"
)

// writeScenarios writes every counterexample as a scenario, which fsmgen scenario runs, if that was
// asked for.
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
			text, why := scenarioOf(cl.Counterexample, loader(r.Spec, cmd))
			if why != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: no scenario for check %s, %s: %s\n", r.Spec, c.Check, cl.Name, why)
				continue
			}
			name := filepath.Join(o.scenarios, c.Check+"."+cl.Name+".txt")
			if err := files.WriteAll([]files.File{{Path: name, Content: []byte(text)}}); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", name)
		}
	}
	return nil
}

// scenarioOf writes a run as a scenario with what comes of it; why says why there is none.
func scenarioOf(r *runs.Run, load scenario.Load) (text, why string) {
	lines, why := r.Scenario()
	if why != "" {
		return "", why
	}
	blocks := []scenario.Block{{Line: 1, Head: remarks(r), Input: lines}}
	got, _, err := scenario.Run(blocks, load)
	if err != nil { // such as a full channel: a scenario has no step that the world has not
		return "", err.Error()
	}
	return scenario.Format(got), ""
}

// remarks say what the scenario shows.
func remarks(r *runs.Run) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimPrefix(r.Problem, "✗ "), "\n") {
		out = append(out, "# "+strings.TrimSpace(line))
	}
	return out
}

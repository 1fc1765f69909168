package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/scenario"
	"github.com/parley-go/parley/proptest/check"
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
			lines, why := cl.Counterexample.Scenario()
			if why != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: no scenario for check %s, %s: %s\n", r.Spec, c.Check, cl.Name, why)
				continue
			}
			blocks := []scenario.Block{{Line: 1, Head: remarks(cl), Input: lines}}
			got, _, err := scenario.Run(blocks, loader(r.Spec, cmd))
			if err != nil { // such as a full channel: a scenario has no step that the world has not
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: no scenario for check %s, %s: %v\n", r.Spec, c.Check, cl.Name, err)
				continue
			}
			name := filepath.Join(o.scenarios, c.Check+"."+cl.Name+".txt")
			if err := files.WriteAll([]files.File{{Path: name, Content: []byte(scenario.Format(got))}}); err != nil {
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

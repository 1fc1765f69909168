package main

import (
	"fmt"
	"path/filepath"

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
			text, err := scenario.Of(cl.Counterexample, loader(r.Spec, cmd))
			if err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: no scenario for check %s, %s: %v\n", r.Spec, c.Check, cl.Name, err)
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

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/suggest"
)

func init() { commands = append(commands, suggestCommand) }

const suggestLong = `Suggest looks for small changes of a specification with which all its checks pass: a reception that is missing, another
target, an effect more or less, another value in an assignment or a message, a comparison that is turned, a transition that should not be,
more deferred messages that a role may hold. Only what the counterexamples touch is changed. Each suggestion is
a difference of the text; the specification with it was compiled and checked as a whole. What is doubtful about one is noted beside it:
that it leaves a final state, or that something never fires with it (as before, or only now); those come last. The others are sorted by the
number of edits, and then by how many runs of the specification stay possible with them.

What a check expects to be violated is nothing to repair. With --ignore-expect=CLAIM that claim is to hold; what else is expected may then be
violated, or hold.

A suggestion satisfies what the checks say, no more: read it before you take it.

Exit code 0: all checks pass already. 1: they do not; the suggestions, if any, are printed. 2: a file cannot be read, wrong flags.
3: the time was up, and nothing was found until then.`

type suggestFlags struct {
	asJSON  bool
	timeout time.Duration
	o       suggest.Options
}

func suggestCommand() *cobra.Command {
	var o suggestFlags
	c := &cobra.Command{
		Use:   "suggest SPEC",
		Short: "Search small edits that make all checks of a specification pass",
		Long:  suggestLong,
		Args:  cli.Args(false, "a specification"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.o.MaxEdits < 1 || o.o.MaxEdits > 2 {
				return fmt.Errorf("--max-edits %d: one or two edits at once can be searched", o.o.MaxEdits)
			}
			file, err := cli.SpecFile(args[0])
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd, terminal(cmd.ErrOrStderr()))
			defer stop()
			return runSuggest(ctx, cmd, file, &o)
		},
	}
	f := c.Flags()
	onlyFlag(f, &o.o.Only, "only the check of this `name` is to pass")
	f.StringSliceVar(&o.o.IgnoreExpect, "ignore-expect", nil, "have this `claim` hold though checks expect it to be "+
		"violated (may be repeated); without a name all of them")
	f.Lookup("ignore-expect").NoOptDefVal = check.AllClaims
	f.IntVar(&o.o.MaxEdits, "max-edits", 2, "search sets of at most this `number` of edits (1 or 2)")
	f.IntVar(&o.o.Most, "most", 10, "stop at this `number` of suggestions of two edits; all single edits are searched")
	f.IntVar(&o.o.MaxConfigurations, "max-configurations", 0,
		"leave out candidates that need more than this `number` of configurations (default 300000)")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "stop after this `time`")
	f.IntVar(&o.o.Workers, "workers", 0, "`number` of goroutines (default: one for each core); the result "+
		"does not depend on it")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return c
}

func runSuggest(ctx context.Context, cmd *cobra.Command, file string, o *suggestFlags) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, errTimeUp)
	defer cancel()
	r, err := suggest.Search(ctx, file, o.o)
	if err != nil {
		return rejected(cmd, err)
	}
	if err := printSuggestions(cmd.OutOrStdout(), r, o.asJSON); err != nil {
		return err
	}
	switch {
	case r.Passes:
		return nil
	case len(r.Suggestions) == 0 && ctx.Err() != nil:
		return cli.Partial()
	}
	return cli.Findings()
}

// rejected tells what is wrong with a specification, if that is the error.
func rejected(cmd *cobra.Command, err error) error {
	var wrong *diag.Rejected
	if !errors.As(err, &wrong) {
		return err
	}
	return errors.Join(cli.Rejected(wrong.List), wrong.List.WriteText(cmd.ErrOrStderr(), diag.Render{Excerpt: true}))
}

func printSuggestions(w io.Writer, r *suggest.Report, asJSON bool) error {
	diff := func(c suggest.Change) string { return unifiedDiff(c.File, c.Old, c.New) }
	if !asJSON {
		_, err := io.WriteString(w, r.Text(diff))
		return err
	}
	for i := range r.Suggestions {
		s := &r.Suggestions[i]
		for _, c := range s.Changes {
			s.Diff += diff(c)
		}
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

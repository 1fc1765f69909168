package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/proptest/mutate"
)

func init() { commands = append(commands, mutateCommand) }

const mutateLong = `Mutate asks how much the checks of a specification see. It makes small mistakes, one at a time: a message that is not sent, a report
that is dropped, an assignment that is forgotten, another target, a condition that is weaker or stronger. With each it runs all checks.

A mistake that some check notices is killed. Of one that survives it is asked whether the machines do anything else at all in the checks.
If not, no claim over these checks could kill it, and it counts for nothing. If they do, the report says where: a claim about
that is missing. State a rule of the protocol there; do not repeat the transition. With --propose it looks for a claim that holds
as it is and is violated with the mistake, in checks of up to 150,000 configurations: about states and variables, about what
programs saw and did, about what must come, or about the order of reports and commands.

The score is the share of those killed. Operators that change targets, numbers and receivers are reported apart: do not look at their
survivors while you write claims, and they tell whether the claims say more than the lines that they were written for.

Exit code 0: the score is at least what --least says. 1: it is less. 2: a file cannot be read, wrong flags, or the checks do not pass as they are.
3: the time was up.`

type mutateFlags struct {
	asJSON, all bool
	timeout     time.Duration
	least       float64
	operators   []string
	with        []string
	o           mutate.Options
}

func mutateCommand() *cobra.Command {
	var o mutateFlags
	c := &cobra.Command{
		Use:   "mutate SPEC",
		Short: "Make small mistakes in a specification and see which its checks notice",
		Long:  mutateLong,
		Args:  cli.Args(false, "a specification"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := cli.SpecFile(args[0])
			if err != nil {
				return err
			}
			switch {
			case o.o.Sample < 0:
				return fmt.Errorf("--sample %d is no number of mutants", o.o.Sample)
			case o.least < 0 || o.least > 100:
				return fmt.Errorf("--least %v is not a percentage from 0 to 100", o.least)
			}
			for _, name := range o.operators {
				if !slices.Contains(mutate.Operators, mutate.Operator(name)) {
					return fmt.Errorf("--operator %s: there is no such operator; there are %s", name, operatorNames())
				}
				o.o.Operators = append(o.o.Operators, mutate.Operator(name))
			}
			for _, v := range o.with {
				f, err := cli.SpecFile(v)
				if err != nil {
					return err
				}
				o.o.With = append(o.o.With, f)
			}
			told := terminal(cmd.ErrOrStderr())
			if told != nil {
				began := time.Now() // the checks as they are come before the first mutant
				o.o.Progress = func(done, all int) {
					fmt.Fprintf(told, "\r\x1b[K%d of %d mutants%s ", done, all, left(time.Since(began), done, all))
				}
				defer fmt.Fprint(told, "\r\x1b[K")
			}
			ctx, stop := interruptible(cmd, told)
			defer stop()
			return runMutate(ctx, cmd, file, &o)
		},
	}
	f := c.Flags()
	onlyFlag(f, &o.o.Only, "run only the check of this `name` with each mutant")
	f.StringSliceVar(&o.operators, "operator", nil, "make only mistakes of this `kind` (may be repeated): "+
		operatorNames())
	f.StringSliceVar(&o.with, "with", nil, "run the checks of this `variant` of the specification, too "+
		"(may be repeated)")
	f.IntSliceVar(&o.o.Lines, "line", nil, "make only the mistakes in lines of this `number` (may be repeated)")
	f.IntVar(&o.o.Sample, "sample", 0, "run this `number` of mutants, drawn with --seed (default: all)")
	f.Uint64Var(&o.o.Seed, "seed", 1, "draw the sample with this `number`")
	f.Float64Var(&o.least, "least", 0, "exit with 1 if the score is less than this `percentage`")
	f.IntVar(&o.o.MaxConfigurations, "max-configurations", 0, "leave a mutant undecided that needs more than this "+
		"`number` of configurations in a check (default: four times what the check has, and 50000 more)")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "stop after this `time`")
	f.IntVar(&o.o.Workers, "workers", 0, "`number` of mutants at a time (default: one for each core)")
	f.BoolVar(&o.o.Propose, "propose", false, "look for a claim that would kill each mutant that survives")
	f.BoolVar(&o.all, "all", false, "list those that were killed, too, with what killed them")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return c
}

// left says about how long it takes until all are done, if the others take as long as those that are.
func left(took time.Duration, done, all int) string {
	rest := time.Duration(float64(took) / float64(max(done, 1)) * float64(all-done))
	switch {
	case done >= all || rest < time.Second:
		return ""
	case rest < time.Minute:
		return fmt.Sprintf(", about %v more", rest.Round(time.Second))
	}
	return fmt.Sprintf(", about %d min more", int(rest.Round(time.Minute)/time.Minute))
}

func operatorNames() string {
	var names []string
	for _, op := range mutate.Operators {
		names = append(names, string(op))
	}
	return diag.And(names)
}

func runMutate(ctx context.Context, cmd *cobra.Command, file string, o *mutateFlags) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, errTimeUp)
	defer cancel()
	r, err := mutate.Run(ctx, file, o.o)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		why := "it was interrupted"
		if errors.Is(err, context.DeadlineExceeded) {
			why = errTimeUp.Error()
		}
		return &cli.Error{Code: cli.ExitPartial, Message: why + " before the checks had been run without a mistake"}
	}
	if err != nil {
		return rejected(cmd, err)
	}
	if r.All == 0 && len(o.o.Lines) > 0 {
		return fmt.Errorf("--line %s: no mistake can be made there; name a line of a handler, with its guard "+
			"or statements", strings.Trim(fmt.Sprint(o.o.Lines), "[]"))
	}
	if o.asJSON {
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n", b)
	} else {
		mutateText(cmd.OutOrStdout(), r, o.all)
	}
	switch {
	case 100*r.Score(false) < o.least:
		return cli.Findings()
	case r.Unrun != "":
		return cli.Partial()
	}
	return nil
}

func mutateText(w io.Writer, r *mutate.Report, all bool) {
	fmt.Fprintf(w, "%s: %s", r.Spec, diag.Counted(r.All, "mutant"))
	if len(r.Mutants) < r.All {
		fmt.Fprintf(w, ", %d drawn", len(r.Mutants))
	}
	fmt.Fprintf(w, ", %s\n", diag.Counted(r.Checks, "check"))
	for _, held := range []bool{false, true} {
		killed, survived := r.Count(mutate.Killed, held), r.Count(mutate.Survived, held)
		words := ""
		if held {
			words = "of operators held back: "
		}
		fmt.Fprintf(w, "  %s%d killed, %d survived: %.0f %%", words, killed, survived, 100*r.Score(held))
		for _, x := range []struct {
			result mutate.Result
			words  string
		}{{mutate.Same, "do the same in every check"}, {mutate.Undecided, "undecided"}, {mutate.NotRun, "not run"}} {
			if n := r.Count(x.result, held); n > 0 {
				fmt.Fprintf(w, "; %d %s", n, x.words)
			}
		}
		fmt.Fprintln(w)
	}
	for _, held := range []bool{false, true} {
		for _, result := range []mutate.Result{mutate.Survived, mutate.Undecided, mutate.Same, mutate.Killed} {
			if all || result == mutate.Survived || result == mutate.Undecided {
				list(w, r, result, held)
			}
		}
	}
	if slices.ContainsFunc(r.Mutants, func(m *mutate.Mutant) bool { return m.Proposal != nil }) {
		fmt.Fprintln(w, "Proposals hold as it is and are violated with the mistake. They were found by what is\n"+
			"different, not in a document: take one only if it states a rule of the protocol, and say which "+
			"under `why`.")
	}
	if r.Unrun != "" {
		run := len(r.Mutants) - r.Count(mutate.NotRun, false) - r.Count(mutate.NotRun, true)
		took := time.Duration(r.Seconds * float64(time.Second))
		fmt.Fprintf(w, "%s before all were run: %d of %d%s (--timeout gives more time, --sample asks for less)\n",
			r.Unrun, run, len(r.Mutants), left(took, run, len(r.Mutants)))
	}
}

func list(w io.Writer, r *mutate.Report, result mutate.Result, held bool) {
	if r.Count(result, held) == 0 {
		return
	}
	title := strings.ReplaceAll(string(result), "-", " ")
	if held {
		title += ", of operators held back"
	}
	fmt.Fprintf(w, "%s:\n", title)
	for _, m := range r.Mutants {
		if m.Result != result || slices.Contains(mutate.HeldBack, m.Operator) != held {
			continue
		}
		fmt.Fprintf(w, "  %s: %s: %s (%s)\n", m.Where, m.Role, m.Words, m.Operator)
		if m.Differs != "" {
			fmt.Fprintf(w, "    different in %s\n", m.Differs)
		}
		if x := m.Proposal; x != nil {
			fmt.Fprintf(w, "    proposed for check %s: %s\n", x.Check, x.Claim)
			if x.Monitor != "" {
				fmt.Fprintf(w, "      with the monitor order: %s\n", x.Monitor)
			}
		}
		if m.Claim != "" {
			fmt.Fprintf(w, "    by check %s: %s\n", m.Check, m.Claim)
		}
	}
}

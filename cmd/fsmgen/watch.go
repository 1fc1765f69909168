package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/cmd/internal/watch"
	"github.com/parley-go/parley/gen/lint"
	"github.com/parley-go/parley/internal/interrupt"
)

func init() { commands = append(commands, watchCommand) }

func watchCommand() *cobra.Command {
	var o checkFlags
	c := &cobra.Command{
		Use:         "watch SPEC...",
		Annotations: map[string]string{cli.Endless: "yes"},
		Short:       "Vet and check again on every save, and print what is different",
		Long: `Watch vets and checks each specification, and does so again when it, or a file that it
extends or imports, is saved. It prints the difference to the last verdict: findings that
came (+) and went (-), checks and claims whose result changed, with a run where one is
violated now. SPEC is a file, a pattern, or a folder with specifications below it.

Ctrl-C ends it with exit code 0. Exit code 2: wrong usage, or a folder cannot be watched.`,
		Args: cli.Args(true, "a specification"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(); err != nil {
				return err
			}
			o.cfg.Compile.More = lint.Protocol
			files, err := expandFiles(args)
			if err != nil {
				return err
			}
			ctx, stop := interrupt.Context(cmd.Context())
			defer stop()
			n, err := watch.NewNotifier(ctx)
			if err != nil {
				return ioError(err)
			}
			s := &watch.Session{
				Files: files, Out: cmd.OutOrStdout(), Events: n.Events, Watch: n.Watch, Settle: watch.Settle,
				Now:   time.Now,
				Judge: func(ctx context.Context, file string) watch.Verdict { return watch.Judge(ctx, file, o.cfg) },
			}
			return ioError(s.Run(ctx))
		},
	}
	onlyFlag(c.Flags(), &o.cfg.Only, "run only the check of this `name`")
	c.Flags().DurationVar(&o.timeout, "timeout", time.Minute,
		"stop each search after this `time`; its verdict is then incomplete")
	c.Flags().StringVar(&o.memory, "max-memory", "2G", "stop a search at this much `memory`")
	return c
}

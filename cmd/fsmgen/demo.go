package main

import (
	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/cmd/internal/demo"
)

func init() { commands = append(commands, demoCommand) }

func demoCommand() *cobra.Command {
	dir := "parley-demo"
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show everything once: check, replay, play, validate, draw",
		Long: `Demo checks the protocols of a game's netplay, holds a capture of two real games against the specification, plays a match
between two generated endpoints over TCP on this machine, validates its own recordings, and draws the diagrams. It writes pictures, recordings and a page
that shows them to the folder --out.

Exit code 0: everything holds. 1: something does not. 2: the folder cannot be written, or no TCP on loopback.`,
		Args: cli.Args(false),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := interruptible(cmd, nil)
			defer stop()
			ok, err := demo.Run(ctx, cmd.OutOrStdout(), dir)
			if err != nil {
				return err
			}
			if !ok {
				return cli.Findings()
			}
			return nil
		},
	}
	c.Flags().StringVarP(&dir, "out", "o", dir, "folder for pictures, recordings and the page")
	return c
}

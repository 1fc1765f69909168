package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/cmd/internal/lsp"
	"github.com/parley-go/parley/gen/lint"
	"github.com/parley-go/parley/internal/interrupt"
)

func init() { commands = append(commands, lspCommand) }

func lspCommand() *cobra.Command {
	c := &cobra.Command{
		Use:         "lsp",
		Annotations: map[string]string{cli.Endless: "yes"},
		Short:       "Run a language server for specifications, for editors",
		Long: `Lsp speaks the Language Server Protocol on standard input and output: diagnostics as
you type, hover, definitions, references, renaming, completion, symbols, formatting.
docs/EDITORS.md says how to tell an editor.

Exit code 0: the editor ended the session. 1: it went away without a word. 2: what it
sent is not the protocol.`,
		Args: cli.Args(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interrupt.Context(cmd.Context())
			defer stop()
			err := lsp.Serve(ctx, cmd.InOrStdin(), cmd.OutOrStdout(), lsp.Options{More: lint.Protocol})
			switch {
			case errors.Is(err, lsp.ErrNoShutdown):
				return &cli.Error{Code: cli.ExitFindings, Message: err.Error()}
			case err != nil && ctx.Err() == nil:
				return ioError(err)
			}
			return nil
		},
	}
	c.Flags().Bool("stdio", true, "the only way to be connected; some editors say so")
	return c
}

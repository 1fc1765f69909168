package main

import (
	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/parse"
)

func init() { commands = append(commands, schemaCommand) }

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of specifications, for editors",
		Long: `Schema prints the JSON Schema (draft 7) of the specification language; it is also
in docs/parley.schema.json. Editors with a YAML language server complete and check
keys with it; docs/EDITORS.md says how. fsmgen lsp knows more.`,
		Args: cli.Args(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := cmd.OutOrStdout().Write(parse.Schema())
			return ioError(err)
		},
	}
}

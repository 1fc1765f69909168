// Command fsmgen checks protocol specifications and generates machines from
// them. Each subcommand lives in a file of its own and adds itself to
// [commands].
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
)

// commands are the constructors of the subcommands; every file's init adds its own.
var commands []func() *cobra.Command

func main() { os.Exit(run()) }

func run() int {
	root := &cobra.Command{
		Use:   "fsmgen",
		Short: "Check network protocols written as state machines, and generate Go from them",
	}
	for _, c := range commands {
		root.AddCommand(c())
	}
	return cli.Main(root)
}

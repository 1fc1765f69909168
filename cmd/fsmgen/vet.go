package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/lint"
)

func init() { commands = append(commands, vetCommand) }

func vetCommand() *cobra.Command {
	var format string
	var all, strict bool
	c := &cobra.Command{
		Use:   "vet SPEC...",
		Short: "Report what is wrong with specifications",
		Long: `Vet compiles each specification and reports errors and warnings, each as
path:line:col: message [CODE]; fsmgen explain CODE tells more about a code.
A SPEC is a file, a pattern, or a folder with specifications below it; files that
others extend or import are read along.

Exit code 0: nothing wrong, or warnings only. 1: errors. 2: wrong usage, or a file
cannot be read.`,
		Args: cli.Args(true, "a specification"),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := expandFiles(args)
			if err != nil {
				return err
			}
			found := vetFiles(files)
			limit := 20
			if all {
				limit = 0
			}
			switch format {
			case "json":
				err = found.WriteJSON(cmd.OutOrStdout())
			case "sarif":
				err = found.WriteSARIF(cmd.OutOrStdout())
			case "github":
				err = found.WriteGitHub(cmd.OutOrStdout())
			case "text":
				err = found.WriteText(cmd.ErrOrStderr(),
					diag.Render{Excerpt: true, Limit: limit, More: "--all shows them"})
			default:
				return &cli.Error{Code: cli.ExitUsage,
					Message: fmt.Sprintf("--format is text, json, sarif or github, not %q", format)}
			}
			if err != nil {
				return err
			}
			if found.HasErrors() || strict && len(found) > 0 {
				return cli.Rejected(found)
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "text",
		"`form` of the report: text (on standard error), or on standard output json, sarif, or github "+
			"(annotations of a workflow)")
	c.Flags().BoolVarP(&all, "all", "e", false, "report everything, not only the first 20")
	c.Flags().BoolVar(&strict, "strict", false, "exit with 1 on warnings too")
	return c
}

// vetFiles compiles each file and joins what is found, without repetitions in files that
// several specifications share.
func vetFiles(files []string) diag.List {
	var found diag.List
	for _, f := range files {
		_, l := compile.Load(f, compile.Options{More: lint.Whole})
		found = append(found, l...)
	}
	found.Sort()
	return found
}

// expandFiles expands patterns, for shells that do not, and folders; a plain name that does not
// exist stays, so that it is reported by name.
func expandFiles(args []string) ([]string, error) {
	var names []string
	for _, a := range args {
		if _, err := os.Stat(a); err == nil || !strings.ContainsAny(a, "*?[") {
			names = append(names, a)
			continue
		}
		m, err := filepath.Glob(a)
		if err != nil || len(m) == 0 {
			return nil, &cli.Error{Code: cli.ExitUsage, Message: fmt.Sprintf("no file matches %s", a)}
		}
		slices.Sort(m)
		names = append(names, m...)
	}
	return specFiles(names)
}

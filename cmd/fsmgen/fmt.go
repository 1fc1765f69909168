package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/parse"
)

func init() { commands = append(commands, fmtCommand) }

const fmtLong = `Fmt brings specifications into their canonical form: indentation, spaces, quotes, blank lines, and the columns of comments. Keys keep
their order, and every comment stays. Without flags the result goes to standard output; without SPEC it is read from standard input.
SPEC is a file, a pattern, or a folder with specifications below it.

Exit code 0: done, and with -l or -d nothing differs. 1: with -l or -d something differs, or a file is not YAML. 2: wrong usage, or a file
cannot be read or written.`

type fmtFlags struct{ list, diff, write bool }

func fmtCommand() *cobra.Command {
	var o fmtFlags
	c := &cobra.Command{
		Use:   "fmt [-d] [-l] [-w] [SPEC...]",
		Short: "Bring specifications into their canonical form",
		Long:  fmtLong,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmtInput(cmd, o)
			}
			files, err := expandFiles(args)
			if err != nil {
				return err
			}
			return fmtFiles(cmd, files, o)
		},
	}
	c.Flags().BoolVarP(&o.list, "list", "l", false, "print the names of the files that would change")
	c.Flags().BoolVarP(&o.diff, "diff", "d", false, "print what would change")
	c.Flags().BoolVarP(&o.write, "write", "w", false, "write the result to the file instead of standard output")
	return c
}

// fmtInput formats standard input.
func fmtInput(cmd *cobra.Command, o fmtFlags) error {
	if o.write {
		return &cli.Error{Code: cli.ExitUsage, Message: "-w needs a file to write to"}
	}
	text, err := files.ReadFrom(cmd.InOrStdin(), parse.MaxBytes)
	if err != nil {
		return ioError(err)
	}
	ok, err := fmtOne(cmd, "<standard input>", text, o)
	if err == nil && !ok {
		err = cli.Findings()
	}
	return err
}

func fmtFiles(cmd *cobra.Command, names []string, o fmtFlags) error {
	code := cli.ExitOK
	for _, f := range names {
		text, err := files.Read(f, parse.MaxBytes)
		if err != nil {
			return ioError(err)
		}
		ok, err := fmtOne(cmd, f, text, o)
		var rejected *cli.Error
		switch {
		// said already; the other files are formatted nevertheless
		case errors.As(err, &rejected) && rejected.Message == "":
			code = max(code, rejected.Code)
		case err != nil:
			return err
		case !ok:
			code = max(code, cli.ExitFindings)
		}
	}
	if code != cli.ExitOK {
		return &cli.Error{Code: code}
	}
	return nil
}

// fmtOne formats one text and does with it what the flags say. ok is false if there is something
// to complain about.
func fmtOne(cmd *cobra.Command, name string, text []byte, o fmtFlags) (ok bool, err error) {
	out, found := parse.Format(name, text)
	if found.HasErrors() {
		if err := found.WriteText(cmd.ErrOrStderr(), diag.Render{}); err != nil {
			return false, err
		}
		return false, cli.Rejected(found)
	}
	changed := !bytes.Equal(text, out)
	ok = true
	if o.list && changed {
		fmt.Fprintln(cmd.OutOrStdout(), name)
		ok = o.write
	}
	if o.diff && changed {
		fmt.Fprint(cmd.OutOrStdout(), unifiedDiff(name, text, out))
		ok = o.write
	}
	if o.write {
		if changed {
			err = ioError(files.Write(name, out))
		}
		return ok, err
	}
	if !o.list && !o.diff {
		_, err = cmd.OutOrStdout().Write(out)
	}
	return ok, ioError(err)
}

package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/parse"
)

func init() { commands = append(commands, newCommand) }

// starter is the specification that new writes; its protocol's name is replaced.
//
//go:embed template/spec.yaml
var starter string

func newCommand() *cobra.Command {
	dir := "."
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a specification to start from",
		Long: `New writes NAME/spec.yaml: a small protocol of two roles with comments, which vets
and checks. NAME is the protocol's name, lower-case letters and digits. A file
that exists is never written over.

Exit code 0: written. 2: the name cannot be used, or the file exists or cannot be
written.`,
		Args: cli.Args(false, "the protocol's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := writeStarter(dir, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n", path)
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", dir, "the `folder` in which the protocol's own folder is made")
	return c
}

// writeStarter writes the specification and returns its path.
func writeStarter(dir, name string) (string, error) {
	if complaint := parse.ProtocolName(name); complaint != "" {
		return "", &cli.Error{Code: cli.ExitUsage, Message: fmt.Sprintf("%q %s", name, complaint)}
	}
	path := filepath.Join(dir, name, "spec.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", ioError(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return "", &cli.Error{Code: cli.ExitUsage, Message: path + " exists; it is not written over"}
	}
	if err != nil {
		return "", ioError(err)
	}
	text := strings.Replace(starter, "protocol: starter\n", "protocol: "+name+"\n", 1)
	text = strings.ReplaceAll(text, " FILE", " "+filepath.ToSlash(path))
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path) // half a file would be in the way
		return "", ioError(err)
	}
	return path, nil
}

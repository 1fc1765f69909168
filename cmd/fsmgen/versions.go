package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/cmd/internal/revision"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/proptest/versions"
)

func init() { commands = append(commands, versionsCommand) }

const versionsLong = `Diff says whether programs of two versions of a protocol can meet, as they do while an update is under way.

It compares what is on the wire, with a line for each change, and lets the reference codec of each version read frames of the other. And it
searches the checks that both versions have with some instances of the old version and the others of the new one: each role once alone old
and once alone new. Between them a message is what the receiver makes of the sender's bytes; where no bytes are described it goes by its
name and those of its fields. What the receiver cannot read is an error of the run, at which a driver closes the link. A pair is held
against the built-in claims and against those of both versions that name only what both have; a claim that the old version violates by
itself does not count. Versions that exchange a version and part are compatible if all that both promise holds.

OLD and NEW are files, or REVISION:PATH for a file as git has it, such as main:spec.yaml, or main:./spec.yaml from the working folder.

Exit code 0: the versions are the same, or can meet. 1: they cannot. 2: a file cannot be read or has errors, wrong flags.
3: nothing was found to break, but a search was cut off, or no check could be mixed.`

type versionsFlags struct {
	asJSON   bool
	against  string
	traceDir string
	timeout  time.Duration
	o        versions.Options
}

func versionsCommand() *cobra.Command {
	var o versionsFlags
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say whether programs of two versions of a protocol can meet",
		Long:  versionsLong,
		Args:  cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.against != "" && len(args) == 1 {
				args = []string{o.against + ":./" + filepath.ToSlash(args[0]), args[0]}
			}
			if len(args) != 2 {
				return errors.New("name two specifications, the old one first, or one with --against REVISION")
			}
			var src [2]versions.Source
			for i, a := range args {
				var err error
				if src[i], err = version(a); err != nil {
					return err
				}
			}
			told := terminal(cmd.ErrOrStderr())
			if told != nil {
				o.o.Progress = func(check, who string) { fmt.Fprintf(told, "check %s, %s\n", check, who) }
			}
			ctx, stop := interruptible(cmd, told)
			defer stop()
			return runVersions(ctx, cmd, src, &o)
		},
	}
	f := c.Flags()
	onlyFlag(f, &o.o.Only, "mix only the check of this `name`")
	f.StringVar(&o.against, "against", "", "compare with the same file as git has it in this `revision`")
	f.Uint64Var(&o.o.MaxConfigurations, "max-configurations", versions.DefaultConfigurations,
		"stop the search of a mixed pair at this `number` of configurations")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "stop after this `time`")
	f.IntVar(&o.o.Workers, "workers", 0, "`number` of goroutines (default: one for each core); the result "+
		"does not depend on it")
	f.StringVar(&o.traceDir, "trace-dir", "", "write each run that breaks into this `folder`: as text, as JSON for "+
		"fsmviz --seq, and as a picture")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return c
}

// version is the source of one version: a file, or REVISION:PATH.
func version(arg string) (versions.Source, error) {
	rev, path, ok := strings.Cut(arg, ":")
	if _, err := os.Stat(arg); err == nil || !ok || len(rev) == 1 && os.PathSeparator == '\\' {
		file, err := cli.SpecFile(arg)
		return versions.Source{Path: file}, err
	}
	tree, file, err := revision.Open(rev, path)
	if err != nil {
		return versions.Source{}, err
	}
	return versions.Source{FS: tree, Path: file}, nil
}

func runVersions(ctx context.Context, cmd *cobra.Command, src [2]versions.Source, o *versionsFlags) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, errTimeUp)
	defer cancel()
	r, err := versions.Compare(ctx, src[0], src[1], o.o)
	if list := versions.Errors(err); list != nil {
		return errors.Join(&cli.Error{Code: cli.ExitUsage},
			list.WriteText(cmd.ErrOrStderr(), diag.Render{Excerpt: true}))
	} else if err != nil {
		return err
	}
	if err := versionsOnly(r, o); err != nil {
		return err
	}
	if o.traceDir != "" {
		if err := writeMixed(r, o.traceDir); err != nil {
			return err
		}
	}
	text := []byte(r.Text())
	if o.asJSON {
		if text, err = json.MarshalIndent(r, "", "  "); err != nil {
			return err
		}
		text = append(text, '\n')
	}
	if _, err := cmd.OutOrStdout().Write(text); err != nil {
		return err
	}
	switch r.Verdict {
	case versions.Breaking:
		return cli.Findings()
	case versions.Open:
		return cli.Partial()
	}
	return nil
}

// versionsOnly is the error for a check that was named and that neither version has.
func versionsOnly(r *versions.Report, o *versionsFlags) error {
	if r.Verdict == versions.Same {
		return nil
	}
	for _, name := range o.o.Only {
		found := false
		for _, p := range r.Pairs {
			found = found || p.Check == name
		}
		for _, u := range r.Unpaired {
			found = found || u.Check == name
		}
		if !found {
			return fmt.Errorf("neither version has a check %s", name)
		}
	}
	return nil
}

// writeMixed writes the runs that break.
func writeMixed(r *versions.Report, dir string) error {
	for i, p := range r.Pairs {
		for _, b := range p.Broken {
			if b.Run == nil {
				continue
			}
			name := fmt.Sprintf("%s.%d.%s", p.Check, i+1, b.Claim)
			titled := *b.Run
			titled.Title = p.Who + ": " + b.Claim
			text, err := json.MarshalIndent(&titled, "", "  ")
			if err != nil {
				return err
			}
			at := filepath.Join(dir, name)
			if err := files.WriteAll([]files.File{{Path: at + ".txt", Content: []byte(b.Run.Text())},
				{Path: at + ".json", Content: append(text, '\n')},
				{Path: at + ".svg", Content: []byte(graph.ChartSVG(titled.Chart()))}}); err != nil {
				return err
			}
		}
	}
	return nil
}

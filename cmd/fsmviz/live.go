package main

import (
	"fmt"
	"net"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/cmd/internal/live"
	"github.com/parley-go/parley/internal/interrupt"
)

// withLive are the flags that go with --live.
var withLive = []string{"live", "http", "collapse", "full", "unfold", "no-legend"}

// showLive follows records of a specification and serves the page that shows them, until Ctrl-C.
func showLive(c *cobra.Command, args []string, o options) error {
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(withLive, f.Name) {
			err = usage("--%s means nothing with --live", f.Name)
		}
	})
	if err != nil {
		return err
	}
	records := args[1:]
	switch stdin := slices.Index(records, "-"); {
	case len(records) == 0:
		return usage("--live needs the specification and then the records, also those that are not there yet: " +
			"fsmviz --live spec.yaml a.jsonl")
	case len(records) > live.MostRecords:
		return usage("--live follows at most %d records", live.MostRecords)
	case stdin >= 0 && slices.Contains(records[stdin+1:], "-"):
		return usage("standard input (-) is one record; it is named twice")
	}
	file, err := cli.SpecFile(args[0])
	if err != nil {
		return err
	}
	if what := cli.RunIn(file); what != "" {
		return usage("%s is %s; the specification comes first: fsmviz --live spec.yaml %[1]s", file, what)
	}
	p, err := load(c.ErrOrStderr(), file)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.http)
	if err != nil {
		return usage("--http %s: %v", o.http, err)
	}
	ctx, stop := interrupt.Context(c.Context())
	defer stop()
	host, _, _ := net.SplitHostPort(o.http)
	fmt.Fprintf(c.OutOrStdout(), "http://%s/ shows %s live; Ctrl-C ends\n", l.Addr(), p.Name)
	return live.New(p, o.graphOptions(), records, c.InOrStdin(), host).Serve(ctx, l)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/probe"
)

func init() { commands = append(commands, probeCommand) }

const probeLong = `Probe tests a program that runs somewhere against a specification. It connects to ADDRESS (HOST:PORT, tcp:HOST:PORT or udp:HOST:PORT),
takes the program for one instance of a check, and plays all others, each over a connection of its own. ADDRESS is that of the first channel of
the specification; --channel has those of others. What the program sends is explained as replay does it: by a run of its
machine, whatever its own program decides.

First it keeps to its role, and goes for transitions of the program that were not seen, and for pairs of them. Then it does in every state what a
peer should not do: each message, the last one again, messages that cross, parts of frames, bytes that are none, silence, and ends of the
connection. Where it plays several instances, one of them does so. After each it comes again and keeps to its role.

A program is at fault that sends what no run explains, closes without a reason, owes something and is silent for --patience, floods, or dies.
Of what comes of a hostile act itself the specification may say nothing: then the program may close or go on, and only must live.
Each fault is told with a script that was made short. --script does it again.

A program that closes one connection too many, though nobody has said anything, seems to have a limit. That is told and is no fault, and the
probe goes on with fewer. --connections says how many there may be; with fewer instances than the check has, the last ones stay away.

A program that answers by its own rules needs --value to be given what it knows: --value name=hello.txt.

Exit code 0: nothing was found. 1: something was. 2: the program cannot be reached, wrong flags, or a file cannot be read. 3: the budget or
the sessions were used up before all was tried, or a script has a line that was not possible.`

type probeFlags struct {
	o           probe.Options
	values      []string
	consts      map[string]int64
	script, out string
	asJSON      bool
	honest      bool
}

func probeCommand() *cobra.Command {
	var o probeFlags
	c := &cobra.Command{
		Use:   "probe SPEC ADDRESS",
		Short: "Test a running program against a specification",
		Long:  probeLong,
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			told := terminal(cmd.ErrOrStderr())
			if told != nil {
				o.o.Progress = func(n int, words string) { fmt.Fprintf(told, "\r\x1b[K%d sessions, %s ", n, words) }
				defer fmt.Fprint(told, "\r\x1b[K")
			}
			ctx, stop := interruptible(cmd, told)
			defer stop()
			return runProbe(ctx, cmd, args[0], args[1], &o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.o.Check, "check", "", "play the instances of this check, by `name` (default: the first with "+
		"two, or more, none of them hostile)")
	f.StringVar(&o.o.Target, "target", "", "the program is this `instance` or role (default: one that is external, "+
		"else of several the only one of its role, else the second)")
	f.StringToStringVar(&o.o.Channels, "channel", nil, "where one of several channels is that is not the first, "+
		"`NAME=ADDRESS`")
	f.StringVar(&o.o.Start, "start", "", "start the program with this `command`, and anew after each fault; it is "+
		"ended with all that it has started")
	f.IntVar(&o.o.Connections, "connections", 0, "play this `number` of instances at a time, the first "+
		"ones (default: all)")
	f.BoolVar(&o.o.Fresh, "fresh", false, "start it anew for each session")
	f.BoolVar(&o.o.Exact, "exact", false, "compare the values in messages of an external role, too, not only "+
		"their names")
	f.BoolVar(&o.o.Names, "names", false, "compare the messages' names alone, not the values in them")
	f.BoolVar(&o.o.Passive, "passive", false, "the program does nothing by itself: whatever it sends is an answer")
	f.StringArrayVar(&o.values, "value", nil, "give this value to fields of this name, `FIELD=VALUE` (may be repeated)")
	f.StringToInt64Var(&o.consts, "const", nil, "take another value for a constant, `NAME=VALUE`")
	f.Uint64Var(&o.o.Seed, "seed", 1, "draw what is drawn with this `number`")
	f.DurationVar(&o.o.Budget, "budget", time.Minute, "begin no session after this `time`")
	f.IntVar(&o.o.Sessions, "sessions", 0, "have at most this `number` of sessions (default: no bound)")
	f.BoolVar(&o.honest, "honest", false, "keep to our role, and be never hostile")
	f.DurationVar(&o.o.Patience, "patience", time.Second, "a program that owes something hangs after this `time`")
	f.DurationVar(&o.o.Linger, "linger", 200*time.Millisecond, "wait for this `time` for what the program does "+
		"by itself")
	f.DurationVar(&o.o.Ready, "ready", 10*time.Second, "a program that was started listens within this `time`")
	f.StringVar(&o.script, "script", "", "do what is in this `file` instead, and say what comes of it")
	f.StringVarP(&o.out, "out", "o", "", "write the script, the capture (pcapng) and the picture (SVG) of each fault "+
		"into this `folder`")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return c
}

func (o *probeFlags) check() error {
	o.o.Values = map[string][]string{}
	for _, text := range o.values {
		name, value, ok := cut(text)
		if !ok {
			return fmt.Errorf("--value %s is not FIELD=VALUE", text)
		}
		o.o.Values[name] = append(o.o.Values[name], value)
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{{"budget", o.o.Budget}, {"patience", o.o.Patience}, {"linger", o.o.Linger}, {"ready", o.o.Ready}} {
		if d.d <= 0 {
			return fmt.Errorf("--%s %v is no time to wait", d.name, d.d)
		}
	}
	switch {
	case o.o.Connections < 0:
		return fmt.Errorf("--connections %d is no number of connections", o.o.Connections)
	case o.o.Sessions < 0:
		return fmt.Errorf("--sessions %d is no number of sessions", o.o.Sessions)
	case o.o.Names && o.o.Exact:
		return errors.New("--names compares no values, and --exact compares them all; take one of them")
	case o.o.Fresh && o.o.Start == "":
		return errors.New("--fresh starts the program anew for each session; --start says how")
	}
	if o.honest {
		o.o.Hostile = -1
	}
	return nil
}

// cut splits NAME=VALUE.
func cut(text string) (name, value string, ok bool) {
	for i := range text {
		if text[i] == '=' {
			return text[:i], text[i+1:], i > 0
		}
	}
	return "", "", false
}

func runProbe(ctx context.Context, cmd *cobra.Command, spec, address string, o *probeFlags) error {
	spec, err := cli.SpecFile(spec)
	if err != nil {
		return err
	}
	p, diags := compile.Load(spec, compile.Options{Consts: o.consts})
	if p == nil {
		return errors.Join(cli.Rejected(diags), diags.Errors().WriteText(cmd.ErrOrStderr(),
			diag.Render{Excerpt: true, Limit: 20, More: "fsmgen vet --all shows them"}))
	}
	o.o.Datagrams = datagrams(p)
	if o.script != "" {
		return repeatProbe(ctx, cmd, p, address, o)
	}
	r, err := probe.Run(ctx, p, address, o.o)
	if err != nil {
		return err
	}
	if err := o.tell(cmd, r); err != nil {
		return err
	}
	switch {
	case r.Failed():
		return cli.Findings()
	case r.Ended != "":
		return cli.Partial()
	}
	return nil
}

// datagrams says by channel whether it is one of datagrams: it loses, copies or reorders.
func datagrams(p *model.Protocol) (list []bool) {
	for _, ch := range p.Channels() {
		list = append(list, ch.Lossy || ch.Duplicates || !ch.Ordered)
	}
	return list
}

// tell prints a report and writes what --out asks for.
func (o *probeFlags) tell(cmd *cobra.Command, r *probe.Report) error {
	if o.asJSON {
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n", b)
	} else {
		r.WriteText(cmd.OutOrStdout())
	}
	if o.out == "" {
		return nil
	}
	return o.write(cmd.OutOrStdout(), r)
}

// write writes the files of each finding.
func (o *probeFlags) write(w io.Writer, r *probe.Report) error {
	var list []files.File
	for i, f := range r.Findings {
		base := filepath.Join(o.out, fmt.Sprintf("fault-%d", i+1))
		list = append(list, files.File{Path: base + ".probe", Content: []byte(r.File(f))})
		if f.Run == nil {
			continue
		}
		var pcap bytes.Buffer
		if err := f.WriteCapture(&pcap); err != nil {
			return err
		}
		list = append(list, files.File{Path: base + ".svg", Content: []byte(graph.ChartSVG(f.Run.Chart()))},
			files.File{Path: base + ".pcapng", Content: pcap.Bytes()})
		if !o.asJSON {
			fmt.Fprintf(w, "wrote %s.probe, .svg and .pcapng\n", filepath.ToSlash(base))
		}
	}
	if err := files.WriteAll(list); err != nil {
		return ioError(err)
	}
	return nil
}

// maxScript is how long a script can be.
const maxScript = 1 << 20

// repeatProbe does a script again.
func repeatProbe(ctx context.Context, cmd *cobra.Command, p *model.Protocol, address string, o *probeFlags) error {
	script, err := files.Read(o.script, maxScript)
	if err != nil {
		return ioError(err)
	}
	list, err := probe.Repeat(ctx, p, address, script, o.o)
	if err != nil {
		return fmt.Errorf("%s: %w", o.script, err)
	}
	failed, skipped := false, false
	for _, x := range list {
		if err := o.tell(cmd, x.Report); err != nil {
			return err
		}
		failed = failed || x.Report.Failed()
		skipped = skipped || len(x.Skipped) > 0
		if o.asJSON {
			continue
		}
		for _, line := range x.Skipped {
			fmt.Fprintf(cmd.OutOrStdout(), "not possible: %s\n", diag.Visible(line))
		}
		if x.Wants == x.Shows {
			fmt.Fprintf(cmd.OutOrStdout(), "%s:%d: as the script says: %s\n", o.script, x.Line, x.Shows)
		} else {
			fmt.Fprintf(cmd.OutOrStdout(), "%s:%d: the script says %q, and this came: %s\n", o.script, x.Line, x.Wants,
				x.Shows)
		}
	}
	switch {
	case failed:
		return cli.Findings()
	case skipped: // so that a slip of the pen does not pass for a program that is right
		return cli.Partial()
	}
	return nil
}

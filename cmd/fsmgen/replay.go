package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/cmd/internal/traffic"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/replay"
)

func init() { commands = append(commands, replayCommand) }

func replayCommand() *cobra.Command {
	var ports []uint
	var hosts []string
	var channels map[string]string
	var consts map[string]int64
	var asJSON, steps bool
	var search replay.Options
	c := &cobra.Command{
		Use:   "replay SPEC FILE...",
		Short: "Say whether recorded traffic is a run of a protocol",
		Long: `Replay reads packet captures (pcap or pcapng, also gzipped) and records (JSON lines that a driver wrote), and says whether they
are runs of the protocol. If one is not, it shows the longest part that is, the state of the machine there, and what could have come instead.

A side that ends a connection must have a reason. If its machine does not close at that point, and may have been in a state that does not
take the last frame, then it refused that frame, and the verdict names it. Where the specification expects unspecified-reception, such an
end is part of a run.

A server with several clients is one machine. If one of its conversations is no run by itself, all that it has in the capture are explained
together. A capture that shows only one of its clients is then INCOMPLETE.

If frames carry addresses, the capture is one of a whole network: each host gets a run of its own over all that it sent and heard. A host
whose first frame comes from another program is environment. With --host all hosts but the named ones are.

If the protocol has several channels, say which port each one uses: --channel events=tcp:7000 --channel places=udp:7001. What two hosts say
to each other over all channels is one conversation. Each channel has its own order and losses.

Packets that are not used are listed with the reason: no receiver takes them (an RST with a wrong number), or they cannot be read (fragments).
If such an unread packet, or bytes behind a FIN, may belong to a conversation that is a run otherwise, the verdict is INCOMPLETE.

Exit code 0: every file is a run. 1: some file is not. 2: a file cannot be read. 3: nothing is known for certain, because the search ended at
its bound, the capture lacks something, or the file is damaged behind what is a run.`,
		Args: cli.Args(true, "a specification", "a capture or trace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := traffic.Options{Search: search}
			for _, p := range ports {
				if p == 0 || p > 65535 {
					return fmt.Errorf("--port %d is not a port (1 to 65535)", p)
				}
				o.Ports = append(o.Ports, uint16(p))
			}
			o.Channels = map[string]traffic.Port{}
			for name, text := range channels {
				port, err := traffic.ParsePort(text)
				if err != nil {
					return fmt.Errorf("--channel %s: %w", name, err)
				}
				o.Channels[name] = port
			}
			for _, h := range hosts {
				a, err := netip.ParseAddrPort(h)
				if err != nil {
					return fmt.Errorf("--host %s is no address with a port, such as 192.168.1.5:6581", h)
				}
				o.Hosts = append(o.Hosts, a)
			}
			o.Consts = consts
			ctx, stop := interruptible(cmd, nil)
			defer stop()
			return replayFiles(ctx, cmd, args[0], args[1:], o, asJSON, steps)
		},
	}
	f := c.Flags()
	f.UintSliceVar(&ports, "port", nil, "look only at connections with this port (may be repeated)")
	f.StringToStringVar(&channels, "channel", nil, "where one of several channels is, `NAME=tcp:PORT` or "+
		"NAME=udp:PORT (once for each)")
	f.StringSliceVar(&hosts, "host", nil, "explain only this host, `ADDRESS:PORT`, of a broadcast protocol; "+
		"the others are environment (may be repeated)")
	f.StringToInt64Var(&consts, "const", nil, "take another value for a constant, `NAME=VALUE`")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&steps, "steps", false, "list every step of the runs that explain the traffic")
	f.IntVar(&search.MaxStates, "max-states", 0, "bound of the search for each side (default 2000000)")
	f.IntVar(&search.Silent, "max-silent", 0, "longest row of commands that send nothing (default 4)")
	return c
}

func replayFiles(ctx context.Context, cmd *cobra.Command, spec string, files []string, o traffic.Options,
	asJSON, steps bool) error {
	spec, err := cli.SpecFile(spec)
	if err != nil {
		return err
	}
	if run := cli.RunIn(spec); run != "" {
		return fmt.Errorf("%s is %s, and the specification comes first; write: fsmgen replay %s %[1]s", spec,
			run, orSpec(files))
	}
	p, diags := compile.Load(spec, compile.Options{Consts: o.Consts})
	if p == nil {
		return errors.Join(cli.Rejected(diags), diags.Errors().WriteText(cmd.ErrOrStderr(),
			diag.Render{Excerpt: true, Limit: 20, More: "fsmgen vet --all shows them"}))
	}
	code := cli.ExitOK
	for _, file := range files {
		r, err := traffic.Replay(ctx, p, file, o)
		if err != nil {
			return err
		}
		if asJSON {
			if err := r.WriteJSON(cmd.OutOrStdout()); err != nil {
				return err
			}
		} else {
			r.WriteText(cmd.OutOrStdout(), steps)
		}
		switch {
		case r.Accepted():
		case r.Exhausted():
			code = max(code, cli.ExitPartial)
		default:
			code = max(code, cli.ExitFindings)
		}
	}
	if code != cli.ExitOK {
		return &cli.Error{Code: code}
	}
	return nil
}

// orSpec is the only file there is if it may be the specification, else SPEC.
func orSpec(files []string) string {
	if len(files) == 1 && cli.RunIn(files[0]) == "" {
		return files[0]
	}
	return "SPEC"
}

// Command startup is a peer of Parsec's peer-to-peer startup: the copies of it that hear each
// other's broadcasts find each other, choose who founds the game, give each other slots, take in
// who comes later, refuse when the game is full, and go on when players or the founder vanish. The
// packets are those of Parsec's P2P protocol 0.4; docs/STARTUP.md says how to try it.
//
//	startup -link udp -bind 127.0.0.1 -broadcast 127.255.255.255:6581
//	startup -link tunnel -server 127.0.0.1:2130
//	startup -serve 127.0.0.1:2130          an IPX server for tunnels
//	startup -link ipx -card eth0 -framing 802.2
//
// On a terminal it shows the table of players; otherwise it prints a line for each change.
// Interrupt leaves the game and ends it. It parses flags and prints; what a peer does is the
// business of package peer. Exit codes: 0 left in good order, 2 wrong usage, or no link or file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/examples/startup/peer"
	"github.com/parley-go/parley/internal/interrupt"
	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/ipx/raw"
	"github.com/parley-go/parley/runtime/wire"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are the flags.
type settings struct {
	link, framing, trace, serve string
	place                       peer.Place
	cfg                         peer.Config
	socket, universe            uint
	limit                       time.Duration
	until                       int
}

func run(args []string, stdout, stderr io.Writer) int {
	var s settings
	f := s.flags()
	if code, done := usage.Parse(f, args, stdout, stderr); done {
		return code
	}
	if err := s.check(f); err != nil {
		return usage.Wrong(f, stderr, err)
	}
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	if s.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.limit)
		defer cancel()
	}
	s.place.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	if err := s.play(ctx, stdout); err != nil {
		fmt.Fprintf(stderr, "startup: %v\n", err)
		return 2
	}
	return 0
}

func (s *settings) flags() *flag.FlagSet {
	f := flag.NewFlagSet("startup", flag.ContinueOnError)
	f.StringVar(&s.link, "link", "udp", "`kind` of link: udp (broadcast), tunnel (IPX in UDP, as DOSBox has "+
		"it) or ipx (on a network card)")
	f.StringVar(&s.place.Bind, "bind", "127.0.0.1", "udp: own `address`, with or without a port")
	f.StringVar(&s.place.Broadcast, "broadcast", "127.255.255.255:6581",
		"udp: `address` where everybody hears; port 0 is a free one, where nobody else does")
	f.StringVar(&s.place.Server, "server", "127.0.0.1:2130", "tunnel: `address` of the IPX server")
	f.StringVar(&s.place.Card, "card", "eth0", "ipx: `name` of the network card")
	f.StringVar(&s.framing, "framing", "802.3", "ipx: `framing`: ethernet2, 802.3, 802.2 or snap")
	f.UintVar(&s.socket, "socket", peer.Socket, "tunnel, ipx: `number` of the IPX socket")
	f.StringVar(&s.serve, "serve", "", "be an IPX server on this `address` instead of a peer")
	f.UintVar(&s.universe, "universe", uint(universe().Value), "`number` of the universe, 0 to 255: peers of others "+
		"are not heard; original peers begin in 1")
	f.DurationVar(&s.place.Silence, "silence", peer.Silence, "after how long without a packet a player is given up")
	f.DurationVar(&s.cfg.Tick, "tick", 500*time.Millisecond, "time between two packets to each player")
	f.DurationVar(&s.cfg.Again, "again", 0, "try again so long after a refusal or when nobody answers; 0: do not")
	f.StringVar(&s.cfg.Name, "name", "", "`name` in the record")
	f.StringVar(&s.trace, "trace", "", "record each step of the machine in this `file` (JSON lines)")
	f.DurationVar(&s.limit, "for", 0, "leave after this time; 0: never")
	f.IntVar(&s.until, "until", 0, "leave as soon as the game has this `number` of players; 0: never")
	return f
}

// ofOthers are the flags that belong to other links, by link.
var ofOthers = map[string][]string{
	"udp":    {"server", "socket", "card", "framing"},
	"tunnel": {"bind", "broadcast", "card", "framing"},
	"ipx":    {"bind", "broadcast", "server"},
}

// framings are the values of -framing.
var framings = map[string]raw.Framing{"ethernet2": raw.EthernetII, "802.3": raw.Raw8023, "802.2": raw.LLC,
	"snap": raw.SNAP}

// check finds what package flag cannot: values and combinations without a meaning.
func (s *settings) check(f *flag.FlagSet) error {
	if err := usage.NotNegative(f, "again", "for", "until"); err != nil {
		return err
	}
	if s.serve != "" {
		return usage.Only(f, "-serve", "serve", "for")
	}
	others, ok := ofOthers[s.link]
	if !ok {
		return fmt.Errorf("-link %s: it is udp, tunnel or ipx", s.link)
	}
	if err := usage.Without(f, "-link "+s.link, others...); err != nil {
		return err
	}
	if s.place.Framing, ok = framings[s.framing]; !ok {
		return fmt.Errorf("-framing %s: it is ethernet2, 802.3, 802.2 or snap", s.framing)
	}
	switch {
	case s.socket == 0 || s.socket > 0xffff:
		return fmt.Errorf("-socket %d: an IPX socket is a number from 1 to 65535", s.socket)
	case s.universe > 255:
		return fmt.Errorf("-universe %d: it is a number from 0 to 255", s.universe)
	case s.cfg.Tick <= 0:
		return fmt.Errorf("-tick %v: it is more than 0", s.cfg.Tick)
	case s.place.Silence <= 0:
		return fmt.Errorf("-silence %v: it is more than 0", s.place.Silence)
	}
	s.place.Socket, s.cfg.Silence = uint16(s.socket), s.place.Silence
	u := uint8(s.universe)
	s.place.Universe = &u
	return nil
}

// universe is that of the specification.
func universe() wire.Constant {
	c, _ := startup.Shape.Constant("universe")
	return c
}

// open opens the link that the flags ask for.
func (s *settings) open(ctx context.Context) (peer.Link, error) {
	switch s.link {
	case "udp":
		return peer.OpenUDP(s.place)
	case "tunnel":
		return peer.OpenTunnel(ctx, s.place)
	}
	return peer.OpenIPX(s.place)
}

func (s *settings) play(ctx context.Context, stdout io.Writer) (err error) {
	if s.serve != "" {
		return serve(ctx, s.serve, stdout)
	}
	if s.trace != "" {
		f, err := os.Create(s.trace)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		s.cfg.Sinks = append(s.cfg.Sinks, trace.NewWriter(f))
	}
	link, err := s.open(ctx)
	if err != nil {
		return err
	}
	p, err := peer.New(link, s.cfg)
	if err != nil {
		return err
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	show := newDisplay(stdout)
	refresh := time.NewTicker(100 * time.Millisecond)
	defer refresh.Stop()
	for {
		select {
		case err := <-ended:
			show.end()
			return err
		case <-refresh.C:
			v := p.View(ctx)
			if v.State != "" && v.State != startup.StateIdle.String() { // before it connects there is nothing to see
				show.view(v)
			}
			if s.until > 0 && v.State == startup.StateGame.String() && v.Taken() >= s.until {
				leave()
			}
		}
	}
}

// serve is the server of an IPX network for tunnels.
func serve(ctx context.Context, address string, stdout io.Writer) error {
	server, err := ipx.Listen("udp", address, ipx.ServerConfig{})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "serving an IPX network on %v\n", server.Addr())
	if err := server.Serve(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

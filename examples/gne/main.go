// Command gne is a server for a small game on the Game Networking Engine's protocol: players come into a game that goes
// on, change objects that all share, talk, and see where the others are, over TCP with UDP beside it.
//
// It parses flags and prints. Who may play under which name, and what is sent to whom, is the business of server.go and
// the generated machine; what is on the board that of internal/board. Start from [run]. Try it by hand, with each line
// in a terminal of its own:
//
//	go run ./examples/gne -listen 127.0.0.1:4300
//	go run ./examples/gne/client -connect 127.0.0.1:4300 -name Jason
//
// Exit codes: 0 interrupted; 1 it could not go on; 2 wrong usage, or the address cannot be listened on.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/parley-go/parley/examples/gne/internal/player"
	"github.com/parley-go/parley/examples/internal/journal"
	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/internal/interrupt"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("gne", flag.ContinueOnError)
	s := server{log: journal.New(stderr)}
	address := flags.String("listen", ":4300", "`address` to listen on, over TCP")
	socket := flags.String("udp", "", "`address` of the UDP socket; without it that of -listen")
	flags.StringVar(&s.game, "game", "Parley", "`name` of the game; others are refused")
	flags.UintVar(&s.edition, "edition", 1, "the game's version; others are refused")
	flags.DurationVar(&s.handshake, "handshake", 10*time.Second, "`time` in which a connection has to say something")
	flags.IntVar(&s.perAddress, "per-address", 8, "the most connections of one address")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	err := usage.NotNegative(flags, "handshake", "per-address")
	if err == nil {
		_, err = player.Settings(s.game, s.edition, 0)
	}
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	if *socket == "" {
		*socket = *address
	}
	listener, err := s.open(*address, *socket)
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	fmt.Fprintln(stdout, "listening on", listener.Addr(), "and, over UDP, on", s.ports.LocalAddr())
	if err := s.serve(ctx, listener); err != nil {
		fmt.Fprintf(stderr, "gne: %v\n", err)
		return 1
	}
	return 0
}

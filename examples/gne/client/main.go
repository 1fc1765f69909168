// Command client plays at a server of examples/gne from a terminal: lines that are typed are said to all, or are
// commands that begin with a slash.
//
// It parses flags, reads and prints; what is said to whom is the business of the generated machine and of
// internal/player. Start from [run]. Try it by hand:
//
//	go run ./examples/gne/client -connect 127.0.0.1:4300 -name Jason
//
// Exit codes: 0 the player has left, or there is nothing more to read; 1 there is no server, it has refused the player,
// or the connection has broken; 2 wrong usage.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/parley-go/parley/examples/gne/internal/player"
	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/internal/interrupt"
	"github.com/parley-go/parley/machines/gne"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("client", flag.ContinueOnError)
	var o player.Options
	address := flags.String("connect", "", "`address` of a server")
	flags.StringVar(&o.Name, "name", "player", "`name` of the player")
	flags.StringVar(&o.Game, "game", "Parley", "`name` of the game")
	flags.UintVar(&o.Edition, "edition", 1, "the game's version")
	flags.BoolVar(&o.NoUDP, "no-udp", false, "everything goes over TCP")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	_, err := player.Settings(o.Game, o.Edition, 0)
	if _, ok := gne.NewName(o.Name); err == nil && !ok {
		err = errors.New("-name: a name has at most 31 bytes")
	}
	if err == nil && *address == "" {
		err = errors.New("say -connect")
	}
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	var mu sync.Mutex
	o.Show = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(stdout, line)
	}
	p, err := player.Join(ctx, *address, o)
	if err != nil {
		fmt.Fprintf(stderr, "client: %v\n", err)
		return 1
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-p.Joined():
		case <-ctx.Done():
			return
		}
		for lines := bufio.NewScanner(stdin); lines.Scan(); {
			if err := p.Type(ctx, lines.Text()); err != nil {
				o.Show(err.Error())
			}
		}
		p.Type(ctx, "/quit")
	}()
	if err := p.Run(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintf(stderr, "client: %v\n", err)
		return 1
	}
	return 0
}

// Command ssr-server is the game server of SSR's document as a program: players connect, talk in the general chat, make
// games and play them by the server's clock. It registers with the registration script, so that players find it.
//
// It parses flags and prints; connections are the business of server.go, the script that of internal/registry, and
// what is said to whom that of the generated machine. Start from [run]. Try it by hand, with each line in a terminal
// of its own:
//
//	go run ./examples/ssr-server/script -listen 127.0.0.1:8000
//	go run ./examples/ssr-server -listen 127.0.0.1:4000 -script http://127.0.0.1:8000/servers -name Arena
//	go run ./examples/ssr-server/client -script http://127.0.0.1:8000/servers
//	go run ./examples/ssr-server/client -connect 127.0.0.1:4000
//
// Exit codes: 0 interrupted; 1 it could not go on; 2 wrong usage, or the address cannot be listened on.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/internal/journal"
	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/examples/ssr-server/internal/registry"
	"github.com/parley-go/parley/internal/interrupt"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("ssr-server", flag.ContinueOnError)
	s := server{log: journal.New(stderr)}
	var where registry.Where
	about := registry.About{Version: "1"}
	address := flags.String("listen", ":4000", "`address` to listen on")
	flags.StringVar(&about.Name, "name", "Parley", "`name` of the server in the list")
	flags.StringVar(&about.Region, "region", "", "`region` of the world where it is")
	flags.StringVar(&where.Script, "script", "", "`url` of the registration script; without it players are not told")
	flags.StringVar(&where.Page, "page", "", "`url` of the file that says where the script is, if it gives no answer")
	flags.DurationVar(&s.handshake, "handshake", 15*time.Second, "`time` in which a connection has to say something")
	flags.IntVar(&s.perAddress, "per-address", 16, "the most connections of one address")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	err := usage.NotNegative(flags, "handshake", "per-address")
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	listener, err := s.listen(*address)
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	about.Port = listener.Addr().(*net.TCPAddr).Port
	if err := about.Check(where); err != nil {
		listener.Close()
		return usage.Wrong(flags, stderr, err)
	}
	fmt.Fprintln(stdout, "listening on", listener.Addr())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var others sync.WaitGroup
	if where.Script != "" || where.Page != "" {
		others.Go(func() {
			if err := registry.Register(ctx, where, about, func(listed bool) {
				if listed {
					fmt.Fprintln(stdout, "players can find the server in the list")
				} else {
					s.log.Warn("the registration script could not be found; it is tried again in five minutes")
				}
			}); err != nil {
				s.log.Error("not registered", "error", err)
			}
		})
	}
	err = s.serve(ctx, listener)
	cancel()
	others.Wait()
	if err != nil {
		fmt.Fprintf(stderr, "ssr-server: %v\n", err)
		return 1
	}
	return 0
}

// Command client plays at an ssr-server from a terminal: lines that are typed are said, or are commands that begin
// with a slash. The server is named, or is found at the registration script.
//
// It parses flags, reads and prints; what is said to whom is the business of the generated machine and of
// internal/player, and the script that of internal/registry. Start from [run]. Try it by hand:
//
//	go run ./examples/ssr-server/client -connect 127.0.0.1:4000
//
// Exit codes: 0 the player has left, or there is nothing more to read; 1 there is no server; 2 wrong usage.
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

	"github.com/parley-go/parley/examples/internal/typed"
	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/examples/ssr-server/internal/player"
	"github.com/parley-go/parley/examples/ssr-server/internal/registry"
	"github.com/parley-go/parley/internal/interrupt"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("client", flag.ContinueOnError)
	address := flags.String("connect", "", "`address` of a server")
	var where registry.Where
	flags.StringVar(&where.Script, "script", "", "`url` of the registration script, which lists servers")
	flags.StringVar(&where.Page, "page", "", "`url` of the file that says where the script is, if it gives no answer")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	if (*address == "") == (where.Script == "" && where.Page == "") {
		return usage.Wrong(flags, stderr, errors.New("say -connect, or -script and perhaps -page"))
	}
	if *address == "" {
		return list(ctx, where, stdout, stderr)
	}
	link, err := tcp.Dial(ctx, "tcp", *address, tcp.Config{})
	if err != nil {
		fmt.Fprintf(stderr, "client: %v\n", err)
		return 1
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	show := func(_ player.Kind, line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(stdout, line)
	}
	p := player.New(show)
	go func() {
		defer cancel()
		for lines := bufio.NewScanner(stdin); lines.Scan(); {
			if err := p.Type(ctx, lines.Text()); err != nil {
				show(player.News, err.Error())
			}
		}
	}()
	if err := p.Run(ctx, link); err != nil && ctx.Err() == nil {
		fmt.Fprintf(stderr, "client: %v\n", err)
		return 1
	}
	return 0
}

// list prints which servers there are.
func list(ctx context.Context, where registry.Where, stdout, stderr io.Writer) int {
	servers, err := registry.Look(ctx, where)
	if err != nil {
		fmt.Fprintf(stderr, "client: %v\n", err)
		return 1
	}
	if len(servers) == 0 {
		fmt.Fprintln(stdout, "no server is registered")
	}
	for _, s := range servers {
		fmt.Fprintf(stdout, "%s  %s, in %s, version %s\n", s.Address(), typed.Clean(s.Name), typed.Clean(s.Region),
			typed.Clean(s.Version))
	}
	return 0
}

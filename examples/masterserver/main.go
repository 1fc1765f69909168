// Command masterserver is the masterserver of Parsec's document of 1998 as a program: game servers
// register over TCP with lines of text, and an HTML page lists them.
//
// It parses flags and prints; connections are the business of server.go, the page that of page.go,
// and what is said to whom that of the generated machine. Start from [serve]. Try it by hand:
//
//	go run ./examples/masterserver -listen 127.0.0.1:6502 -page list.html -http 127.0.0.1:8080
//	nc -C 127.0.0.1 6502
//	version: 1.0 join me: Gamma_Quadrant os: linux maxplayers: 16 url: http://example.org/
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
	"os/signal"
	"time"

	"github.com/parley-go/parley/examples/internal/usage"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("masterserver", flag.ContinueOnError)
	address := flags.String("listen", ":6502", "`address` to listen on")
	file := flags.String("page", "", "HTML `file` to keep up to date; without it the list is printed")
	web := flags.String("http", "", "`address` at which a browser finds the list, and programs find /list.json")
	var l limits
	flags.DurationVar(&l.handshake, "handshake", 10*time.Second,
		"`time` in which a connection has to make its first request")
	flags.DurationVar(&l.idle, "idle", time.Hour,
		"`time` after which a connection that makes no request is closed, 0 for never")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	show := func(list []entry) error {
		if *file == "" {
			fmt.Fprintln(stdout, summary(list))
			return nil
		}
		return os.WriteFile(*file, page(list, time.Now()), 0o644)
	}
	if *file != "" { // one that cannot be written is found now, not when the first server comes
		if err := show(nil); err != nil {
			return usage.Wrong(flags, stderr, fmt.Errorf("-page: %w", err))
		}
	}
	listener, err := listen(*address)
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	fmt.Fprintln(stdout, "listening on", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var list site
	if *web != "" {
		at, err := net.Listen("tcp", *web)
		if err != nil {
			listener.Close()
			return usage.Wrong(flags, stderr, fmt.Errorf("-http: %w", err))
		}
		fmt.Fprintf(stdout, "the list is at http://%s/\n", at.Addr())
		go func() {
			if err := list.serve(ctx, at); err != nil {
				fmt.Fprintf(stderr, "masterserver: the list is no longer shown: %v\n", err)
			}
		}()
	}
	err = serve(ctx, listener, l, func(now []entry) {
		list.set(now)
		if err := show(now); err != nil {
			fmt.Fprintf(stderr, "masterserver: the page is as it was: %v\n", err)
		}
	})
	if err != nil {
		fmt.Fprintf(stderr, "masterserver: %v\n", err)
		return 1
	}
	return 0
}

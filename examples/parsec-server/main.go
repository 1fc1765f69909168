// Command parsec-server is the slotserver of Parsec's document of 1998 as a program: players join over TCP with
// lines of text, get a slot, and hear who else plays. An HTML page and a list as JSON show who is there, addresses
// may be banned while it runs, and it registers with a masterserver.
//
// It parses flags and prints; connections are the business of slots.go, bans that of bans.go, the page that of
// page.go, the masterserver that of register.go, and what is said to whom that of the generated machines. It must
// not know the lines of the protocol. Start from [run]. Try it by hand:
//
//	go run ./examples/parsec-server -listen 127.0.0.1:6582 -http 127.0.0.1:8080
//	nc -C 127.0.0.1 6582
//	version: 1.0 join me: sid os: linux
//
// Exit codes: 0 interrupted; 1 it could not go on; 2 wrong usage, or an address cannot be listened on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/machines/slotserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("parsec-server", flag.ContinueOnError)
	var s server
	address := flags.String("listen", ":6582", "`address` to listen on, IPv4")
	web := flags.String("http", "", "`address` at which a browser finds the list, and programs find /list.json")
	name := flags.String("name", "Parley", "`name` of the server; blanks are shown for _")
	greeting := flags.String("greeting", "Welcome.|Have fun.|Be fair.|Good luck.",
		"four `lines` for who joins, with | between them")
	flags.StringVar(&s.bans.file, "bans", "",
		"`file` with banned addresses and prefixes, one on a line; it may change at any time")
	flags.StringVar(&s.about.Location, "location", "", "`place` for the page")
	flags.StringVar(&s.about.Admin, "admin", "", "mail `address` for the page")
	flags.StringVar(&s.about.Comment, "comment", "", "`text` for the page")
	flags.StringVar(&s.master.address, "master", "", "`address` of a masterserver to register with")
	flags.StringVar(&s.master.url, "url", "", "`url` of the page, for the masterserver")
	flags.DurationVar(&s.handshake, "handshake", 10*time.Second,
		"`time` in which a connection has to make its first request")
	flags.DurationVar(&s.idle, "idle", 0, "`time` after which a connection that says nothing is closed, 0 for never")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	s.log = slog.New(slog.NewTextHandler(stderr, nil))
	if err := s.prepare(*name, *greeting); err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	listener, err := listen(*address, s.log)
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	fmt.Fprintln(stdout, "listening on", listener.Addr())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var others sync.WaitGroup
	if *web != "" {
		l, err := net.Listen("tcp", *web)
		if err != nil {
			listener.Close()
			return usage.Wrong(flags, stderr, fmt.Errorf("-http: %w", err))
		}
		fmt.Fprintf(stdout, "the list is at http://%s/\n", l.Addr())
		others.Go(func() { s.pages(ctx, l) })
	}
	if s.master.address != "" {
		others.Go(func() { s.register(ctx) })
	}
	err = s.serve(ctx, listener)
	cancel()
	others.Wait()
	if err != nil {
		fmt.Fprintf(stderr, "parsec-server: %v\n", err)
		return 1
	}
	return 0
}

// prepare takes what the administrator says, which must fit into the protocol's lines.
func (s *server) prepare(name, greeting string) error {
	var ok bool
	if s.name, ok = slotserver.NewName(name); !ok || name == "" || strings.ContainsAny(name, " \t\n") {
		return errors.New("-name: 1 to 31 characters, with _ for a blank")
	}
	lines := strings.Split(greeting, "|")
	if len(lines) != len(s.greeting.Items) {
		return fmt.Errorf("-greeting: %d lines, and there are %d", len(lines), len(s.greeting.Items))
	}
	for i, l := range lines {
		text, ok := slotserver.NewLine(l)
		if !ok {
			return fmt.Errorf("-greeting: line %d has more than 500 characters", i+1)
		}
		m := slotserver.Message{Kind: slotserver.MessageLine, Line: slotserver.LineMessage{Text: text}}
		if _, err := slotserver.AppendMessage(nil, &m); err != nil {
			return fmt.Errorf("-greeting: line %d: %w", i+1, err)
		}
		s.greeting.Items[i] = text
	}
	s.greeting.Len = uint8(len(lines))
	if s.bans.file != "" {
		if _, err := s.bans.read(); err != nil {
			return fmt.Errorf("-bans: %w", err)
		}
	}
	s.changed = make(chan struct{}, 1)
	return nil
}

// pages serves the list to browsers and programs until ctx ends.
func (s *server) pages(ctx context.Context, l net.Listener) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(s.page(time.Now()))
	})
	mux.HandleFunc("GET /list.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(s.json())
	})
	h := http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(l); err != nil && ctx.Err() == nil {
		s.log.Error("the page is served no more", "error", err)
	}
}

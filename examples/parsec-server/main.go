// Command parsec-server is the slotserver and the gameserver of Parsec's document of 1998 as a program: players join
// over TCP with lines of text, get a slot, and hear who else plays. With -mode game all packets of the game go through
// it over UDP, to who is near enough. An HTML page and a list as JSON show who is there, addresses may be banned while
// it runs, and it registers with a masterserver. -play shows what -record has kept.
//
// It parses flags and prints; connections are the business of slots.go and game.go, who gets what of the game that of
// crowd.go, bans that of bans.go, the page that of page.go, the masterserver that of register.go, and what is said to
// whom that of the generated machines. It must not know the lines of the protocol. Start from [run]. Try it by hand:
//
//	go run ./examples/parsec-server -listen 127.0.0.1:6582 -http 127.0.0.1:8080
//	nc -C 127.0.0.1 6582
//	version: 1.0 join me: sid os: linux
//
// Exit codes: 0 interrupted; 1 it could not go on; 2 wrong usage, or an address cannot be listened on.
package main

import (
	"cmp"
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
	"github.com/parley-go/parley/runtime/transport/tcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("parsec-server", flag.ContinueOnError)
	var s server
	mode := flags.String("mode", "slot",
		"`mode`: slot, where players send to each other, or game, where all goes through this server")
	address := flags.String("listen", "", "`address` to listen on, IPv4 (default :6582, or :6581 with -mode game)")
	var g gameFlags
	flags.StringVar(&g.udp, "udp", ":6522", "`address` for the packets of the game, IPv4; with -mode game")
	flags.Float64Var(&g.reach, "range", 0, "`distance` below which ships see each other, 0 for any; with -mode game")
	flags.IntVar(&g.rate, "rate", 0, "`bytes` a second that a player gets, 0 for no limit; with -mode game")
	flags.StringVar(&g.record, "record", "",
		"`file` that the session is kept in, which must not be there yet; with -mode game")
	play := flags.String("play", "", "`file` to show what was recorded, and end")
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
	most := flags.Int("per-address", perAddress, "most `connections` of one address, such as a router's")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	if *play != "" {
		return show(*play, stdout, stderr)
	}
	s.log = slog.New(slog.NewTextHandler(stderr, nil))
	if err := s.prepare(*name, *greeting); err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	var serve func(context.Context, *tcp.Listener) error
	discard := func() {}
	switch *mode {
	case "slot":
		serve, *address = s.serve, cmp.Or(*address, ":6582")
	case "game":
		gs, err := g.open(&s)
		if err != nil {
			return usage.Wrong(flags, stderr, err)
		}
		serve, discard, *address = gs.serve, gs.discard, cmp.Or(*address, ":6581")
		fmt.Fprintln(stdout, "the game is at", gs.ports.LocalAddr())
	default:
		return usage.Wrong(flags, stderr, fmt.Errorf("-mode: %q is neither slot nor game", *mode))
	}
	listener, err := listen(*address, *most, s.log)
	if err != nil {
		discard()
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
			discard()
			return usage.Wrong(flags, stderr, fmt.Errorf("-http: %w", err))
		}
		fmt.Fprintf(stdout, "the list is at http://%s/\n", l.Addr())
		others.Go(func() { s.pages(ctx, l) })
	}
	if s.master.address != "" {
		others.Go(func() { s.register(ctx) })
	}
	err = serve(ctx, listener)
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
	if _, ok := slotserver.NewName(name); !ok || name == "" || strings.ContainsAny(name, " \t\n") {
		return errors.New("-name: 1 to 31 characters, with _ for a blank")
	}
	s.name, s.greeting = name, strings.Split(greeting, "|")
	if len(s.greeting) != 4 {
		return fmt.Errorf("-greeting: %d lines, and there are 4", len(s.greeting))
	}
	for i, l := range s.greeting {
		text, ok := slotserver.NewLine(l)
		if !ok {
			return fmt.Errorf("-greeting: line %d has more than 500 characters", i+1)
		}
		m := slotserver.Message{Kind: slotserver.MessageLine, Line: slotserver.LineMessage{Text: text}}
		if _, err := slotserver.AppendMessage(nil, &m); err != nil {
			return fmt.Errorf("-greeting: line %d: %w", i+1, err)
		}
	}
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

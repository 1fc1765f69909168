// Command parsec-server has the three servers of Parsec's document of 1998, one for each -mode. At a slotserver players
// join over TCP with lines of text, get a slot, and hear who else plays. At a gameserver all packets of the game go
// through it beside that, over UDP, to who is near enough. At a masterserver those two register, and it lists them.
// Each has an HTML page and a list as JSON. Players' addresses may be banned while a server runs. -play shows what
// -record has kept.
//
// It parses flags and prints; connections are the business of slots.go and game.go, who gets what of the game that of
// crowd.go, bans that of bans.go, the page that of page.go, registration that of register.go, the masterserver that of
// package master, and what is said to whom that of the generated machines. It must not know the lines of the protocol.
// Start from [run]. Try it by hand:
//
//	go run ./examples/parsec-server -mode master -listen 127.0.0.1:6502 -http 127.0.0.1:8081
//	go run ./examples/parsec-server -listen 127.0.0.1:6582 -http 127.0.0.1:8080 -master 127.0.0.1:6502
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
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/internal/journal"
	"github.com/parley-go/parley/examples/internal/site"
	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/examples/parsec-server/master"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/internal/interrupt"
	"github.com/parley-go/parley/machines/slotserver"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// ofMode are the flags that have a meaning in a mode, beside -mode, -listen, -http, -handshake and -idle.
var ofMode = map[string][]string{
	"slot":   ofPlayers,
	"game":   slices.Concat(ofPlayers, []string{"udp", "range", "rate", "record"}),
	"master": {"page"},
}

var ofPlayers = []string{"name", "greeting", "bans", "location", "admin", "comment", "master", "url", "per-address"}

// command is what the flags say, and where to print.
type command struct {
	flags          *flag.FlagSet
	stdout, stderr io.Writer

	s                  server
	g                  gameFlags
	mode, address, web string
	play, page         string
	name, greeting     string
	mostOfOne          int
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("parsec-server", flag.ContinueOnError)
	c := command{flags: flags, stdout: stdout, stderr: stderr}
	s, g := &c.s, &c.g
	flags.StringVar(&c.mode, "mode", "slot", "`mode`: slot, where players send to each other; game, where all goes "+
		"through this server; or master, which lists servers")
	flags.StringVar(&c.address, "listen", "",
		"`address` to listen on (default :6582, :6581 with -mode game, :6502 with -mode master); players need IPv4")
	flags.StringVar(&g.udp, "udp", ":6522", "`address` for the packets of the game, IPv4; with -mode game")
	flags.Float64Var(&g.reach, "range", 0, "`distance` below which ships see each other, 0 for any; with -mode game")
	flags.IntVar(&g.rate, "rate", 0, "`bytes` a second that a player gets, 0 for no limit; with -mode game")
	flags.StringVar(&g.record, "record", "",
		"`file` that the session is kept in, which must not be there yet; with -mode game")
	flags.StringVar(&c.play, "play", "", "`file` to show what was recorded, and end")
	flags.StringVar(&c.page, "page", "",
		"HTML `file` to keep up to date; without it the list is printed; with -mode master")
	flags.StringVar(&c.web, "http", "", "`address` at which a browser finds the list, and programs find /list.json")
	flags.StringVar(&c.name, "name", "Parley", "`name` of the server; blanks are shown for _")
	flags.StringVar(&c.greeting, "greeting", "Welcome.|Have fun.|Be fair.|Good luck.",
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
	flags.DurationVar(&s.idle, "idle", 0,
		"`time` after which a connection that says nothing is closed, 0 for never (default 1h with -mode master)")
	flags.IntVar(&c.mostOfOne, "per-address", perAddress, "most `connections` of one address, such as a router's")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	if c.play != "" {
		if err := usage.Only(flags, "-play", "play"); err != nil {
			return usage.Wrong(flags, stderr, err)
		}
		return show(ctx, c.play, stdout, stderr)
	}
	more, ok := ofMode[c.mode]
	if !ok {
		return usage.Wrong(flags, stderr, fmt.Errorf("-mode: %q is neither slot, game nor master", c.mode))
	}
	more = slices.Concat([]string{"mode", "listen", "http", "handshake", "idle"}, more)
	err := usage.Only(flags, "-mode "+c.mode, more...)
	if err == nil {
		err = usage.NotNegative(flags, "handshake", "idle")
	}
	if err == nil && s.master.address == "" {
		err = usage.Without(flags, "no -master", "url")
	}
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	s.log = journal.New(stderr)
	if c.mode == "master" {
		return c.runMaster(ctx)
	}
	return c.runPlayers(ctx)
}

// failed says what went wrong while a server ran, and returns the exit code.
func (c *command) failed(err error) int {
	if err != nil {
		fmt.Fprintf(c.stderr, "parsec-server: %v\n", err)
		return 1
	}
	return 0
}

// runMaster runs a masterserver until ctx ends.
func (c *command) runMaster(ctx context.Context) int {
	if !slices.Contains(usage.Given(c.flags), "idle") {
		c.s.idle = time.Hour
	}
	show := func(list []master.Entry) error {
		if c.page == "" {
			fmt.Fprintln(c.stdout, master.Summary(list))
			return nil
		}
		return replace(c.page, master.Page(list, time.Now()))
	}
	if c.page != "" { // one that cannot be written is found now, not when the first server comes
		if err := show(nil); err != nil {
			return usage.Wrong(c.flags, c.stderr, fmt.Errorf("-page: %w", err))
		}
	}
	listener, err := master.Listen(cmp.Or(c.address, ":6502"))
	if err != nil {
		return usage.Wrong(c.flags, c.stderr, err)
	}
	fmt.Fprintln(c.stdout, "listening on", listener.Addr())
	ctx, cancel := context.WithCancel(ctx)
	var list master.Site
	wait, err := c.serveList(ctx, list.Handler())
	defer wait()
	defer cancel()
	if err != nil {
		listener.Close()
		return usage.Wrong(c.flags, c.stderr, err)
	}
	limits := master.Limits{Handshake: c.s.handshake, Idle: c.s.idle}
	return c.failed(master.Serve(ctx, listener, limits, func(now []master.Entry) {
		list.Set(now)
		if err := show(now); err != nil {
			c.s.log.Error("the page is as it was", "error", err)
		}
	}))
}

// replace writes a file as a whole: who reads it has the old one or the new one, whenever the server ends. What is
// no plain file, such as /dev/stdout, is written to; a pipe that nobody reads is not waited for.
func replace(name string, content []byte) error {
	if info, err := os.Stat(name); err != nil || info.Mode().IsRegular() {
		return files.Write(name, content)
	}
	f, err := files.Stream(name, 0)
	if err != nil {
		return err
	}
	f.SetWriteDeadline(time.Now().Add(time.Second)) // a terminal or a device may have none
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// runPlayers runs a slot- or gameserver until ctx ends.
func (c *command) runPlayers(ctx context.Context) int {
	s := &c.s
	if err := s.prepare(c.name, c.greeting); err != nil {
		return usage.Wrong(c.flags, c.stderr, err)
	}
	serve, address, discard := s.serve, ":6582", func() {}
	if c.mode == "game" {
		gs, err := c.g.open(s)
		if err != nil {
			return usage.Wrong(c.flags, c.stderr, err)
		}
		serve, address, discard = gs.serve, ":6581", gs.discard
		fmt.Fprintln(c.stdout, "the game is at", gs.ports.LocalAddr())
	}
	listener, err := listen(cmp.Or(c.address, address), c.mostOfOne, s.log)
	if err != nil {
		discard()
		return usage.Wrong(c.flags, c.stderr, err)
	}
	fmt.Fprintln(c.stdout, "listening on", listener.Addr())
	ctx, cancel := context.WithCancel(ctx)
	wait, err := c.serveList(ctx, s.pages())
	defer wait()
	defer cancel()
	if err != nil {
		listener.Close()
		discard()
		return usage.Wrong(c.flags, c.stderr, err)
	}
	if s.master.address != "" {
		var registering sync.WaitGroup
		registering.Go(func() { s.register(ctx) })
		defer registering.Wait()
		defer cancel()
	}
	return c.failed(serve(ctx, listener))
}

// serveList answers browsers and programs until ctx ends, if there is an address for them; wait waits for that.
func (c *command) serveList(ctx context.Context, h http.Handler) (wait func(), err error) {
	if c.web == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", c.web)
	if err != nil {
		return func() {}, fmt.Errorf("-http: %w", err)
	}
	fmt.Fprintf(c.stdout, "the list is at http://%s/\n", l.Addr())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := site.Serve(ctx, l, h, site.Limits{}); err != nil {
			c.s.log.Error("the list is no longer shown", "error", err)
		}
	})
	return serving.Wait, nil
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

// pages answers requests for the list.
func (s *server) pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(s.page(time.Now()))
	})
	mux.HandleFunc("GET /list.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(s.json())
	})
	return mux
}

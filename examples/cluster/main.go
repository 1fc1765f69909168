// Command cluster is a game's servers when one machine is too small: lobbies and relayed matches, shared by many
// processes over NATS. A game belongs to one of them at a time, and moves to another when that one dies.
//
// Without -serve it is a trial: it starts NATS and some servers as processes of their own, has players make and
// join lobbies and play matches, and tells how fast that went; with -kill, also how long it took until all were
// somewhere else. With -serve it is one server:
//
//	go run . -nodes 3 -lobbies 1000 -joins 5000 -matches 20 -kill
//	go run . -serve -listen :4100 -nats nats://10.0.0.1:4222 -public play1.example.org:4100
//
// It parses flags and prints; a server is the business of internal/node. Start from [run].
//
// Exit codes: 0 done, or a server was ended; 1 it could not go on; 2 wrong usage, an address cannot be listened on, or
// a folder cannot be written; 130 a trial was interrupted, and what it has said is a part.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/agones"
	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/internal/page"
	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/internal/site"
	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/internal/interrupt"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are the flags.
type options struct {
	nats, natsListen, dir string
	lease                 time.Duration
	replicas              int
	servers               int // of NATS, in this process
	burst                 int

	serve, agones          bool
	listen, public, script string
	status                 string
	cfg                    node.Config

	trial trial
}

// ofTrial and ofServer are the flags that have a meaning for the one alone.
var (
	ofTrial  = []string{"nodes", "lobbies", "joins", "matches", "players", "kill", "nats-servers"}
	ofServer = []string{"listen", "public", "script", "status", "agones", "max-lobbies", "max-matches", "per-address",
		"games-per-address", "burst", "idle"}
)

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	f := flag.NewFlagSet("cluster", flag.ContinueOnError)
	f.StringVar(&o.nats, "nats", "", "`urls` of NATS servers, with commas; without them NATS is in this process")
	f.StringVar(&o.natsListen, "nats-listen", "", "`address` of the NATS in this process, on any port by default")
	f.StringVar(&o.dir, "dir", "", "`folder` for what the NATS in this process keeps; a temporary one by default")
	f.DurationVar(&o.lease, "lease", 3*time.Second, "`time` after which a silent server has lost what it has")
	f.IntVar(&o.replicas, "replicas", 1, "on how many `servers` of a NATS cluster everything is written")
	f.IntVar(&o.servers, "nats-servers", 1, "how many `servers` NATS is in this process, for a trial")
	f.BoolVar(&o.serve, "serve", false, "be a server")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` that players connect to, of a server")
	f.StringVar(&o.public, "public", "", "`address` that players are told, of a server; that of -listen by default")
	f.StringVar(&o.script, "script", "", "`address` at which a server is the registration script, too")
	f.StringVar(&o.status, "status", "",
		"`address` at which a server tells Prometheus and people how it is; not for players")
	f.BoolVar(&o.agones, "agones", false, "tell the sidecar of Agones what a server does, and end when it says so")
	f.IntVar(&o.cfg.Lobbies, "max-lobbies", 4096, "lobbies of a server at a time; negative for none")
	f.IntVar(&o.cfg.PerAddress, "per-address", 0, "connections of one address; a quarter of all by default")
	f.IntVar(&o.cfg.GamesPerAddress, "games-per-address", 0,
		"lobbies, and matches, that one address may have begun on a server; a quarter of all by default")
	f.IntVar(&o.burst, "burst", 512,
		"lobbies and matches that one address may begin at once in the whole cluster; then one a second")
	f.IntVar(&o.cfg.Matches, "max-matches", 1024, "matches of a server at a time; negative for none")
	f.DurationVar(&o.cfg.Idle, "idle", 30*time.Second, "`time` after which a server gives back what nobody is in")
	f.IntVar(&o.trial.nodes, "nodes", 3, "servers of a trial")
	f.IntVar(&o.trial.lobbies, "lobbies", 1000, "lobbies of a trial")
	f.IntVar(&o.trial.joins, "joins", 2000, "players of a trial who join a lobby, look around and leave")
	f.IntVar(&o.trial.matches, "matches", 10, "matches of two in a trial")
	f.IntVar(&o.trial.workers, "players", 32, "players of a trial who do something at a time")
	f.BoolVar(&o.trial.kill, "kill", false, "kill one server in a trial, and see all players go on elsewhere")
	if code, done := usage.Parse(f, args, stdout, stderr); done {
		return code
	}
	err := usage.NotNegative(f, "nodes", "lobbies", "joins", "matches", "players", "replicas", "lease",
		"idle", "per-address", "games-per-address", "burst")
	switch {
	case err != nil:
	case o.serve:
		err = usage.Without(f, "-serve", ofTrial...)
	default:
		err = errors.Join(usage.Without(f, "a trial", ofServer...), o.trial.check())
	}
	if err == nil && (o.servers < 1 || o.servers > 7 || o.servers > 1 && o.natsListen != "") {
		err = fmt.Errorf("-nats-servers %d: 1 to 7, and one with -nats-listen", o.servers)
	}
	if err == nil && o.nats != "" && (o.natsListen != "" || o.dir != "" || o.servers != 1) {
		err = errors.New("-nats-listen, -nats-servers and -dir are for NATS in this process, and -nats names another")
	}
	if err != nil {
		return usage.Wrong(f, stderr, err)
	}
	o.cfg.Logger = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	here := o.nats == ""
	end, err := o.embed()
	if err == nil {
		defer end()
		if o.serve && here {
			fmt.Fprintln(stdout, "nats at", o.nats)
		}
		if o.serve {
			err = o.server(ctx, stdout)
		} else {
			o.trial.nats, o.trial.lease, o.trial.replicas = o.nats, o.lease, o.replicas
			o.trial.stderr = &shared{w: stderr}
			err = o.trial.run(ctx, stdout)
		}
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && o.serve:
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "cluster: interrupted: what is said above is a part of the trial")
		return 130
	}
	op, path := new(net.OpError), new(fs.PathError)
	if errors.As(err, &op) && op.Op == "listen" || errors.As(err, &path) {
		return usage.Wrong(f, stderr, err)
	}
	fmt.Fprintf(stderr, "cluster: %v\n", err)
	return 1
}

// embed starts NATS in this process, if no other is named.
func (o *options) embed() (end func(), err error) {
	if o.nats != "" {
		return func() {}, nil
	}
	end = func() {}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "cluster"); err != nil {
			return nil, err
		}
		dir := o.dir
		end = func() { os.RemoveAll(dir) }
	}
	var list []*store.Embedded
	if o.servers > 1 {
		list, err = store.EmbedCluster(o.servers, o.dir)
	} else {
		list = make([]*store.Embedded, 1)
		list[0], err = store.Embed(store.EmbedConfig{Address: o.natsListen, Dir: o.dir})
	}
	if err != nil {
		end()
		return nil, err
	}
	remove := end
	var urls []string
	for _, e := range list {
		urls = append(urls, e.URL())
	}
	o.nats = strings.Join(urls, ",")
	o.trial.traffic = func() (messages, bytes int64) {
		for _, e := range list {
			m, b := e.Traffic()
			messages, bytes = messages+m, bytes+b
		}
		return messages, bytes
	}
	return func() {
		for _, e := range list {
			e.Shutdown()
		}
		remove()
	}, nil
}

// server is one server, until ctx ends or Agones shuts it down.
func (o *options) server(ctx context.Context, stdout io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a, err := net.ResolveTCPAddr("tcp", o.listen)
	if err != nil {
		return &net.OpError{Op: "listen", Net: "tcp", Err: err}
	}
	listener, err := net.ListenTCP("tcp", a)
	if err != nil {
		return err
	}
	nc, err := store.Connect(o.nats, "parley server "+listener.Addr().String())
	if err != nil {
		listener.Close()
		return err
	}
	defer nc.Close()
	opening, done := context.WithTimeout(ctx, 30*time.Second)
	st, err := store.Open(opening, nc, store.Config{Lease: o.lease, Replicas: o.replicas, Burst: o.burst})
	done()
	if err != nil {
		listener.Close()
		return err
	}
	o.cfg.Public = o.public
	up := make(chan bool, 16)
	o.cfg.OnSession = func(on bool) {
		select {
		case up <- on:
		default: // Agones hears of it with the next
		}
	}
	n := node.New(st, o.cfg)
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	for _, p := range []struct {
		name, address string
		page          http.Handler
	}{{"registration script", o.script, page.New(st)}, {"status", o.status, status(n)}} {
		if p.address == "" {
			continue
		}
		l, err := net.Listen("tcp", p.address)
		if err != nil {
			listener.Close()
			return err
		}
		fmt.Fprintln(stdout, p.name, "at", l.Addr())
		others.Go(func() {
			if err := site.Serve(ctx, l, p.page, pages); err != nil {
				o.cfg.Logger.Error(p.name+" has ended", "error", err)
			}
		})
	}
	if o.agones { // it hears that the server ends when all games are given back, since it may end the process then
		sidecar := agones.New("", o.cfg.Logger)
		kept, over := context.WithCancel(context.WithoutCancel(ctx))
		defer over()
		others.Go(func() {
			sidecar.Keep(kept, up, func() int { l, m := n.Games(); return l + m })
			cancel()
		})
	}
	fmt.Fprintln(stdout, "listening on", listener.Addr())
	return n.Run(ctx, listener)
}

// pages are the limits of the script and the status. The script has a limit of its own on what one address asks.
var pages = site.Limits{Links: 1024, EachSecond: 64}

// status answers with how a server is.
func status(n *node.Node) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = n.Status(w)
	})
}

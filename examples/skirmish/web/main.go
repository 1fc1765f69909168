// Command web lets browsers play Skirmish: it serves the page, and brings what comes over a WebSocket to a host.
//
//	web                     be a host, too: open http://127.0.0.1:8080
//	web -host HOST:7532     bring players to another host
//
// Exit codes: 0 ended by a signal, 2 wrong usage, or something cannot be opened.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/parley-go/parley/examples/skirmish/carrier"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/internal/interrupt"
)

//go:embed index.html
var page []byte

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "`address` of the page")
	host := flag.String("host", "", "`address` of a host; without one this is a host, at -game")
	own := flag.String("game", "127.0.0.1:7532", "`address` of the own host, for players at a terminal")
	flag.Parse()
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	if err := run(ctx, *listen, *host, *own, func(at string) { fmt.Printf("play at http://%s\n", at) }); err != nil {
		fmt.Fprintf(os.Stderr, "web: %v\n", err)
		os.Exit(2)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, listen, host, own string, ready func(at string)) error {
	client, err := build(ctx)
	if err != nil {
		return err
	}
	if host == "" {
		if host, err = begin(ctx, own, match.Settings{Rounds: 5, Bots: 3}, time.Second/game.Rate); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler(client, host), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	context.AfterFunc(ctx, func() { server.Close() })
	ready(l.Addr().String())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// files are what a browser needs besides the page.
type files struct{ client, support []byte }

// build compiles the game for browsers, with the Go command that there is.
func build(ctx context.Context) (f files, err error) {
	dir, err := os.MkdirTemp("", "skirmish")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	_, here, _, _ := runtime.Caller(0)
	out := filepath.Join(dir, "skirmish.wasm")
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", out, "./client")
	cmd.Dir, cmd.Env = filepath.Dir(here), append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		return f, fmt.Errorf("the game cannot be compiled for browsers: %w\n%s", err, text)
	}
	if f.client, err = os.ReadFile(out); err != nil {
		return f, err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return f, err
	}
	f.support, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	return f, err
}

// begin begins a host, and returns its address.
func begin(ctx context.Context, at string, set match.Settings, length time.Duration) (string, error) {
	d, err := carrier.Listen(ctx, carrier.TCP, at, carrier.Config{})
	if err != nil {
		return "", err
	}
	parts := carrier.Split(ctx, d, 2)
	h, err := match.NewHost(match.HostConfig{Control: parts[0], Frames: parts[1], Place: 1,
		Settings: set, Length: length,
		PerAddress: 16}) // all who play in a browser come from here
	if err != nil {
		return "", err
	}
	go h.Run(ctx)
	return d.Addr().String(), nil
}

// most is how many connections there may be at a time: each player has two.
const most = 64

func handler(f files, host string) http.Handler {
	mux := http.NewServeMux()
	give := func(path, kind string, data []byte) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Write(data)
		})
	}
	give("/{$}", "text/html; charset=utf-8", page)
	give("/wasm_exec.js", "text/javascript", f.support)
	give("/skirmish.wasm", "application/wasm", f.client)
	places := make(chan struct{}, most)
	mux.HandleFunc("GET /play", func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			http.Error(w, "too many players", http.StatusServiceUnavailable)
			return
		}
		c, err := websocket.Accept(w, r, nil) // of this origin alone
		if err != nil {
			return // it has been told
		}
		c.SetReadLimit(1 << 16)
		bring(r.Context(), c, host)
	})
	return mux
}

// bring brings bytes both ways until one of them ends.
func bring(ctx context.Context, c *websocket.Conn, host string) {
	defer c.CloseNow()
	to, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", host)
	if err != nil {
		c.Close(websocket.StatusTryAgainLater, "the host does not answer")
		return
	}
	defer to.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn := websocket.NetConn(ctx, c, websocket.MessageBinary)
	go func() {
		defer cancel()
		io.Copy(to, conn)
		to.Close()
	}()
	io.Copy(conn, to)
	conn.Close()
}

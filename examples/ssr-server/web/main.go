// Command web lets browsers play at an ssr-server: it serves a page, whose player is the generated machine as
// WebAssembly, and carries each WebSocket to a connection of the server.
// It knows nothing of the protocol. Start from [run].
//
//	GOOS=js GOARCH=wasm go -C examples/ssr-server/web build -o player.wasm ./player
//	go run ./examples/ssr-server -listen 127.0.0.1:4000 -per-address 57
//	go -C examples/ssr-server/web run . -listen 127.0.0.1:8080 -server 127.0.0.1:4000
//
// Exit codes: 0 interrupted; 1 it could not go on; 2 wrong usage, or something that is needed is not there.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/parley-go/parley/examples/internal/pipe"
	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/internal/interrupt"
)

//go:embed site
var site embed.FS

func main() {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// places is how many browsers may play at a time.
const places = 64

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("web", flag.ContinueOnError)
	address := flags.String("listen", ":8080", "`address` to listen on")
	g := gateway{log: slog.New(slog.NewTextHandler(stderr, nil)), free: make(chan struct{}, places)}
	flags.StringVar(&g.server, "server", "127.0.0.1:4000", "`address` of the game server")
	wasm := flags.String("wasm", "player.wasm", "`file` with the player, built with GOOS=js GOARCH=wasm")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	handler, err := g.handler(*wasm)
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	l, err := net.Listen("tcp", *address)
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	fmt.Fprintf(stdout, "the page is at http://%s/\n", l.Addr())
	h := http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 8 << 10, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(l); err != nil && ctx.Err() == nil {
		fmt.Fprintf(stderr, "web: %v\n", err)
		return 1
	}
	return 0
}

// gateway carries WebSockets to a game server.
type gateway struct {
	server string
	log    *slog.Logger
	free   chan struct{} // as many as there are browsers
}

// policy lets the page run nothing but what is served here.
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"

func (g *gateway) handler(wasm string) (http.Handler, error) {
	if _, err := os.Stat(wasm); err != nil {
		return nil, fmt.Errorf("-wasm: %w (build it with GOOS=js GOARCH=wasm go build -o player.wasm ./player)", err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	glue := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")
	if _, err := os.Stat(glue); err != nil {
		return nil, err
	}
	pages, err := fs.Sub(site, "site")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(pages))
	mux.HandleFunc("GET /player.wasm", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, wasm) })
	mux.HandleFunc("GET /wasm_exec.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, glue) })
	mux.HandleFunc("GET /play", g.play)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	}), nil
}

// play carries one WebSocket, whose messages are pieces of the stream. Pages of other sites may not open one.
func (g *gateway) play(w http.ResponseWriter, r *http.Request) {
	select {
	case g.free <- struct{}{}:
		defer func() { <-g.free }()
	default:
		http.Error(w, "all places are taken", http.StatusServiceUnavailable)
		return
	}
	conn, err := net.DialTimeout("tcp", g.server, 5*time.Second)
	if err != nil {
		g.log.Warn("the game server cannot be reached", "error", err)
		http.Error(w, "the game server cannot be reached", http.StatusBadGateway)
		return
	}
	defer conn.Close()
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		g.log.Warn("no WebSocket", "error", err) // the browser has been told
		return
	}
	ws.SetReadLimit(4 << 10)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	pipe.Join(pipe.Conn(websocket.NetConn(ctx, ws, websocket.MessageBinary)), pipe.Conn(conn), 0)
}

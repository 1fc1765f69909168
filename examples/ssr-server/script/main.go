// Command script is the registration script of SSR's document as a web server: game servers register with GET
// requests, and whoever asks gets the list. It also shows the file that says where the script is.
//
// It parses flags and serves; requests and pages are the business of internal/registry, and the list that of the
// generated machine. Start from [run]. Try it by hand:
//
//	go run ./examples/ssr-server/script -listen 127.0.0.1:8000
//	curl 'http://127.0.0.1:8000/servers?version=1&action=reg&name=arena&port=4000&cont=EU'
//	curl http://127.0.0.1:8000/servers
//
// Exit codes: 0 interrupted; 1 it could not go on; 2 wrong usage, or the address cannot be listened on.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/examples/ssr-server/internal/registry"
	"github.com/parley-go/parley/internal/interrupt"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// check says what is wrong with flags.
func check(path, page string) error {
	if u, err := url.Parse(path); err != nil || !strings.HasPrefix(path, "/") || u.Path != path || path == "/where" {
		return fmt.Errorf("-path %q: a path such as /servers, and not /where", path)
	}
	if page != "" {
		if info, err := os.Stat(page); err != nil {
			return fmt.Errorf("-page: %w", err)
		} else if !info.Mode().IsRegular() {
			return fmt.Errorf("-page: %s is no file", page)
		}
	}
	return nil
}

// connections is how many there may be at a time.
const connections = 256

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("script", flag.ContinueOnError)
	s := &registry.Site{Log: slog.New(slog.NewTextHandler(stderr, nil))}
	address := flags.String("listen", ":8000", "`address` to listen on, IPv4")
	flags.StringVar(&s.Path, "path", "/servers", "`path` of the script in its address")
	flags.StringVar(&s.File, "list", "", "`file` in which the list is kept over a crash")
	page := flags.String("page", "", "text `file` that is shown as /where: one line, script: URL")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	if err := check(s.Path, *page); err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	l, err := net.Listen("tcp4", *address)
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.Start(ctx); err != nil {
		l.Close()
		return usage.Wrong(flags, stderr, fmt.Errorf("-list: %w", err))
	}
	fmt.Fprintf(stdout, "the script is at http://%s%s\n", l.Addr(), s.Path)
	mux := http.NewServeMux()
	mux.Handle("/", s)
	if *page != "" {
		mux.HandleFunc("GET /where", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, *page) })
	}
	h := http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 10 * time.Second, MaxHeaderBytes: 8 << 10}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(netutil.LimitListener(l, connections)); err != nil && ctx.Err() == nil {
		fmt.Fprintf(stderr, "script: %v\n", err)
		return 1
	}
	return 0
}

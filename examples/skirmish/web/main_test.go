package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/pipe"
	"github.com/parley-go/parley/runtime/transport"
)

// A player comes through the gateway as a browser does, and plays.
func TestGateway(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	host, err := begin(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler(files{client: []byte("wasm"), support: []byte("js")}, host))
	defer s.Close()
	for path, want := range map[string]string{"/": "text/html", "/skirmish.wasm": "application/wasm",
		"/wasm_exec.js": "text/javascript"} {
		r, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if kind := r.Header.Get("Content-Type"); r.StatusCode != 200 || !strings.HasPrefix(kind, want) {
			t.Errorf("%s: %d, %s", path, r.StatusCode, kind)
		}
	}
	dial := func(ctx context.Context, door uint16) (transport.Link, error) {
		c, _, err := websocket.Dial(ctx, strings.Replace(s.URL, "http", "ws", 1)+"/play", nil)
		if err != nil {
			return nil, err
		}
		l := pipe.Link(websocket.NetConn(context.Background(), c, websocket.MessageBinary))
		l.Send(0, []byte{byte(door)})
		return l, l.Flush()
	}
	fights := make(chan struct{}, 1)
	p := match.NewPlayer(match.PlayerConfig{Name: "Ann", Dial: dial, Auto: true,
		Source: func(s *game.State, slot int) game.Input {
			if s.Phase == game.Fight {
				select {
				case fights <- struct{}{}:
				default:
				}
			}
			return s.Advice(slot)
		}})
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	select {
	case <-fights:
	case err := <-done:
		t.Fatal(err)
	}
	cancel()
	<-done
}

// A page of somebody else's cannot play in a visitor's name.
func TestOrigin(t *testing.T) {
	s := httptest.NewServer(handler(files{}, "127.0.0.1:1"))
	defer s.Close()
	_, r, err := websocket.Dial(t.Context(), strings.Replace(s.URL, "http", "ws", 1)+"/play",
		&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://elsewhere.example"}}})
	if err == nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("%v, %v", err, r)
	}
}

// The game compiles for browsers.
func TestBuild(t *testing.T) {
	if os.Getenv("PARLEY_LONG") == "" {
		t.Skip("with PARLEY_LONG=1 alone: the standard library is compiled once more for it")
	}
	f, err := build(t.Context())
	if err != nil || len(f.client) < 1<<20 || len(f.support) == 0 {
		t.Errorf("%v, %d bytes", err, len(f.client))
	}
}

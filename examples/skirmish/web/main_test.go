package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
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
	host, err := begin(ctx, "127.0.0.1:0", match.Settings{Rounds: 5, Bots: 3}, time.Second/game.Rate)
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

// In a browser the page loads the game and joins the host, a match begins and ends, and the next one begins.
func TestBrowser(t *testing.T) {
	if os.Getenv("PARLEY_LONG") == "" {
		t.Skip("with PARLEY_LONG=1 alone: the standard library is compiled once more for it")
	}
	f, err := build(t.Context())
	if err != nil || len(f.client) < 1<<20 || len(f.support) == 0 {
		t.Fatalf("%v, %d bytes", err, len(f.client))
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	host, err := begin(ctx, "127.0.0.1:0", match.Settings{Arena: 3, Rounds: 1, Bots: 7}, 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler(f, host))
	defer s.Close()
	alloc, end := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.WindowSize(900, 600))...)
	defer end()
	page, end := chromedp.NewContext(alloc)
	defer end()
	page, end = context.WithTimeout(page, 2*time.Minute) // only ends a test that would hang
	defer end()
	do := func(what string, actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(page, actions...); err != nil {
			var now string
			chromedp.Run(page, chromedp.Evaluate(`document.body.innerText + document.body.innerHTML`, &now))
			t.Fatalf("%s: %v\n%s", what, err, now)
		}
	}
	shows := func(text string) chromedp.Action {
		return chromedp.Poll(fmt.Sprintf("document.getElementById('screen').ariaLabel.startsWith(%q)", text), nil,
			chromedp.WithPollingTimeout(0))
	}
	agrees := chromedp.KeyEvent("\r")
	do("the lobby", chromedp.Navigate(s.URL+"/?name=Bea"), shows("the lobby"))
	do("a match begins", agrees, shows("the arena: round 1 of 1"))
	var colours int
	do("it is drawn", chromedp.Evaluate(`new Set(new Uint32Array(document.getElementById("screen").getContext("2d")
		.getImageData(0, 0, 560, 300).data.buffer)).size`, &colours))
	if colours < 8 {
		t.Errorf("the arena has %d colours", colours)
	}
	do("it ends", shows("the lobby after a match"))
	do("the next one", agrees, shows("the arena: round 1 of 1"))
}

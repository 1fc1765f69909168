package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/ssr-server/internal/player"
	"github.com/parley-go/parley/examples/ssr-server/internal/registry"
	"github.com/parley-go/parley/machines/ssr"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// start runs a server on loopback.
func start(t *testing.T, perAddress int) (s *server, address string) {
	t.Helper()
	s = &server{handshake: time.Minute, perAddress: perAddress, log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	listener, err := s.listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, listener.Addr().String()
}

// person is a player whose lines a test reads.
type person struct {
	t     *testing.T
	p     *player.Player
	lines chan string
	ended chan error
}

func join(t *testing.T, address string) *person {
	t.Helper()
	link, err := tcp.Dial(t.Context(), "tcp", address, tcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a := &person{t: t, lines: make(chan string, 10_000), ended: make(chan error, 1)}
	a.p = player.New(func(_ player.Kind, line string) { a.lines <- line })
	ctx, cancel := context.WithCancel(context.Background())
	go func() { a.ended <- a.p.Run(ctx, link) }()
	t.Cleanup(func() {
		cancel()
		<-a.ended
	})
	a.reads("you are in the general chat; " + player.Help)
	a.types("/games") // only when the server has answered does it know that somebody is there
	a.readsOne("there is no game that can be joined", "game …")
	return a
}

// reads waits for a line; what comes before it is passed over.
func (a *person) reads(want string) {
	a.t.Helper()
	a.readsOne(want)
}

// readsOne waits for one of some lines.
func (a *person) readsOne(want ...string) {
	a.t.Helper()
	is := func(l string) func(string) bool {
		return func(w string) bool {
			begin, cut := strings.CutSuffix(w, "…")
			return l == w || cut && strings.HasPrefix(l, begin)
		}
	}
	late := time.After(time.Minute) // ends a test that would hang
	for seen := []string(nil); ; {
		select {
		case l := <-a.lines:
			if slices.ContainsFunc(want, is(l)) {
				return
			}
			seen = append(seen, l)
		case <-late:
			a.t.Fatalf("waited for %q, read %q", want, seen)
		}
	}
}

func (a *person) types(lines ...string) {
	a.t.Helper()
	for _, l := range lines {
		if err := a.p.Type(a.t.Context(), l); err != nil {
			a.t.Fatalf("%s: %v", l, err)
		}
	}
}

// TestPlay: two players talk, play a game by the server's clock, and leave.
func TestPlay(t *testing.T) {
	_, address := start(t, 16)
	a, b, c := join(t, address), join(t, address), join(t, address)
	a.types("/name Ann")
	b.types("/name Bo <b>", "hello")
	a.reads("Bo <b>: hello")
	a.types("/new")
	a.reads("you are in game 0, which is yours")
	b.types("/games")
	b.reads("game 0 has 1 players")
	b.types("/join 0")
	b.reads("you are in game 0")
	a.types("/set map 7")
	b.reads("the game is now with map 7")
	a.types("only here")
	b.reads("Ann: only here")
	c.types("/join 7")
	c.reads("there is no place, or no such game")
	a.types("/start")
	a.reads("the game has begun")
	b.reads("the game has begun")
	c.types("/games", "in the chat")
	c.reads("there is no game that can be joined")
	c.types("/join 0")
	c.reads("there is no place, or no such game")
	b.types("/act left", "/check")
	a.reads("player 2 does left")
	for err := error(nil); ; { // the first answer of the server may be under way
		if err = a.p.Type(t.Context(), "/time"); err == nil {
			break
		}
		if err.Error() != "not now" {
			t.Fatal(err)
		}
	}
	a.reads("it is …")
	a.types("/leave")
	a.reads("you are in the general chat")
	b.reads("you are in the general chat")
	c.types("still here")
	a.reads("somebody: still here")
	for line, want := range map[string]string{
		"/start":                           "not now",
		"/fly":                             "there is no /fly; …",
		"/join x":                          "a game has a number from 0 to 15; …",
		"/name " + strings.Repeat("x", 32): "a name has at most 31 bytes…",
		"/name \x1b[2J":                    "a name has at most 31 bytes…",
		strings.Repeat("x", 401):           "that is more than 400 bytes",
		"/new game":                        "nothing stands behind that; …",
	} {
		err := a.p.Type(t.Context(), line)
		if err == nil || !strings.HasPrefix(err.Error(), strings.TrimSuffix(want, "…")) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
	b.types("/quit")
	b.reads("the connection is over")
	if err := b.p.Type(t.Context(), "hello?"); err == nil || err.Error() != "the connection is over" {
		t.Errorf("after the end: %v", err)
	}
}

// raw is a connection that sends what a test wants.
func raw(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	return conn
}

// closed waits for the other end's close, or for the connection's being reset.
func closed(t *testing.T, conn net.Conn) {
	t.Helper()
	_, err := io.Copy(io.Discard, conn)
	if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Fatal("the server did not close the connection")
	}
}

func frame(t *testing.T, m ssr.Message) []byte {
	t.Helper()
	b, err := ssr.AppendMessage(nil, &m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestStrangers: what is no frame, or not allowed, ends the connection that it came over, is counted, and disturbs
// nobody else.
func TestStrangers(t *testing.T) {
	s, address := start(t, 16)
	a, b := join(t, address), join(t, address)
	b.types("/new")
	b.reads("you are in game 0, which is yours")
	game := frame(t, ssr.Message{Kind: ssr.MessageJoin})
	cases := map[string][]byte{
		"no frame":                 []byte("GET / HTTP/1.1\r\n\r\n"),
		"a length of 0":            {0, 0, 1},
		"a length beyond all":      {255, 255, 6},
		"no such type":             {0, 3, 200},
		"a name that is too long":  append([]byte{0, 35, 1}, bytes.Repeat([]byte("x"), 32)...),
		"a name that is no text":   {0, 5, 1, 0xc3, 0x28},
		"a game that is none":      {0, 4, 4, 16},
		"joins twice":              bytes.Repeat(game, 2),
		"what servers say":         frame(t, ssr.Message{Kind: ssr.MessageEnded}),
		"a second NEWG in a game":  bytes.Repeat(frame(t, ssr.Message{Kind: ssr.MessageNewg}), 2),
		"half a frame and the end": nil,
	}
	for name, sent := range cases {
		conn := raw(t, address)
		if sent == nil {
			conn.Write([]byte{0, 40, 6, 'x'})
			conn.(*net.TCPConn).CloseWrite()
		} else {
			conn.Write(sent)
		}
		closed(t, conn)
		a.types("still here after " + name)
		conn.Close()
	}
	c := join(t, address)
	c.types("/games") // it is in the chat when the server has answered
	c.reads("game 0 has 1 players")
	a.types("the end")
	c.reads("somebody: the end")
	n := s.d.Counters()
	if n.Malformed != 7 || n.Refused != 3 {
		t.Errorf("%d malformed frames and %d refused ones were counted", n.Malformed, n.Refused)
	}
}

// TestFlood: who sends without end, and connections that say nothing, take nothing from the others.
func TestFlood(t *testing.T) {
	_, address := start(t, 8)
	a, b := join(t, address), join(t, address)
	text, _ := ssr.NewLine(strings.Repeat("flood ", 60))
	chat := frame(t, ssr.Message{Kind: ssr.MessageChat, Chat: ssr.ChatMessage{Text: text}})
	flood := raw(t, address)
	var all sync.WaitGroup
	stop := make(chan struct{})
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				flood.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
				flood.Write(chat) // the server reads slowly, so that this waits
			}
		}
	})
	for i := range 2000 {
		if conn, err := net.Dial("tcp", address); err == nil { // most are turned away
			defer conn.Close()
		}
		if i%500 == 0 {
			a.types(fmt.Sprint("said meanwhile ", i))
			b.reads(fmt.Sprint("somebody: said meanwhile ", i))
		}
	}
	close(stop)
	flood.Close()
	a.types("and after")
	b.reads("somebody: and after")
	t.Cleanup(all.Wait)
}

// TestListed: the program registers, and the one for the terminal finds it and plays.
func TestListed(t *testing.T) {
	site := &registry.Site{Path: "/servers"}
	if err := site.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(site)
	defer web.Close()
	ctx, cancel := context.WithCancel(t.Context())
	out, ended := newLines(), make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"-listen", "127.0.0.1:0", "-name", "Arena", "-region", "EU", "-script",
			web.URL + "/servers"}, out, io.Discard)
	}()
	address := strings.TrimPrefix(out.next(t), "listening on ")
	if got := out.next(t); got != "players can find the server in the list" {
		t.Fatal(got)
	}
	servers, err := registry.Look(t.Context(), registry.Where{Script: web.URL + "/servers"})
	if err != nil || len(servers) != 1 || servers[0].Address() != address || servers[0].Name != "Arena" {
		t.Errorf("the list has %v, %v; the server is at %s", servers, err, address)
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
	servers, err = registry.Look(t.Context(), registry.Where{Script: web.URL + "/servers"})
	if err != nil || len(servers) != 0 {
		t.Errorf("after the end the list has %v, %v", servers, err)
	}
}

// lineWriter gives a test the lines that a program prints.
type lineWriter struct{ c chan string }

func newLines() *lineWriter { return &lineWriter{make(chan string, 1000)} }

func (w *lineWriter) Write(b []byte) (int, error) {
	for l := range strings.Lines(string(b)) {
		w.c <- strings.TrimSuffix(l, "\n")
	}
	return len(b), nil
}

func (w *lineWriter) next(t *testing.T) string {
	t.Helper()
	select {
	case l := <-w.c:
		return l
	case <-time.After(time.Minute): // ends a test that would hang
		t.Fatal("nothing was printed")
		return ""
	}
}

// TestUsage: what can be wrong with the command line is said in one line, with exit code 2.
func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"-nonsense": "flag provided but not defined: -nonsense",
		"-listen 127.0.0.1:0 -script http://a/b?c": `"http://a/b?c" is no address such as http://example.org/servers`,
		"-listen 127.0.0.1:0 -script ftp://a":      `"ftp://a" is no address`,
		"-listen 127.0.0.1:0 -name a;b":            "versions, names and regions have no & and ;",
		"-listen 127.0.0.1":                        "there is no port; write HOST:PORT",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(args), &out, &errs)
		if code != 2 || !strings.Contains(errs.String(), want) || !strings.HasPrefix(errs.String(), "ssr-server: ") {
			t.Errorf("%s: exit code %d, %q", args, code, errs.String())
		}
	}
}

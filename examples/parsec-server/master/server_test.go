package master

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport/tcp"
)

// start runs a masterserver on loopback; lists has what it says of each change.
func start(t *testing.T) (address string, lists <-chan []Entry) {
	t.Helper()
	listener, err := tcp.Listen("tcp", "127.0.0.1:0", tcp.Config{MaxLinks: maxLinks, PerAddress: -1, AddressRate: -1})
	if err != nil {
		t.Fatal(err)
	}
	return behind(t, listener, Limits{Handshake: time.Minute, Idle: time.Hour})
}

// behind runs it behind a listener.
func behind(t *testing.T, listener *tcp.Listener, l Limits) (address string, lists <-chan []Entry) {
	ctx, cancel := context.WithCancel(context.Background())
	seen, done := make(chan []Entry, 10000), make(chan error, 1)
	go func() { done <- Serve(ctx, listener, l, func(l []Entry) { seen <- l }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String(), seen
}

// client is a plain connection.
type client struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func dial(t *testing.T, address string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &client{t, conn, bufio.NewReader(conn)}
}

// says sends bytes as they are and expects exactly these bytes back.
func (c *client) says(sent, want string) {
	c.t.Helper()
	c.conn.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	if _, err := io.WriteString(c.conn, sent); err != nil {
		c.t.Fatal(err)
	}
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c.r, got); string(got) != want {
		c.t.Fatalf("%q is answered by %q (%v), not %q", sent, got[:n], err, want)
	}
}

const join = "version: 1.0 join me: Gamma_Quadrant os: i586-pc-linux-gnu maxplayers: 16 url: " +
	"http://gammaquadrant.parsec.org/\n"

// TestDialogue is the document's: join, players, remove, and all that can be said instead.
func TestDialogue(t *testing.T) {
	address, lists := start(t)
	a, b := dial(t, address), dial(t, address)
	a.says("remove me\n", "you're not even joined\n")
	a.says("players: 3 max: 16\n", "illegal request not processed\n")
	a.says("version: 2.0 join me: a os: b maxplayers: 1 url: c\n", "masterserver version incompatible\n")
	a.says("version: 1.0 join me: a os: b maxplayers: 17 url: c\n", "illegal request not processed\n")
	a.says("version: 1.0 join me: a os: b maxplayers: 0 url: c\n", "illegal request not processed\n")
	a.says("join accepted\n", "illegal request not processed\n")
	a.says("\n", "illegal request not processed\n")
	a.says(strings.Repeat("x", 511)+"\n", "illegal request not processed\n")
	a.says(join, "join accepted\n")
	if l := <-lists; len(l) != 1 || Summary(l) != "1 server: Gamma Quadrant 0/16 i586-pc-linux-gnu" ||
		l[0].address != "127.0.0.1" {
		t.Errorf("%+v", l)
	}
	a.says("players: 3 max: 16\r\n", "players acknowledged.\n")
	if l := <-lists; !strings.Contains(string(Page(l, time.Unix(0, 0))),
		`<a href="http://gammaquadrant.parsec.org/">Gamma Quadrant</a></td><td>3/16</td><td>127.0.0.1</td><td>i586-pc-linux-gnu</td>`) {
		t.Errorf("%s", Page(l, time.Unix(0, 0)))
	}
	a.says("players: 9 max: 8\n", "illegal request not processed\n")
	b.says("version: 1.0 join me: <b> os: x maxplayers: 4 url: javascript:alert(1)\n", "join accepted\n")
	if l := <-lists; len(l) != 2 || strings.Contains(string(Page(l, time.Unix(0, 0))), "<b>") ||
		strings.Contains(string(Page(l, time.Unix(0, 0))), `"javascript:`) {
		t.Errorf("%s", Page(l, time.Unix(0, 0)))
	}
	// Several requests at once, and one in pieces: each has its reply, in order.
	b.says("players: 1 max: 4\nplayers: 2 max: 4\nrem", "players acknowledged.\nplayers acknowledged.\n")
	b.says("ove me\r", "")
	b.says("\n", "removing you\n")
	a.says("remove me\n", "removing you\n")
	a.says("remove me\n", "you're not even joined\n")
}

// TestSite: browsers and programs get the list, with what servers say of themselves escaped.
func TestSite(t *testing.T) {
	var s Site
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	get := func(path string) string {
		t.Helper()
		answer, err := http.Get(web.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Status + " " + answer.Header.Get("Content-Type") + "\n" + string(b)
	}
	if got := get("/list.json"); got != "200 OK application/json\n{\"servers\":[]}\n" {
		t.Error(got)
	}
	address, lists := start(t)
	a := dial(t, address)
	a.says("version: 1.0 join me: <script> os: a&b maxplayers: 4 url: http://example.org/?a&b\n", "join accepted\n")
	s.Set(<-lists)
	got := get("/")
	for _, want := range []string{"200 OK text/html; charset=utf-8\n", `http-equiv="refresh" content="30"`,
		"<h1>Which Parsec servers are currently running ?</h1>", "&lt;script&gt;</a></td><td>0/4</td>", "a&amp;b",
		" by Parsec Master Server v0.10</p>"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %s:\n%s", want, got)
		}
	}
	if strings.Contains(got, "<script>") {
		t.Error(got)
	}
	if got := get("/list.json"); !strings.Contains(got, `"players":0,"max":4,"ip":"127.0.0.1","os":"a\u0026b"`) {
		t.Error(got)
	}
	if got := get("/other"); !strings.HasPrefix(got, "404") {
		t.Error(got)
	}
}

// TestBroken: who hangs up, or sends what is no line, is no longer listed.
func TestBroken(t *testing.T) {
	address, lists := start(t)
	for _, last := range []string{"", "caf\xe9\n", strings.Repeat("x", 600)} {
		a := dial(t, address)
		a.says(join, "join accepted\n")
		if l := <-lists; len(l) != 1 {
			t.Fatalf("%d in the list", len(l))
		}
		if last == "" {
			a.conn.Close()
		} else {
			a.says(last, "")
			if _, err := a.r.ReadByte(); err == nil {
				t.Errorf("%q has a reply", last)
			}
		}
		if l := <-lists; len(l) != 0 {
			t.Errorf("after %.20q there are still %d in the list", last, len(l))
		}
	}
}

// TestFull: 256 are listed, the next one is told to come again, and can when one has gone.
func TestFull(t *testing.T) {
	address, lists := start(t)
	var all []*client
	for i := range 256 {
		c := dial(t, address)
		c.says(fmt.Sprintf("version: 1.0 join me: server%d os: linux maxplayers: 4 url: http://x/\n", i),
			"join accepted\n")
		all = append(all, c)
		if l := <-lists; len(l) != i+1 {
			t.Fatalf("%d in the list, not %d", len(l), i+1)
		}
	}
	late := dial(t, address)
	late.says(join, "masterserver full\n")
	all[17].says(join, "join accepted\n") // replaces its own entry
	<-lists
	all[40].conn.Close()
	if l := <-lists; len(l) != 255 {
		t.Fatalf("%d in the list", len(l))
	}
	late.says(join, "join accepted\n")
	if l := <-lists; len(l) != 256 {
		t.Errorf("%d in the list", len(l))
	}
}

// from connects from an address of this computer.
func from(t *testing.T, own, address string) (net.Conn, error) {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(own)}}
	c, err := d.Dial("tcp4", address)
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

// TestSilentConnectionsKeepNobodyOut: 299 connections that say nothing, from 8 addresses or from
// many, leave room for a game server.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	for _, addresses := range []int{8, 60} {
		listener, err := Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address, lists := behind(t, listener, Limits{Handshake: time.Hour, Idle: time.Hour})
		held := 0
		for n := range 299 {
			if _, err := from(t, fmt.Sprintf("127.0.1.%d", 1+n%addresses), address); err == nil {
				held++
			}
		}
		if held == 0 {
			t.Skip("this computer has no address 127.0.1.1")
		}
		for s := listener.Stats(); s.Accepted+s.Crowded+s.Hasty+s.Rejected < uint64(held); s = listener.Stats() {
			runtime.Gosched()
		}
		if s := listener.Stats(); addresses == 8 && int(s.Crowded) < held-8*perAddress ||
			s.Open > addresses*perAddress {
			t.Errorf("%d addresses: %+v", addresses, s)
		}
		dial(t, address).says(join, "join accepted\n")
		if l := <-lists; len(l) != 1 {
			t.Errorf("%d addresses: %d in the list", addresses, len(l))
		}
	}
}

// TestSilenceEnds: who makes no request is hung up on, and so is who makes none any more.
func TestSilenceEnds(t *testing.T) {
	for name, l := range map[string]Limits{
		"at first":   {Handshake: 50 * time.Millisecond, Idle: time.Hour},
		"after some": {Handshake: time.Hour, Idle: 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			address, lists := behind(t, listener, l)
			c := dial(t, address)
			if name == "after some" {
				c.says(join, "join accepted\n")
				<-lists
			}
			c.conn.SetDeadline(time.Now().Add(time.Minute))
			if b, err := c.r.ReadByte(); err != io.EOF {
				t.Errorf("read %q, %v", b, err)
			}
			if name == "after some" {
				if l := <-lists; len(l) != 0 {
					t.Errorf("%d in the list", len(l))
				}
			}
		})
	}
}

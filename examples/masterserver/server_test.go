package main

import (
	"bufio"
	"bytes"
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
func start(t *testing.T) (address string, lists <-chan []entry) {
	t.Helper()
	listener, err := tcp.Listen("tcp", "127.0.0.1:0", tcp.Config{MaxLinks: maxLinks, PerAddress: -1, AddressRate: -1})
	if err != nil {
		t.Fatal(err)
	}
	return behind(t, listener, limits{handshake: time.Minute, idle: time.Hour})
}

// behind runs it behind a listener.
func behind(t *testing.T, listener *tcp.Listener, l limits) (address string, lists <-chan []entry) {
	ctx, cancel := context.WithCancel(context.Background())
	seen, done := make(chan []entry, 10000), make(chan error, 1)
	go func() { done <- serve(ctx, listener, l, func(l []entry) { seen <- l }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String(), seen
}

// What can be wrong with the command line is said in one line, with exit code 2.
func TestUsage(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for args, want := range map[string]string{
		"-nonsense":                            "flag provided but not defined: -nonsense",
		"here":                                 `unexpected argument "here"`,
		"-listen":                              "flag needs an argument: -listen",
		"-listen 127.0.0.1":                    "there is no port; write HOST:PORT",
		"-listen 127.0.0.1:99999":              "it is a number from 0 to 65535",
		"-listen 203.0.113.77:1":               "does not have the address 203.0.113.77; it has 127.0.0.1",
		"-listen " + taken.Addr().String():     "another program of this computer has port",
		"-listen 127.0.0.1:0 -page /nowhere/x": "-page: open /nowhere/x",
	} {
		var out, errs bytes.Buffer
		code := run(strings.Fields(args), &out, &errs)
		if lines := strings.Split(errs.String(), "\n"); code != 2 || out.Len() > 0 || len(lines) != 3 ||
			!strings.Contains(lines[0], want) || !strings.HasPrefix(lines[0], "masterserver: ") {
			t.Errorf("%s: exit code %d, %q%q", args, code, out.String(), errs.String())
		}
	}
	var out, errs bytes.Buffer
	if code := run([]string{"-help"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "-page") ||
		errs.Len() > 0 {
		t.Errorf("-help: exit code %d, %q%q", code, out.String(), errs.String())
	}
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
	if l := <-lists; len(l) != 1 || summary(l) != "1 servers: Gamma Quadrant 0/16 i586-pc-linux-gnu" ||
		l[0].address != "127.0.0.1" {
		t.Errorf("%+v", l)
	}
	a.says("players: 3 max: 16\r\n", "players acknowledged.\n")
	if l := <-lists; !strings.Contains(string(page(l, time.Unix(0, 0))),
		`<a href="http://gammaquadrant.parsec.org/">Gamma Quadrant</a></td><td>3/16</td><td>127.0.0.1</td><td>i586-pc-linux-gnu</td>`) {
		t.Errorf("%s", page(l, time.Unix(0, 0)))
	}
	a.says("players: 9 max: 8\n", "illegal request not processed\n")
	b.says("version: 1.0 join me: <b> os: x maxplayers: 4 url: javascript:alert(1)\n", "join accepted\n")
	if l := <-lists; len(l) != 2 || strings.Contains(string(page(l, time.Unix(0, 0))), "<b>") ||
		strings.Contains(string(page(l, time.Unix(0, 0))), `"javascript:`) {
		t.Errorf("%s", page(l, time.Unix(0, 0)))
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
	var s site
	web := httptest.NewServer(s.handler())
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
	s.set(<-lists)
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
		listener, err := listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address, lists := behind(t, listener, limits{handshake: time.Hour, idle: time.Hour})
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
	for name, l := range map[string]limits{
		"at first":   {handshake: 50 * time.Millisecond, idle: time.Hour},
		"after some": {handshake: time.Hour, idle: 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := listen("127.0.0.1:0")
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

package site

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func serve(t *testing.T, limits Limits) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "page") })
	go func() { done <- Serve(ctx, l, page, limits) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// visit opens a connection that reads what comes until it ends.
func visit(t *testing.T, address string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	return conn, bufio.NewReader(conn)
}

func ask(t *testing.T, conn net.Conn, r *bufio.Reader, header string) int {
	t.Helper()
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n"+header+"\r\n")
	a, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, a.Body)
	return a.StatusCode
}

func ended(r *bufio.Reader) bool {
	_, err := r.ReadByte()
	return err != nil && !strings.Contains(err.Error(), "timeout")
}

// TestLimits: whoever comes too often, asks too often, says too much or nothing is let go; the others are answered.
func TestLimits(t *testing.T) {
	second := time.Unix(1, 0)
	address := serve(t, Limits{Links: 4, LinksOfOne: 3, EachSecond: 6, Now: func() time.Time { return second }})
	a, ar := visit(t, address)
	for n := range 6 {
		if code := ask(t, a, ar, ""); code != 200 {
			t.Errorf("request %d: %d", n, code)
		}
	}
	if code := ask(t, a, ar, ""); code != http.StatusTooManyRequests || !ended(ar) {
		t.Errorf("one too many: %d", code)
	}
	var open []net.Conn
	for range 5 {
		conn, r := visit(t, address)
		// A connection that is let in hears that its request is one too many, the others nothing.
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		a, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("connection %d: %v", len(open)+2, err)
		}
		io.Copy(io.Discard, a.Body)
		if !ended(r) { // then its place is free again
			t.Errorf("connection %d is still there", len(open)+2)
		}
		open = append(open, conn)
	}
	if _, r := visit(t, address); !ended(r) {
		t.Error("a seventh connection in this second is let in")
	}
}

// TestLinks: so many connections of an address are open at a time, and a place is free again when one is closed.
func TestLinks(t *testing.T) {
	address := serve(t, Limits{LinksOfOne: 2, EachSecond: 1000})
	a, ar := visit(t, address)
	b, br := visit(t, address)
	if ask(t, a, ar, "") != 200 || ask(t, b, br, "") != 200 {
		t.Error("who comes first is refused")
	}
	if _, r := visit(t, address); !ended(r) {
		t.Error("a third one is let in")
	}
	if code := ask(t, b, br, "X: "+strings.Repeat("x", 64<<10)+"\r\n"); code != 431 || !ended(br) {
		t.Errorf("a header of 64 KiB: %d", code)
	}
	for end := time.Now().Add(time.Minute); ; { // the server may still be closing the second one
		if time.Now().After(end) {
			t.Fatal("its place is not free again")
		}
		c, r := visit(t, address)
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if a, err := http.ReadResponse(r, nil); err == nil && a.StatusCode == 200 {
			break
		}
	}
}

// TestSlow: who does not end a request is let go.
func TestSlow(t *testing.T) {
	address := serve(t, Limits{Time: 50 * time.Millisecond})
	conn, r := visit(t, address)
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost:")
	if !ended(r) {
		t.Error("it is still there")
	}
}

package tcp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// greeting is an opening by a frame of a length byte and letters, of which the first is h.
var greeting = transport.Opening{
	Size: func(b []byte) (int, error) {
		if b[0] < 2 {
			return 0, errors.New("too short")
		}
		return int(b[0]), nil
	},
	Max:   100,
	Valid: func(frame []byte) bool { return frame[1] == 'h' },
}

// atDoor listens for one connection.
func atDoor(t *testing.T, cfg tcp.Config) (l *tcp.Listener, dial func(said string) net.Conn, one chan transport.Link) {
	t.Helper()
	l, err := tcp.Listen("tcp", "127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	one = make(chan transport.Link, 1)
	go func() {
		link, err := l.AcceptOne(t.Context(), greeting.Await)
		if err != nil {
			t.Error(err)
		}
		one <- link
	}()
	return l, func(said string) net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			t.Cleanup(func() { c.Close() })
			_, err = c.Write([]byte(said))
		}
		if err != nil {
			t.Log(err) // it is late, and the place taken
			return nil
		}
		return c
	}, one
}

// TestStrangersFirst: who connects first and says nothing, half a frame or nonsense keeps no friend out,
// and goes when the friend has come.
func TestStrangersFirst(t *testing.T) {
	turned := make(chan error, 10)
	l, dial, one := atDoor(t, tcp.Config{Handshake: -1,
		OnTurnedAway: func(_ net.Addr, why error) { turned <- why }})
	silent := []net.Conn{dial(""), dial("\x05hel")}
	for _, said := range []string{"\x05world", "\x00", "\xff", "\x03h"} {
		c := dial(said)
		if said == "\x03h" {
			c.Close() // within its frame
		}
		if why := <-turned; why != io.EOF && !errors.Is(why, transport.ErrStranger) &&
			!errors.Is(why, transport.ErrReset) {
			t.Errorf("%q: %v", said, why)
		}
	}
	friend := dial("\x05hello, and more")
	link := <-one
	defer link.Abort()
	if got, want := link.RemoteAddr(0).String(), friend.LocalAddr().String(); got != want {
		t.Fatalf("%s has the place of %s", got, want)
	}
	friend.Close()
	text := ""
	for buf := make([]byte, 4); ; {
		got, err := link.Receive(buf)
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text += string(buf[:got.N])
	}
	if text != "\x05hello, and more" {
		t.Errorf("the friend's words became %q", text)
	}
	for _, c := range silent {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a stranger was spoken to")
		}
	}
	if s := l.Stats(); s.Invalid != 4 || s.Silent != 0 || s.Open != 1 {
		t.Errorf("%+v", s)
	}
}

// TestStrangersFill: the oldest of those who wait gives way when there is no room at the door.
func TestStrangersFill(t *testing.T) {
	l, dial, one := atDoor(t, tcp.Config{MaxLinks: 2, Handshake: -1})
	for range 5 {
		dial("")
	}
	dial("\x05hello")
	(<-one).Abort()
	if s := l.Stats(); s.Yielded < 4 || s.Rejected != 0 {
		t.Errorf("%+v", s)
	}
}

// TestStrangersExpire: who says nothing is let go after a while, also when nobody else comes.
func TestStrangersExpire(t *testing.T) {
	turned := make(chan error, 1000)
	l, dial, one := atDoor(t, tcp.Config{Handshake: 50 * time.Millisecond,
		OnTurnedAway: func(_ net.Addr, why error) { turned <- why }})
	dial("")
	if why := <-turned; !errors.Is(why, transport.ErrUnopened) {
		t.Error(why)
	}
	if s := l.Stats(); s.Silent != 1 || s.Open != 0 {
		t.Errorf("%+v", s)
	}
	for { // a friend may be slow, too
		if dial("\x05hello") == nil {
			t.Fatal("nobody listens")
		}
		select {
		case link := <-one:
			link.Abort()
			return
		case <-turned:
		}
	}
}

// TestNobodyComes: the wait ends with its context.
func TestNobodyComes(t *testing.T) {
	l, err := tcp.Listen("tcp", "127.0.0.1:0", tcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	_, err = l.AcceptOne(ctx, func(ctx context.Context, l transport.Link) (transport.Link, error) {
		cancel()
		return greeting.Await(ctx, l)
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still there")
	}
}

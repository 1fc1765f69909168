package tcp_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// engines runs a test with each way to serve.
func engines(t *testing.T, f func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server)) {
	for name, serve := range tcp.Engines {
		t.Run(name, func(t *testing.T) {
			f(t, func(cfg tcp.ServeConfig) *tcp.Server {
				t.Helper()
				s, err := serve("tcp4", "127.0.0.1:0", cfg)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Abort() })
				return s
			})
		})
	}
}

// echo serves: what comes goes back. It tells who was lost and why, and ends with the server.
type echo struct {
	*tcp.Server
	lost chan transport.Arrival
	up   chan int
}

func echoing(t *testing.T, s *tcp.Server) *echo {
	e := &echo{s, make(chan transport.Arrival, 2000), make(chan int, 2000)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 16<<10)
		for {
			got, err := s.Receive(buf)
			if errors.Is(err, transport.ErrClosed) {
				return
			}
			for ok := err == nil; ok; got, ok = s.Next(buf) {
				e.take(got, buf)
			}
			s.Flush()
		}
	}()
	t.Cleanup(func() { s.Abort(); <-ended })
	return e
}

func (e *echo) take(got transport.Arrival, buf []byte) {
	switch got.Kind {
	case transport.PeerUp:
		e.up <- got.Peer
	case transport.PeerLost:
		e.lost <- got
	case transport.Data:
		if errors.Is(e.Send(got.Peer, buf[:got.N]), transport.ErrQueueFull) {
			e.Drop(got.Peer)
		}
	}
}

func (e *echo) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp4", e.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	return c.(*net.TCPConn)
}

// served says something and expects to hear it.
func served(t *testing.T, c net.Conn, what string) {
	t.Helper()
	c.SetWriteDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	if _, err := c.Write([]byte(what)); err != nil {
		t.Fatal(err)
	}
	heard(t, c, what)
}

func heard(t *testing.T, c net.Conn, what string) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	b := make([]byte, len(what))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != what {
		t.Fatalf("heard %q, %v; want %q", b, err, what)
	}
}

func (e *echo) expectLost(t *testing.T, peer int, why error) {
	t.Helper()
	select {
	case got := <-e.lost:
		if got.Peer != peer || !errors.Is(got.Why, why) {
			t.Fatalf("peer %d was lost for %v, want %d for %v", got.Peer, got.Why, peer, why)
		}
	case <-time.After(time.Minute):
		t.Fatalf("peer %d is not lost", peer)
	}
}

package driver_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// server runs a driver for each connection, as a server does, until the test ends.
type server struct {
	*tcp.Listener
	errs    chan *driver.Error // of all machines
	drivers chan *driver.Driver[runner]
}

func serve(t *testing.T, cfg tcp.Config, o driver.Options[runner]) *server {
	t.Helper()
	ln, err := tcp.Listen("tcp4", "127.0.0.1:0", cfg)
	must(t, err)
	s := &server{ln, make(chan *driver.Error, 1000), make(chan *driver.Driver[runner], 1000)}
	o.OnError = func(_ runner, e *driver.Error) { s.errs <- e }
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			link, err := ln.Accept(context.Background())
			if err != nil {
				return
			}
			d := driver.New(pingpong.New(), o)
			if d.Attach(0, link) == nil {
				go d.Run(context.Background())
				s.drivers <- d
			}
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		<-ended
		close(s.drivers)
		for d := range s.drivers {
			d.Stop()
			<-d.Done()
		}
	})
	return s
}

// connect returns a new connection, nil if it was refused.
func (s *server) connect(t *testing.T) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp4", s.Addr().String())
	if err != nil {
		return nil // there was no place
	}
	c.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// pinged reports whether a ping is answered.
func pinged(c *net.TCPConn) bool {
	if c == nil {
		return false
	}
	c.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	if _, err := c.Write(appendPing(nil, 7)); err != nil {
		return false
	}
	_, err := io.ReadFull(c, make([]byte, 7))
	return err == nil
}

// Connections that say nothing take places only for a while, and are reported; who speaks keeps its
// own.
func TestTCPHalfOpen(t *testing.T) {
	s := serve(t, tcp.Config{MaxLinks: 4, Linger: 10 * time.Millisecond},
		driver.Options[runner]{HandshakeLimit: 100 * time.Millisecond})
	good := s.connect(t)
	for !pinged(good) { // it said nothing for too long, on a computer that has much to do
		if e := <-s.errs; e.Kind != driver.NoHandshake {
			t.Fatalf("the first is not served: %v", e)
		}
		good = s.connect(t)
	}
	for range 10 { // those that find no place are closed at once
		s.connect(t)
	}
	for n := range 3 {
		if e := <-s.errs; e.Kind != driver.NoHandshake {
			t.Errorf("error %d: %v", n, e)
		}
	}
	for end := time.Now().Add(time.Minute); !pinged(s.connect(t)); { // a place becomes free
		if time.Now().After(end) {
			t.Fatal("no place has become free")
		}
	}
	if !pinged(good) {
		t.Error("the first is no longer served")
	}
}

// A peer that asks and never reads loses its own link; another one is served all the while.
func TestTCPOneNeverReads(t *testing.T) {
	s := serve(t, tcp.Config{SendQueue: 32 << 10, Stall: 500 * time.Millisecond}, driver.Options[runner]{})
	bad, good := s.connect(t), s.connect(t)
	bad.SetReadBuffer(4 << 10)
	flood := appendPing(nil, 1)
	for range 10 {
		flood = append(flood, flood...)
	}
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		for {
			if _, err := bad.Write(flood); err != nil {
				return
			}
		}
	}()
	for over := false; !over; {
		if !pinged(good) {
			t.Fatal("the good peer is not served")
		}
		select {
		case <-lost:
			over = true
		default:
		}
	}
	if !pinged(good) {
		t.Error("the good peer is not served after the other one was lost")
	}
	if len(s.errs) > 0 {
		t.Errorf("%v", <-s.errs)
	}
}

// What is said to a peer is bounded by its own queue, however many peers there are.
func TestTCPQueues(t *testing.T) {
	s := serve(t, tcp.Config{SendQueue: 16 << 10}, driver.Options[runner]{})
	bad, good := s.connect(t), s.connect(t)
	bad.SetReadBuffer(4 << 10)
	if !pinged(bad) || !pinged(good) {
		t.Fatal("not served")
	}
	first, second := <-s.drivers, <-s.drivers
	defer func() { s.drivers <- first; s.drivers <- second }()
	long := strings.Repeat("x", pingpong.MaxNote)
	for {
		if _, err := first.Do(t.Context(), func(r runner) fsm.Result { return r.Say(long) }); err != nil {
			break // refused: its link is lost
		}
	}
	if !pinged(good) {
		t.Error("the other peer is not served")
	}
	if c := second.Counters(); c.LinksLost > 0 || c.Refused > 0 {
		t.Errorf("%+v", c)
	}
}

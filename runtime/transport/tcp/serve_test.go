package tcp_test

import (
	"errors"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// A server is a link like any other, from both sides.
func TestServerLink(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		pair := func(t *testing.T) (*tcp.Server, *tcp.Link) {
			s := open(tcp.ServeConfig{SendQueue: linktest.Queue, Linger: 500 * time.Millisecond})
			l, err := tcp.Dial(t.Context(), "tcp4", s.LocalAddr().String(),
				tcp.Config{SendQueue: linktest.Queue, Linger: 500 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			return s, l
		}
		t.Run("server first", func(t *testing.T) {
			linktest.Run(t, func(t *testing.T) (transport.Link, transport.Link) { return pair(t) })
		})
		t.Run("client first", func(t *testing.T) {
			linktest.Run(t, func(t *testing.T) (transport.Link, transport.Link) { s, l := pair(t); return l, s })
		})
	})
}

// Hundreds of connections come, are served side by side, and go.
func TestServerMany(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		e := echoing(t, open(tcp.ServeConfig{PerAddress: -1, AddressRate: -1}))
		for range 2 {
			const count = 300
			var all sync.WaitGroup
			var conns []net.Conn
			for n := range count {
				c := e.dial(t)
				conns = append(conns, c)
				all.Go(func() {
					for round := range 20 {
						what := strings.Repeat(strconv.Itoa(n)+" ", 1+n*round%200)
						c.Write([]byte(what))
						b := make([]byte, len(what))
						if _, err := io.ReadFull(c, b); err != nil || string(b) != what {
							t.Errorf("peer %d, round %d: %v", n, round, err)
							return
						}
					}
				})
			}
			all.Wait()
			for _, c := range conns {
				c.Close()
			}
			seen := map[int]bool{}
			for range count {
				got := <-e.lost
				if seen[got.Peer] || got.Why != io.EOF {
					t.Errorf("peer %d was lost for %v, seen before: %v", got.Peer, got.Why, seen[got.Peer])
				}
				seen[got.Peer] = true
			}
		}
		if s := e.Stats(); s.Accepted != 600 || s.Rejected+s.Reset+s.Full > 0 {
			t.Errorf("%+v", s)
		}
	})
}

// There are no more peers than MaxPeers and PerAddress allow, and a place is given again.
func TestServerPlaces(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		for name, cfg := range map[string]tcp.ServeConfig{"peers": {MaxPeers: 3}, "address": {PerAddress: 3}} {
			e := echoing(t, open(cfg))
			var in []*net.TCPConn
			for range 3 {
				c := e.dial(t)
				served(t, c, "in")
				in = append(in, c)
			}
			for range 5 {
				c, err := net.Dial("tcp4", e.LocalAddr().String())
				if err != nil {
					continue // it was closed even before
				}
				if n, err := c.Read(make([]byte, 1)); err == nil {
					t.Fatalf("%s: one too many got %d bytes", name, n)
				}
				c.Close()
			}
			if s := e.Stats(); s.Accepted != 3 || s.Rejected+s.Crowded != 5 || s.Peers != 3 ||
				(s.Crowded > 0) != (cfg.PerAddress > 0) {
				t.Errorf("%s: %+v", name, s)
			}
			if a := e.RemoteAddr(1); a == nil || a.String() != in[1].LocalAddr().String() {
				t.Errorf("peer 1 is %v, not %v", a, in[1].LocalAddr())
			}
			in[1].Close()
			e.expectLost(t, 1, io.EOF)
			for e.Stats().Peers > 2 { // it is released soon
				runtime.Gosched()
			}
			served(t, e.dial(t), "the same place")
			served(t, in[0], "still there")
			for _, want := range []int{0, 1, 2, 1} {
				if got := <-e.up; got != want {
					t.Errorf("%s: number %d, want %d", name, got, want)
				}
			}
		}
	})
}

// A peer that reads nothing is given up; one that asks without reading the answers is not read
// from; others do not notice.
func TestServerStall(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		log, logger := linktest.NewLog()
		e := echoing(t, open(tcp.ServeConfig{Stall: time.Second, SendQueue: 1 << 20, Logger: logger}))
		good := e.dial(t)
		served(t, good, "before")
		bad := e.dial(t)
		bad.SetReadBuffer(4 << 10)
		sent := make(chan int)
		go func() {
			n, _ := io.Copy(bad, endless{})
			sent <- int(n)
		}()
		for over := false; !over; {
			served(t, good, "meanwhile")
			select {
			case got := <-e.lost:
				if got.Peer != 1 || !errors.Is(got.Why, transport.ErrStalled) {
					t.Fatalf("peer %d was lost for %v", got.Peer, got.Why)
				}
				over = true
			default:
			}
		}
		<-sent
		served(t, good, "after")
		if s := e.Stats(); s.Stalled != 1 || s.Full != 0 {
			t.Errorf("%+v", s)
		}
		log.Once(t, "Stall")
	})
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// What is sent to a peer that does not read is bounded, also if it asked for nothing.
func TestServerQueue(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		log, logger := linktest.NewLog()
		s := open(tcp.ServeConfig{Linger: 50 * time.Millisecond, Logger: logger})
		e := &echo{Server: s}
		e.dial(t)
		if got, err := s.Receive(nil); err != nil || got.Kind != transport.PeerUp {
			t.Fatal(got, err)
		}
		sent, err := 0, error(nil)
		for ; err == nil && sent < 1<<27; sent += 1000 {
			if err = s.Send(0, make([]byte, 1000)); err == nil {
				err = s.Flush()
			}
		}
		if !errors.Is(err, transport.ErrQueueFull) || s.Stats().Full != 1 {
			t.Fatalf("after %d bytes: %v, %+v", sent, err, s.Stats())
		}
		log.Once(t, "SendQueue")
		s.Drop(0)
		if err := s.Send(0, []byte("x")); !errors.Is(err, transport.ErrNoPeer) {
			t.Errorf("sending to a dropped peer: %v", err)
		}
		if got, err := s.Receive(nil); err != nil || got.Kind != transport.PeerLost || got.Why != transport.ErrClosed {
			t.Errorf("%v, %v", got, err)
		}
		for s.Stats().Peers > 0 { // it is given up after the linger time
			runtime.Gosched()
		}
	})
}

// Who sends too fast is slowed down, loses nothing, and is alone in that.
func TestServerRate(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		log, logger := linktest.NewLog()
		e := echoing(t, open(tcp.ServeConfig{ByteRate: 20_000, Logger: logger}))
		good, bad := e.dial(t), e.dial(t)
		served(t, bad, "hello")
		what := strings.Repeat("0123456789abcdef", 24_000/16)
		// a computer that has much to do may read so slowly that once is not too fast
		for n := 0; e.Stats().Throttled == 0; n++ {
			if n == 20 {
				t.Fatalf("%+v", e.Stats())
			}
			if _, err := bad.Write([]byte(what)); err != nil {
				t.Fatal(err)
			}
			for range 100 {
				served(t, good, "short")
			}
			heard(t, bad, what)
		}
		e.Pause(1, 30*time.Millisecond)
		served(t, bad, "again")
		log.Once(t, "ByteRate or FrameRate")
	})
}

// A peer that ends its own direction still gets the answers; one that breaks off is told apart.
func TestServerEnds(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		e := echoing(t, open(tcp.ServeConfig{Linger: time.Hour}))
		c := e.dial(t)
		what := strings.Repeat("question ", 1000)
		c.Write([]byte(what))
		c.CloseWrite()
		if b, err := io.ReadAll(c); err != nil || string(b) != what {
			t.Errorf("%d bytes of %d came back, %v", len(b), len(what), err)
		}
		e.expectLost(t, 0, io.EOF)
		c.Close()
		for e.Stats().Peers > 0 {
			runtime.Gosched()
		}
		c = e.dial(t)
		served(t, c, "hello")
		c.SetLinger(0)
		c.Close()
		e.expectLost(t, 0, transport.ErrReset)
		for e.Stats().Peers > 0 { // or the next one has another number
			runtime.Gosched()
		}
		c = e.dial(t)
		served(t, c, "hello")
		e.Send(0, []byte("goodbye"))
		e.Drop(0) // it wakes the receiver
		if b, err := io.ReadAll(c); err != nil || string(b) != "goodbye" {
			t.Errorf("%q, %v", b, err)
		}
		e.expectLost(t, 0, transport.ErrClosed)
		c.Write([]byte("what nobody wants any more"))
		c.Close() // it is released at once, not after the linger time
		for limit := time.Now().Add(time.Minute); e.Stats().Peers > 0; runtime.Gosched() {
			if time.Now().After(limit) {
				t.Fatal("the connection is kept")
			}
		}
		if s := e.Stats(); s.Reset != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// Who asks without reading is not read from until it reads; then it gets every answer.
func TestServerBackPressure(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		e := echoing(t, open(tcp.ServeConfig{}))
		good, bad := e.dial(t), e.dial(t)
		served(t, bad, "hello")
		piece, sent := make([]byte, 1<<16), 0
		for full := false; !full && sent < 1<<28; {
			bad.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			n, err := bad.Write(piece)
			sent += n
			full = err != nil
		}
		if sent >= 1<<28 {
			t.Fatalf("%d bytes were taken", sent)
		}
		served(t, good, "meanwhile")
		if n, err := io.CopyN(io.Discard, bad, int64(sent)); err != nil {
			t.Fatalf("%d of %d bytes came back, %v", n, sent, err)
		}
		served(t, bad, "again")
		if s := e.Stats(); s.Full+s.Stalled > 0 {
			t.Errorf("%+v", s)
		}
	})
}

// Much may be sent before a flush, as long as the peer takes it.
func TestServerLargeAnswers(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		s := open(tcp.ServeConfig{SendQueue: 1000})
		e := &echo{Server: s}
		c := e.dial(t)
		if got, err := s.Receive(nil); err != nil || got.Kind != transport.PeerUp {
			t.Fatal(got, err)
		}
		what := strings.Repeat("0123456789", 40)
		for range 20 {
			if err := s.Send(0, []byte(what)); err != nil {
				t.Fatal(err)
			}
		}
		s.Flush()
		heard(t, c, strings.Repeat(what, 20))
	})
}

package driver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// hosting is a host on a server that runs until the test ends.
type hosting struct {
	*pingHost
	link *tcp.Server
	gone chan goneEvent
	stop func()
}

type goneEvent struct {
	peer int
	why  error
}

func serveHost(t *testing.T, cfg tcp.ServeConfig, o Options[*pingpong.Runner]) *hosting {
	t.Helper()
	l, err := tcp.Serve("tcp4", "127.0.0.1:0", cfg)
	if err != nil {
		t.Skip(err)
	}
	h := &hosting{link: l, gone: make(chan goneEvent, 1000)}
	o.OnLink = func(_ *pingpong.Runner, _ fsm.Peer, up bool, why error) {
		if !up {
			h.gone <- goneEvent{h.Peer(), why}
		}
	}
	if h.pingHost, err = NewHost(pingpong.New(), where, nil, l, o); err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- h.Run(context.Background()) }()
	h.stop = sync.OnceFunc(func() {
		h.Stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(h.stop)
	return h
}

func (h *hosting) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp4", h.link.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	return c.(*net.TCPConn)
}

func ask(b []byte, kind byte, n int) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0, 7, kind), uint32(n))
}

// answered expects the answers to the pings from first on.
func answered(c net.Conn, first, count int) error {
	c.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	got := make([]byte, 7*count)
	if _, err := io.ReadFull(c, got); err != nil {
		return err
	}
	for n := range count {
		if want := string(ask(nil, pingpong.PONG, first+n)); string(got[7*n:7*n+7]) != want {
			return fmt.Errorf("answer %d is % x", first+n, got[7*n:7*n+7])
		}
	}
	return nil
}

func pinging(t *testing.T, c net.Conn, n int) {
	t.Helper()
	if _, err := c.Write(ask(nil, pingpong.PING, n)); err != nil {
		t.Fatal(err)
	}
	if err := answered(c, n, 1); err != nil {
		t.Fatal(err)
	}
}

func (h *hosting) expectGone(t *testing.T, peer int, is func(error) bool) {
	t.Helper()
	select {
	case got := <-h.gone:
		if got.peer != peer || !is(got.why) {
			t.Fatalf("peer %d is gone for %v", got.peer, got.why)
		}
	case <-time.After(time.Minute):
		t.Fatalf("peer %d is still there", peer)
	}
}

func kind(k ErrorKind) func(error) bool {
	return func(err error) bool { e := new(Error); return errors.As(err, &e) && e.Kind == k }
}

func exactly(want error) func(error) bool {
	return func(err error) bool { return errors.Is(err, want) }
}

// Many connections, whose streams are cut into pieces of all sizes, have a machine each.
func TestHostStreams(t *testing.T) {
	t.Run("together", func(t *testing.T) { testHostStreams(t, Options[*pingpong.Runner]{}) })
	steps := slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}))
	t.Run("one by one", func(t *testing.T) { testHostStreams(t, Options[*pingpong.Runner]{Logger: steps}) })
}

func testHostStreams(t *testing.T, o Options[*pingpong.Runner]) {
	h := serveHost(t, tcp.ServeConfig{Linger: 50 * time.Millisecond, AddressRate: -1}, o)
	const clients, pings = 200, 60
	var all sync.WaitGroup
	for k := range clients {
		c := h.dial(t)
		all.Go(func() {
			var out []byte
			for n := range pings {
				out = ask(out, pingpong.PING, k*1000+n)
			}
			for size := 1 + k%50; len(out) > 0; size = 1 + (size*7+k)%90 {
				n, _ := c.Write(out[:min(size, len(out))])
				out = out[n:]
			}
			if err := answered(c, k*1000, pings); err != nil {
				t.Errorf("client %d: %v", k, err)
			}
		})
	}
	all.Wait()
	if n := h.Sessions(); n != clients {
		t.Errorf("%d machines for %d connections", n, clients)
	}
	h.stop()
	if c := h.core.Counters(); c.FramesIn != clients*pings || c.FramesOut != clients*pings || c.SendsDropped > 0 {
		t.Errorf("%+v", *c)
	}
	for _, s := range h.sessions {
		if s != nil && s.intake.begun != nil {
			t.Errorf("machine %d keeps %d bytes of a stream at rest", s.peer, cap(s.intake.begun))
		}
	}
}

// welcome returns a peer that is served. Where the limit on handshakes is short, a computer that
// has much to do may need several attempts.
func (h *hosting) welcome(t *testing.T) *net.TCPConn {
	t.Helper()
	for {
		c := h.dial(t)
		_, err := c.Write(ask(nil, pingpong.PING, 1))
		if err == nil && answered(c, 1, 1) == nil {
			return c
		}
		h.expectGone(t, 0, kind(NoHandshake))
		c.Close()
		h.release(t, 0)
	}
}

// release waits until there are only so many peers: a number is free soon after its peer has gone.
func (h *hosting) release(t *testing.T, peers int) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); h.link.Stats().Peers > peers; runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatalf("there are still %d peers", h.link.Stats().Peers)
		}
	}
}

// What ends a peer ends that one alone, and the machine learns why.
func TestHostStreamFaults(t *testing.T) {
	patient := serveHost(t, tcp.ServeConfig{Linger: 50 * time.Millisecond, AddressRate: -1},
		Options[*pingpong.Runner]{HandshakeLimit: time.Hour})
	strict := serveHost(t, tcp.ServeConfig{Linger: 50 * time.Millisecond, AddressRate: -1},
		Options[*pingpong.Runner]{HandshakeLimit: 100 * time.Millisecond})
	good := map[*hosting]*net.TCPConn{patient: patient.welcome(t), strict: strict.welcome(t)}
	tests := []struct {
		name string
		h    *hosting
		do   func(c *net.TCPConn)
		is   func(error) bool
	}{
		{"closes", patient, func(c *net.TCPConn) { c.Close() }, exactly(io.EOF)},
		{"closes within a frame", patient, func(c *net.TCPConn) {
			c.Write([]byte{0, 7, pingpong.PING})
			c.Close()
		}, exactly(io.ErrUnexpectedEOF)},
		{"breaks off", patient, func(c *net.TCPConn) { c.SetLinger(0); c.Close() }, exactly(transport.ErrReset)},
		{"says nothing", strict, func(*net.TCPConn) {}, kind(NoHandshake)},
		{"begins and says no more", strict, func(c *net.TCPConn) { c.Write([]byte{0}) }, kind(NoHandshake)},
		{"no frame", patient, func(c *net.TCPConn) { c.Write([]byte("GET / HTTP/1.0\r\n\r\n")) }, kind(Malformed)},
		{"too long", patient, func(c *net.TCPConn) { c.Write([]byte{200, 0, pingpong.NOTE}) }, kind(Malformed)},
		{"asks and is refused", patient, func(c *net.TCPConn) {
			c.Write(ask(ask(nil, pingpong.PING, 1), pingpong.PONG, 3))
		}, kind(Refused)},
		{"refused", patient, func(c *net.TCPConn) { c.Write(ask(nil, pingpong.PONG, 3)) }, kind(Refused)},
	}
	for n, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.h.dial(t)
			if n < 3 {
				pinging(t, c, n)
			}
			tt.do(c)
			tt.h.expectGone(t, 1, tt.is)
			pinging(t, good[tt.h], n)
			c.Close()
			tt.h.release(t, 1)
			pinging(t, good[tt.h], n)
		})
	}
	for h := range good {
		if n := h.Sessions(); n != 1 {
			t.Errorf("%d machines", n)
		}
	}
}

// A peer that asks without end and reads no answer is slowed down and given up; the others are
// served meanwhile.
func TestHostStreamNotRead(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg tcp.ServeConfig
		why error
	}{
		"stall": {tcp.ServeConfig{Stall: time.Second, SendQueue: 1 << 20}, transport.ErrStalled},
		"full":  {tcp.ServeConfig{SendQueue: 12 << 10, Linger: 50 * time.Millisecond}, transport.ErrQueueFull},
	} {
		t.Run(name, func(t *testing.T) {
			h := serveHost(t, tt.cfg, Options[*pingpong.Runner]{})
			good, bad := h.dial(t), h.dial(t)
			bad.SetReadBuffer(4 << 10)
			pinging(t, good, 1)
			go func() {
				var out []byte
				for n := range 2000 {
					out = ask(out, pingpong.PING, n)
				}
				for {
					if _, err := bad.Write(out); err != nil {
						return
					}
				}
			}()
			for n := 2; ; n++ {
				pinging(t, good, n)
				if len(h.gone) > 0 {
					break
				}
			}
			h.expectGone(t, 1, exactly(tt.why))
			pinging(t, good, 0)
		})
	}
}

// Frames beyond the limit come later; nothing is lost, and it concerns nobody else.
func TestHostFrameRate(t *testing.T) {
	log, logger := linktest.NewLog()
	var seen Latest
	h := serveHost(t, tcp.ServeConfig{Linger: 50 * time.Millisecond}, Options[*pingpong.Runner]{
		FrameRate: 100, Logger: logger, Observer: &seen})
	good, bad := h.dial(t), h.dial(t)
	var out []byte
	for n := range 130 {
		out = ask(out, pingpong.PING, n)
	}
	for piece := range 2 { // the second is read when the pause that follows the first is over
		bad.Write(out[piece*120*7 : min((piece+1)*120*7, len(out))])
		if err := answered(bad, piece*120, []int{120, 10}[piece]); err != nil {
			t.Fatal(err)
		}
		pinging(t, good, piece)
	}
	h.stop()
	if c := h.core.Counters(); c.Throttled == 0 || c.Throttled != h.link.Stats().Throttled || c.FramesIn != 132 {
		t.Errorf("%+v, %+v", *c, h.link.Stats())
	}
	if c := h.Counters(); c != *h.core.Counters() || c != seen.Counters() {
		t.Errorf("shown %+v, observed %+v, counted %+v", c, seen.Counters(), *h.core.Counters())
	}
	log.Once(t, "FrameRate")
	_, l := newHost(t, 1, Options[*pingpong.Runner]{})
	if _, err := NewHost(pingpong.New(), where, nil, strong{l},
		Options[*pingpong.Runner]{FrameRate: 1}); err == nil || !strings.Contains(err.Error(), "FrameRate") {
		t.Errorf("a limit that cannot be kept: %v", err)
	}
}

// While one address floods a host with connections, others connect and play.
func TestHostAcceptFlood(t *testing.T) {
	h := serveHost(t, tcp.ServeConfig{MaxPeers: 50, PerAddress: 4, AddressRate: 10, AcceptRate: 20},
		Options[*pingpong.Runner]{})
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	first, err := from.Dial("tcp4", h.link.LocalAddr().String())
	if err != nil {
		t.Skipf("this computer has no address 127.0.0.2: %v", err)
	}
	first.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	defer flood.Wait()
	defer cancel()
	flood.Go(func() {
		for ctx.Err() == nil {
			if c, err := from.Dial("tcp4", h.link.LocalAddr().String()); err == nil {
				c.(*net.TCPConn).SetLinger(0)
				c.Close()
			}
		}
	})
	for k := range 4 {
		c := h.dial(t)
		for n, before := 0, h.link.Stats().Hasty; n < 10 || h.link.Stats().Hasty < before+50; n++ {
			pinging(t, c, k*1000+n%1000)
		}
	}
	if s := h.link.Stats(); s.Rejected+s.Flooded > 0 {
		t.Errorf("%+v", s)
	}
}

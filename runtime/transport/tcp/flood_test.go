package tcp_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// dialFrom connects from one of the addresses of this computer.
func dialFrom(from, to string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return d.Dial("tcp4", to)
}

// flood has an address connect as fast as it can, nine at a time, until the test ends or stop is
// called. It waits until the server has seen the ninth, for a busy computer accepts connections when
// they have been closed again.
func flood(t *testing.T, from, to string) (stop func()) {
	t.Helper()
	c, err := dialFrom(from, to)
	if err != nil {
		t.Skipf("this computer has no address %s: %v", from, err)
	}
	c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			var held []net.Conn
			for range 9 {
				if c, err := dialFrom(from, to); err == nil {
					c.(*net.TCPConn).SetLinger(0) // no port is kept for a connection that has ended
					held = append(held, c)
				}
			}
			if len(held) > 0 {
				last := held[len(held)-1]
				last.SetReadDeadline(time.Now().Add(time.Second / 10)) // it may be let in
				last.Read(make([]byte, 1))
			}
			for _, c := range held {
				c.Close()
			}
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return stop
}

// inTime is how many may have come in at a rate, a second's worth at once included.
func inTime(began time.Time, rate uint64) uint64 {
	return rate * uint64(2+time.Since(began)/time.Second)
}

// While one address floods a server with connections, others connect and are served as ever.
func TestServerFlood(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		began := time.Now()
		e := echoing(t, open(tcp.ServeConfig{MaxPeers: 100, PerAddress: 8, AddressRate: 20, AcceptRate: 30}))
		go func() { // nobody waits for the news
			for range e.up {
			}
		}()
		go func() {
			for range e.lost {
			}
		}()
		stop := flood(t, "127.0.0.2", e.LocalAddr().String())
		first := e.dial(t)
		for s := e.Stats(); s.Hasty == 0 || s.Crowded == 0; s = e.Stats() {
			served(t, first, "meanwhile")
		}
		for range 3 {
			c := e.dial(t)
			before := e.Stats()
			for now := before; now.Hasty+now.Crowded < before.Hasty+before.Crowded+10; now = e.Stats() {
				served(t, c, "a newcomer")
				served(t, first, "still there")
			}
		}
		stop()
		s := e.Stats()
		if most := inTime(began, 20) + 6; s.Rejected+s.Flooded > 0 || s.Accepted > most {
			t.Errorf("%+v, at most %d may come in", s, most)
		}
		t.Logf("%+v", s)
	})
}

// All limits of a server turn away who exceeds them, and say which it was.
func TestServerTurnsAway(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		for name, tt := range map[string]struct {
			cfg  tcp.ServeConfig
			of   func(tcp.ServeStats) uint64
			most uint64 // in all
			rate uint64 // or in a second
		}{
			"all": {tcp.ServeConfig{MaxPeers: 3},
				func(s tcp.ServeStats) uint64 { return s.Rejected }, 3, 0},
			"address": {tcp.ServeConfig{PerAddress: 3},
				func(s tcp.ServeStats) uint64 { return s.Crowded }, 3, 0},
			"rate": {tcp.ServeConfig{AcceptRate: 3},
				func(s tcp.ServeStats) uint64 { return s.Flooded }, 0, 3},
			"rate of address": {tcp.ServeConfig{AddressRate: 3},
				func(s tcp.ServeStats) uint64 { return s.Hasty }, 0, 3},
			"by default": {tcp.ServeConfig{MaxPeers: 80, AddressRate: -1},
				func(s tcp.ServeStats) uint64 { return s.Crowded }, 20, 0},
			"by default, rate": {tcp.ServeConfig{PerAddress: -1},
				func(s tcp.ServeStats) uint64 { return s.Hasty }, 0, 50},
		} {
			began := time.Now()
			e := echoing(t, open(tt.cfg))
			for tt.of(e.Stats()) < 20 {
				if s := e.Stats(); s.Accepted+s.Rejected+s.Crowded+s.Hasty+s.Flooded > 1000 {
					t.Fatalf("%s: there is no such limit: %+v", name, s)
				}
				if c, err := net.Dial("tcp4", e.LocalAddr().String()); err == nil {
					t.Cleanup(func() { c.Close() })
				}
			}
			s := e.Stats()
			if all := s.Rejected + s.Crowded + s.Flooded + s.Hasty; all != tt.of(s) || uint64(s.Peers) > s.Accepted {
				t.Errorf("%s: %+v", name, s)
			}
			if most := tt.most + inTime(began, tt.rate); s.Accepted > most || s.Accepted < max(tt.most, tt.rate) {
				t.Errorf("%s: %d came in, at most %d may", name, s.Accepted, most)
			}
			e.Abort()
		}
	})
}

// A listener has the same limits, and turns a flood away before Accept returns.
func TestListenerFlood(t *testing.T) {
	began := time.Now()
	ln := listen(t, "tcp4", "127.0.0.1:0", tcp.Config{MaxLinks: 100, PerAddress: 8, AddressRate: 20, AcceptRate: 30})
	to := ln.Addr().String()
	stop := flood(t, "127.0.0.2", to)
	players := make(chan *tcp.Link, 3)
	go func() {
		for {
			l, err := ln.Accept(t.Context())
			if err != nil {
				return
			}
			if l.RemoteAddr(0).(*net.TCPAddr).IP.Equal(net.IPv4(127, 0, 0, 2)) {
				l.Abort()
			} else {
				players <- l
			}
		}
	}()
	for ln.Stats().Hasty < 100 {
		if runtime.Gosched(); ln.Stats().Accepted > 10_000 {
			t.Fatalf("there is no limit: %+v", ln.Stats())
		}
	}
	for range 3 {
		c, err := dialFrom("127.0.0.1", to)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		l := <-players
		defer l.Abort()
		if err := errors.Join(l.Send(0, []byte("welcome")), l.Flush()); err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(time.Minute))
		heard(t, c, "welcome")
	}
	stop()
	s := ln.Stats()
	if most := inTime(began, 20) + 3; s.Rejected+s.Flooded > 0 || s.Accepted > most || s.Open < 3 ||
		s.Open > int(s.Accepted) {
		t.Errorf("%+v, at most %d may come in", s, most)
	}
}

// A place is given again when its link is closed.
func TestListenerPlaces(t *testing.T) {
	ln := listen(t, "tcp4", "127.0.0.1:0", tcp.Config{PerAddress: 2, AddressRate: -1})
	for round := range 5 {
		var links []*tcp.Link
		for range 2 {
			if _, err := dialFrom("127.0.0.1", ln.Addr().String()); err != nil {
				t.Fatal(err)
			}
			l, err := ln.Accept(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			links = append(links, l)
		}
		if s := ln.Stats(); s.Open != 2 || s.Crowded > 0 || s.Accepted != uint64(2*round+2) {
			t.Fatalf("round %d: %+v", round, s)
		}
		for _, l := range links {
			l.Abort()
			l.Abort() // it gives its place once
		}
	}
}

// While all places are taken by those who say nothing, a newcomer gets the place of the one that
// came first; who was confirmed stays.
func TestSilentPeersGiveWay(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		log, logger := linktest.NewLog()
		s := open(tcp.ServeConfig{MaxPeers: 4, PerAddress: -1, AddressRate: -1, AcceptRate: -1, Logger: logger})
		s.Guard(func([]byte) bool { return true })
		to, buf := s.LocalAddr().String(), make([]byte, 100)
		next := func(want transport.Kind) {
			t.Helper()
			got, err := s.Receive(buf)
			if err != nil || got.Kind != want {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		for range 4 {
			dial(t, to)
			next(transport.PeerUp)
		}
		s.Confirm(0)
		stop, stopped := make(chan bool), make(chan bool)
		go func() { // where nothing better is at hand the place is free a moment later
			defer close(stopped)
			for {
				if c, err := net.Dial("tcp4", to); err == nil {
					defer c.Close()
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
		gone := map[int]bool{}
		for {
			got, err := s.Receive(buf)
			if err == nil && got.Kind == transport.PeerUp {
				if !gone[got.Peer] {
					t.Errorf("the newcomer has the number %d, and %v are gone", got.Peer, gone)
				}
				break
			}
			if err != nil || got.Peer == 0 || !errors.Is(got.Why, transport.ErrYielded) {
				t.Fatalf("%+v, %v", got, err)
			}
			gone[got.Peer] = true
		}
		close(stop)
		<-stopped
		if st := s.Stats(); st.Yielded == 0 || st.Peers > 4 {
			t.Errorf("%+v", st)
		}
		log.Once(t, "MaxLinks or MaxPeers, half-open")
	})
}

// The same for the links of a listener: one that a driver has looked at goes before one that nobody
// guards, and the reason is told.
func TestSilentLinksGiveWay(t *testing.T) {
	ln, err := tcp.Listen("tcp4", "127.0.0.1:0", tcp.Config{MaxLinks: 3, AddressRate: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var links []*tcp.Link
	take := func() {
		t.Helper()
		dial(t, ln.Addr().String())
		l, err := ln.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Abort() })
		links = append(links, l)
	}
	for range 3 {
		take()
	}
	for _, l := range links[1:] {
		l.Guard(nil)
	}
	links[1].Confirm(0)
	take()
	if _, err := links[2].Receive(make([]byte, 10)); !errors.Is(err, transport.ErrYielded) {
		t.Errorf("the one that was not confirmed: %v", err)
	}
	if s := ln.Stats(); s.Yielded != 1 || s.Open != 3 || s.Rejected != 0 {
		t.Errorf("%+v", s)
	}
}

// dial connects until the test ends.
func dial(t *testing.T, to string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp4", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

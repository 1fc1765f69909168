package udp_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/udp"
)

func open(t testing.TB, address string, cfg udp.Config) *udp.Link {
	t.Helper()
	l, err := udp.Open("udp", address, cfg)
	if err != nil {
		t.Skipf("cannot open %s: %v", address, err)
	}
	// A test that would hang ends instead, and the assertion says what was missing.
	watch := time.AfterFunc(time.Minute, func() { l.Abort() })
	t.Cleanup(func() { watch.Stop(); l.Abort() })
	return l
}

// join makes two links that are each other's peer 0.
func join(t testing.TB, address string, cfg udp.Config) (a, b *udp.Link) {
	a = open(t, address, cfg)
	cfg.Peers = []string{a.LocalAddr().String()}
	b = open(t, address, cfg)
	if _, err := a.AddPeer(b.LocalAddr().String()); err != nil {
		t.Fatal(err)
	}
	return a, b
}

func TestLink(t *testing.T) {
	for name, address := range map[string]string{"IPv4": "127.0.0.1:0", "IPv6": "[::1]:0"} {
		t.Run(name, func(t *testing.T) {
			linktest.Run(t, func(t *testing.T) (transport.Link, transport.Link) {
				return join(t, address, udp.Config{})
			})
		})
	}
	for name, address := range map[string]string{"IPv4, offload": "127.0.0.1:0", "IPv6, offload": "[::1]:0"} {
		t.Run(name, func(t *testing.T) {
			linktest.Run(t, func(t *testing.T) (transport.Link, transport.Link) {
				return join(t, address, udp.Config{Offload: true})
			})
		})
	}
	t.Run("impaired", func(t *testing.T) {
		linktest.Promises(t, func(t *testing.T) (transport.Link, transport.Link) {
			a, b := join(t, "127.0.0.1:0", udp.Config{})
			bad, err := impair.New(a, impair.Config{Seed: 5, Faults: impair.Faults{Loss: 0.1, Duplicate: 0.1,
				Reorder: 0.1, Jitter: time.Millisecond, Late: time.Millisecond}})
			if err != nil {
				t.Fatal(err)
			}
			return bad, b
		})
	})
}

// receive returns the next arrival as text: "up 0", "lost 0", "0: hello".
func receive(t testing.TB, l transport.Link) string {
	t.Helper()
	buf := make([]byte, 2000)
	got, err := l.Receive(buf)
	if err != nil {
		t.Fatal(err)
	}
	switch got.Kind {
	case transport.PeerUp:
		return fmt.Sprint("up ", got.Peer)
	case transport.PeerLost:
		return fmt.Sprint("lost ", got.Peer)
	}
	return fmt.Sprintf("%d: %s", got.Peer, buf[:got.N])
}

func expect(t testing.TB, l transport.Link, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := receive(t, l); got != w {
			t.Fatalf("received %q, want %q", got, w)
		}
	}
}

// silent asserts that nothing waits, by having a frame of peer n arrive next.
func quiet(t testing.TB, l *udp.Link, from *udp.Link, n int) {
	t.Helper()
	say(t, from, 0, "the end")
	expect(t, l, fmt.Sprintf("%d: the end", n))
}

func say(t testing.TB, l transport.Link, to int, text string) {
	t.Helper()
	if err := l.Send(to, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
}

func TestSeveralPeers(t *testing.T) {
	hub := open(t, "127.0.0.1:0", udp.Config{})
	var peers []*udp.Link
	for n := range 5 {
		p := open(t, "127.0.0.1:0", udp.Config{Peers: []string{hub.LocalAddr().String()}})
		expect(t, p, "up 0")
		say(t, p, 0, fmt.Sprint("hello ", n))
		expect(t, hub, fmt.Sprint("up ", n), fmt.Sprintf("%d: hello %d", n, n))
		if hub.RemoteAddr(n).String() != p.LocalAddr().String() {
			t.Errorf("peer %d is %v", n, hub.RemoteAddr(n))
		}
		peers = append(peers, p)
	}
	say(t, hub, 3, "you")
	expect(t, peers[3], "0: you")
	say(t, hub, transport.All, "all")
	for _, p := range peers {
		expect(t, p, "0: all")
	}
	hub.Drop(1)
	expect(t, hub, "lost 1")
	if err := hub.Send(1, nil); !errors.Is(err, transport.ErrNoPeer) {
		t.Errorf("to a peer that was dropped: %v", err)
	}
	say(t, peers[4], 0, "x")
	expect(t, hub, "4: x")
	say(t, peers[1], 0, "again")
	expect(t, hub, "up 1", "1: again")
}

func TestDualStack(t *testing.T) {
	l := open(t, "[::]:0", udp.Config{})
	port := netip.MustParseAddrPort(l.LocalAddr().String()).Port()
	p := open(t, "127.0.0.1:0", udp.Config{Peers: []string{fmt.Sprint("127.0.0.1:", port)}})
	expect(t, p, "up 0")
	say(t, p, 0, "four")
	expect(t, l, "up 0", "0: four")
	say(t, l, 0, "back")
	expect(t, p, "0: back")
	if got := l.RemoteAddr(0).String(); got != p.LocalAddr().String() {
		t.Errorf("the peer is %s, not %v", got, p.LocalAddr())
	}
}

func TestSilence(t *testing.T) {
	a := open(t, "127.0.0.1:0", udp.Config{Limits: udp.Limits{Silence: 20 * time.Millisecond}})
	b := open(t, "127.0.0.1:0", udp.Config{Peers: []string{a.LocalAddr().String()}})
	expect(t, b, "up 0")
	say(t, b, 0, "one")
	expect(t, a, "up 0", "0: one", "lost 0")
	say(t, b, 0, "two")
	expect(t, a, "up 0", "0: two", "lost 0")
}

func TestBoundOnPeers(t *testing.T) {
	a := open(t, "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 2}})
	var p [4]*udp.Link
	for i := range p {
		p[i] = open(t, "127.0.0.1:0", udp.Config{Peers: []string{a.LocalAddr().String()}})
		expect(t, p[i], "up 0")
		say(t, p[i], 0, "hello")
		if i < 2 { // and shows that it means it
			say(t, p[i], 0, "again")
			expect(t, a, fmt.Sprint("up ", i), fmt.Sprint(i, ": hello"), fmt.Sprint(i, ": again"))
		}
	}
	quiet(t, a, p[1], 1)
	if s := a.Stats(); s.Strangers != 2 || s.Full != 2 {
		t.Errorf("%+v", s)
	}
	closed := open(t, "127.0.0.1:0", udp.Config{Limits: udp.Limits{Closed: true}})
	known, unknown := open(t, "127.0.0.1:0", udp.Config{}), open(t, "127.0.0.1:0", udp.Config{})
	if _, err := closed.AddPeer(known.LocalAddr().String()); err != nil {
		t.Fatal(err)
	}
	expect(t, closed, "up 0")
	for _, l := range []*udp.Link{unknown, known} {
		if _, err := l.AddPeer(closed.LocalAddr().String()); err != nil {
			t.Fatal(err)
		}
		say(t, l, 0, "hello")
	}
	expect(t, closed, "0: hello")
	if s := closed.Stats(); s.Strangers != 1 {
		t.Errorf("%+v", s)
	}
}

func TestLimits(t *testing.T) {
	for name, limits := range map[string]udp.Limits{"frames": {FrameRate: 10}, "bytes": {ByteRate: 1000}} {
		t.Run(name, func(t *testing.T) {
			a, b := join(t, "127.0.0.1:0", udp.Config{Limits: limits})
			c := open(t, "127.0.0.1:0", udp.Config{Peers: []string{a.LocalAddr().String()}})
			for range 200 {
				say(t, b, 0, fmt.Sprintf("%100s", "flood"))
			}
			say(t, c, 0, "patient")
			flood := 0
			expect(t, a, "up 0")
			for got := receive(t, a); got != "up 1"; got = receive(t, a) {
				flood++
			}
			expect(t, a, "1: patient")
			if s := a.Stats(); flood < 10 || flood > 150 || flood+int(s.Limited) != 200 {
				t.Errorf("%d frames came through; %+v", flood, s)
			}
		})
	}
}

func TestTooLong(t *testing.T) {
	a, b := join(t, "127.0.0.1:0", udp.Config{MaxFrame: 100})
	raw, err := net.Dial("udp", a.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	raw.Write(make([]byte, 101))
	raw.Write(make([]byte, 60000))
	say(t, b, 0, "short")
	expect(t, a, "up 0", "0: short")
	if s := a.Stats(); s.TooLong != 2 {
		t.Errorf("%+v", s)
	}
	if _, err := udp.Open("udp", "127.0.0.1:0", udp.Config{MaxFrame: 70000}); err == nil {
		t.Error("a frame longer than a datagram was accepted")
	}
}

// The programs of one computer hear each other's broadcasts on one port, and
// not their own.
func TestBroadcast(t *testing.T) {
	port := freePort(t)
	everybody := fmt.Sprint("127.255.255.255:", port)
	cfg := udp.Config{Broadcast: []string{everybody}, Hear: everybody}
	var l [3]*udp.Link
	for i := range l {
		var err error
		if l[i], err = udp.Open("udp4", "127.0.0.1:0", cfg); err != nil {
			t.Skipf("broadcasts cannot be heard here: %v", err)
		}
		defer l[i].Abort()
	}
	say(t, l[0], transport.All, "who is there")
	for _, other := range l[1:] {
		expect(t, other, "up 0", "0: who is there")
		say(t, other, 0, "I am")
	}
	got := map[string]bool{}
	for range 4 {
		got[receive(t, l[0])] = true
	}
	if !got["up 0"] || !got["up 1"] || !got["0: I am"] || !got["1: I am"] {
		t.Errorf("heard %v", got)
	}
	for range 5000 { // what one hears of oneself comes by another socket, and may come later
		if l[0].Stats().Own > 0 {
			break
		}
		l[0].Interrupt(time.Now().Add(time.Millisecond))
		if _, err := l[0].Receive(make([]byte, 100)); !errors.Is(err, transport.ErrInterrupted) {
			t.Fatal(err)
		}
	}
	l[0].Interrupt(time.Time{})
	if s := l[0].Stats(); s.Own != 1 {
		t.Errorf("%+v", s)
	}
	single := open(t, fmt.Sprint("0.0.0.0:", 0), udp.Config{})
	own := single.LocalAddr().(*net.UDPAddr).Port
	if _, err := single.AddPeer(fmt.Sprint("127.255.255.255:", own)); err != nil {
		t.Fatal(err)
	}
	expect(t, single, "up 0")
	say(t, single, 0, "echo")
	if _, err := l[0].AddPeer(fmt.Sprint("127.0.0.1:", own)); err != nil {
		t.Fatal(err)
	}
	say(t, l[0], 2, "other")
	expect(t, single, "up 1", "1: other")
	if s := single.Stats(); s.Own != 1 {
		t.Errorf("one socket, its own broadcast: %+v", s)
	}
}

// What is gathered leaves by itself while somebody receives, and with Close; in its order, to each
// its own.
func TestGather(t *testing.T) {
	for _, offload := range []bool{false, true} {
		hub := open(t, "127.0.0.1:0", udp.Config{Offload: offload, Gather: udp.MaxGather})
		var peers []*udp.Link
		for n := range 3 {
			p := open(t, "127.0.0.1:0", udp.Config{Peers: []string{hub.LocalAddr().String()}, Offload: offload})
			expect(t, p, "up 0")
			say(t, p, 0, "hello")
			expect(t, hub, fmt.Sprint("up ", n), fmt.Sprint(n, ": hello"))
			peers = append(peers, p)
		}
		tell := func() {
			for n := range 100 {
				for k := range peers {
					say(t, hub, k, fmt.Sprintf("%d %*d", k, 5+n/30, n)) // four sizes
				}
			}
		}
		told := func() {
			for k, p := range peers {
				for n := range 100 {
					expect(t, p, fmt.Sprintf("0: %d %*d", k, 5+n/30, n))
				}
			}
		}
		tell()
		receiving := make(chan string)
		go func() { receiving <- receive(t, hub) }()
		told()
		say(t, peers[2], 0, "enough")
		if got := <-receiving; got != "2: enough" {
			t.Errorf("received %q", got)
		}
		tell()
		hub.Close()
		told()
	}
	if _, err := udp.Open("udp", "127.0.0.1:0", udp.Config{Gather: time.Second}); err == nil {
		t.Error("frames were to be gathered for a second")
	}
}

// The words tell what was tried, what is wrong and what to do; the error of the system is in the chain.
func TestErrors(t *testing.T) {
	there := open(t, "127.0.0.1:0", udp.Config{}).LocalAddr().String()
	for want, f := range map[string]func() error{
		"listening on " + there + " (UDP): another program of this computer has port": func() error {
			_, err := udp.Open("udp4", there, udp.Config{})
			return err
		},
		"listening on 203.0.113.77:0 (UDP): " +
			"this computer does not have the address 203.0.113.77; it has 127.0.0.1": func() error {
			_, err := udp.Open("udp4", "203.0.113.77:0", udp.Config{})
			return err
		},
		"hearing broadcasts on 203.0.113.255:0 (UDP): 203.0.113.255 is no broadcast address of this " +
			"computer's networks; take one of 127.255.255.255": func() error {
			_, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Hear: "203.0.113.255:0"})
			return err
		},
		`finding 127.0.0.1:99999 (UDP): "99999" is no port`: func() error {
			_, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Peers: []string{"127.0.0.1:99999"}})
			return err
		},
		"sending to 203.0.113.255:1 (UDP from 127.0.0.1): ": func() error {
			return udp.Reachable("udp4", "127.0.0.1:5", "203.0.113.255:1")
		},
		"sending to 127.255.255.255:1 (UDP from 203.0.113.77): " +
			"this computer does not have the own address": func() error {
			return udp.Reachable("udp4", "203.0.113.77", "127.255.255.255:1")
		},
	} {
		err := f()
		var op *net.OpError
		var address *net.AddrError
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, &op) && !errors.As(err, &address) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := udp.Reachable("udp4", "127.0.0.1:5", "127.255.255.255:6581"); err != nil {
		t.Errorf("the own computer: %v", err)
	}
}

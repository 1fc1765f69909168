package dtlslink_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/dtlslink"
	"github.com/parley-go/parley/runtime/transport/linktest"
)

// watched lets nothing happen but the passing of a moment, and fails if something else does.
func watched(t *testing.T, l *dtlslink.Link) {
	t.Helper()
	l.Interrupt(time.Now().Add(5 * time.Millisecond))
	if got, err := l.Receive(make([]byte, 2000)); !errors.Is(err, transport.ErrInterrupted) {
		s, why := l.Stats()
		t.Fatalf("received %v, %v; %+v, %v", got, err, s, why)
	}
	l.Interrupt(time.Time{})
}

// strangers send a datagram each, from as many addresses of this computer as there are.
func strangers(t *testing.T, to net.Addr, n int, datagram []byte) {
	t.Helper()
	for k := range n {
		from := &net.UDPAddr{IP: net.IPv4(127, 0, 0, byte(10+k%100))}
		c, err := net.DialUDP("udp4", from, to.(*net.UDPAddr))
		if err != nil {
			t.Skipf("this computer has no address %v: %v", from, err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := c.Write(datagram); err != nil {
			t.Fatal(err)
		}
	}
}

// hello is the beginning of a handshake that never comes to its end.
var hello = append([]byte{22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 1}, make([]byte, 19)...)

// Whatever strangers send, one datagram or the beginning of a handshake, and from however many
// addresses: who comes after them is let in.
func TestStrangersLockNobodyOut(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	for name, datagram := range map[string][]byte{"a byte": {0}, "a hello": hello} {
		t.Run(name, func(t *testing.T) {
			server := open(t)
			cfg := bob.server(alice.key)
			cfg.Handshake = time.Hour // none of those that come first ends meanwhile
			y := wrap(t, server, cfg)
			strangers(t, server.LocalAddr(), 2*udp64, datagram)
			for s := server.Stats(); s.Strangers+s.Evicted < udp64; s = server.Stats() {
				watched(t, y)
			}
			x := wrap(t, open(t, server.LocalAddr().String()), alice.client(bob.key))
			expect(t, x, transport.PeerUp, "")
			expect(t, y, transport.PeerUp, "")
			say(t, x, "hello")
			expect(t, y, transport.Data, "hello")
		})
	}
}

// udp64 is how many peers a UDP link has unless it is told otherwise.
const udp64 = 64

// A handshake that fails, and a peer that leaves, keep no place below.
func TestFailedHandshakeKeepsNoPlace(t *testing.T) {
	alice, bob, eve := newPerson(t, "alice"), newPerson(t, "bob"), newPerson(t, "eve")
	server := open(t)
	y := wrap(t, server, bob.server(alice.key))
	for n := range 3 {
		wrap(t, open(t, server.LocalAddr().String()), eve.client(bob.key))
		for s, _ := y.Stats(); s.Failed <= uint64(n); s, _ = y.Stats() {
			watched(t, y)
		}
	}
	x := wrap(t, open(t, server.LocalAddr().String()), alice.client(bob.key))
	expect(t, x, transport.PeerUp, "")
	expect(t, y, transport.PeerUp, "")
	x.Close()
	expect(t, y, transport.PeerLost, "")
	for server.Stats().Peers > 0 {
		watched(t, y)
	}
}

// A peer that a program drops is lost, and leaves its place.
func TestDrop(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	server := open(t)
	y := wrap(t, server, bob.server(alice.key))
	x := wrap(t, open(t, server.LocalAddr().String()), alice.client(bob.key))
	expect(t, x, transport.PeerUp, "")
	expect(t, y, transport.PeerUp, "")
	y.Drop(0)
	expect(t, y, transport.PeerLost, "")
	for server.Stats().Peers > 0 {
		watched(t, y)
	}
}

// What a server sends to an address that was forged, before anybody has shown that it receives
// there, is not more than was sent in its name.
func TestAmplification(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	heard, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	wrap(t, open(t, heard.LocalAddr().String()), alice.client(bob.key)) // begins with a real hello
	first := make([]byte, 2000)
	n, _, err := heard.ReadFromUDP(first)
	if err != nil {
		t.Fatal(err)
	}
	server := open(t)
	cfg := bob.server(alice.key)
	log, logger := linktest.NewLog()
	cfg.Handshake, cfg.Logger = time.Second, logger
	y := wrap(t, server, cfg)
	victim, err := net.DialUDP("udp4", nil, server.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer victim.Close()
	if _, err := victim.Write(first[:n]); err != nil {
		t.Fatal(err)
	}
	for s, _ := y.Stats(); s.Failed == 0; s, _ = y.Stats() {
		watched(t, y)
	}
	log.Once(t, "Handshake")
	y.Abort()
	// What was sent is here already. The last word comes from the same address.
	to := victim.LocalAddr().(*net.UDPAddr)
	end, err := net.DialUDP("udp4", server.LocalAddr().(*net.UDPAddr), to)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	if _, err := end.Write([]byte("end")); err != nil {
		t.Fatal(err)
	}
	victim.SetReadDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	got, buf := 0, make([]byte, 2000)
	for {
		k, err := victim.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if string(buf[:k]) == "end" {
			break
		}
		got += k
	}
	t.Logf("%d bytes for a hello of %d", got, n)
	if got == 0 || got > n {
		t.Errorf("%d bytes were sent for a hello of %d", got, n)
	}
}

package book_test

import (
	"encoding/binary"
	"hash/crc32"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/book"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/udp"
	"pgregory.net/rapid"
)

const parties = 62

// link opens a book over UDP on a loopback address, so that a test can choose the order.
func link(t *testing.T, address string) (*book.Link[netip.AddrPort], netip.AddrPort) {
	t.Helper()
	l, err := udp.Open("udp4", address, udp.Config{})
	if err != nil {
		t.Skipf("no loopback address %s here: %v", address, err)
	}
	own := l.LocalAddr().(*net.UDPAddr).AddrPort()
	b, err := book.New(l, own, book.IPv4, book.Config{Shape: startup.Shape, Parties: parties})
	if err != nil {
		t.Fatal(err)
	}
	watch := time.AfterFunc(time.Minute, func() { b.Abort() })
	t.Cleanup(func() { watch.Stop(); b.Abort() })
	return b, own
}

// stranger is a socket without a book: an original peer.
func stranger(t *testing.T, address string) (*net.UDPConn, netip.AddrPort) {
	t.Helper()
	a, _ := net.ResolveUDPAddr("udp4", address)
	c, err := net.ListenUDP("udp4", a)
	if err != nil {
		t.Skip(err)
	}
	c.SetDeadline(time.Now().Add(time.Minute))
	t.Cleanup(func() { c.Close() })
	return c, c.LocalAddr().(*net.UDPAddr).AddrPort()
}

func receive(t *testing.T, l transport.Link) (transport.Arrival, startup.Message) {
	t.Helper()
	buf := make([]byte, 2000)
	a, err := l.Receive(buf)
	if err != nil {
		t.Fatal(err)
	}
	var m startup.Message
	if a.Kind == transport.Data {
		if err := startup.DecodeMessage(buf[:a.N], &m); err != nil {
			t.Fatal(err)
		}
	}
	return a, m
}

// node is how an address stands in a packet of the original.
func node(a netip.AddrPort) []byte {
	ip := a.Addr().As4()
	return binary.BigEndian.AppendUint16(ip[:], a.Port())
}

// connect is an original peer's CONNECT with the requests of some nodes.
func connect(nodes ...netip.AddrPort) []byte {
	b := make([]byte, 532)
	copy(b, "PP2\x00\x00\x01\x00\x04")
	b[24] = 1 // the universe
	b[26], b[140], b[526] = 0xfe, 0x0b, byte(len(nodes))
	for i, a := range nodes {
		copy(b[140+258+16*i:], node(a))
	}
	binary.LittleEndian.PutUint32(b[8:], crc32.ChecksumIEEE(b))
	return b
}

// datagram waits for one of a size.
func datagram(t *testing.T, c *net.UDPConn, size int) []byte {
	t.Helper()
	b := make([]byte, 2000)
	n, _, err := c.ReadFromUDPAddrPort(b)
	if err != nil || n != size {
		t.Fatalf("%d bytes, %v; want %d", n, err, size)
	}
	return b[:n]
}

func TestAddresses(t *testing.T) {
	l, own := link(t, "127.0.0.5:0")
	original, from := stranger(t, "127.0.0.7:0")
	other, low := stranger(t, "127.0.0.3:0")
	_, middle := stranger(t, "127.0.0.6:0")
	if _, err := original.WriteToUDPAddrPort(connect(from, middle, own, low), own); err != nil {
		t.Fatal(err)
	}
	var ups []int
	var a transport.Arrival
	var m startup.Message
	for a, m = receive(t, l); a.Kind == transport.PeerUp; a, m = receive(t, l) {
		ups = append(ups, a.Peer)
	}
	asks := m.Connect.Asks
	if m.Kind != startup.MessageConnect || asks.Len != 4 || len(ups) != 3 {
		t.Fatalf("%v with %d requests, up are %v", m.Kind, asks.Len, ups)
	}
	n := []fsm.Peer{asks.Items[3].Node, asks.Items[2].Node, asks.Items[1].Node, asks.Items[0].Node}
	if !slices.IsSorted(n) || n[1] != fsm.Peer(l.Self()) || n[3] != fsm.Peer(a.Peer) ||
		!slices.Contains(ups, int(n[0])) {
		t.Errorf("numbers %v of .3, .5, .6 and .7; own %d, sender %d, up %v", n, l.Self(), a.Peer, ups)
	}
	// Who was only named can be written to.
	alive, _ := startup.AppendMessage(nil, &startup.Message{Kind: startup.MessageNodeAlive})
	if err := l.Send(int(n[0]), alive); err != nil {
		t.Error(err)
	}
	l.Flush()
	datagram(t, other, 144)
	// What leaves has addresses, counts from 1, and has a right checksum.
	reply := startup.Message{Kind: startup.MessageConnectReply,
		ConnectReply: startup.ConnectReplyMessage{Slot: startup.Some[startup.Slot](1),
			Epoch: startup.Epoch{Founder: startup.Some(fsm.Peer(l.Self()))},
			Players: startup.Table{0: startup.Some(fsm.Peer(l.Self())),
				1: startup.Some(n[3])}}}
	for id := range uint32(2) {
		frame, _ := startup.AppendMessage(nil, &reply)
		if err := l.Send(a.Peer, frame); err != nil {
			t.Fatal(err)
		}
		if err := l.Flush(); err != nil {
			t.Fatal(err)
		}
		b := datagram(t, original, 968)
		sum := binary.LittleEndian.Uint32(b[8:])
		copy(b[8:], make([]byte, 4))
		if got := binary.LittleEndian.Uint32(b[12:]); sum != crc32.ChecksumIEEE(b) || got != id+2 {
			t.Errorf("checksum %x, message id %d", sum, got)
		}
		if string(b[44:50]) != string(node(own)) || string(b[352:358]) != string(node(own)) ||
			string(b[368:374]) != string(node(from)) || b[374] != 0 || b[384] != 0 {
			t.Errorf("nodes % x, % x, % x", b[44:50], b[352:358], b[368:374])
		}
	}
	if err := l.Send(61, nil); err != transport.ErrNoPeer {
		t.Errorf("to nobody: %v", err)
	}
}

// Frames with wrong checksums are dropped, and addresses that are none are none.
func TestDamaged(t *testing.T) {
	l, own := link(t, "127.0.0.1:0")
	original, from := stranger(t, "127.0.0.1:0")
	bad := connect(from)
	bad[300] ^= 1
	zero := connect(netip.MustParseAddrPort("0.0.0.0:0"), netip.MustParseAddrPort("224.0.0.1:5"))
	for _, b := range [][]byte{bad, bad[:11], nil, zero, connect(from)} {
		if _, err := original.WriteToUDPAddrPort(b, own); err != nil {
			t.Fatal(err)
		}
	}
	if a, _ := receive(t, l); a.Kind != transport.PeerUp {
		t.Fatal(a)
	}
	buf := make([]byte, 2000)
	a, err := l.Receive(buf)
	if err != nil {
		t.Fatal(err)
	}
	var m startup.Message
	if err := startup.DecodeMessage(buf[:a.N], &m); err == nil {
		t.Error("a request of nobody is a frame")
	}
	if _, m := receive(t, l); m.Kind != startup.MessageConnect || m.Connect.Asks.Len != 1 {
		t.Error(m)
	}
	if s := l.Stats(); s.Damaged != 3 || s.Unplaced != 0 {
		t.Errorf("%+v", s)
	}
}

// Whatever the order in which addresses are heard, numbers are in the order of addresses and stay.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		own := l.LocalAddr().(*net.UDPAddr).AddrPort()
		b, err := book.New(l, own, book.IPv4, book.Config{Shape: startup.Shape, Parties: parties})
		if err != nil {
			t.Fatal(err)
		}
		heard := map[netip.AddrPort]int{own: b.Self()}
		for range rapid.IntRange(1, 30).Draw(t, "peers") {
			ip := [4]byte{127, 0, 0, rapid.Byte().Draw(t, "host")}
			a := netip.AddrPortFrom(netip.AddrFrom4(ip), rapid.Uint16Min(1).Draw(t, "port"))
			if _, err := l.Add(a); err != nil {
				continue
			}
			if _, known := heard[a]; known {
				continue
			}
			before := b.Stats().Unplaced
			b.Interrupt(time.Time{})
			l.Inject(connect(a), a)
			buf := make([]byte, 2000)
			if arrival, err := b.Receive(buf); err == nil && b.Stats().Unplaced == before {
				heard[a] = arrival.Peer
				b.Confirm(arrival.Peer) // who has deserved its place gives way to nobody
				continue
			}
			break // no number is left: what was given stays
		}
		if len(heard) < 2 {
			t.Fatal("nobody was heard")
		}
		for x, i := range heard {
			for y, k := range heard {
				if c := x.Addr().Compare(y.Addr()); c < 0 && i >= k || c == 0 && x.Port() < y.Port() && i >= k {
					t.Fatalf("%v is %d, %v is %d", x, i, y, k)
				}
			}
			if a, ok := b.Address(i); !ok || a != x {
				t.Fatalf("%d is %v, not %v", i, a, x)
			}
		}
	})
}

// Twelve addresses fit in the worst of the usual orders, each higher than all before.
func TestAscending(t *testing.T) {
	l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	own := l.LocalAddr().(*net.UDPAddr).AddrPort()
	b, err := book.New(l, own, book.IPv4, book.Config{Shape: startup.Shape, Parties: parties})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	last := b.Self()
	for i := range byte(12) {
		a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 1, i}), 7)
		l.Inject(connect(a), a)
		up, _ := receive(t, b)
		if _, m := receive(t, b); up.Kind != transport.PeerUp || up.Peer <= last ||
			m.Connect.Asks.Items[0].Node != fsm.Peer(up.Peer) {
			t.Fatalf("address %d: %+v after %d, %v", i, up, last, m)
		}
		last = up.Peer
	}
}

func TestRefused(t *testing.T) {
	l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	own := netip.MustParseAddrPort("127.0.0.1:5")
	for why, cfg := range map[string]book.Config{"one number": {Parties: 1}, "too many": {Parties: 255}} {
		if _, err := book.New(l, own, book.IPv4, cfg); err == nil {
			t.Error(why)
		}
	}
	if _, err := book.New(l, netip.MustParseAddrPort("[::1]:5"), book.IPv4, book.Config{Parties: 62}); err == nil {
		t.Error("an IPv6 address has no form in six bytes")
	}
	wide := book.IPv4
	wide.Size = 8
	if _, err := book.New(l, own, wide, book.Config{Shape: startup.Shape, Parties: 62}); err == nil {
		t.Error("eight bytes do not fit into six")
	}
	form := book.IPX(ipx.Address{Net: 3, Socket: 9})
	if _, ok := form.Get(ipx.Broadcast[:]); ok {
		t.Error("the broadcast address is nobody's")
	}
	if a, ok := form.Get([]byte{1, 2, 3, 4, 5, 6}); !ok ||
		a != (ipx.Address{Net: 3, Socket: 9, Node: ipx.Node{1, 2, 3, 4, 5, 6}}) {
		t.Error(a)
	}
}

// FuzzFrames gives any bytes to a book: nothing panics, and what comes out has the length of what
// came in.
func FuzzFrames(f *testing.F) {
	f.Add(connect(netip.MustParseAddrPort("127.0.0.9:7")), true)
	f.Add([]byte("PP2"), false)
	l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{})
	if err != nil {
		f.Fatal(err)
	}
	own := l.LocalAddr().(*net.UDPAddr).AddrPort()
	b, err := book.New(l, own, book.IPv4, book.Config{Shape: startup.Shape, Parties: parties})
	if err != nil {
		f.Fatal(err)
	}
	peer := netip.MustParseAddrPort("127.0.0.9:7")
	l.Add(peer)
	last := append(connect(peer), make([]byte, 900)...) // longer than any other
	binary.LittleEndian.PutUint32(last[8:], 0)
	binary.LittleEndian.PutUint32(last[8:], crc32.ChecksumIEEE(last))
	f.Fuzz(func(t *testing.T, frame []byte, sum bool) {
		if len(frame) >= len(last) {
			return
		}
		if sum && len(frame) >= 12 {
			copy(frame[8:], make([]byte, 4))
			binary.LittleEndian.PutUint32(frame[8:], crc32.ChecksumIEEE(frame))
		}
		l.Inject(frame, peer)
		l.Inject(last, peer) // one that is certainly heard ends the wait
		buf := make([]byte, 2000)
		for over := false; !over; {
			a, err := b.Receive(buf)
			if err != nil {
				t.Fatal(err)
			}
			if a.Kind == transport.Data {
				if a.N != len(frame) && a.N != len(last) {
					t.Fatalf("%d bytes of %d", a.N, len(frame))
				}
				over = a.N == len(last)
			}
			b.Send(a.Peer, buf[:a.N])
		}
	})
}

package ipx

import (
	"net/netip"
	"testing"
	"time"
)

// port is a client of an address that has many.
func port(address, n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 0, byte(address)}), uint16(1000+n))
}

// join has an address ask for a node and use it.
func (w *world) join(a netip.AddrPort) Node {
	h := Header{Length: HeaderSize, Dst: Address{Socket: echoSocket}, Src: Address{Socket: echoSocket}}
	w.handle(w.now, h.Append(nil), a)
	got := w.sent[a]
	delete(w.sent, a)
	if len(got) == 0 {
		return Node{}
	}
	w.packet(a, got[0].Dst.Node, Node{1})
	return got[0].Dst.Node
}

// packet has one arrive; it waits to be relayed.
func (w *world) packet(a netip.AddrPort, src, dst Node) {
	h := Header{Length: 100, Dst: Address{Node: dst, Socket: 0x5000}, Src: Address{Node: src, Socket: 0x5000}}
	w.handle(w.now, append(h.Append(nil), make([]byte, 70)...), a)
}

// One address gets some of the places, whichever nodes there are, and another one comes in.
func TestOneAddressFillsNoNetwork(t *testing.T) {
	for _, plain := range []bool{false, true} {
		w := newWorld(ServerConfig{PlainNodes: plain})
		for n := range 300 {
			w.join(port(1, n))
		}
		if got := w.Clients(); got != 64/4 {
			t.Errorf("plain %v: one address has %d places", plain, got)
		}
		w.join(port(2, 0))
		if s := w.Stats(); w.Clients() != 64/4+1 || s.Crowded != 300-64/4 {
			t.Errorf("plain %v: %d clients, %+v", plain, w.Clients(), s)
		}
	}
}

// With plain nodes anybody can be registered by somebody else. Such a place goes to who comes
// next, and ends soon; one that is used does not.
func TestForgedClientsGiveWay(t *testing.T) {
	w := newWorld(ServerConfig{PlainNodes: true})
	player := port(0, 0)
	w.join(player)
	for n := range 200 {
		w.ask(byte(1 + n))
	}
	w.join(port(1, 0))
	for n := range 100 {
		w.ask(byte(1 + n))
	}
	_, one := w.byAddr[player]
	_, other := w.byAddr[port(1, 0)]
	if s := w.Stats(); !one || !other || s.Evicted == 0 {
		t.Errorf("player %v, newcomer %v; %+v", one, other, s)
	}
	for range 11 {
		w.now = w.now.Add(time.Second)
		w.sweep(w.now)
	}
	if got := w.Clients(); got != 2 {
		t.Errorf("%d clients after eleven seconds", got)
	}
	for range 49 {
		w.now = w.now.Add(time.Second)
		w.sweep(w.now)
	}
	if got := w.Clients(); got != 0 {
		t.Errorf("%d dead clients have a place after a minute", got)
	}
}

// A client that sends without end, from one port or several, delays and displaces nobody's packets
// but its own.
func TestFloodIsFair(t *testing.T) {
	w := newWorld(ServerConfig{FrameRate: -1})
	var loud [3]netip.AddrPort
	var noise [3]Node
	for n := range loud {
		loud[n] = port(1, n)
		noise[n] = w.join(loud[n])
	}
	a, b := port(2, 0), port(3, 0)
	from, to := w.join(a), w.join(b)
	w.serve(1000)
	clear(w.sent)
	for n := range 1000 {
		for k := range 50 { // more than can be relayed
			w.packet(loud[k%3], noise[k%3], noise[0])
		}
		w.packet(a, from, to)
		w.serve(10)
		if got := len(w.sent[b]); got < n {
			t.Fatalf("%d of %d packets came through; %+v", got, n+1, w.Stats())
		}
	}
	if s := w.Stats(); s.Displaced == 0 || len(w.sent[loud[0]]) == 0 {
		t.Errorf("%+v", s)
	}
}

package ipx

import (
	"github.com/parley-go/parley/runtime/transport/linktest"
	"net/netip"
	"testing"
	"time"
)

// world is a server whose datagrams are kept instead of sent.
type world struct {
	*Server
	sent     map[netip.AddrPort][]Header
	answered map[netip.AddrPort]int // bytes sent for requests, which are not in sent
	now      time.Time
}

func newWorld(cfg ServerConfig) *world {
	w := &world{sent: map[netip.AddrPort][]Header{}, answered: map[netip.AddrPort]int{}, now: time.Unix(1000, 0)}
	cfg.AddressRate, cfg.AcceptRate = -1, -1
	w.Server = newServer(cfg, func(b []byte, to netip.AddrPort) error {
		h, _, err := Parse(b)
		if err != nil {
			panic(err) // the server makes no bad packets
		}
		w.sent[to] = append(w.sent[to], h)
		return nil
	})
	w.notes.Place = nil // it has no socket
	return w
}

func peer(n byte) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 213)
}

// register returns the node that a client is given.
func (w *world) ask(n byte) Node {
	h := Header{Length: HeaderSize, Dst: Address{Socket: echoSocket}, Src: Address{Socket: echoSocket}}
	w.handle(w.now, h.Append(nil), peer(n))
	got := w.sent[peer(n)]
	delete(w.sent, peer(n))
	w.answered[peer(n)] += HeaderSize * len(got)
	if len(got) != 1 {
		return Node{}
	}
	return got[0].Dst.Node
}

// say sends a packet of 100 bytes.
func (w *world) say(n byte, src, dst Node) {
	h := Header{Length: 100, Dst: Address{Node: dst, Socket: 0x5000}, Src: Address{Node: src, Socket: 0x5000}}
	w.handle(w.now, append(h.Append(nil), make([]byte, 70)...), peer(n))
	w.serve(1)
}

// Who is registered by somebody else gets one packet and one ping, of the size
// of the request each, and no broadcast; nor does it take a place.
func TestForgedRegistration(t *testing.T) {
	w := newWorld(ServerConfig{MaxClients: 2})
	for range 1000 {
		w.ask(9)
	}
	for n := byte(10); n < 200; n++ {
		w.ask(n)
	}
	a, b := w.ask(1), w.ask(2)
	w.say(1, a, Broadcast)
	w.say(2, b, Broadcast)
	w.say(1, a, Broadcast)
	if len(w.sent) != 2 || len(w.sent[peer(1)]) != 1 || len(w.sent[peer(2)]) != 1 {
		t.Fatalf("relayed to %v", w.sent)
	}
	for range 10 {
		w.now = w.now.Add(time.Second)
		w.sweep(w.now)
	}
	pings := 0
	for n := byte(9); n < 200; n++ {
		pings += len(w.sent[peer(n)])
	}
	if pings > maxAsked || w.Clients() != 2 {
		t.Errorf("%d pings, %d clients", pings, w.Clients())
	}
	w.say(9, a, Broadcast)
	if s := w.Stats(); s.Strangers != 1 {
		t.Errorf("the node of another client: %+v", s)
	}
	node := w.ask(3)
	w.say(3, node, Broadcast)
	if s := w.Stats(); s.Full != 1 || w.Clients() != 2 {
		t.Errorf("a third client of two: %+v", s)
	}
}

// TestAmplification: a request for a node brings its answer and, later and once, a ping; nothing
// else goes to an address that was forged, whatever the network carries meanwhile.
func TestAmplification(t *testing.T) {
	for _, times := range []int{1, 100} {
		w := newWorld(ServerConfig{})
		a, b := w.ask(1), w.ask(2)
		w.say(1, a, Broadcast)
		w.say(2, b, Broadcast)
		for range times {
			w.ask(9)
		}
		for range 60 {
			w.say(1, a, Broadcast)
			w.now = w.now.Add(time.Second)
			w.sweep(w.now)
		}
		got := w.answered[peer(9)]
		for _, h := range w.sent[peer(9)] {
			got += int(h.Length)
		}
		ratio := float64(got) / float64(times*HeaderSize)
		t.Logf("%d requests bring %.2f times their bytes", times, ratio)
		if most := float64(times+1) / float64(times); ratio > most || ratio == 0 {
			t.Errorf("%d requests of %d bytes bring %d bytes", times, HeaderSize, got)
		}
	}
}

// A client that only listens is found by the ping.
func TestListener(t *testing.T) {
	w := newWorld(ServerConfig{})
	node := w.ask(1)
	w.sweep(w.now)
	ping := w.sent[peer(1)]
	if len(ping) != 1 || ping[0].Dst.Node != Broadcast || ping[0].Dst.Socket != echoSocket {
		t.Fatalf("%+v", ping)
	}
	answer := Header{Length: HeaderSize, Dst: ping[0].Src, Src: Address{Node: node, Socket: echoSocket}}
	w.handle(w.now, answer.Append(nil), peer(1))
	if w.Clients() != 1 {
		t.Error("the answer to the ping was not understood")
	}
}

func TestPlainNodes(t *testing.T) {
	w := newWorld(ServerConfig{PlainNodes: true})
	if got := w.ask(7); got != (Node{10, 0, 0, 7, 0, 213}) {
		t.Errorf("node %v", got)
	}
	again := w.ask(7)
	if w.Clients() != 1 || again != (Node{10, 0, 0, 7, 0, 213}) {
		t.Errorf("registering again: node %v, %d clients", again, w.Clients())
	}
}

func TestSilentClients(t *testing.T) {
	log, logger := linktest.NewLog()
	w := newWorld(ServerConfig{Silence: time.Minute, Logger: logger})
	defer log.Once(t, "Silence")
	a, b := w.ask(1), w.ask(2)
	w.say(1, a, Broadcast)
	w.say(2, b, a)
	clear(w.sent)
	for range 70 {
		w.now = w.now.Add(time.Second)
		w.sweep(w.now)
		if pings := w.sent[peer(2)]; len(pings) > 0 {
			answer := Header{Length: HeaderSize, Dst: pings[0].Src, Src: Address{Node: b, Socket: echoSocket}}
			w.handle(w.now, answer.Append(nil), peer(2))
			delete(w.sent, peer(2))
		}
	}
	if w.Clients() != 1 || len(w.sent[peer(1)]) == 0 {
		t.Errorf("%d clients, %d pings", w.Clients(), len(w.sent[peer(1)]))
	}
	clear(w.sent)
	w.say(2, b, a)
	if s := w.Stats(); s.Unknown != 1 || len(w.sent) > 0 {
		t.Errorf("to the one that is gone: %+v, %v", s, w.sent)
	}
}

func TestServerLimits(t *testing.T) {
	log, logger := linktest.NewLog()
	w := newWorld(ServerConfig{FrameRate: 10, ByteRate: 100_000, Logger: logger})
	defer log.Once(t, "FrameRate or ByteRate")
	a, b := w.ask(1), w.ask(2)
	w.say(2, b, Broadcast)
	for range 50 {
		w.say(1, a, b)
	}
	if s := w.Stats(); len(w.sent[peer(2)]) != 10 || s.Limited != 40 {
		t.Errorf("%d relayed, %+v", len(w.sent[peer(2)]), s)
	}
	for n := 1; n <= 3; n++ { // a tenth of a second is one packet
		w.now = w.now.Add(100 * time.Millisecond)
		w.say(1, a, b)
		w.say(1, a, b)
		if got := len(w.sent[peer(2)]); got != 10+n {
			t.Errorf("%d relayed after %d tenths of a second", got, n)
		}
	}
}

func FuzzServer(f *testing.F) {
	h := Header{Length: HeaderSize, Dst: Address{Node: Broadcast, Socket: echoSocket}}
	f.Add(h.Append(nil), byte(1))
	f.Add((&Header{Length: HeaderSize, Dst: Address{Socket: 2}}).Append(nil), byte(2))
	f.Fuzz(func(t *testing.T, b []byte, n byte) {
		for _, plain := range []bool{true, false} {
			w := newWorld(ServerConfig{MaxClients: 3, PlainNodes: plain})
			x := w.ask(1)
			w.say(1, x, Broadcast)
			w.handle(w.now, b, peer(n%5))
			w.handle(w.now, b, peer(1))
			w.sweep(w.now.Add(time.Hour))
			if len(w.byAddr) != len(w.clients) || len(w.byNode) != len(w.clients) {
				t.Errorf("%d clients, %d addresses, %d nodes", len(w.clients), len(w.byAddr), len(w.byNode))
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add((&Header{Length: 30}).Append(nil))
	e, _, err := NewEndpoint(Address{}, Config{Socket: 5})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, payload, err := Parse(b)
		if err == nil && (len(payload)+HeaderSize != int(h.Length) ||
			string(h.Append(nil)[2:]) != string(b[2:HeaderSize])) {
			t.Errorf("% x parsed as %+v", b, h)
		}
		frame, _, err := e.Open(b, func(p []byte, _ Address) error {
			if len(p) > len(b) {
				t.Errorf("% x is answered with more: % x", b, p)
			}
			return nil
		})
		if err == nil && len(frame)+HeaderSize > len(b) {
			t.Errorf("% x holds % x", b, frame)
		}
	})
}

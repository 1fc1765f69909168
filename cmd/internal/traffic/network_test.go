package traffic

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/parley-go/parley/examples/startup/peer"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/book"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/wire"
)

const startupSpec = "../../../specs/startup/spec.yaml"

func load(t *testing.T, file string, consts map[string]int64) *model.Protocol {
	t.Helper()
	p, diags := compile.Load(file, compile.Options{Consts: consts})
	if p == nil {
		t.Fatal(diags)
	}
	return p
}

// packet is a packet of a capture that a test makes.
type packet struct {
	at       time.Time
	from, to netip.AddrPort
	data     []byte
}

// pcap writes packets as a capture of IP packets.
func pcap(t *testing.T, list []packet) []byte {
	t.Helper()
	var file bytes.Buffer
	w := pcapgo.NewWriterNanos(&file)
	if err := w.WriteFileHeader(65535, layers.LinkTypeIPv4); err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: p.from.Addr().AsSlice(),
			DstIP: p.to.Addr().AsSlice()}
		udp := &layers.UDP{SrcPort: layers.UDPPort(p.from.Port()), DstPort: layers.UDPPort(p.to.Port())}
		b := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, ip, udp,
			gopacket.Payload(p.data)); err != nil {
			t.Fatal(err)
		}
		n := len(b.Bytes())
		info := gopacket.CaptureInfo{Timestamp: p.at, CaptureLength: n, Length: n}
		if err := w.WritePacket(info, b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

// nodes is how nodes of a network in memory stand in packets: as 10.x.y.z with port 6581.
var nodes = book.Form[mem.Address]{
	Size: 6,
	Put: func(dst []byte, a mem.Address) {
		binary.BigEndian.PutUint32(dst, 10<<24|uint32(a))
		binary.BigEndian.PutUint16(dst[4:], 6581)
	},
	Get: func(src []byte) (mem.Address, bool) {
		return mem.Address(binary.BigEndian.Uint32(src) &^ (255 << 24)), src[0] == 10 && src[4] == 6581>>8
	},
}

func udpAddr(a mem.Address) netip.AddrPort {
	var b [6]byte
	nodes.Put(b[:], a)
	addr, _ := book.IPv4.Get(b[:])
	return addr
}

var everyone = netip.MustParseAddrPort("10.255.255.255:6581")

// game is peers of a network that somebody captures.
type game struct {
	t       *testing.T
	net     mem.Network
	mu      sync.Mutex // guards random and packets
	random  *rand.Rand
	loss    float64 // before the place of the capture, and as often behind it
	double  float64
	prove   bool // the peers prove their addresses
	packets []packet
	peers   map[mem.Address]*peer.Peer
	stop    map[mem.Address]context.CancelFunc
	ended   map[mem.Address]chan error
}

// tap writes down what a node sends.
type tap struct {
	*mem.NodeLink
	g   *game
	own mem.Address
}

func (l tap) Send(peer int, frame []byte) error {
	p := packet{time.Now(), udpAddr(l.own), everyone, bytes.Clone(frame)}
	if peer != transport.All {
		a, ok := l.PeerAddr(peer)
		if !ok {
			return transport.ErrNoPeer
		}
		p.to = udpAddr(a)
	}
	l.g.mu.Lock() // packets arrive in the order of the capture
	defer l.g.mu.Unlock()
	for range l.g.capture(p) {
		if err := l.NodeLink.Send(peer, frame); err != nil {
			return err
		}
	}
	return nil
}

// capture writes a packet down, unless it is lost before, and returns how often it arrives.
func (g *game) capture(p packet) (times int) {
	if g.random.Float64() < g.loss {
		return 0
	}
	g.packets, times = append(g.packets, p), 1
	if g.random.Float64() < g.double {
		g.packets, times = append(g.packets, p), 2
	}
	if g.random.Float64() < g.loss {
		times--
	}
	return times
}

func newGame(t *testing.T, seed uint64) *game {
	return &game{t: t, random: rand.New(rand.NewPCG(seed, 1)), peers: map[mem.Address]*peer.Peer{},
		stop: map[mem.Address]context.CancelFunc{}, ended: map[mem.Address]chan error{}}
}

func (g *game) start(a mem.Address) {
	g.t.Helper()
	l, err := g.net.Join(a, mem.NodeLimits{Silence: 3 * time.Second, MaxPeers: peer.Parties})
	if err != nil {
		g.t.Fatal(err)
	}
	cfg := book.Config{Shape: startup.Shape, Parties: peer.Parties, Prove: g.prove}
	b, err := book.New(tap{l, g, a}, a, nodes, cfg)
	if err != nil {
		g.t.Fatal(err)
	}
	p, err := peer.New(b, peer.Config{Silence: 3 * time.Second})
	if err != nil {
		g.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g.peers[a], g.stop[a], g.ended[a] = p, cancel, make(chan error, 1)
	go func() { g.ended[a] <- p.Run(ctx) }()
}

// wait lets virtual time pass.
func (g *game) wait(d time.Duration) { time.Sleep(d) }

func (g *game) leave(a mem.Address) {
	g.stop[a]()
	<-g.ended[a]
	delete(g.peers, a)
}

func (g *game) kill(a mem.Address) {
	g.peers[a].Kill()
	g.stop[a]()
	<-g.ended[a]
	delete(g.peers, a)
}

func (g *game) end() {
	for a := range g.peers {
		g.leave(a)
	}
}

func read(t *testing.T, p *model.Protocol, file []byte, o Options) (*Report, string) {
	t.Helper()
	r, err := Read(t.Context(), p, "x.pcap", bytes.NewReader(file), o)
	if err != nil {
		return nil, err.Error()
	}
	var b strings.Builder
	r.WriteText(&b, false)
	return r, b.String()
}

// played is a game of four in which things happen: one is refused, the founder is killed and comes
// back, the others leave.
func played(t *testing.T, seed uint64, loss, double float64) (packets []packet) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(t, seed)
		g.loss, g.double, g.prove = loss, double, seed%2 == 1
		a := []mem.Address{0x10203, 0x40506, 0x20304, 0x30405, 0x50607}
		for _, x := range a[:3] {
			g.start(x)
			g.wait(time.Duration(100+seed*seed*(uint64(x)%7)%800) * time.Millisecond)
		}
		g.wait(5 * time.Second)
		g.start(a[3])
		g.wait(time.Second)
		g.start(a[4])
		g.wait(2 * time.Second)
		g.kill(a[1])
		g.wait(time.Duration(4+seed%3) * time.Second)
		g.start(a[1])
		g.wait(4 * time.Second)
		g.leave(a[0])
		g.wait(time.Second)
		g.end()
		packets = g.packets
	})
	return packets
}

// A capture of our own peers is a run, though the network doubles packets. Where packets are not in
// the capture the search does not always find the run: a player may be silent at any moment, and
// what the keeper then sends explains too many of those.
func TestOwnPeers(t *testing.T) {
	race.Skip(t)
	p := load(t, startupSpec, nil)
	for seed := range uint64(12) {
		faults := float64(seed%3) / 10
		list := played(t, seed, 0, faults)
		r, text := read(t, p, pcap(t, list), Options{})
		if r == nil || !r.Accepted() || len(r.Network.Hosts) != 5 || len(r.Network.ours()) != 5 {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
		if want := "is a run of startup\n"; !strings.HasSuffix(text, want) {
			t.Errorf("seed %d: no %q in %s", seed, want, text)
		}
		restarted := r.Network.Hosts[3]
		if faults == 0 && (restarted.Address != udpAddr(0x40506) || len(restarted.Parts) != 2) {
			t.Errorf("seed %d: the killed peer has %d programs", seed, len(restarted.Parts))
		}
	}
}

// edited changes one frame, and makes its checksum anew.
func edited(list []packet, at int, change func(b []byte)) []packet {
	out := append([]packet(nil), list...)
	out[at].data = bytes.Clone(out[at].data)
	change(out[at].data)
	sum := startup.Shape.Checksum
	sum.Put(out[at].data, uint64(wire.Checksum(out[at].data, sum.At)))
	return out
}

// repeats reports whether a host has sent the requests of a CONNECT before.
func repeats(list []packet, k packet) bool {
	const requests = 44 // where they begin
	return len(k.data) > requests && slices.ContainsFunc(list, func(o packet) bool {
		return o.from == k.from && len(o.data) > requests && bytes.Equal(o.data[requests:], k.data[requests:])
	})
}

// A capture that was tampered with is no run, and the frame is named.
func TestTamperedPeers(t *testing.T) {
	race.Skip(t)
	p := load(t, startupSpec, nil)
	list := played(t, 1, 0, 0)
	kind := func(b []byte) uint64 {
		if len(b) <= 44 { // a greeting
			return math.MaxUint64
		}
		return startup.Shape.Type.Get(b)
	}
	for _, x := range []struct {
		what   string
		kind   uint64
		nth    int // of that kind, from 0; of CONNECT, of those that repeat an earlier one
		change func(b []byte)
		want   []string
	}{
		{"another slot is given", 1, 0, func(b []byte) { b[27] = (b[27] + 2) % 4 },
			[]string{"CONNECT_REPLY{", "could receive there: "}},
		{"from another slot", 8, 9, func(b []byte) { b[26] ^= 1 },
			[]string{"NODE_ALIVE{slot: ", "could receive there: "}},
		{"another attempt asks again", 0, 0, func(b []byte) { b[44] += 7 },
			[]string{"asks: [{node: ", "could receive there: "}},
		{"another node is named", 4, 0, func(b []byte) { nodes.Put(b[44:], 0x10203) }, []string{"SUBDUE_SLAVE{"}},
		{"a byte that has to be something else", 8, 20, func(b []byte) { b[26] = 77 },
			[]string{"no frame of startup: bad NODE_ALIVE frame, field slot at byte 26: value 77 is out of range"}},
	} {
		n, at := 0, -1
		for i, k := range list {
			if kind(k.data) == x.kind && (x.kind != 0 || repeats(list[:i], k)) {
				if n++; n == x.nth+1 {
					at = i
				}
			}
		}
		if at < 0 {
			t.Fatalf("%s: only %d frames of that kind", x.what, n)
		}
		r, text := read(t, p, pcap(t, edited(list, at, x.change)), Options{})
		x.want = append(x.want, "first frame without explanation: packet ", "NOT a run")
		if x.kind != 0 { // a program may begin other attempts, and what it sends next contradicts that
			x.want = append(x.want, fmt.Sprintf("first frame without explanation: packet %d, ", at+1))
		}
		for _, want := range x.want {
			if r == nil || r.Accepted() || r.Exhausted() || !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", x.what, want, text)
				break
			}
		}
	}
	broken := append([]packet(nil), list...)
	at := len(list) / 2
	broken[at].data = bytes.Clone(broken[at].data)
	broken[at].data[50] ^= 1
	if _, text := read(t, p, pcap(t, broken), Options{}); !strings.Contains(text, "its checksum is") ||
		!strings.Contains(text, fmt.Sprintf("first frame without explanation: packet %d,", at+1)) {
		t.Errorf("a broken frame:\n%s", text)
	}
}

// What is wrong with a file or a wish is said.
func TestWrongCaptures(t *testing.T) {
	race.Skip(t)
	p := load(t, startupSpec, nil)
	list := played(t, 1, 0, 0)
	whole := pcap(t, list)
	junk := append([]packet(nil), list...)
	for i := range 9 {
		junk = append(junk, packet{list[0].at, netip.AddrPortFrom(netip.MustParseAddr("10.9.9.9"), uint16(1000+i)),
			everyone, []byte{'x'}})
	}
	many := []packet(nil)
	for i := range 70 {
		k := list[slices.IndexFunc(list, func(k packet) bool { return !book.IsGreeting(k.data) })]
		k.from = netip.AddrPortFrom(k.from.Addr(), uint16(7000+i))
		many = append(many, k)
	}
	nowhere := Options{Hosts: []netip.AddrPort{netip.MustParseAddrPort("10.0.0.1:6581")}}
	for cut := 1; cut < 100; cut += 9 {
		r, text := read(t, p, pcap(t, list[cut:]), Options{})
		if r == nil || !r.Accepted() && !r.Exhausted() || r.Accepted() != strings.Contains(text, "ACCEPTED") {
			t.Errorf("without %d packets at the beginning:\n%s", cut, text)
		}
	}
	for _, x := range []struct {
		what     string
		file     []byte
		o        Options
		consts   map[string]int64
		accepted bool
		want     string
	}{
		{"other universe", whole, Options{}, map[string]int64{"universe": 5}, false,
			"its universe is 1, not 5; --const universe=1 looks at those"},
		{"other port", whole, Options{Ports: []uint16{99}}, nil, false, "no UDP datagram over IPv4 in it on port 99"},
		{"no such host", whole, nowhere, nil, false,
			"10.0.0.1:6581 sends no frame of startup in it; those who do are 10.1.2.3:6581, 10.2.3.4:6581"},
		{"one host", whole, Options{Hosts: []netip.AddrPort{udpAddr(0x10203)}}, nil, true,
			"ACCEPTED, the capture is a run of startup at 1 host; 4 others are environment"},
		{"cut at the beginning", pcap(t, list[90:]), Options{}, nil, false,
			"cannot be judged; the capture begins behind its beginning, with its frame number "},
		{"cut within a packet", whole[:len(whole)-3], Options{}, nil, false,
			"the file ends inside it (cut off, or a length in it is damaged)"},
		{"junk", pcap(t, junk), Options{}, nil, true, "and 4 more senders like that"},
		{"nothing but junk", pcap(t, junk[len(list):]), Options{}, nil, false,
			"there is no frame of startup in the capture"},
		{"too many", pcap(t, many), Options{}, nil, false, "71 addresses take part in it, and 62 can be told apart"},
	} {
		p := p
		if x.consts != nil {
			p = load(t, startupSpec, x.consts)
			x.o.Consts = x.consts
		}
		r, text := read(t, p, x.file, x.o)
		if !strings.Contains(text, x.want) || r != nil && r.Accepted() != x.accepted {
			t.Errorf("%s: no %q in\n%s", x.what, x.want, text)
		}
	}
}

// Captures of original peers and earlier ones of ours, with the specification of then: ours are
// explained, and the originals are environment.
func TestOriginalPeers(t *testing.T) {
	p := load(t, "testdata/parsec/spec.yaml", nil)
	for file, ours := range map[string][]string{
		"base-two-orig":                nil,
		"orig-first":                   {"10.66.0.2:6581"},
		"univ1-two-parley-then-orig-1": {"10.66.0.1:6581", "10.66.0.2:6581"},
		"orig-then-two-parley":         {"10.66.0.2:6581", "10.66.0.3:6581"},
		"three-simul-orig-highest":     {"10.66.0.1:6581", "10.66.0.2:6581"},
		"three-simul-parley-highest":   {"10.66.0.3:6581"},
		"orig-keeper-leaves-split":     {"10.66.0.2:6581", "10.66.0.3:6581", "10.66.0.5:6581"},
	} {
		r, err := Replay(t.Context(), p, "testdata/parsec/"+file+".pcap", Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		r.WriteText(&text, false)
		var got []string
		for _, h := range r.Network.ours() {
			got = append(got, h.Address.String())
		}
		if r.Accepted() != (ours != nil) || fmt.Sprint(got) != fmt.Sprint(ours) {
			t.Errorf("%s: ours are %v, expected %v\n%s", file, got, ours, text.String())
		}
	}
}

package tcp

import (
	"log/slog"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
)

// ServeConfig holds the limits of a [Server]. The zero value is usable.
type ServeConfig struct {
	// MaxPeers is the most connections at a time, those that are being closed included, 0 for 1024.
	// Further ones are closed at once and counted, as are those beyond the next three limits.
	MaxPeers int
	// PerAddress is the most connections at a time from one IPv4 address or one
	// IPv6 network of 64 bits, 0 for a quarter of MaxPeers but at least 16, negative for no limit.
	PerAddress int
	// AddressRate is the most connections of one such address that are accepted in a second, 0 for
	// 50, negative for no limit. A second's worth may come at once.
	AddressRate int
	// AcceptRate is the same for all addresses together, 0 for 1000. What PerAddress and
	// AddressRate turn away does not count against it, so that one address cannot use it up.
	AcceptRate int
	// ByteRate is the most bytes a second that are taken from one peer, 0 for no limit. A second's
	// worth may come at once; then the peer is not read from for a while, so that TCP slows it
	// down, and nothing is lost. Frames are limited by who splits the stream, see [Server.Pause].
	ByteRate int
	// SendQueue is the most bytes that wait because one peer does not take
	// them, 0 for 64 KiB. Beyond it Send fails with transport.ErrQueueFull. While more than
	// half of it waits, nothing is received from that peer either.
	SendQueue int
	// Linger is how long the orderly close of a peer may take, 0 for two seconds.
	Linger time.Duration
	// Stall is how long a peer may take no byte at all while some wait, 0 for
	// thirty seconds (at most a quarter more). Then it is lost with transport.ErrStalled.
	Stall time.Duration
	// Logger is told of each limit of all connections that bites, once. May be nil.
	Logger *slog.Logger
}

func (c ServeConfig) withDefaults() ServeConfig {
	def := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	def(&c.MaxPeers, 1024)
	def(&c.SendQueue, 64<<10)
	single := Config{Linger: c.Linger, Stall: c.Stall}.withDefaults()
	c.Linger, c.Stall = single.Linger, single.Stall
	return c
}

// ServeStats count what a server has met.
type ServeStats struct {
	Peers     int    // connections now, those that are being closed included
	Accepted  uint64 // connections that became peers
	Rejected  uint64 // closed at once because of MaxPeers
	Crowded   uint64 // closed at once because of PerAddress
	Hasty     uint64 // closed at once because of AddressRate
	Flooded   uint64 // closed at once because of AcceptRate
	Yielded   uint64 // half-open peers whose place was given to somebody else; see transport.Guarded
	Starved   uint64 // failures to accept, mostly for want of file descriptors
	Throttled uint64 // times a peer was not read from because of ByteRate or Pause
	Full      uint64 // frames that found the send queue full
	Stalled   uint64 // peers lost because they took nothing
	Reset     uint64 // peers lost without an orderly close of theirs
}

// Server accepts connections and carries all of them: a [transport.Link] with many peers, each of
// which is one connection with a stream of its own. A peer comes up when it connects, and is lost
// with the reason in Arrival.Why: io.EOF, transport.ErrReset, transport.ErrStalled. The lowest free
// number is given first, and again when the connection has ended on both sides.
//
// On Linux one goroutine serves all: the one that calls Receive, which must not stop doing so. A
// second one runs only while some peer does not take what is sent or is being closed. At rest a
// connection takes about 200 bytes of this process. Elsewhere each connection has a goroutine that
// reads, and a buffer of 4 KiB; the behaviour is the same.
type Server struct{ engine }

// engine is one of the two ways to do it.
type engine interface {
	transport.Link
	transport.Batched
	transport.Guarded
	// Drop ends a peer in good order, after what was sent before, within the
	// linger time. Receive announces its loss with transport.ErrClosed.
	Drop(peer int)
	// Pause has a peer not read from for a while. What was read already may still come. Any
	// goroutine may call it.
	Pause(peer int, d time.Duration)
	// Stats returns the counters. Any goroutine may call it.
	Stats() ServeStats
}

// Counts implements [transport.Counted].
func (s *Server) Counts() []transport.Count {
	t := s.Stats()
	return append(turnedAway(t.Peers, t.Accepted, t.Rejected, t.Crowded, t.Hasty, t.Flooded, t.Yielded),
		starving(t.Starved),
		transport.Count{Name: "throttled", Value: t.Throttled,
			Help: "Times a connection was not read from because of its rates"},
		transport.Count{Name: "send_full", Help: "Frames that found a send queue full", Value: t.Full},
		transport.Count{Name: "stalled", Help: "Connections lost because they took nothing", Value: t.Stalled},
		transport.Count{Name: "reset", Help: "Connections lost without an orderly close", Value: t.Reset})
}

// Serve listens on an address ("host:port", port 0 for a free one) on the
// network "tcp", "tcp4" or "tcp6" and returns the link of all who connect.
func Serve(network, address string, cfg ServeConfig) (*Server, error) {
	ln, err := Listen(network, address, Config{})
	if err != nil {
		return nil, err
	}
	e, err := newEngine(ln.ln, cfg.withDefaults())
	if err != nil {
		ln.Close()
		return nil, err
	}
	return &Server{e}, nil
}

func (c *ServeConfig) properties() transport.Properties {
	return transport.Properties{Ordered: true, Reliable: true, Stream: true, Peers: c.MaxPeers}
}

func (c *ServeConfig) door() *door.Door {
	return door.New(door.Of(c.MaxPeers, leastPlaces, c.PerAddress, c.AddressRate, c.AcceptRate))
}

// turnedAway adds what a door has counted.
func (s *ServeStats) turnedAway(d *door.Door) {
	c := d.Counts()
	s.Accepted, s.Rejected = c[door.In], c[door.Full]-s.Yielded
	s.Crowded, s.Hasty, s.Flooded = c[door.Crowded], c[door.Hasty], c[door.Flooded]
}

// places gives numbers to connections: the lowest that is free.
type places struct {
	taken []bool
	low   int // no number below it is free
	count int
}

func (p *places) take() (number int) {
	for p.low < len(p.taken) && p.taken[p.low] {
		p.low++
	}
	if p.low == len(p.taken) {
		p.taken = append(p.taken, false)
	}
	p.taken[p.low] = true
	p.count++
	return p.low
}

func (p *places) give(number int) {
	p.taken[number] = false
	p.low = min(p.low, number)
	p.count--
}

// bucket is the number of bytes that a peer may still send.
type bucket struct {
	left float32
	at   time.Duration // as of when; 0 is never
}

// leastPause is how long a peer is not read from at least, so that this is not done for every few
// bytes.
const leastPause = 20 * time.Millisecond

// allow returns how many bytes may be read now, or for how long none may.
func (b *bucket) allow(now time.Duration, rate int) (n int, wait time.Duration) {
	r := float32(rate)
	if b.at == 0 {
		b.left = r
	} else {
		b.left = min(b.left+float32((now-b.at).Seconds())*r, r)
	}
	b.at = now
	if b.left >= 1 {
		return int(b.left), 0
	}
	return 0, max(leastPause, time.Duration((1-b.left)/r*float32(time.Second)))
}

func (b *bucket) spend(n int) { b.left -= float32(n) }

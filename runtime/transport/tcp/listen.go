package tcp

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
	"github.com/parley-go/parley/runtime/transport/internal/explain"
)

// Listener accepts links, one or many.
type Listener struct {
	ln      *net.TCPListener
	cfg     Config
	door    *door.Door
	epoch   time.Time     // of the door
	starved atomic.Uint64 // failures to accept
	silent  atomic.Uint64
	invalid atomic.Uint64
	yielded atomic.Uint64
	notes   door.Notes
	yield   func() bool // takes a place from somebody half-open; reports whether one is free now

	mu   sync.Mutex
	half door.HalfOpen[*Link] // those with a guard that have not been confirmed
}

// ListenStats count what a [Listener] has met.
type ListenStats struct {
	Open     int    // links now
	Accepted uint64 // connections that became links
	Rejected uint64 // closed at once because of MaxLinks
	Crowded  uint64 // because of PerAddress
	Hasty    uint64 // because of AddressRate
	Flooded  uint64 // because of AcceptRate
	Yielded  uint64 // half-open links whose place was given to somebody else; see transport.Guarded
	Starved  uint64 // failures to accept, mostly for want of file descriptors
	Silent   uint64 // those that AcceptOne let go because they said nothing acceptable in time
	Invalid  uint64 // and those that did not speak the protocol, or went again
}

// Listen opens address ("host:port", port 0 for a free one) on the network
// "tcp", "tcp4" or "tcp6". The error says what is wrong and what to do.
func Listen(network, address string, cfg Config) (*Listener, error) {
	ln, err := net.Listen(network, address)
	if err != nil {
		return nil, explain.Network(explain.Listen, "TCP", address, err)
	}
	tl, ok := ln.(*net.TCPListener)
	if !ok {
		ln.Close()
		return nil, explain.Network(explain.Listen, "TCP", address, net.UnknownNetworkError(network))
	}
	return newListener(tl, cfg.withDefaults()), nil
}

func newListener(ln *net.TCPListener, cfg Config) *Listener {
	limits := door.Of(cfg.MaxLinks, leastPlaces, cfg.PerAddress, cfg.AddressRate, cfg.AcceptRate)
	l := &Listener{ln: ln, cfg: cfg, door: door.New(limits), epoch: time.Now()}
	l.yield = l.giveWay
	l.notes.Logger, l.notes.Place = cfg.Logger, func() string { return "TCP " + ln.Addr().String() }
	return l
}

// giveWay ends the oldest link that has a guard and was not confirmed.
func (l *Listener) giveWay() bool {
	l.mu.Lock()
	oldest, _, ok := l.half.Oldest()
	l.mu.Unlock()
	if !ok {
		return false
	}
	l.yielded.Add(1)
	yielded(&l.notes, originOf(oldest))
	oldest.why.CompareAndSwap(nil, &transport.ErrYielded)
	oldest.Abort()
	return true
}

// originOf is what counts as the address of a link's other end; the zero Addr if it has none.
func originOf(l *Link) netip.Addr {
	if a, ok := l.RemoteAddr(0).(*net.TCPAddr); ok {
		return door.Origin(a.AddrPort().Addr())
	}
	return netip.Addr{}
}

// guard notes that a link is half-open, open that it is no more.
func (l *Listener) guard(one *Link) {
	l.mu.Lock()
	if l.half.Remove(one); !one.closed.Load() {
		l.half.Add(one, time.Since(l.epoch))
	}
	l.mu.Unlock()
}

func (l *Listener) open(one *Link) {
	l.mu.Lock()
	l.half.Remove(one)
	l.mu.Unlock()
}

// Addr is the address listened on.
func (l *Listener) Addr() net.Addr { return l.ln.Addr() }

// Rejected is the number of connections closed because MaxLinks were open.
func (l *Listener) Rejected() uint64 { return l.Stats().Rejected }

// Stats returns the counters. Any goroutine may call it.
func (l *Listener) Stats() ListenStats {
	c := l.door.Counts()
	return ListenStats{Open: l.door.Open(), Accepted: c[door.In],
		Rejected: c[door.Full] - l.yielded.Load(), Crowded: c[door.Crowded],
		Hasty: c[door.Hasty], Flooded: c[door.Flooded], Starved: l.starved.Load(), Yielded: l.yielded.Load(),
		Silent: l.silent.Load(), Invalid: l.invalid.Load()}
}

// Counts implements [transport.Counted].
func (l *Listener) Counts() []transport.Count {
	s := l.Stats()
	counts := turnedAway(s.Open, s.Accepted, s.Rejected, s.Crowded, s.Hasty, s.Flooded, s.Yielded)
	return append(counts, starving(s.Starved),
		transport.Count{Name: "silent", Value: s.Silent,
			Help: "Connections let go at the door because they said nothing acceptable in time"},
		transport.Count{Name: "invalid", Value: s.Invalid,
			Help: "Connections let go at the door because they did not speak the protocol"})
}

func starving(n uint64) transport.Count {
	return transport.Count{Name: "starved", Help: "Failures to accept, mostly for want of file descriptors", Value: n}
}

func turnedAway(now int, accepted, full, crowded, hasty, flooded, yielded uint64) []transport.Count {
	return []transport.Count{
		{Name: "peers", Help: "Connections now", Level: true, Value: uint64(now)},
		{Name: "accepted", Help: "Connections that were let in", Value: accepted},
		{Name: "full", Help: "Connections turned away because all places were taken", Value: full},
		{Name: "crowded", Help: "Connections turned away because their address has its places", Value: crowded},
		{Name: "hasty", Value: hasty,
			Help: "Connections turned away because too many of their address came in a second"},
		{Name: "flooded", Help: "Connections turned away because too many came in a second", Value: flooded},
		{Name: "yielded", Help: "Half-open connections whose place was given to somebody else", Value: yielded},
	}
}

// tell tells the log who was turned away, and why.
func tell(notes *door.Notes, v door.Verdict, from netip.Addr) {
	limit := [...]string{
		door.Full: "MaxLinks or MaxPeers", door.Crowded: "PerAddress",
		door.Hasty: "AddressRate", door.Flooded: "AcceptRate",
	}[v]
	notes.Bite(limit, "connections are closed at once", from.String)
}

// What follows tells the log of the other limits of both kinds of servers, and of listeners.

func yielded(notes *door.Notes, from netip.Addr) {
	notes.Bite("MaxLinks or MaxPeers, half-open", "connections that say nothing give way to newcomers", from.String)
}

func starved(notes *door.Notes) {
	notes.Bite("file descriptors", "nobody is accepted for a while", nil)
}

func throttled(notes *door.Notes, from netip.Addr) {
	notes.Bite("ByteRate or FrameRate", "the connection is not read from for a while", from.String)
}

func sendFull(notes *door.Notes, from netip.Addr) {
	notes.Bite("SendQueue", "frames for the connection are lost, or it is", from.String)
}

func stalled(notes *door.Notes, from netip.Addr) {
	notes.Bite("Stall", "connections that take nothing are lost", from.String)
}

// Accept waits for a connection within the limits, until ctx ends or the listener is closed
// (transport.ErrClosed). One goroutine may call it at a time, and should do so again soon: others
// wait meanwhile.
func (l *Listener) Accept(ctx context.Context) (*Link, error) {
	conn, from, err := l.accept(ctx)
	if err != nil {
		return nil, err
	}
	var link *Link
	link = newLink(conn, l.cfg, func() { l.open(link); l.door.Leave(from) })
	link.listener = l
	return link, nil
}

// accept returns a connection that has been let in by the door and has to leave by it.
func (l *Listener) accept(ctx context.Context) (*net.TCPConn, netip.Addr, error) {
	var none netip.Addr
	if err := l.ln.SetDeadline(time.Time{}); err != nil {
		return nil, none, transport.ErrClosed
	}
	stop := context.AfterFunc(ctx, func() { l.ln.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var backoff time.Duration
	for {
		conn, err := l.ln.AcceptTCP()
		switch {
		case err == nil:
			from := door.Origin(conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr())
			verdict := l.door.Enter(from, time.Since(l.epoch))
			if verdict == door.Full && l.yield() {
				verdict = l.door.Enter(from, time.Since(l.epoch))
			}
			if verdict == door.In {
				return conn, from, nil
			}
			tell(&l.notes, verdict, from)
			conn.SetLinger(0)
			conn.Close()
		case ctx.Err() != nil:
			return nil, none, ctx.Err()
		case !temporary(err):
			return nil, none, transport.ErrClosed
		default:
			// Out of descriptors, or the peer gave up already: go on, without spinning.
			l.starved.Add(1)
			starved(&l.notes)
			backoff = min(max(2*backoff, time.Millisecond), time.Second)
			if !pause(ctx, backoff) {
				return nil, none, ctx.Err()
			}
		}
	}
}

// Close stops listening. Links that were accepted stay open.
func (l *Listener) Close() error { return l.ln.Close() }

func temporary(err error) bool {
	t, ok := err.(interface{ Temporary() bool })
	return ok && t.Temporary()
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

package tcp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
)

// pooled is a [Server] with a goroutine for each connection, which feeds one
// queue: for systems on which nothing better is at hand. Each connection is a [Link].
type pooled struct {
	cfg     ServeConfig
	ln      *Listener
	in      chan parcel
	held    parcel // partly received
	epoch   time.Time
	waiting sync.WaitGroup
	done    chan struct{} // closed: nobody receives any more
	closed  atomic.Bool

	mu       sync.Mutex
	places   places
	stats    ServeStats
	peers    []*pooledPeer // by number
	dirty    []*pooledPeer
	guarded  bool
	half     door.HalfOpen[int] // by number, if guarded
	yielding int                // peers that are losing their places to newcomers

	dl    sync.Mutex
	until time.Time     // given to Interrupt
	look  chan struct{} // capacity 1: until has changed, or it is closed
}

// pooledPeer is one connection.
type pooledPeer struct {
	link     *Link
	number   int
	from     netip.Addr
	yielding bool          // guarded by pooled.mu
	resume   chan struct{} // capacity 1: what was read has been received
	dirty    bool
	dropped  atomic.Bool
	paused   atomic.Int64  // until when, as a duration since the server began
	stirred  chan struct{} // capacity 1: dropped
}

// parcel is data that a connection has brought.
type parcel struct {
	full bool
	got  transport.Arrival
	data []byte
	from *pooledPeer
}

// pieceSize is how much one connection reads at a time, in bytes.
const pieceSize = 4 << 10

func newPooled(ln *net.TCPListener, cfg ServeConfig) *pooled {
	single := Config{SendQueue: cfg.SendQueue, Linger: cfg.Linger, Stall: cfg.Stall, MaxLinks: cfg.MaxPeers,
		PerAddress: cfg.PerAddress, AddressRate: cfg.AddressRate, AcceptRate: cfg.AcceptRate,
		Logger: cfg.Logger}.withDefaults()
	p := &pooled{cfg: cfg, ln: newListener(ln, single), epoch: time.Now(), in: make(chan parcel, 16),
		done: make(chan struct{}), look: make(chan struct{}, 1)}
	p.ln.yield = p.giveWay
	p.waiting.Go(func() {
		for {
			conn, from, err := p.ln.accept(context.Background())
			if err != nil {
				return
			}
			p.admit(newLink(conn, single, nil), from)
		}
	})
	return p
}

func (p *pooled) admit(l *Link, from netip.Addr) {
	p.mu.Lock()
	if p.closed.Load() {
		p.mu.Unlock()
		l.Abort()
		p.ln.door.Leave(from)
		return
	}
	number := p.places.take()
	c := &pooledPeer{link: l, number: number, from: from, resume: make(chan struct{}, 1),
		stirred: make(chan struct{}, 1)}
	for len(p.peers) <= number {
		p.peers = append(p.peers, nil)
	}
	p.peers[number] = c
	if p.guarded {
		p.half.Add(number, time.Since(p.epoch))
	}
	p.waiting.Go(func() { p.serve(c) })
	p.mu.Unlock()
}

// serve brings what one connection brings, from its coming to its end.
func (p *pooled) serve(c *pooledPeer) {
	if !p.put(parcel{got: transport.Arrival{Kind: transport.PeerUp, Peer: c.number}}) {
		p.forget(c)
		return
	}
	why := p.read(c)
	if c.dropped.Load() {
		why = transport.ErrClosed
	}
	p.mu.Lock()
	if c.yielding {
		why = transport.ErrYielded
	}
	if errors.Is(why, transport.ErrStalled) {
		p.stats.Stalled++
		stalled(&p.ln.notes, c.from)
	} else if why != io.EOF && why != transport.ErrClosed && why != transport.ErrYielded {
		p.stats.Reset++
	}
	p.mu.Unlock()
	if p.put(parcel{got: transport.Arrival{Kind: transport.PeerLost, Peer: c.number, Why: why}, from: c}) {
		select { // whoever receives may still answer what came before
		case <-c.resume:
		case <-p.done:
		}
	}
	if why == io.EOF || why == transport.ErrClosed {
		c.link.Close()
	} else {
		c.link.Abort()
	}
	p.forget(c)
}

func (p *pooled) forget(c *pooledPeer) {
	p.mu.Lock()
	p.peers[c.number] = nil
	if p.half.Remove(c.number); c.yielding {
		p.yielding--
	}
	p.places.give(c.number)
	p.ln.door.Leave(c.from) // not before: its number has to be free for the next one
	p.mu.Unlock()
}

func (p *pooled) read(c *pooledPeer) error {
	buf := make([]byte, pieceSize)
	var budget bucket
	for {
		room, wait := buf, time.Duration(c.paused.Load())-time.Since(p.epoch)
		if p.cfg.ByteRate > 0 && wait <= 0 {
			var most int
			if most, wait = budget.allow(time.Since(p.epoch)+1, p.cfg.ByteRate); wait > 0 {
				p.count(&p.stats.Throttled)
				throttled(&p.ln.notes, c.from)
			}
			room = buf[:min(len(buf), most)]
		}
		if wait > 0 {
			if !p.sleep(c, wait) {
				return transport.ErrClosed
			}
			continue
		}
		got, err := c.link.Receive(room)
		if errors.Is(err, transport.ErrInterrupted) { // to be paused or dropped
			if c.link.Interrupt(time.Time{}); c.dropped.Load() {
				return transport.ErrClosed
			}
			continue
		}
		if err != nil {
			return err
		}
		budget.spend(got.N)
		got.Peer = c.number
		if !p.put(parcel{got: got, data: room[:got.N], from: c}) {
			return transport.ErrClosed
		}
		select {
		case <-c.resume:
		case <-p.done:
			return transport.ErrClosed
		}
	}
}

// sleep waits; it reports whether the connection is still wanted then.
func (p *pooled) sleep(c *pooledPeer, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.stirred:
	case <-p.done:
	}
	return !c.dropped.Load() && !p.closed.Load()
}

// put hands something to whoever receives; it reports whether anybody does.
func (p *pooled) put(it parcel) bool {
	it.full = true
	select {
	case p.in <- it:
		return true
	case <-p.done:
		return false
	}
}

// Guard implements [transport.Guarded].
func (p *pooled) Guard(func(frame []byte) bool) {
	p.mu.Lock()
	p.guarded = true
	p.mu.Unlock()
}

// Confirm implements [transport.Guarded].
func (p *pooled) Confirm(peer int) {
	p.mu.Lock()
	p.half.Remove(peer)
	p.mu.Unlock()
}

// giveWay begins to end the oldest connection that has not been confirmed. Its place is free when
// its loss has been received, so the newcomer that asked for it has to come again.
func (p *pooled) giveWay() bool {
	p.mu.Lock()
	number, _, ok := p.half.Oldest()
	if !ok || p.yielding > 0 {
		p.mu.Unlock()
		return false
	}
	c := p.peers[number]
	p.half.Remove(number)
	p.yielding++
	p.stats.Yielded++
	yielded(&p.ln.notes, c.from)
	c.yielding = true
	p.mu.Unlock()
	c.link.Abort()
	return false
}

func (p *pooled) count(n *uint64) {
	p.mu.Lock()
	*n++
	p.mu.Unlock()
}

// Properties implements [transport.Link].
func (p *pooled) Properties() transport.Properties { return p.cfg.properties() }

// LocalAddr implements [transport.Link].
func (p *pooled) LocalAddr() net.Addr { return p.ln.Addr() }

// RemoteAddr implements [transport.Link].
func (p *pooled) RemoteAddr(peer int) net.Addr {
	if c := p.peer(peer); c != nil {
		return c.link.RemoteAddr(0)
	}
	return nil
}

// Stats implements engine.
func (p *pooled) Stats() ServeStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.turnedAway(p.ln.door)
	s.Peers = p.places.count
	s.Starved = p.ln.starved.Load()
	return s
}

// peer returns a connection that is up, nil if there is none.
func (p *pooled) peer(number int) *pooledPeer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if number < 0 || number >= len(p.peers) || p.peers[number] == nil || p.peers[number].dropped.Load() {
		return nil
	}
	return p.peers[number]
}

// Receive implements [transport.Link].
func (p *pooled) Receive(buf []byte) (transport.Arrival, error) {
	for {
		p.dl.Lock()
		until := p.until
		p.dl.Unlock()
		wait := time.Until(until)
		switch {
		case p.closed.Load():
			return transport.Arrival{}, transport.ErrClosed
		case !until.IsZero() && wait <= 0:
			return transport.Arrival{}, transport.ErrInterrupted
		}
		if got, ok := p.Next(buf); ok {
			return got, nil
		}
		var late <-chan time.Time
		var t *time.Timer
		if !until.IsZero() {
			t = time.NewTimer(wait)
			late = t.C
		}
		select {
		case p.held = <-p.in:
		case <-p.look:
		case <-late:
		}
		if t != nil {
			t.Stop()
		}
	}
}

// Next implements [transport.Batched].
func (p *pooled) Next(buf []byte) (transport.Arrival, bool) {
	if !p.held.full {
		select {
		case p.held = <-p.in:
		default:
			return transport.Arrival{}, false
		}
	}
	got := p.held.got
	if got.Kind == transport.Data {
		got.N = copy(buf, p.held.data)
		if p.held.data = p.held.data[got.N:]; len(p.held.data) > 0 {
			return got, true
		}
		p.held.from.resume <- struct{}{}
	}
	if got.Kind == transport.PeerLost {
		p.held.from.dropped.Store(true) // nothing is sent from now on
		p.held.from.resume <- struct{}{}
	}
	p.held = parcel{}
	return got, true
}

func (p *pooled) stir() {
	select {
	case p.look <- struct{}{}:
	default:
	}
}

// Interrupt implements [transport.Link].
func (p *pooled) Interrupt(at time.Time) {
	p.dl.Lock()
	p.until = at
	p.dl.Unlock()
	p.stir()
}

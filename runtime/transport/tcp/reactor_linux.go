package tcp

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
)

func newEngine(ln *net.TCPListener, cfg ServeConfig) (engine, error) {
	r, err := newReactor(ln, cfg)
	if errors.Is(err, os.ErrNoDeadline) {
		return newPooled(ln, cfg), nil // a kernel whose epoll does not nest
	}
	return r, err
}

// reactor is a [Server] over epoll. The goroutine that receives waits for what
// can be read and reads it; nobody hands anything over. What some peer does not take at once,
// and connections that are being closed, are looked after by a goroutine that
// lives as long as there are any; see tend. One lock guards everything: what
// is done under it does not wait.
type reactor struct {
	cfg   ServeConfig
	ln    *net.TCPListener
	local net.Addr
	lfd   int // valid until closed
	epoch time.Time
	in    *poller // whom to read from; and the listener
	at    int     // of in.list: up to where the receiving goroutine has come
	late  *poller // who is behind

	mu      sync.Mutex
	conns   []*conn // by number
	places  places
	door    *door.Door // let in and not yet out: those who have a place
	stats   ServeStats
	guarded bool
	half    door.HalfOpen[int] // by number, if guarded
	notes   door.Notes
	events  []transport.Arrival // news of peers
	dirty   []*conn             // something was queued and not flushed
	behind  []*conn             // watched by late
	slowed  []*conn             // not read from until their resume
	slow    *time.Timer         // for them
	slowAt  time.Duration       // when it goes off
	buffers [][]byte            // for queues
	backoff time.Duration       // of accepting
	tending bool
	empty   chan struct{} // closed when closed and all connections have ended

	closed  atomic.Bool
	waiting atomic.Bool // there are events
	past    atomic.Bool // until has come, as of the call of Interrupt
	dl      sync.Mutex  // guards what follows and the deadline of in
	until   time.Time   // given to Interrupt
	once    sync.Once
}

// conn is one connection.
type conn struct {
	fd      int // -1 when it has ended
	number  int
	place   int32 // in behind, -1 if it is not there
	drained int32 // bytes discarded while leaving
	paused  uint8 // why it is not read from: slow, crowded
	dirty   bool
	leaving bool // it is being closed
	shut    bool // our direction is
	eof     bool // and the peer's
	out     []byte
	since   time.Duration // when it last took something while behind, or began leaving
	resume  time.Duration
	broken  error // sending has failed
	budget  bucket
	from    netip.Addr
}

const (
	slow    = 1 << iota // it has sent too fast
	crowded             // it does not take what is sent
)

const listenerNumber = -1

func newReactor(ln *net.TCPListener, cfg ServeConfig) (*reactor, error) {
	r := &reactor{cfg: cfg, ln: ln, local: ln.Addr(), epoch: time.Now(), door: cfg.door(), empty: make(chan struct{})}
	r.notes.Logger, r.notes.Place = cfg.Logger, func() string { return "TCP " + r.local.String() }
	raw, err := ln.SyscallConn()
	if err != nil {
		return nil, err
	}
	if r.in, err = newPoller(); err != nil {
		return nil, err
	}
	if r.late, err = newPoller(); err == nil {
		raw.Control(func(fd uintptr) { r.lfd = int(fd) })
		err = r.in.watch(true, r.lfd, syscall.EPOLLIN, listenerNumber)
		r.slow = time.AfterFunc(time.Hour, r.quicken)
		r.slow.Stop()
	}
	if err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

func (r *reactor) release() {
	r.once.Do(func() {
		r.in.file.Close()
		if r.late != nil {
			r.late.file.Close()
		}
	})
}

func (r *reactor) now() time.Duration { return time.Since(r.epoch) }

// Properties implements [transport.Link].
func (r *reactor) Properties() transport.Properties { return r.cfg.properties() }

// LocalAddr implements [transport.Link].
func (r *reactor) LocalAddr() net.Addr { return r.local }

// RemoteAddr implements [transport.Link].
func (r *reactor) RemoteAddr(peer int) net.Addr {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.peer(peer); c != nil {
		if sa, err := syscall.Getpeername(c.fd); err == nil {
			return net.TCPAddrFromAddrPort(addrPort(sa))
		}
	}
	return nil
}

func addrPort(sa syscall.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *syscall.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *syscall.SockaddrInet6:
		ip := netip.AddrFrom16(a.Addr).Unmap()
		if a.ZoneId != 0 {
			if ifi, err := net.InterfaceByIndex(int(a.ZoneId)); err == nil {
				ip = ip.WithZone(ifi.Name)
			}
		}
		return netip.AddrPortFrom(ip, uint16(a.Port))
	}
	return netip.AddrPort{}
}

// Stats implements engine.
func (r *reactor) Stats() ServeStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.turnedAway(r.door)
	s.Peers = r.places.count
	return s
}

// Guard implements [transport.Guarded].
func (r *reactor) Guard(func(frame []byte) bool) {
	r.mu.Lock()
	r.guarded = true
	r.mu.Unlock()
}

// Confirm implements [transport.Guarded].
func (r *reactor) Confirm(peer int) {
	r.mu.Lock()
	r.half.Remove(peer)
	r.mu.Unlock()
}

// giveWay ends the oldest connection that has not been confirmed, and reports whether there was one.
func (r *reactor) giveWay() bool {
	number, _, ok := r.half.Oldest()
	if !ok {
		return false
	}
	r.stats.Yielded++
	c := r.conns[number]
	yielded(&r.notes, c.from)
	if c.leaving {
		r.aborted(c)
	} else {
		r.pause(c, slow) // no poller has it any more
		r.lose(c, transport.ErrYielded)
	}
	return true
}

// peer returns a connection that is up, nil if there is none; mu is held, as in everything below
// but the methods of the link.
func (r *reactor) peer(number int) *conn {
	if number < 0 || number >= len(r.conns) || r.conns[number] == nil || r.conns[number].leaving {
		return nil
	}
	return r.conns[number]
}

// found is whose event it is, nil if that connection is gone. If another has its number by now, it
// is looked at for nothing, which does no harm.
func (r *reactor) found(ev *syscall.EpollEvent) *conn {
	if n := int(ev.Fd); n >= 0 && n < len(r.conns) {
		return r.conns[n]
	}
	return nil
}

// Receive implements [transport.Link].
func (r *reactor) Receive(buf []byte) (transport.Arrival, error) {
	for {
		if r.closed.Load() {
			return transport.Arrival{}, transport.ErrClosed
		}
		if r.past.Load() {
			return transport.Arrival{}, transport.ErrInterrupted
		}
		if got, ok := r.Next(buf); ok {
			return got, nil
		}
		r.at = 0
		if err := r.in.wait(); err != nil && r.interrupted() {
			return transport.Arrival{}, transport.ErrInterrupted
		}
	}
}

// Next implements [transport.Batched].
func (r *reactor) Next(buf []byte) (transport.Arrival, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.closed.Load() {
		if len(r.events) > 0 {
			ev := r.events[0]
			if r.events = r.events[1:]; len(r.events) == 0 {
				r.events = nil
				r.waiting.Store(false)
			}
			return ev, true
		}
		if r.at >= r.in.n {
			break
		}
		ev := &r.in.list[r.at]
		r.at++
		if ev.Fd == listenerNumber {
			r.accept()
			continue
		}
		if c := r.found(ev); c != nil && !c.leaving && c.paused == 0 {
			if n := r.read(c, buf); n > 0 {
				return transport.Arrival{Peer: c.number, N: n}, true
			}
		}
	}
	return transport.Arrival{}, false
}

// read reads once, so that everybody has his turn.
func (r *reactor) read(c *conn, buf []byte) int {
	if r.cfg.ByteRate > 0 {
		most, wait := c.budget.allow(r.now()+1, r.cfg.ByteRate)
		if wait > 0 {
			r.slowDown(c, wait)
			return 0
		}
		buf = buf[:min(len(buf), most)]
	}
	for {
		n, err := syscall.Read(c.fd, buf)
		switch {
		case n > 0:
			c.budget.spend(n)
			return n
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
		case err != nil || c.broken != nil:
			if c.broken != nil {
				err = c.broken // a kernel tells of a reset once, and sending has heard it
			} else {
				err = lost(os.NewSyscallError("read", err))
			}
			r.stats.Reset++
			r.lose(c, err)
		default:
			c.eof = true
			r.announce(transport.PeerLost, c, io.EOF)
			r.leave(c)
		}
		return 0
	}
}

func (r *reactor) announce(kind transport.Kind, c *conn, why error) {
	r.events = append(r.events, transport.Arrival{Kind: kind, Peer: c.number, Why: why})
	r.waiting.Store(true)
}

// Interrupt implements [transport.Link].
func (r *reactor) Interrupt(at time.Time) {
	r.dl.Lock()
	r.until = at
	r.past.Store(!at.IsZero() && !time.Now().Before(at))
	r.arm()
	r.dl.Unlock()
}

// interrupted reports whether the time given to Interrupt has come. If not,
// the deadline was for something else, which the caller looks at now.
func (r *reactor) interrupted() bool {
	r.dl.Lock()
	defer r.dl.Unlock()
	if r.closed.Load() {
		return false
	}
	if !r.until.IsZero() && !time.Now().Before(r.until) {
		return true
	}
	r.arm()
	return false
}

// arm sets the deadline; dl is held. A wake is not to be undone by somebody who moves the deadline
// away.
func (r *reactor) arm() {
	at := r.until
	if r.waiting.Load() || r.closed.Load() {
		at = time.Unix(1, 0)
	}
	r.in.file.SetReadDeadline(at)
}

// wake makes a waiting Receive look around. Nothing need be held.
func (r *reactor) wake() {
	r.dl.Lock()
	r.arm()
	r.dl.Unlock()
}

// Package mem joins two ends of one program by queues in memory: a link for
// tests, for local play, and for measuring what a driver itself costs. It
// behaves the same in every run, and in a testing/synctest bubble its waiting
// follows the bubble's clock. Start from [Pair].
package mem

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Config describes a pair of links.
type Config struct {
	// Stream makes the links carry bytes without boundaries, like TCP;
	// otherwise each frame arrives as it was sent.
	Stream bool
	// Queue is the most bytes under way in one direction, 0 for 256 KiB.
	Queue int
	// MaxFrame is the largest frame in bytes, 0 for no limit but Queue.
	MaxFrame int
	// Linger is how long Close waits for the other end's close, 0 for two seconds.
	Linger time.Duration
}

// Link is one end. It has one peer, number 0.
type Link struct {
	cfg     Config
	in      *inbox
	out     *inbox
	name    addr
	other   addr
	mu      sync.Mutex // guards pending
	pending batch      // sent, not flushed
	closed  atomic.Bool
}

// Pair returns two ends joined to each other.
func Pair(cfg Config) (*Link, *Link) {
	if cfg.Queue == 0 {
		cfg.Queue = 256 << 10
	}
	if cfg.Linger == 0 {
		cfg.Linger = 2 * time.Second
	}
	x, y := newInbox(), newInbox()
	return &Link{cfg: cfg, in: x, out: y, name: "mem:a", other: "mem:b"},
		&Link{cfg: cfg, in: y, out: x, name: "mem:b", other: "mem:a"}
}

// Properties implements [transport.Link].
func (l *Link) Properties() transport.Properties {
	return transport.Properties{Ordered: true, Reliable: true, Stream: l.cfg.Stream, MaxFrame: l.cfg.MaxFrame}
}

// Receive implements [transport.Link].
func (l *Link) Receive(buf []byte) (transport.Arrival, error) {
	n, err := l.in.receive(buf, l.cfg.Stream)
	return transport.Arrival{N: n}, err
}

// Interrupt implements [transport.Link].
func (l *Link) Interrupt(at time.Time) {
	l.in.mu.Lock()
	l.in.interrupt = at
	l.in.mu.Unlock()
	l.in.poke()
}

// Send implements [transport.Link].
func (l *Link) Send(peer int, frame []byte) error {
	if peer != 0 && peer != transport.All {
		return transport.ErrNoPeer
	}
	if l.closed.Load() {
		return transport.ErrClosed
	}
	if l.cfg.MaxFrame > 0 && len(frame) > l.cfg.MaxFrame {
		return transport.ErrFrameTooLong
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out.size()+len(l.pending.bytes)+len(frame) > l.cfg.Queue {
		return transport.ErrQueueFull
	}
	l.pending.bytes = append(l.pending.bytes, frame...)
	if !l.cfg.Stream {
		l.pending.lens = append(l.pending.lens, len(frame))
	}
	return nil
}

// Flush implements [transport.Link].
func (l *Link) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending.bytes) == 0 && len(l.pending.lens) == 0 {
		return nil
	}
	err := l.out.put(&l.pending)
	l.pending.reset()
	return err
}

// Close implements [transport.Link].
func (l *Link) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	err := l.Flush()
	l.in.stop(transport.ErrClosed) // this side receives no more
	l.out.finish()
	l.in.awaitFinish(l.cfg.Linger)
	return err
}

// Abort implements [transport.Link].
func (l *Link) Abort() error {
	l.closed.Store(true)
	l.in.stop(transport.ErrClosed)
	l.in.finish()
	l.out.stop(transport.ErrReset)
	l.out.finish()
	return nil
}

// LocalAddr implements [transport.Link].
func (l *Link) LocalAddr() net.Addr { return l.name }

// RemoteAddr implements [transport.Link].
func (l *Link) RemoteAddr(int) net.Addr { return l.other }

type addr string

func (addr) Network() string  { return "mem" }
func (a addr) String() string { return string(a) }

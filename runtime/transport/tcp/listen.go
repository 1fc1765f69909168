package tcp

import (
	"context"
	"net"
	"net/netip"
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
}

// ListenStats count what a [Listener] has met.
type ListenStats struct {
	Open     int    // links now
	Accepted uint64 // connections that became links
	Rejected uint64 // closed at once because of MaxLinks
	Crowded  uint64 // because of PerAddress
	Hasty    uint64 // because of AddressRate
	Flooded  uint64 // because of AcceptRate
	Starved  uint64 // failures to accept, mostly for want of file descriptors
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
	return &Listener{ln: ln, cfg: cfg, door: door.New(limits), epoch: time.Now()}
}

// Addr is the address listened on.
func (l *Listener) Addr() net.Addr { return l.ln.Addr() }

// Rejected is the number of connections closed because MaxLinks were open.
func (l *Listener) Rejected() uint64 { return l.Stats().Rejected }

// Stats returns the counters. Any goroutine may call it.
func (l *Listener) Stats() ListenStats {
	c := l.door.Counts()
	return ListenStats{Open: l.door.Open(), Accepted: c[door.In], Rejected: c[door.Full], Crowded: c[door.Crowded],
		Hasty: c[door.Hasty], Flooded: c[door.Flooded], Starved: l.starved.Load()}
}

// Accept waits for a connection within the limits, until ctx ends or the listener is closed
// (transport.ErrClosed). One goroutine may call it at a time, and should do so again soon: others
// wait meanwhile.
func (l *Listener) Accept(ctx context.Context) (*Link, error) {
	conn, from, err := l.accept(ctx)
	if err != nil {
		return nil, err
	}
	return newLink(conn, l.cfg, func() { l.door.Leave(from) }), nil
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
			if l.door.Enter(from, time.Since(l.epoch)) == door.In {
				return conn, from, nil
			}
			conn.SetLinger(0)
			conn.Close()
		case ctx.Err() != nil:
			return nil, none, ctx.Err()
		case !temporary(err):
			return nil, none, transport.ErrClosed
		default:
			// Out of descriptors, or the peer gave up already: go on, without spinning.
			l.starved.Add(1)
			backoff = min(max(2*backoff, time.Millisecond), time.Second)
			if !pause(ctx, backoff) {
				return nil, none, ctx.Err()
			}
		}
	}
}

// AcceptOne waits for one connection and then closes the listener, so that
// nobody else can connect.
func (l *Listener) AcceptOne(ctx context.Context) (*Link, error) {
	link, err := l.Accept(ctx)
	l.Close()
	return link, err
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

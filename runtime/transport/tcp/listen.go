package tcp

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Listener accepts links, one or many.
type Listener struct {
	ln       *net.TCPListener
	cfg      Config
	open     atomic.Int64
	rejected atomic.Uint64
	starved  atomic.Uint64 // failures to accept
}

// Listen opens address ("host:port", port 0 for a free one) on the network
// "tcp", "tcp4" or "tcp6".
func Listen(network, address string, cfg Config) (*Listener, error) {
	ln, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	tl, ok := ln.(*net.TCPListener)
	if !ok {
		ln.Close()
		return nil, net.UnknownNetworkError(network)
	}
	return &Listener{ln: tl, cfg: cfg.withDefaults()}, nil
}

// Addr is the address listened on.
func (l *Listener) Addr() net.Addr { return l.ln.Addr() }

// Rejected is the number of connections closed because MaxLinks were open.
func (l *Listener) Rejected() uint64 { return l.rejected.Load() }

// Accept waits for a connection, until ctx ends or the listener is closed
// (transport.ErrClosed). One goroutine may call it at a time.
func (l *Listener) Accept(ctx context.Context) (*Link, error) {
	if err := l.ln.SetDeadline(time.Time{}); err != nil {
		return nil, transport.ErrClosed
	}
	stop := context.AfterFunc(ctx, func() { l.ln.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var backoff time.Duration
	for {
		conn, err := l.ln.AcceptTCP()
		switch {
		case err == nil && l.open.Load() >= int64(l.cfg.MaxLinks):
			l.rejected.Add(1)
			conn.SetLinger(0)
			conn.Close()
		case err == nil:
			l.open.Add(1)
			return newLink(conn, l.cfg, func() { l.open.Add(-1) }), nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !temporary(err):
			return nil, transport.ErrClosed
		default:
			// Out of descriptors, or the peer gave up already: go on, without spinning.
			l.starved.Add(1)
			backoff = min(max(2*backoff, time.Millisecond), time.Second)
			if !pause(ctx, backoff) {
				return nil, ctx.Err()
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

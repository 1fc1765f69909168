// Package tlslink puts TLS 1.3 between a driver and any link that carries a
// reliable stream: a TCP connection, or a pair of queues in memory.
//
// It is a module of its own, so that clients that do not need it do not link
// it. It knows no protocol, and no carrier but by [transport.Link]. Start from
// [Client] and [Server], which give a [Link]; [SelfSigned] and [Pin] are for peers that
// know each other's keys and have no certificate authority.
package tlslink

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// record is how many bytes are collected before they become a TLS record without a
// Flush: what fits into one, 16 KiB less what TLS adds.
const record = 16<<10 - 256

// Link is a link through TLS. It has one peer, number 0.
type Link struct {
	inner  transport.Link
	below  *carrier
	conn   *tls.Conn
	peer   Identity
	closed atomic.Bool

	mu      sync.Mutex // guards what is sent
	pending []byte
	failed  error
}

// Client makes the handshake as a client over a link that carries a reliable,
// ordered stream to one peer, and that belongs to it from then on, also when the handshake
// fails. cfg is that of crypto/tls; at least ServerName, or Pin, says who is expected.
// Versions before TLS 1.3 are never spoken. The handshake ends with ctx.
func Client(ctx context.Context, inner transport.Link, cfg *tls.Config) (*Link, error) {
	return handshake(ctx, inner, cfg, tls.Client)
}

// Server makes the handshake as a server, as Client does. cfg needs a certificate; with
// ClientAuth (tls.RequireAndVerifyClientCert, or Pin) clients show who they are.
func Server(ctx context.Context, inner transport.Link, cfg *tls.Config) (*Link, error) {
	return handshake(ctx, inner, cfg, tls.Server)
}

func handshake(ctx context.Context, inner transport.Link, cfg *tls.Config,
	side func(net.Conn, *tls.Config) *tls.Conn) (*Link, error) {
	if p := inner.Properties(); !p.Stream || !p.Ordered || !p.Reliable || p.Peers != 0 {
		return nil, errors.Join(errors.New("TLS needs a link that carries a reliable, ordered stream to one "+
			"peer; see dtlslink for datagrams"), inner.Abort())
	}
	cfg = cfg.Clone()
	cfg.MinVersion = tls.VersionTLS13
	l := &Link{inner: inner, below: &carrier{link: inner}}
	l.conn = side(l.below, cfg)
	l.Guard(nil) // one that never comes to the end of its handshake gives way to others
	if err := l.conn.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("TLS with %v: %w", inner.RemoteAddr(0), err), inner.Abort())
	}
	l.Confirm(0)
	l.peer = identity(l.conn.ConnectionState())
	return l, nil
}

// Guard implements [transport.Guarded], if the link below does.
func (l *Link) Guard(valid func(frame []byte) bool) {
	if g, ok := l.inner.(transport.Guarded); ok {
		g.Guard(valid)
	}
}

// Confirm implements [transport.Guarded].
func (l *Link) Confirm(peer int) {
	if g, ok := l.inner.(transport.Guarded); ok {
		g.Confirm(peer)
	}
}

// Identity says who the peer is.
func (l *Link) Identity() Identity { return l.peer }

// State returns the state of the connection from crypto/tls.
func (l *Link) State() tls.ConnectionState { return l.conn.ConnectionState() }

// Properties implements [transport.Link].
func (l *Link) Properties() transport.Properties {
	return transport.Properties{Ordered: true, Reliable: true, Stream: true}
}

// LocalAddr implements [transport.Link].
func (l *Link) LocalAddr() net.Addr { return l.inner.LocalAddr() }

// RemoteAddr implements [transport.Link].
func (l *Link) RemoteAddr(peer int) net.Addr { return l.inner.RemoteAddr(peer) }

// Receive implements [transport.Link]. A stream that ends without the peer's
// word that it ends is transport.ErrReset: somebody may have cut it off.
func (l *Link) Receive(buf []byte) (transport.Arrival, error) {
	if l.closed.Load() {
		return transport.Arrival{}, transport.ErrClosed
	}
	n, err := l.conn.Read(buf)
	if n > 0 {
		return transport.Arrival{N: n}, nil
	}
	switch {
	case l.closed.Load():
		err = transport.ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = transport.ErrInterrupted
	}
	return transport.Arrival{}, err
}

// Interrupt implements [transport.Link].
func (l *Link) Interrupt(at time.Time) { l.inner.Interrupt(at) }

// Send implements [transport.Link]. Frames sent between two flushes share records.
func (l *Link) Send(peer int, frame []byte) error {
	if peer != 0 && peer != transport.All {
		return transport.ErrNoPeer
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed.Load() {
		return transport.ErrClosed
	}
	if l.failed != nil {
		return l.failed
	}
	if l.below.behind() {
		return transport.ErrQueueFull
	}
	l.pending = append(l.pending, frame...)
	if len(l.pending) >= record {
		return l.write()
	}
	return nil
}

// Flush implements [transport.Link].
func (l *Link) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed.Load() {
		return transport.ErrClosed
	}
	return l.write()
}

// write makes records of what is pending; the caller holds mu. It does not
// block, because the link below does not.
func (l *Link) write() error {
	if l.failed != nil || len(l.pending) == 0 {
		return l.failed
	}
	_, l.failed = l.conn.Write(l.pending)
	l.pending = l.pending[:0]
	return l.failed
}

// Close implements [transport.Link]: it says that nothing follows, and closes the link below.
func (l *Link) Close() error {
	if !l.shut() {
		return nil
	}
	l.below.catchUp()
	return l.inner.Close()
}

func (l *Link) shut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed.Load() {
		return false
	}
	if l.write() == nil {
		l.conn.CloseWrite()
	}
	return !l.closed.Swap(true)
}

// Abort implements [transport.Link].
func (l *Link) Abort() error {
	l.closed.Store(true)
	return l.inner.Abort()
}

package tcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Link is one TCP connection.
type Link struct {
	conn  *net.TCPConn
	cfg   Config
	out   sendQueue
	ended func() // tells the listener, once

	listener *Listener             // which has accepted it; nil for none
	why      atomic.Pointer[error] // why it was closed, if not by who owns it

	reading  sync.Mutex // held while bytes are read, so that Close can take over
	deadline sync.Mutex // guards until and the connection's read deadline
	until    time.Time
	closed   atomic.Bool
	release  sync.Once
}

// New makes a link of a connection that exists already. The connection
// belongs to the link from then on.
func New(conn *net.TCPConn, cfg Config) *Link { return newLink(conn, cfg.withDefaults(), nil) }

func newLink(conn *net.TCPConn, cfg Config, ended func()) *Link {
	conn.SetNoDelay(true) // Flush decides when a segment leaves
	l := &Link{conn: conn, cfg: cfg, ended: ended}
	l.out.init(conn, cfg)
	return l
}

// Properties implements [transport.Link].
func (l *Link) Properties() transport.Properties {
	return transport.Properties{Ordered: true, Reliable: true, Stream: true}
}

// Guard implements [transport.Guarded]: while the listener has no place left, this link is one
// of those that give way to newcomers.
func (l *Link) Guard(func(frame []byte) bool) {
	if l.listener != nil {
		l.listener.guard(l)
	}
}

// Confirm implements [transport.Guarded].
func (l *Link) Confirm(int) {
	if l.listener != nil {
		l.listener.open(l)
	}
}

// LocalAddr implements [transport.Link].
func (l *Link) LocalAddr() net.Addr { return l.conn.LocalAddr() }

// RemoteAddr implements [transport.Link].
func (l *Link) RemoteAddr(int) net.Addr { return l.conn.RemoteAddr() }

// Receive implements [transport.Link].
func (l *Link) Receive(buf []byte) (transport.Arrival, error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	if l.closed.Load() {
		return transport.Arrival{}, l.closedFor()
	}
	if err := l.awaitRoom(); err != nil {
		return transport.Arrival{}, err
	}
	n, err := l.conn.Read(buf)
	if n > 0 {
		return transport.Arrival{N: n}, nil
	}
	return transport.Arrival{}, l.reason(err)
}

// awaitRoom holds back receiving while the peer does not take our answers.
func (l *Link) awaitRoom() error {
	for l.out.crowded() {
		l.deadline.Lock()
		until := l.until
		l.deadline.Unlock()
		if !l.out.awaitChange(until) {
			return transport.ErrInterrupted
		}
		if l.closed.Load() {
			return transport.ErrClosed
		}
	}
	return nil
}

// reason turns an error of the connection into one of the errors of transport,
// keeping the original text.
func (l *Link) reason(err error) error {
	switch {
	case l.closed.Load():
		return l.closedFor()
	case err == io.EOF:
		return io.EOF
	}
	if why := l.out.failure(); why != nil {
		return why
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return transport.ErrInterrupted
	}
	return lost(err)
}

// closedFor is why a link was closed on this side.
func (l *Link) closedFor() error {
	if why := l.why.Load(); why != nil {
		return *why
	}
	return transport.ErrClosed
}

func lost(err error) error {
	if errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("%w (%w)", transport.ErrReset, err)
	}
	return err
}

// Interrupt implements [transport.Link].
func (l *Link) Interrupt(at time.Time) {
	l.deadline.Lock()
	if !l.closed.Load() {
		l.until = at
		l.conn.SetReadDeadline(at)
	}
	l.deadline.Unlock()
	if l.out.waiting() {
		l.out.poke()
	}
}

// Send implements [transport.Link].
func (l *Link) Send(peer int, frame []byte) error {
	if peer != 0 && peer != transport.All {
		return transport.ErrNoPeer
	}
	return l.out.add(frame)
}

// Flush implements [transport.Link].
func (l *Link) Flush() error { return l.out.flush() }

// drainLimit is how many bytes Close discards while it waits for the peer's close.
const drainLimit = 1 << 20

// Close implements [transport.Link]. A connection that is closed with unread
// bytes is reset by the kernel, which may destroy what the peer has not read
// yet; so Close ends its own direction first and discards what still comes.
func (l *Link) Close() error {
	if !l.shut() {
		return nil
	}
	limit := time.Now().Add(l.cfg.Linger)
	err := l.out.finish(limit)
	if err == nil {
		err = l.conn.CloseWrite()
	}
	if err == nil {
		l.reading.Lock()
		l.conn.SetReadDeadline(limit)
		_, err = io.Copy(io.Discard, io.LimitReader(l.conn, drainLimit))
		l.reading.Unlock()
	}
	l.end()
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return lost(err)
	}
	return nil
}

// Abort implements [transport.Link]. The peer sees a reset.
func (l *Link) Abort() error {
	l.shut()
	l.conn.SetLinger(0)
	l.end()
	return nil
}

// Release gives the connection away, when what was sent has been taken by the kernel: for a program that goes
// on without frames. The link is closed then, and nobody may be in Receive. If the peer does not take what was
// sent within the linger time, the link is aborted.
func (l *Link) Release() (net.Conn, error) {
	if !l.shut() {
		return nil, transport.ErrClosed
	}
	l.reading.Lock()
	defer l.reading.Unlock()
	err := l.out.finish(time.Now().Add(l.cfg.Linger))
	if err == nil {
		err = l.conn.SetDeadline(time.Time{})
	}
	if err != nil {
		l.Abort()
		return nil, lost(err)
	}
	l.release.Do(func() {
		l.out.abandon()
		if l.ended != nil {
			l.ended()
		}
	})
	return l.conn, nil
}

// shut marks the link closed and wakes a waiting Receive.
func (l *Link) shut() bool {
	l.deadline.Lock()
	first := !l.closed.Swap(true)
	if first {
		l.conn.SetReadDeadline(time.Unix(1, 0))
	}
	l.deadline.Unlock()
	l.out.poke()
	return first
}

func (l *Link) end() {
	l.release.Do(func() {
		l.conn.Close()
		l.out.abandon()
		if l.ended != nil {
			l.ended()
		}
	})
}

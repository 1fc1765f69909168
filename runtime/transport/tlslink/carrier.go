package tlslink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// carrier is a link as crypto/tls wants it, a net.Conn. Deadlines are the
// business of the link, and Write never blocks.
//
// A record that the link has no room for cannot be given up as a frame can:
// the peer would notice that one is missing. So it is kept, nothing more is accepted from
// the program, and a goroutine hands it on when there is room.
type carrier struct {
	link transport.Link

	mu      sync.Mutex
	backlog []byte        // at most a record, and what TLS itself has to say
	pushed  chan struct{} // closed when the backlog is gone or the link has failed
	failed  error
}

const (
	again     = 2 * time.Millisecond // between two attempts to hand on the backlog
	linger    = 2 * time.Second      // how long Close waits for that
	piece     = 4 << 10              // bytes handed on at a time
	mostBytes = 2 * (16<<10 + 512)   // of a backlog
)

// Read implements net.Conn. That the link ends is an error, since only TLS can say that
// the stream does.
func (c *carrier) Read(b []byte) (int, error) {
	got, err := c.link.Receive(b)
	switch {
	case errors.Is(err, transport.ErrInterrupted):
		err = os.ErrDeadlineExceeded // crypto/tls goes on after an error that is temporary
	case err == io.EOF:
		err = fmt.Errorf("%w: the stream ended without TLS's close", transport.ErrReset)
	}
	return got.N, err
}

// Write implements net.Conn.
func (c *carrier) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return 0, c.failed
	}
	if c.backlog == nil {
		err := c.link.Send(0, b)
		if err == nil {
			return len(b), c.link.Flush()
		}
		if !errors.Is(err, transport.ErrQueueFull) {
			return 0, err
		}
		c.pushed = make(chan struct{})
		go c.push(c.pushed)
	}
	if len(c.backlog)+len(b) > mostBytes {
		return 0, transport.ErrQueueFull
	}
	c.backlog = append(c.backlog, b...)
	return len(b), nil
}

// behind reports whether something waits for room.
func (c *carrier) behind() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.backlog != nil
}

// push hands on the backlog; it ends when that is done or the link takes nothing any more.
func (c *carrier) push(done chan struct{}) {
	defer close(done)
	tick := time.NewTicker(again)
	defer tick.Stop()
	for range tick.C {
		if !c.pushSome() {
			return
		}
	}
}

// pushSome reports whether more is to be done.
func (c *carrier) pushSome() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for len(c.backlog) > 0 && err == nil {
		some := c.backlog[:min(piece, len(c.backlog))]
		if err = c.link.Send(0, some); err == nil {
			c.backlog = c.backlog[len(some):]
		}
	}
	if err == nil || errors.Is(err, transport.ErrQueueFull) {
		if flushed := c.link.Flush(); flushed != nil {
			err = flushed
		}
	}
	switch {
	case err == nil:
		c.backlog = nil
		return false
	case errors.Is(err, transport.ErrQueueFull):
		return true
	}
	c.backlog, c.failed = nil, err
	return false
}

// catchUp waits until nothing is left behind, for as long as Close may.
func (c *carrier) catchUp() {
	c.mu.Lock()
	done := c.pushed
	if c.backlog == nil {
		done = nil
	}
	c.mu.Unlock()
	if done == nil {
		return
	}
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

func (c *carrier) Close() error                     { return c.link.Abort() }
func (c *carrier) LocalAddr() net.Addr              { return c.link.LocalAddr() }
func (c *carrier) RemoteAddr() net.Addr             { return c.link.RemoteAddr(0) }
func (c *carrier) SetDeadline(time.Time) error      { return nil }
func (c *carrier) SetReadDeadline(time.Time) error  { return nil }
func (c *carrier) SetWriteDeadline(time.Time) error { return nil }

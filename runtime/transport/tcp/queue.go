package tcp

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// sendQueue coalesces frames. A flush writes at once what the kernel takes
// without blocking; only if something remains does a goroutine write the
// rest, so a healthy connection needs none.
type sendQueue struct {
	conn   *net.TCPConn
	direct *directWriter
	limit  int
	stall  time.Duration

	mu       sync.Mutex
	queued   []byte // not handed to the kernel or the goroutine
	spare    []byte // the goroutine's buffer when it is not writing
	inFlight int    // bytes the goroutine is writing
	draining bool
	closing  bool
	err      error

	held    atomic.Int64  // len(queued)+inFlight while draining, else 0
	parked  atomic.Bool   // a Receive waits for room
	changed chan struct{} // capacity 1: room was made, or look again
	idle    chan struct{} // closed when the present goroutine ends
}

func (q *sendQueue) init(conn *net.TCPConn, cfg Config) {
	q.conn, q.limit, q.stall = conn, cfg.SendQueue, cfg.Stall
	q.direct = newDirectWriter(conn)
	q.changed = make(chan struct{}, 1)
}

func (q *sendQueue) poke() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// crowded reports whether receiving should wait for the peer.
func (q *sendQueue) crowded() bool {
	c := q.held.Load() > int64(q.limit/2)
	q.parked.Store(c)
	return c && q.held.Load() > int64(q.limit/2)
}

// awaitChange waits until something changed, or until the time, if it is set.
func (q *sendQueue) awaitChange(until time.Time) bool {
	if until.IsZero() {
		<-q.changed
		return true
	}
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-q.changed:
		return true
	case <-t.C:
		return false
	}
}

func (q *sendQueue) waiting() bool { return q.parked.Load() }

func (q *sendQueue) failure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

func (q *sendQueue) add(frame []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.err != nil:
		return q.err
	case q.closing:
		return transport.ErrClosed
	case len(q.queued)+q.inFlight+len(frame) > q.limit:
		return transport.ErrQueueFull
	}
	q.queued = append(q.queued, frame...)
	return nil
}

func (q *sendQueue) flush() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.flushLocked()
}

func (q *sendQueue) flushLocked() error {
	if q.err != nil {
		return q.err
	}
	if q.draining {
		q.held.Store(int64(len(q.queued) + q.inFlight))
		return nil
	}
	if len(q.queued) == 0 {
		return nil
	}
	n, err := q.direct.write(q.queued)
	if err != nil {
		q.err = lost(err)
		return q.err
	}
	if n == len(q.queued) {
		q.queued = q.queued[:0]
		return nil
	}
	q.queued = q.queued[:copy(q.queued, q.queued[n:])]
	q.held.Store(int64(len(q.queued)))
	q.draining = true
	q.idle = make(chan struct{})
	go q.drain(q.idle)
	return nil
}

// drain writes until the queue is empty or the connection fails.
func (q *sendQueue) drain(done chan struct{}) {
	defer close(done)
	for {
		q.mu.Lock()
		q.inFlight = 0
		if len(q.queued) == 0 || q.err != nil {
			q.draining = false
			q.held.Store(0)
			q.conn.SetWriteDeadline(time.Time{})
			q.mu.Unlock()
			q.poke()
			return
		}
		q.queued, q.spare = q.spare[:0], q.queued
		q.inFlight = len(q.spare)
		out := q.spare
		q.held.Store(int64(q.inFlight))
		q.mu.Unlock()
		q.poke()
		if err := q.writeAll(out); err != nil {
			q.fail(err)
		}
	}
}

// stallTurns is how often a peer is tried before it is given up. A write fails without a try if the
// limit passes before it begins, as it may on a computer that has much to do; hardly each time.
const stallTurns = 4

// writeAll writes out in pieces, each of which the peer must take within the stall limit.
func (q *sendQueue) writeAll(out []byte) error {
	for turn := 0; len(out) > 0; {
		q.mu.Lock()
		closing := q.closing
		if !closing { // finish has set its own limit
			q.conn.SetWriteDeadline(time.Now().Add(q.stall / stallTurns))
		}
		q.mu.Unlock()
		n, err := q.conn.Write(out)
		out = out[n:]
		if n > 0 {
			turn = 0
		}
		if err != nil {
			if turn++; closing && n == 0 || turn == stallTurns || !errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			}
		}
	}
	return nil
}

func (q *sendQueue) fail(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = transport.ErrStalled
	}
	q.mu.Lock()
	if q.err == nil {
		q.err = lost(err)
	}
	q.mu.Unlock()
	q.conn.Close() // wakes Receive, which gives this error as the reason
}

// finish sends what is queued and refuses more. It returns when all of it has
// left, or with an error at the limit.
func (q *sendQueue) finish(limit time.Time) error {
	q.mu.Lock()
	q.closing = true
	err := q.flushLocked()
	draining, done := q.draining, q.idle
	if draining {
		q.conn.SetWriteDeadline(limit)
	}
	q.mu.Unlock()
	if err != nil || !draining {
		return err
	}
	<-done // the write deadline bounds this
	return q.failure()
}

// abandon makes every later call fail.
func (q *sendQueue) abandon() {
	q.mu.Lock()
	q.closing = true
	if q.err == nil {
		q.err = transport.ErrClosed
	}
	q.mu.Unlock()
}

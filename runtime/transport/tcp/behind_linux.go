package tcp

import (
	"os"
	"syscall"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Send implements [transport.Link].
func (r *reactor) Send(peer int, frame []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed.Load() {
		return transport.ErrClosed
	}
	if peer == transport.All {
		var err error
		for _, c := range r.conns {
			if c != nil && !c.leaving && c.broken == nil {
				if e := r.queue(c, frame); e != nil {
					err = e
				}
			}
		}
		return err
	}
	c := r.peer(peer)
	if c == nil {
		return transport.ErrNoPeer
	}
	return r.queue(c, frame)
}

func (r *reactor) queue(c *conn, frame []byte) error {
	if c.broken != nil {
		return c.broken
	}
	if len(c.out)+len(frame) > r.cfg.SendQueue {
		if c.place < 0 {
			r.write(c) // many answers to little: only what the peer does not take counts
		}
		if c.broken != nil {
			return c.broken
		}
		if len(c.out)+len(frame) > r.cfg.SendQueue {
			r.stats.Full++
			sendFull(&r.notes, c.from)
			return transport.ErrQueueFull
		}
	}
	if n := len(r.buffers); c.out == nil && n > 0 {
		c.out, r.buffers = r.buffers[n-1], r.buffers[:n-1]
	}
	c.out = append(c.out, frame...)
	if !c.dirty {
		c.dirty = true
		r.dirty = append(r.dirty, c)
	}
	return nil
}

// Flush implements [transport.Link]. The error is of the link as a whole; a peer on which sending
// fails is lost by itself.
func (r *reactor) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed.Load() {
		return transport.ErrClosed
	}
	for i, c := range r.dirty {
		r.dirty[i] = nil
		c.dirty = false
		if c.fd < 0 || c.leaving {
			continue
		}
		if c.place < 0 {
			r.write(c)
		}
		if len(c.out) > 0 {
			if c.place < 0 {
				c.since = r.now()
				r.look(c)
			}
			if len(c.out) > r.cfg.SendQueue/2 {
				r.pause(c, crowded)
			}
		}
	}
	r.dirty = r.dirty[:0]
	return nil
}

const (
	keptBuffers = 256      // buffers for queues that are kept for later
	keptBuffer  = 16 << 10 // bytes of the largest of them
)

// write writes what the kernel takes now.
func (r *reactor) write(c *conn) {
	for len(c.out) > 0 {
		n, err := syscall.Write(c.fd, c.out)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			if err != syscall.EAGAIN {
				// reading will end the connection, when it has brought what came before
				c.broken = lost(os.NewSyscallError("write", err))
				r.emptied(c)
			}
			return
		}
		if n == len(c.out) {
			r.emptied(c)
			return
		}
		if !c.leaving {
			c.since = r.now()
		}
		c.out = c.out[:copy(c.out, c.out[n:])]
	}
}

func (r *reactor) emptied(c *conn) {
	if c.out != nil && cap(c.out) <= keptBuffer && len(r.buffers) < keptBuffers {
		r.buffers = append(r.buffers, c.out[:0])
	}
	c.out = nil
}

// look has a connection looked after until it is no longer behind, or has ended.
func (r *reactor) look(c *conn) {
	var events uint32
	if len(c.out) > 0 {
		events |= syscall.EPOLLOUT
	}
	if c.leaving && !c.eof {
		events |= syscall.EPOLLIN
	}
	if err := r.late.watch(c.place < 0, c.fd, events, c.number); err != nil {
		c.broken = os.NewSyscallError("epoll_ctl", err)
		r.emptied(c)
		syscall.Shutdown(c.fd, syscall.SHUT_RDWR) // so that reading ends too
		return
	}
	if c.place < 0 {
		c.place = int32(len(r.behind))
		r.behind = append(r.behind, c)
	}
	if !r.tending {
		r.tending = true
		go r.tend()
	}
}

// overlook ends that.
func (r *reactor) overlook(c *conn) {
	if c.place < 0 {
		return
	}
	last := len(r.behind) - 1
	r.behind[c.place] = r.behind[last]
	r.behind[c.place].place = c.place
	r.behind[last] = nil
	r.behind, c.place = r.behind[:last], -1
	if c.fd >= 0 {
		r.late.forget(c.fd)
	}
}

// tend looks after those who are behind or leaving, as long as there are any.
func (r *reactor) tend() {
	every := max(min(r.cfg.Stall, r.cfg.Linger, time.Second)/4, time.Millisecond)
	for next := r.now() + every; ; {
		r.late.file.SetReadDeadline(r.epoch.Add(next))
		r.late.wait()
		r.mu.Lock()
		for i := range r.late.n {
			if c := r.found(&r.late.list[i]); c != nil && c.place >= 0 {
				r.catchUp(c)
			}
		}
		if now := r.now(); now >= next {
			next = now + every
			r.sweep(now)
		}
		over, news := len(r.behind) == 0, r.waiting.Load()
		if over {
			r.tending = false
		}
		r.mu.Unlock()
		if news {
			r.wake()
		}
		if over {
			return
		}
	}
}

// catchUp does what can be done for a connection now.
func (r *reactor) catchUp(c *conn) {
	r.write(c)
	if c.leaving {
		r.discard(c)
		if c.fd >= 0 {
			r.part(c)
		}
		return
	}
	if len(c.out) <= r.cfg.SendQueue/2 {
		r.unpause(c, crowded)
	}
	if len(c.out) == 0 {
		r.overlook(c)
	}
}

// sweep gives up those who have had their time.
func (r *reactor) sweep(now time.Duration) {
	for i := len(r.behind) - 1; i >= 0; i-- { // the last takes the place of one that ends
		switch c := r.behind[i]; {
		case c.leaving && now-c.since >= r.cfg.Linger:
			r.end(c)
		case !c.leaving && now-c.since >= r.cfg.Stall:
			since := c.since
			r.catchUp(c) // it may be this computer that has had no time
			if c.place < 0 || c.since != since {
				continue
			}
			r.stats.Stalled++
			stalled(&r.notes, c.from)
			r.lose(c, transport.ErrStalled)
		}
	}
}

// leave begins the orderly close of a connection: what is queued is sent, our direction is ended, and
// what still comes is discarded until the peer's end, for unread bytes would have
// the kernel reset the connection and destroy what the peer has not read yet.
func (r *reactor) leave(c *conn) {
	if c.paused == 0 {
		r.in.forget(c.fd)
	}
	c.leaving, c.since = true, r.now()
	r.write(c)
	r.part(c)
}

// part takes the close as far as it goes now.
func (r *reactor) part(c *conn) {
	if len(c.out) == 0 && !c.shut && c.broken == nil {
		c.shut = true
		syscall.Shutdown(c.fd, syscall.SHUT_WR)
	}
	if c.broken == nil && !(c.shut && c.eof) {
		r.look(c)
	}
	if c.broken != nil || c.shut && c.eof {
		r.end(c)
	}
}

// discard reads what nobody wants any more.
func (r *reactor) discard(c *conn) {
	var scrap [4 << 10]byte
	for range 16 {
		if c.eof || c.broken != nil {
			return
		}
		n, err := syscall.Read(c.fd, scrap[:])
		switch {
		case n > 0:
			if c.drained += int32(n); c.drained > drainLimit {
				c.broken = transport.ErrStalled
			}
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return
		case err != nil:
			c.broken = lost(err)
		default:
			c.eof = true
		}
	}
}

// lose ends a connection at once and tells why.
func (r *reactor) lose(c *conn, why error) {
	r.announce(transport.PeerLost, c, why)
	r.aborted(c)
}

func (r *reactor) aborted(c *conn) {
	syscall.SetsockoptLinger(c.fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	r.end(c)
}

// end releases a connection.
func (r *reactor) end(c *conn) {
	syscall.Close(c.fd) // no poller has it any more
	c.fd = -1
	r.overlook(c)
	r.emptied(c)
	r.conns[c.number] = nil
	r.half.Remove(c.number)
	r.places.give(c.number)
	r.door.Leave(c.from)
	if r.closed.Load() && r.places.count == 0 {
		close(r.empty)
	}
}

// Drop implements engine.
func (r *reactor) Drop(peer int) {
	r.mu.Lock()
	if c := r.peer(peer); c != nil && !r.closed.Load() {
		r.announce(transport.PeerLost, c, transport.ErrClosed)
		r.leave(c)
	}
	r.mu.Unlock()
	r.wake()
}

// Close implements [transport.Link]: all peers are closed in good order, side by side.
func (r *reactor) Close() error {
	if !r.stop(func(c *conn) {
		if !c.leaving {
			r.leave(c)
		}
	}) {
		return nil
	}
	<-r.empty
	r.release()
	return nil
}

// Abort implements [transport.Link]. The peers see a reset.
func (r *reactor) Abort() error {
	first := r.stop(r.aborted)
	if !first {
		r.mu.Lock()
		r.each(r.aborted)
		r.mu.Unlock()
	}
	<-r.empty
	r.release()
	return nil
}

// stop marks the link closed, once, and does something with each connection.
func (r *reactor) stop(f func(*conn)) (first bool) {
	r.mu.Lock()
	if first = !r.closed.Swap(true); first {
		r.ln.Close()
		r.slow.Stop()
		if r.places.count == 0 {
			close(r.empty)
		}
		r.each(f)
	}
	r.mu.Unlock()
	r.wake()
	return first
}

func (r *reactor) each(f func(*conn)) {
	for _, c := range r.conns {
		if c != nil {
			f(c)
		}
	}
}

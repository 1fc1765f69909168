package tcp

import (
	"os"
	"syscall"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
)

// acceptTogether is how many connections are accepted before the others have their turn.
const acceptTogether = 64

// accept takes those who have connected.
func (r *reactor) accept() {
	for range acceptTogether {
		fd, sa, err := syscall.Accept4(r.lfd, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		switch err {
		case nil:
			r.backoff = 0
			r.admit(fd, sa)
		case syscall.EAGAIN:
			return
		case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
			r.rest()
			return
		default: // that one has gone already
		}
	}
}

// rest stops accepting for a while, for there is nothing to accept with.
func (r *reactor) rest() {
	r.stats.Starved++
	starved(&r.notes)
	r.in.forget(r.lfd)
	r.backoff = min(max(2*r.backoff, time.Millisecond), time.Second)
	time.AfterFunc(r.backoff, func() {
		r.mu.Lock()
		if !r.closed.Load() {
			r.in.watch(true, r.lfd, syscall.EPOLLIN, listenerNumber)
		}
		r.mu.Unlock()
	})
}

func (r *reactor) admit(fd int, sa syscall.Sockaddr) {
	from := door.Origin(addrPort(sa).Addr())
	verdict := r.door.Enter(from, r.now())
	if verdict == door.Full && r.giveWay() {
		verdict = r.door.Enter(from, r.now())
	}
	if verdict != door.In {
		tell(&r.notes, verdict, from)
		abort(fd)
		return
	}
	number := r.places.take()
	if r.guarded {
		r.half.Add(number, r.now())
	}
	syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1) // Flush decides when a segment leaves
	c := &conn{fd: fd, number: number, place: -1, from: from}
	for len(r.conns) <= number {
		r.conns = append(r.conns, nil)
	}
	r.conns[number] = c
	if err := r.in.watch(true, fd, syscall.EPOLLIN, number); err != nil {
		r.end(c) // the kernel has no memory for it
		return
	}
	r.announce(transport.PeerUp, c, nil)
}

// abort closes a descriptor so that the peer sees a reset and nothing of it is kept.
func abort(fd int) {
	syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	syscall.Close(fd)
}

// Pause implements engine.
func (r *reactor) Pause(peer int, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.peer(peer); c != nil && !r.closed.Load() {
		r.slowDown(c, d)
	}
}

// slowDown stops reading from a peer for a while.
func (r *reactor) slowDown(c *conn, d time.Duration) {
	r.stats.Throttled++
	throttled(&r.notes, c.from)
	at := r.now() + d
	if c.paused&slow != 0 {
		c.resume = max(c.resume, at)
		return
	}
	c.resume = at
	r.pause(c, slow)
	r.slowed = append(r.slowed, c)
	if len(r.slowed) == 1 || at < r.slowAt {
		r.slowAt = at
		r.slow.Reset(d)
	}
}

// quicken reads again from those whose time has come, in one go for all within a short time.
func (r *reactor) quicken() {
	r.mu.Lock()
	defer r.wake()
	defer r.mu.Unlock()
	now, next, kept := r.now(), time.Duration(1<<63-1), r.slowed[:0]
	for _, c := range r.slowed {
		switch {
		case c.fd < 0 || c.leaving:
		case c.resume <= now:
			r.unpause(c, slow)
		default:
			next = min(next, c.resume)
			kept = append(kept, c)
		}
	}
	clear(r.slowed[len(kept):])
	r.slowed = kept
	if len(kept) > 0 && !r.closed.Load() {
		r.slowAt = max(next, now+leastPause/4)
		r.slow.Reset(r.slowAt - now)
	}
}

func (r *reactor) pause(c *conn, why uint8) {
	if c.paused == 0 && !c.leaving {
		r.in.forget(c.fd)
	}
	c.paused |= why
}

func (r *reactor) unpause(c *conn, why uint8) {
	if c.paused == 0 {
		return
	}
	if c.paused &^= why; c.paused == 0 && !c.leaving && c.fd >= 0 {
		if err := r.in.watch(true, c.fd, syscall.EPOLLIN, c.number); err != nil {
			r.lose(c, os.NewSyscallError("epoll_ctl", err))
		}
	}
}

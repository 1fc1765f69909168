package dgram

import (
	"errors"
	"os"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

var longAgo = time.Unix(1, 0)

// Interrupt implements [transport.Link].
func (l *Link[A]) Interrupt(at time.Time) {
	l.dl.Lock()
	l.until = at
	l.past.Store(!at.IsZero() && !time.Now().Before(at))
	l.arm()
	l.dl.Unlock()
}

// wake makes a waiting Receive look around.
func (l *Link[A]) wake() {
	l.dl.Lock()
	l.set = longAgo
	l.sock.SetReadDeadline(longAgo)
	l.dl.Unlock()
}

// arm tells the socket the earliest of the three times; dl is held.
func (l *Link[A]) arm() {
	at := l.until
	for _, other := range [...]time.Time{l.tick, l.leave} {
		if at.IsZero() || !other.IsZero() && other.Before(at) {
			at = other
		}
	}
	if at != l.set {
		l.set = at
		l.sock.SetReadDeadline(at)
	}
}

// late handles a deadline that has passed.
func (l *Link[A]) late() error {
	l.dl.Lock()
	now := time.Now()
	interrupted := !l.until.IsZero() && !now.Before(l.until)
	due := !interrupted && !l.tick.IsZero() && !now.Before(l.tick)
	if due {
		l.tick = now.Add(l.every)
	}
	leave := !l.leave.IsZero() && !now.Before(l.leave)
	if leave {
		l.leave = time.Time{}
		l.gathering.Store(false) // before the flush: what comes too late for it sets a new time
	}
	l.arm()
	l.dl.Unlock()
	if leave {
		l.unsent(l.batch.Flush())
	}
	if interrupted {
		return transport.ErrInterrupted
	}
	if due {
		l.sweep()
	}
	return nil
}

// sweep looks for silent peers, and asks configured ones.
func (l *Link[A]) sweep() {
	l.mu.Lock()
	before := l.stats
	l.table.sweep(l.since())
	l.announce()
	l.mu.Unlock()
	l.tell(before, nil)
	if l.cfg.Gate == nil {
		return
	}
	for i := range l.cfg.MaxPeers {
		l.mu.Lock()
		p := &l.table.peers[i]
		to, ask := p.addr, p.state == known
		l.mu.Unlock()
		if ask {
			l.reply = l.cfg.Gate.Ask(l.reply[:0], to)
			l.writeNow(l.reply, to)
		}
	}
}

func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

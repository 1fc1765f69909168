package dgram

import (
	"errors"
	"net"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// maxFailures is how many errors of the carrier in a row end a link.
const maxFailures = 100

// Receive implements [transport.Link].
func (l *Link[A]) Receive(buf []byte) (transport.Arrival, error) { return l.receive(buf, true) }

// Next implements [transport.Batched].
func (l *Link[A]) Next(buf []byte) (transport.Arrival, bool) {
	got, err := l.receive(buf, false)
	return got, err == nil
}

func (l *Link[A]) receive(buf []byte, wait bool) (transport.Arrival, error) {
	failures := 0
	for {
		if l.closed.Load() {
			return transport.Arrival{}, transport.ErrClosed
		}
		if l.past.Load() {
			return transport.Arrival{}, transport.ErrInterrupted
		}
		if l.busy.Load() > 0 || l.held != nil {
			if got, ok, err := l.waiting(buf); ok || err != nil {
				return got, err
			}
		}
		if !wait && (l.batch == nil || !l.batch.Held()) {
			return transport.Arrival{}, transport.ErrInterrupted
		}
		frame, from, err := l.sock.Read(l.in)
		if err != nil {
			if err = l.failed(err, &failures); err != nil {
				return transport.Arrival{}, err
			}
			continue
		}
		failures = 0
		peer, ok := l.accept(frame, from)
		if !ok {
			continue
		}
		if l.busy.Load() > 0 {
			l.held, l.heldPeer = frame, peer // the news of its sender goes first
			continue
		}
		if len(frame) > len(buf) {
			l.count(&l.stats.TooLong)
			continue
		}
		return transport.Arrival{Peer: peer, N: copy(buf, frame)}, nil
	}
}

// failed handles an error of the socket. It returns nil if receiving goes on.
func (l *Link[A]) failed(err error, failures *int) error {
	switch {
	case timedOut(err):
		*failures = 0
		return l.late()
	case errors.Is(err, ErrSkip):
		l.count(&l.stats.Skipped)
		return nil
	case l.closed.Load() || errors.Is(err, net.ErrClosed):
		return transport.ErrClosed
	}
	// Some systems report here that an earlier datagram was not delivered.
	if *failures++; *failures > maxFailures {
		return err
	}
	return nil
}

// waiting returns an event, a frame that was held or one that was injected.
// It reports whether there was one after all.
func (l *Link[A]) waiting(buf []byte) (got transport.Arrival, ok bool, err error) {
	l.dl.Lock()
	interrupted := !l.until.IsZero() && !time.Now().Before(l.until)
	l.dl.Unlock()
	if interrupted {
		return got, false, transport.ErrInterrupted
	}
	for {
		l.mu.Lock()
		if ev, ok := l.table.event(); ok {
			l.announce()
			l.mu.Unlock()
			return ev, true, nil
		}
		l.mu.Unlock()
		if frame := l.held; frame != nil {
			l.held = nil
			if len(frame) > len(buf) {
				l.count(&l.stats.TooLong)
				continue
			}
			return transport.Arrival{Peer: l.heldPeer, N: copy(buf, frame)}, true, nil
		}
		frame, from, ok := l.injected()
		if !ok {
			return got, false, nil
		}
		if peer, ok := l.accept(frame, from); ok {
			l.held, l.heldPeer = frame, peer
		}
	}
}

func (l *Link[A]) injected() (frame []byte, from A, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return nil, from, false
	}
	frame, from = l.queue[0], l.queued[0]
	l.queue, l.queued = l.queue[1:], l.queued[1:]
	if len(l.queue) == 0 {
		l.queue, l.queued = nil, nil
	}
	l.announce()
	return frame, from, true
}

// accept finds the peer that a frame comes from, and decides whether the frame is taken.
func (l *Link[A]) accept(frame []byte, from A) (int, bool) {
	if l.cfg.Gate != nil && !l.judge(frame, from) {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cfg.Own != nil && l.cfg.Own(from) {
		l.stats.Own++
		return 0, false
	}
	if len(frame) > l.cfg.MaxFrame {
		l.stats.TooLong++
		return 0, false
	}
	i, ok := l.table.find(from)
	if !ok || l.table.peers[i].state != up {
		if l.cfg.Gate != nil || !ok && l.cfg.Closed {
			l.stats.Strangers++
			return 0, false
		}
		if i, ok = l.table.admit(from); !ok {
			l.stats.Strangers++
			return 0, false
		}
		l.announce()
	}
	if !l.table.take(i, len(frame)) {
		l.stats.Limited++
		return 0, false
	}
	return i, true
}

// judge asks the gate; it reports whether the frame may be taken.
func (l *Link[A]) judge(frame []byte, from A) bool {
	reply, verdict := l.cfg.Gate.Judge(l.reply[:0], frame, from, time.Now())
	l.reply = reply
	if len(reply) > 0 && len(reply) <= len(frame) {
		l.writeNow(reply, from)
	}
	if verdict == Pass {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Gate++
	if verdict == Admit {
		i, ok := l.table.find(from)
		if !ok && l.cfg.Closed {
			l.stats.Strangers++
		} else if !ok || l.table.peers[i].state != up {
			if _, ok = l.table.admit(from); !ok {
				l.stats.Strangers++
			}
			l.announce()
		}
	}
	return false
}

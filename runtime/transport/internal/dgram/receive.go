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

// Poll implements [transport.Polled]. A deadline that has passed is handled first, as when somebody waits.
func (l *Link[A]) Poll(buf []byte) (transport.Arrival, bool) {
	if l.batch != nil && l.ahead.Empty() && l.held == nil {
		if l.overdue() != nil {
			return transport.Arrival{}, false
		}
		l.batch.Fetch()
	}
	return l.Next(buf)
}

// Polls implements [transport.Polled].
func (l *Link[A]) Polls() bool { return l.batch != nil }

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
		if !l.ahead.Empty() {
			if got, ok, err := l.next(buf); ok || err != nil {
				return got, err
			}
			continue
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
		who, ok := l.accept(frame, from)
		if !ok {
			continue
		}
		if l.crowded(who) {
			l.keep(who, frame)
			l.served = maxServed
			continue
		}
		if l.busy.Load() > 0 {
			l.held, l.heldPeer = frame, who.peer // the news of its sender goes first
			continue
		}
		if len(frame) > len(buf) {
			l.dropLong(who.peer)
			continue
		}
		return transport.Arrival{Peer: who.peer, N: copy(buf, frame)}, nil
	}
}

// News implements [transport.Newsy].
func (l *Link[A]) News() (transport.Arrival, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ev, ok := l.table.event()
	l.announce()
	return ev, ok
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
				l.dropLong(l.heldPeer)
				continue
			}
			return transport.Arrival{Peer: l.heldPeer, N: copy(buf, frame)}, true, nil
		}
		frame, from, ok := l.injected()
		if !ok {
			return got, false, nil
		}
		if who, ok := l.accept(frame, from); ok {
			l.held, l.heldPeer = frame, who.peer
		}
	}
}

func (l *Link[A]) injected() (frame []byte, from A, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue.Empty() {
		return nil, from, false
	}
	from, frame, ok = l.queue.Take()
	l.announce()
	return append([]byte(nil), frame...), from, ok
}

// accept finds the peer that a frame comes from, and decides whether the frame is taken.
func (l *Link[A]) accept(frame []byte, from A) (sender, bool) {
	if l.cfg.Gate != nil && !l.judge(frame, from) {
		return sender{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cfg.Own != nil && l.cfg.Own(from) {
		l.stats.Own++
		return sender{}, false
	}
	if len(frame) > l.cfg.MaxFrame {
		l.tooLong(from)
		return sender{}, false
	}
	i, ok := l.table.find(from)
	first := !ok
	if !ok || l.table.peers[i].state != up {
		if i, ok = l.welcome(frame, from, ok); !ok {
			return sender{}, false
		}
	}
	if !l.table.take(i, len(frame), first) {
		l.stats.Limited++
		l.bite("FrameRate or ByteRate", "frames of the peer are dropped", from)
		return sender{}, false
	}
	p := &l.table.peers[i]
	return sender{i, p.turn, p.from, l.table.count > 1}, true
}

// open reports whether somebody at an address who was not configured may become a peer.
func (l *Link[A]) open(from A) bool { return !l.cfg.Closed && (l.cfg.From == nil || l.cfg.From(from)) }

// welcome makes the sender of a frame a peer, if it may be one. The caller holds mu.
func (l *Link[A]) welcome(frame []byte, from A, known bool) (int, bool) {
	switch {
	case l.cfg.Gate != nil || !known && !l.open(from):
	case !known && l.valid != nil && !l.valid(frame):
		l.stats.Invalid++
	default:
		before := l.stats
		i, ok := l.table.admit(from, false, l.since())
		l.announce()
		l.tell(before, &from)
		if ok {
			return i, true
		}
	}
	l.stats.Strangers++
	return 0, false
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
		if !ok && !l.open(from) {
			l.stats.Strangers++
		} else if !ok || l.table.peers[i].state != up {
			before := l.stats
			if _, ok = l.table.admit(from, true, l.since()); !ok {
				l.stats.Strangers++
			}
			l.announce()
			l.tell(before, &from)
		}
	}
	return false
}

package impair

import (
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Send implements [transport.Link].
func (l *Link) Send(peer int, frame []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch p := l.props; {
	case l.silent:
		return transport.ErrSilent
	case l.closed:
		return transport.ErrClosed
	case l.failed != nil:
		return l.failed
	case peer < transport.All || peer >= max(p.Peers, 1):
		return transport.ErrNoPeer
	case p.MaxFrame > 0 && len(frame) > p.MaxFrame:
		return transport.ErrFrameTooLong
	}
	now := l.now()
	l.releaseDue(now)
	if l.strict {
		return l.hold(now, l.medium.PassReliable(now, len(frame)), peer, frame)
	}
	if len(l.cut) > 0 && (l.cut[peer] || l.cut[transport.All]) {
		l.medium.Stats.Cut++
		return nil
	}
	fate := l.medium.Pass(now, len(frame))
	for _, at := range fate.At[:fate.Copies] {
		if err := l.hold(now, at, peer, frame); err != nil {
			return err
		}
	}
	return nil
}

// hold sends a frame, now or later.
func (l *Link) hold(now, at time.Duration, peer int, frame []byte) error {
	stuck := l.strict && len(l.cut) > 0
	if at <= now && !stuck && (!l.strict || l.held.empty()) {
		l.dirty = true
		return l.inner.Send(peer, frame)
	}
	if l.held.bytes+len(frame) > l.limit {
		if l.props.Reliable {
			return transport.ErrQueueFull
		}
		l.medium.Stats.Dropped++
		return nil
	}
	l.held.push(at, peer, frame)
	l.arm(now)
	return nil
}

// Flush implements [transport.Link].
func (l *Link) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.silent:
		return transport.ErrSilent
	case l.closed:
		return transport.ErrClosed
	case l.failed != nil:
		return l.failed
	}
	l.releaseDue(l.now())
	return l.flush()
}

func (l *Link) flush() error {
	if !l.dirty {
		return nil
	}
	l.dirty = false
	return l.inner.Flush()
}

func (l *Link) now() time.Duration { return l.clock.Now().Sub(l.epoch) }

// release sends everything that is due. The timer calls it.
func (l *Link) release() {
	l.armed = noTime
	now := l.now()
	l.releaseDue(now)
	if err := l.flush(); err != nil && l.props.Reliable && l.failed == nil {
		l.failed = err
	}
	l.arm(now)
}

// releaseDue hands the inner link what is due, in order.
func (l *Link) releaseDue(now time.Duration) {
	if l.strict && len(l.cut) > 0 {
		return // a partition holds everything back, and keeps the order
	}
	for !l.held.empty() && l.held.list[0].at <= now {
		l.sendFirst()
	}
}

func (l *Link) sendFirst() {
	f := l.held.pop()
	l.dirty = true
	if err := l.inner.Send(f.peer, f.bytes); err != nil && l.props.Reliable && l.failed == nil {
		l.failed = err
	}
	l.held.recycle(f)
}

// arm sets the timer for the next frame that is held back.
func (l *Link) arm(now time.Duration) {
	if l.held.empty() || l.strict && len(l.cut) > 0 {
		return // a timer that is armed finds nothing to do; joining again releases
	}
	at := l.held.list[0].at
	if l.armed <= at {
		return
	}
	l.armed = at
	wait := max(at-now, 0)
	if l.timer == nil {
		l.timer = l.clock.AfterFunc(wait, l.fire)
		return
	}
	l.timer.Reset(wait)
}

func (l *Link) fire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.release()
	}
}

// Close implements [transport.Link]. What is held back is sent at once, unless
// a partition holds it; waiting would make closing take as long as the delay.
func (l *Link) Close() error {
	if l.shut(true) {
		return l.inner.Close()
	}
	return nil
}

// Abort implements [transport.Link].
func (l *Link) Abort() error {
	l.shut(false)
	return l.inner.Abort()
}

// shut marks the link closed; it reports whether it was open.
func (l *Link) shut(deliver bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.closed = true
	if l.alarm != nil {
		l.alarm.Stop()
		l.schedule = nil
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	for deliver && !l.held.empty() && !(l.strict && len(l.cut) > 0) {
		l.sendFirst()
	}
	l.flush()
	l.held = queue{}
	return true
}

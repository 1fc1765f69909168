package dtlslink

import (
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// inbox holds what the sessions have received until it is taken.
type inbox struct {
	ready chan struct{} // capacity 1: look again

	mu      sync.Mutex
	limit   int
	items   []item
	frames  int // items that are data
	free    [][]byte
	until   time.Time
	stopped error
	lost    uint64
}

type item struct {
	arrival transport.Arrival
	frame   []byte
}

func (b *inbox) init(limit int) {
	b.limit, b.ready = limit, make(chan struct{}, 1)
}

func (b *inbox) poke() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// put queues an arrival with a copy of its frame. A frame that finds no room is dropped; news of
// peers never is.
func (b *inbox) put(a transport.Arrival, frame []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	it := item{arrival: a}
	if a.Kind == transport.Data {
		if b.frames >= b.limit {
			b.lost++
			return
		}
		if n := len(b.free); n > 0 {
			it.frame, b.free = b.free[n-1], b.free[:n-1]
		}
		it.frame = append(it.frame[:0], frame...)
		b.frames++
	}
	b.items = append(b.items, it)
	b.poke()
}

// stop ends take with a reason, behind what is there already, unless the reason is this side's close.
func (b *inbox) stop(why error) {
	b.mu.Lock()
	if b.stopped == nil || why == transport.ErrClosed {
		b.stopped = why
	}
	b.mu.Unlock()
	b.poke()
}

func (b *inbox) interrupt(at time.Time) {
	b.mu.Lock()
	b.until = at
	b.mu.Unlock()
	b.poke()
}

func (b *inbox) dropped() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

// take waits for an arrival. A frame longer than buf is dropped.
func (b *inbox) take(buf []byte) (transport.Arrival, error) {
	for {
		got, wait, done, err := b.try(buf)
		if done {
			return got, err
		}
		if wait < 0 {
			<-b.ready
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-b.ready:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// try does not wait; wait says how long to, negative for ever.
func (b *inbox) try(buf []byte) (got transport.Arrival, wait time.Duration, done bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped == transport.ErrClosed {
		return got, 0, true, b.stopped
	}
	wait = -1
	if !b.until.IsZero() {
		if wait = time.Until(b.until); wait <= 0 {
			return got, 0, true, transport.ErrInterrupted
		}
	}
	for len(b.items) > 0 {
		it := b.items[0]
		b.items = b.items[1:]
		if it.arrival.Kind != transport.Data {
			return it.arrival, 0, true, nil
		}
		b.frames--
		n := copy(buf, it.frame)
		whole := n == len(it.frame)
		b.free = append(b.free, it.frame)
		if whole {
			return it.arrival, 0, true, nil
		}
		b.lost++
	}
	return got, wait, b.stopped != nil, b.stopped
}

package dtlslink

import (
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
)

// inbox holds what the sessions have received until it is taken, the peers in turns.
type inbox struct {
	ready chan struct{} // capacity 1: look again

	mu      sync.Mutex
	items   *door.Queue[int, transport.Arrival] // by peer
	until   time.Time
	stopped error
	lost    uint64
	notes   *door.Notes
}

func (b *inbox) init(limit int, notes *door.Notes) {
	b.notes = notes
	b.items, b.ready = door.NewQueue[int, transport.Arrival](limit), make(chan struct{}, 1)
}

func (b *inbox) poke() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// put queues an arrival with a copy of its frame. If there is no room, whoever has most in the queue
// loses a frame; news of peers is never lost.
func (b *inbox) put(a transport.Arrival, frame []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.Kind != transport.Data {
		b.items.News(a.Peer, a)
	} else if !b.items.Put(a.Peer, a, frame) {
		b.lost++
		b.notes.Bite("Queue", "frames of the peer that sends most are lost", nil)
	}
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
	for {
		a, frame, ok := b.items.Take()
		if !ok {
			break
		}
		if copy(buf, frame) == len(frame) {
			return a, 0, true, nil
		}
		b.lost++
	}
	return got, wait, b.stopped != nil, b.stopped
}

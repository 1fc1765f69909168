package mem

import (
	"io"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// batch is a run of bytes and, where boundaries count, their lengths.
type batch struct {
	bytes []byte
	lens  []int
}

func (b *batch) reset() { b.bytes, b.lens = b.bytes[:0], b.lens[:0] }

// inbox is one direction of a pair: what the other end has flushed and this
// end has not received.
type inbox struct {
	mu        sync.Mutex
	held      batch
	byteOff   int // held.bytes[:byteOff] and held.lens[:lenOff] are received
	lenOff    int
	interrupt time.Time
	stopped   error // nothing more is received, and why
	finished  bool  // nothing more is put: the end follows what is held
	over      chan struct{}
	ready     chan struct{} // capacity 1: something changed
	timer     *time.Timer
}

func newInbox() *inbox {
	return &inbox{over: make(chan struct{}), ready: make(chan struct{}, 1)}
}

func (b *inbox) poke() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

func (b *inbox) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.held.bytes) - b.byteOff
}

func (b *inbox) put(in *batch) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped != nil || b.finished {
		return transport.ErrReset
	}
	if b.byteOff > 0 && len(b.held.bytes)+len(in.bytes) > cap(b.held.bytes) {
		n := copy(b.held.bytes, b.held.bytes[b.byteOff:])
		b.held.bytes, b.byteOff = b.held.bytes[:n], 0
	}
	if b.lenOff > 0 && len(b.held.lens)+len(in.lens) > cap(b.held.lens) {
		n := copy(b.held.lens, b.held.lens[b.lenOff:])
		b.held.lens, b.lenOff = b.held.lens[:n], 0
	}
	b.held.bytes = append(b.held.bytes, in.bytes...)
	b.held.lens = append(b.held.lens, in.lens...)
	b.poke()
	return nil
}

func (b *inbox) stop(why error) {
	b.mu.Lock()
	if b.stopped == nil {
		b.stopped = why
	}
	b.mu.Unlock()
	b.poke()
}

func (b *inbox) finish() {
	b.mu.Lock()
	if !b.finished {
		b.finished = true
		close(b.over)
	}
	b.mu.Unlock()
	b.poke()
}

func (b *inbox) awaitFinish(limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-b.over:
	case <-t.C:
		b.stop(transport.ErrClosed)
	}
}

// receive waits for bytes, the end, or the interrupt.
func (b *inbox) receive(buf []byte, stream bool) (int, error) {
	for {
		n, at, err := b.take(buf, stream)
		if n >= 0 || err != nil {
			return max(n, 0), err
		}
		if at.IsZero() {
			<-b.ready
			continue
		}
		wait := time.Until(at)
		if b.timer == nil {
			b.timer = time.NewTimer(wait)
		} else {
			b.timer.Reset(wait)
		}
		select {
		case <-b.ready:
		case <-b.timer.C:
		}
	}
}

// take returns -1 and the time to wait until if there is nothing to return.
func (b *inbox) take(buf []byte, stream bool) (int, time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped != nil {
		return 0, time.Time{}, b.stopped
	}
	if !b.interrupt.IsZero() && !time.Now().Before(b.interrupt) {
		return 0, time.Time{}, transport.ErrInterrupted
	}
	if stream {
		if n := copy(buf, b.held.bytes[b.byteOff:]); n > 0 {
			b.byteOff += n
			b.compact()
			return n, time.Time{}, nil
		}
	} else if b.lenOff < len(b.held.lens) {
		n := b.held.lens[b.lenOff]
		if n > len(buf) {
			b.drop(n)
			b.poke() // look again: the next frame may fit
			return -1, b.interrupt, nil
		}
		copy(buf, b.held.bytes[b.byteOff:b.byteOff+n])
		b.drop(n)
		return n, time.Time{}, nil
	}
	if b.finished {
		return 0, time.Time{}, io.EOF
	}
	return -1, b.interrupt, nil
}

func (b *inbox) drop(n int) {
	b.byteOff += n
	b.lenOff++
	b.compact()
}

func (b *inbox) compact() {
	if b.byteOff == len(b.held.bytes) && b.lenOff == len(b.held.lens) {
		b.held.reset()
		b.byteOff, b.lenOff = 0, 0
	}
}

package player

import (
	"sync"

	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/driver"
)

// eventKind is the kind of an event.
type eventKind uint8

const (
	eventReport eventKind = iota
	eventState
	eventLink
	eventError
)

// event is one thing that the driver has told.
type event struct {
	kind     eventKind
	report   netplay.Report
	text     string // of a report that is shown
	from, to netplay.State
	up       bool
	err      error
}

// queue takes what the driver's handlers tell until the brain looks. It is
// bounded and never blocks: the driver goes on whatever the brain does.
type queue struct {
	mu       sync.Mutex
	list     []event
	spare    []event
	dropped  int
	overflow bool
	signal   chan struct{} // something is there
}

// The other side decides how many reports there are of what is merely shown,
// so these get only half of the room; how many frames there are is bounded by
// the protocol, far below the other half.
const (
	maxEvents = 1024
	maxShown  = maxEvents / 2
)

func newQueue() *queue { return &queue{signal: make(chan struct{}, 1)} }

// put queues an event; one that is only shown is dropped when the room for these is used up.
func (q *queue) put(e event, shown bool) {
	q.mu.Lock()
	switch {
	case shown && len(q.list) >= maxShown:
		q.dropped++
	case len(q.list) >= maxEvents:
		q.overflow = true
	default:
		q.list = append(q.list, e)
	}
	q.mu.Unlock()
	q.wake()
}

// Observe implements [driver.Observer]: steps have been made.
func (q *queue) Observe(*driver.Counters) { q.wake() }

func (q *queue) wake() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// take returns all events in order. They are valid until the next call.
func (q *queue) take() []event {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list, q.spare = q.spare[:0], list
	return list
}

func (q *queue) state() (dropped int, overflow bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped, q.overflow
}

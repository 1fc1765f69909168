package capi

import (
	"fmt"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
)

// Kind says what an event tells. The numbers are those of parley.h.
type Kind int32

// Kinds of events.
const (
	None     Kind = iota
	Report        // Text is the report, such as `changed{item: 3}`
	State         // Text is the state that the machine has entered
	LinkUp        // Peer can be reached; Text is its address, empty if it has none
	LinkLost      // Text says why
	Refused       // Text says which event was refused, or what else went wrong
	Frame         // Data is a frame for Peer, on an own link
	Stopped       // the machine takes nothing any more; Text says why
)

// Event is one thing that has happened.
type Event struct {
	Kind Kind
	// Peer is whom a frame is for, and whose link it is; fsm.Broadcast for everybody. In the events
	// of a [Server] it is the number of the connection, whatever the event is.
	Peer fsm.Peer
	Text string
	Data []byte
}

// MaxEvents is how many events wait to be polled. A machine whose program does not poll
// them is stopped: none is dropped.
const MaxEvents = 4096

// queue holds the events of one handle until they are polled.
type queue struct {
	stop func(why error) // called when too many wait

	mu      sync.Mutex
	events  []Event
	full    bool
	ended   bool
	changed chan struct{} // closed when something changes; nil while nobody waits
}

// put queues an event. When there is no room for it, stop is called, and what follows is dropped
// until the last one.
func (q *queue) put(e Event) {
	q.mu.Lock()
	if q.full || q.ended {
		q.mu.Unlock()
		return
	}
	if q.full = len(q.events) >= MaxEvents; !q.full {
		q.events = append(q.events, e)
		q.wake()
	}
	full := q.full
	q.mu.Unlock()
	if full {
		q.stop(fmt.Errorf("%d events wait and nobody takes them", MaxEvents))
	}
}

// end queues the last event. Nothing comes behind it, and nobody waits any more.
func (q *queue) end(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ended {
		q.ended = true
		q.events = append(q.events, e)
		q.wake()
	}
}

// wake wakes all who wait; the caller holds the lock.
func (q *queue) wake() {
	if q.changed != nil {
		close(q.changed)
		q.changed = nil
	}
}

// poll takes the oldest event, waiting for one for at most wait, for ever if that is negative. The
// error is ErrTimeout without one, ErrShort for one of more than most bytes, which stays, and
// ErrEnded if the last one has been taken.
func (q *queue) poll(wait time.Duration, most int) (Event, error) {
	var timeout <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		timeout = t.C
	}
	for {
		e, changed, err := q.take(most)
		if changed == nil {
			return e, err
		}
		if wait == 0 {
			return Event{}, ErrTimeout
		}
		select {
		case <-changed:
		case <-timeout:
			wait = 0 // one look more
		}
	}
}

// take takes the oldest event. Without one it returns a channel that is closed when it is time to
// look again.
func (q *queue) take(most int) (e Event, changed <-chan struct{}, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(q.events) > 0:
	case q.ended:
		return e, nil, ErrEnded
	default:
		if q.changed == nil {
			q.changed = make(chan struct{})
		}
		return e, q.changed, nil
	}
	e = q.events[0]
	if n := len(e.Text) + len(e.Data); n > most {
		return e, nil, fmt.Errorf("%w: the event has %d bytes", ErrShort, n)
	}
	q.events = q.events[1:]
	if len(q.events) == 0 {
		q.events = nil
	}
	return e, nil, nil
}

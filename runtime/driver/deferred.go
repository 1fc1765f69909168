package driver

import (
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// event is one event on its way into the machine.
type event[R fsm.Runner] struct {
	kind  trace.Kind
	again bool // it was deferred before
	call  bool // somebody waits for the result
	peer  fsm.Peer
	timer uint16
	key   uint32
	frame []byte
	cmd   func(R) fsm.Result
	note  string // an address or a reason, for the record
}

// deferred keeps the events that the machine has put off, oldest first, whoever they came from.
// The buffers of its frames are used again.
type deferred[R fsm.Runner] struct {
	list    []event[R]
	max     int
	next    int  // the event that is offered again, or would be
	offered bool // it is being handled: nobody else removes it
}

// add keeps a copy of ev; it reports whether there was room.
func (q *deferred[R]) add(ev *event[R]) bool {
	n := len(q.list)
	if n == q.max {
		return false
	}
	if n < cap(q.list) {
		q.list = q.list[:n+1]
	} else {
		q.list = append(q.list, event[R]{})
	}
	frame := append(q.list[n].frame[:0], ev.frame...)
	q.list[n] = *ev
	q.list[n].frame, q.list[n].again, q.list[n].call = frame, true, false
	return true
}

// remove drops event i, keeping its buffer for later.
func (q *deferred[R]) remove(i int) {
	frame := q.list[i].frame
	last := len(q.list) - 1
	copy(q.list[i:], q.list[i+1:])
	q.list[last] = event[R]{frame: frame[:0]}
	q.list = q.list[:last]
}

// forget drops the messages of a peer, or of all with fsm.Broadcast, and returns how many there
// were. The one that is being handled stays.
func (q *deferred[R]) forget(peer fsm.Peer) (n uint64) {
	for i := 0; i < len(q.list); {
		e := &q.list[i]
		mine := e.kind == trace.Message && (e.peer == peer || peer == fsm.Broadcast)
		if !mine || q.offered && i == q.next {
			i++
			continue
		}
		q.remove(i)
		n++
		if q.offered && i < q.next {
			q.next--
		}
	}
	return n
}

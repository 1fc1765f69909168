package driver

import (
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// event is one event on its way into the machine.
type event[R fsm.Runner] struct {
	kind  trace.Kind
	again bool // it is a deferred message that is offered again
	call  bool // somebody waits for the result
	peer  fsm.Peer
	timer uint16
	key   uint32
	frame []byte
	on    int   // the channel of the frame, of several
	phase uint8 // of the stream before the frame
	cmd   func(R) fsm.Result
	note  string // an address or a reason, for the record
}

// heldMessage is a deferred message.
type heldMessage struct {
	peer  fsm.Peer
	on    int
	phase uint8
	frame []byte
}

// deferred holds the messages that the machine has deferred, oldest first, whoever they came from.
// The buffers of its frames are used again.
type deferred struct {
	list    []heldMessage
	max     int
	next    int  // the message that is offered again, or would be
	offered bool // it is being handled: nobody else removes it
}

// add keeps a copy of a message from a channel and phase; it reports whether there was room.
func (q *deferred) add(peer fsm.Peer, on int, phase uint8, frame []byte) bool {
	n := len(q.list)
	if n == q.max {
		return false
	}
	if n < cap(q.list) {
		q.list = q.list[:n+1]
	} else {
		q.list = append(q.list, heldMessage{})
	}
	q.list[n] = heldMessage{peer, on, phase, append(q.list[n].frame[:0], frame...)}
	return true
}

// remove drops message i, keeping its buffer for later.
func (q *deferred) remove(i int) {
	frame := q.list[i].frame
	last := len(q.list) - 1
	copy(q.list[i:], q.list[i+1:])
	q.list[last] = heldMessage{frame: frame[:0]}
	q.list = q.list[:last]
}

// forget drops the messages of a peer, or of all with fsm.Broadcast, and returns how many there
// were. The one that is being handled stays.
func (q *deferred) forget(peer fsm.Peer) (n uint64) {
	for i := 0; i < len(q.list); {
		mine := q.list[i].peer == peer || peer == fsm.Broadcast
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

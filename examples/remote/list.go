// Package remote keeps what happens in a game until the next packet, and takes apart what others have sent: the
// remote events of Parsec's document. A game puts events into an [Outbox] and sends what Flush gives with the state of
// its ship; a server that passes events on has a [Queue] for each receiver; [Recorder] and [Playback] keep a session
// and show it again.
//
// It has no clock, no socket and no goroutine, and knows neither how packets are sent nor what becomes of events in
// a game. It needs machines/events and nothing else. Start from [Outbox] or [Each].
package remote

import (
	"fmt"
	"time"

	"github.com/parley-go/parley/machines/events"
)

// MaxList is the most bytes of events that fit into a packet over UDP, without their end.
const MaxList = 1240

// Priority says what becomes of an event where not all can be sent.
type Priority uint8

// Priorities, the first ones first.
const (
	Critical Priority = iota // what flies: it is sent first
	Normal                   // what must not be missing: it is delayed
	Low                      // what can wait
	priorities
)

// A rule says how events of a kind are treated.
type rule struct {
	priority Priority
	// life is how long the event is worth being sent, 0 for ever: what it creates is gone by then.
	life time.Duration
	// latest: a newer one of the same owner takes its place.
	latest bool
}

// The document names missiles and lasers as critical, text as not; the others are ours.
var rules = [...]rule{
	events.MessageDeleted:        {priority: Low},
	events.MessageCreateObject:   {priority: Normal},
	events.MessageCreateLaser:    {priority: Critical, life: 2 * time.Second},
	events.MessageCreateMissile:  {priority: Critical, life: 10 * time.Second},
	events.MessageCreateExtra:    {priority: Normal},
	events.MessageKillObject:     {priority: Normal},
	events.MessageSendText:       {priority: Low},
	events.MessagePlayerName:     {priority: Low, latest: true},
	events.MessageParticleObject: {priority: Normal},
	events.MessageWeaponState:    {priority: Critical, latest: true},
	events.MessageStateSync:      {priority: Normal},
	events.MessageCreateSwarm:    {priority: Critical, life: 10 * time.Second},
	events.MessageCreateEmp:      {priority: Critical, life: 2 * time.Second},
	events.MessageOwnerSection:   {priority: Low},
}

// PriorityOf returns the priority of a kind of event.
func PriorityOf(kind events.MessageKind) Priority { return rules[kind].priority }

// Owner returns the slot of who owns an object.
func Owner(o events.Object) uint8 { return uint8(o >> 16) }

// Each takes a list apart: f gets each event with the slot of whose it is, and the bytes that it stands in. The
// list is of the player in this slot until an event says otherwise, which f does not get, nor what was deleted. It
// ends with four zero bytes or with the bytes. An error says where the list is malformed; f has had what is before.
func Each(list []byte, owner uint8, f func(owner uint8, raw []byte, m *events.Message)) error {
	var m events.Message
	for at := 0; at < len(list) && list[at] != 0; {
		size, err := events.FrameSize(list[at:])
		if err == nil && (size == 0 || size > len(list)-at) {
			err = fmt.Errorf("it is cut off")
		}
		if err == nil {
			err = events.DecodeMessage(list[at:at+size], &m)
		}
		if err != nil {
			return fmt.Errorf("remote events: byte %d: %w", at, err)
		}
		raw := list[at : at+size]
		at += size
		switch m.Kind {
		case events.MessageDeleted:
		case events.MessageOwnerSection:
			owner = uint8(m.OwnerSection.Owner)
		default:
			f(owner, raw, &m)
		}
	}
	return nil
}

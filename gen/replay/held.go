package replay

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// defers reports whether the control state of a machine's value defers an event.
func defers(m *model.Machine, v interp.Value, ev *model.Event) bool {
	h := m.States[v[0]].Handlers
	return ev != nil && ev.Index < len(h) && h[ev.Index] != nil && h[ev.Index].Mode == model.Defer
}

// heldMessage is a deferred message of a record.
type heldMessage struct {
	peer  fsm.Peer
	event *model.Event
	text  string // the event with its values
	frame []byte
}

// holding is what the machine of a record holds, oldest first.
type holding struct {
	list []heldMessage
	// next is the place from which the driver goes on when it offers everything to a new state. It
	// records the messages that the state still defers, too.
	next int
	// restored: the record does not begin with start, so that more may be held than it shows.
	restored bool
}

// due is the place of the oldest message that the state no longer defers, -1 if there is none.
func (h *holding) due(m *model.Machine, v interp.Value) int {
	return slices.IndexFunc(h.list, func(x heldMessage) bool { return !defers(m, v, x.event) })
}

// forget discards what is held of a peer, or of all with fsm.Broadcast.
func (h *holding) forget(peer fsm.Peer) {
	h.list = slices.DeleteFunc(h.list, func(x heldMessage) bool { return peer == fsm.Broadcast || x.peer == peer })
	h.next = 0
}

// early says why a line comes too early: before a held message that the machine has to handle first.
// The driver may have closed a link for an error; then it delivers lost even before held messages.
func (c *checker) early(s *trace.Step) string {
	due := c.held.due(c.m, c.value)
	if due < 0 || s.Again || s.Kind == trace.Lost || s.Kind == trace.Malformed {
		return ""
	}
	x, state := &c.held.list[due], c.m.States[c.value[0]].Name
	if s.Kind == trace.Closed {
		return fmt.Sprintf("the record ends, but %s is held, and state %s no longer defers it", x.text, state)
	}
	return fmt.Sprintf("%s is held, and state %s no longer defers it: it comes before anything else", x.text, state)
}

// offered finds the held message that a line offers again. The place is -1 if the message was held
// before the record began, or if the line offers nothing; why says what is wrong.
func (c *checker) offered(s *trace.Step, ev *model.Event) (place int, why string) {
	h := &c.held
	if !s.Again {
		return -1, ""
	}
	if s.Kind != trace.Message {
		return -1, "the record says the event was deferred before, but only messages are deferred"
	}
	same := func(x heldMessage) bool {
		return x.peer == s.Peer && x.text == string(s.Event) && bytes.Equal(x.frame, s.Frame)
	}
	due := h.due(c.m, c.value)
	place = slices.IndexFunc(h.list, same)
	switch {
	case place < 0 && h.restored:
		return -1, ""
	case place < 0:
		return -1, "the record says the message was deferred before, but the machine holds no such message"
	case defers(c.m, c.value, ev):
		if place = slices.IndexFunc(h.list[h.next:], same); place < 0 {
			return -1, "the record offers the message again, but it has been offered in this state already, or one behind it has"
		}
		place += h.next
	}
	if due >= 0 && due < place {
		return -1, fmt.Sprintf("%s was deferred before this message, and state %s no longer defers it: it comes first",
			h.list[due].text, c.m.States[c.value[0]].Name)
	}
	return place, ""
}

// settle brings what is held up to date behind a step. place is what offered found, state the
// control state before.
func (c *checker) settle(s *trace.Step, ev *model.Event, place int, state int64) string {
	h := &c.held
	switch {
	case s.Code == fsm.Deferred && !s.Again:
		if why := c.hold(s, ev); why != "" {
			return why
		}
	case s.Code == fsm.Deferred && place >= 0:
		h.next = place + 1
	case place >= 0:
		h.list = slices.Delete(h.list, place, place+1)
		if place < h.next {
			h.next--
		}
	}
	if s.Kind == trace.Lost {
		h.forget(s.Peer)
	}
	for i := range s.Effects {
		if e := &s.Effects[i]; e.Kind == fsm.Close {
			h.forget(e.Peer)
		}
	}
	if c.value[0] != state {
		h.next = 0
	}
	return ""
}

// hold sets a message aside. One more than the role may hold is dropped: the peer sent too many.
func (c *checker) hold(s *trace.Step, ev *model.Event) string {
	h, most := &c.held, c.m.DeferredMost()
	dropped, full := bytes.HasPrefix(s.Problem, []byte(trace.TooManyDeferred)), len(h.list) >= most
	switch {
	case full && !dropped:
		return fmt.Sprintf("the message was deferred, but %d are held already and the role may hold no more", most)
	case dropped && !full && !h.restored:
		return fmt.Sprintf("the record says the message was dropped, but %d are held and the role may hold %d", len(h.list), most)
	case dropped:
		c.out.Refused++
		return ""
	}
	h.list = append(h.list, heldMessage{s.Peer, ev, string(s.Event), bytes.Clone(s.Frame)})
	return ""
}

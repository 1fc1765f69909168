package replay

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/world"
)

// received is a message of a record: its event, its text with the values, and its frame.
type received struct {
	event       *model.Event
	text, frame string
}

// around is what is around the machine of a record: the messages that it holds, and the links that it
// has closed. The rules are those of package world. Its worlds and ends cannot be used, because they
// have a fixed number of instances and links that come up once. A driver can have any number of peers,
// one after the other with the same number.
type around struct {
	held   []world.Held[received] // oldest first
	closed map[fsm.Peer]bool      // by the machine, and not up again
	// restored: the record does not begin with start, so that more may be held than it shows.
	restored bool
}

// due returns the place of the message that must be handled before anything else. It returns -1 if there
// is none.
func (c *checker) due() int {
	return world.Oldest(c.around.held, func(x received) bool { return defers(c.m, c.value, x.event) })
}

// early says why a line comes too early: before a held message that the machine must handle first. If
// the driver has closed a link because of an error, it delivers lost even before held messages.
func (c *checker) early(s *trace.Step) string {
	due := c.due()
	if due < 0 || s.Again || s.Kind == trace.Lost || s.Kind == trace.Malformed {
		return ""
	}
	x, state := c.around.held[due].Message, c.m.States[c.value[0]].Name
	if s.Kind == trace.Closed {
		return fmt.Sprintf("the record ends, but %s is held, and state %s no longer defers it", x.text, state)
	}
	return fmt.Sprintf("%s is held, and state %s no longer defers it: it comes before anything else", x.text, state)
}

// unheard says why the machine cannot have received what a line says: it has closed that link.
func (c *checker) unheard(s *trace.Step) string {
	if (s.Kind == trace.Message && !s.Again || s.Kind == trace.Lost) && c.around.closed[s.Peer] {
		return "the machine has closed the link to that peer, and hears nothing more from there"
	}
	return ""
}

// offered finds the held message that a line offers again. The place is -1 if the message was held before
// the record began, or if the line offers nothing. why says what is wrong.
func (c *checker) offered(s *trace.Step, ev *model.Event) (place int, why string) {
	if !s.Again {
		return -1, ""
	}
	if s.Kind != trace.Message {
		return -1, "the record says the event was deferred before, but only messages are deferred"
	}
	state, list := c.m.States[c.value[0]].Name, c.around.held
	place = slices.Index(list, world.Held[received]{From: int(s.Peer),
		Message: received{ev, string(s.Event), string(s.Frame)}})
	due := c.due()
	switch {
	case place < 0 && !c.around.restored:
		return -1, "the record says the message was deferred before, but the machine holds no such message"
	case due >= 0 && due < place:
		return -1, fmt.Sprintf("%s was deferred before this message, and state %s no longer defers it: it "+
			"comes first", list[due].Message.text, state)
	case defers(c.m, c.value, ev):
		return -1, fmt.Sprintf("the record says the message was handled, but state %s still defers it", state)
	}
	return place, ""
}

// settle updates what is around the machine after a step. place is what offered has found.
func (c *checker) settle(s *trace.Step, ev *model.Event, place int) string {
	a := &c.around
	switch {
	case s.Code == fsm.Deferred:
		if why := c.hold(s, ev); why != "" {
			return why
		}
	case place >= 0:
		a.held = world.Release(a.held, place)
	}
	switch s.Kind {
	case trace.Up:
		delete(a.closed, s.Peer)
	case trace.Lost:
		a.held = world.Forget(a.held, int(s.Peer))
	}
	for i := range s.Effects {
		e := &s.Effects[i]
		switch {
		case e.Kind != fsm.Close:
		case e.Peer == fsm.Broadcast:
			a.held = nil
		default:
			a.held = world.Forget(a.held, int(e.Peer))
			a.closed[e.Peer] = true
		}
	}
	return ""
}

// hold sets a message aside. One more than the role may hold is dropped: the peer sent too many.
func (c *checker) hold(s *trace.Step, ev *model.Event) string {
	a, most := &c.around, c.m.DeferredMost()
	rest, full := world.Hold(a.held, most, world.Held[received]{From: int(s.Peer),
		Message: received{ev, string(s.Event), string(s.Frame)}})
	dropped := bytes.HasPrefix(s.Problem, []byte(trace.TooManyDeferred))
	switch {
	case full && !dropped:
		return fmt.Sprintf("the message was deferred, but %d are held already and the role may hold no more", most)
	case dropped && !full && !a.restored:
		return fmt.Sprintf("the record says the message was dropped, but %d are held and the role may hold %d",
			len(a.held), most)
	case dropped:
		c.out.Refused++
		return ""
	}
	a.held = rest
	return ""
}

package impair

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// What is what happens at a time of a [Schedule].
type What uint8

// The kinds of event.
const (
	// Partition cuts Peers off, or all if there are none, as [Link.Partition] does.
	Partition What = iota
	// Heal joins Peers again, or all if there are none.
	Heal
	// Break has this end take the link for dead: Receive says [transport.ErrSilent], what is held back is
	// lost, and the inner link is aborted, so that the other end of a stream hears a reset.
	Break
	// Return calls [Config.Returned] after a Break: a new link can be made.
	Return
)

var whatNames = [...]string{"partition", "heal", "break", "return"}

// String returns the name of w in lower case.
func (w What) String() string { return whatNames[w] }

// Event is a fault at a time.
type Event struct {
	// At is when, from the moment of New; not negative.
	At   time.Duration
	What What
	// Peers are the numbers of those whom a Partition or a Heal is about; none: all.
	Peers []int
}

// Schedule is what happens to a link at given times, in any order. Of what is due at the same time the
// first in the list comes first.
type Schedule []Event

// ordered returns the schedule in the order of its times, or says what is wrong with it.
func (s Schedule) ordered(peers int, returned bool) (Schedule, error) {
	list := slices.Clone(s)
	slices.SortStableFunc(list, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	broken, ended := false, false
	for _, e := range list {
		switch {
		case e.What > Return:
			return nil, fmt.Errorf("an event of the schedule at %v is of no kind: %d", e.At, e.What)
		case e.At < 0:
			return nil, fmt.Errorf("a %s of the schedule is at %v, before the link is there", e.What, e.At)
		case e.What >= Break && len(e.Peers) > 0:
			return nil, fmt.Errorf("the %s at %v names peers: it is the whole link that ends", e.What, e.At)
		case e.What == Return && !broken:
			return nil, fmt.Errorf("the link returns at %v, and has not broken before", e.At)
		case e.What == Return && !returned:
			return nil, fmt.Errorf("the link returns at %v, and Returned is not set", e.At)
		case e.What != Return && ended:
			return nil, fmt.Errorf("the %s at %v comes after the link has ended: give it to the next link",
				e.What, e.At)
		}
		for _, p := range e.Peers {
			if p < 0 || p >= max(peers, 1) {
				return nil, fmt.Errorf("the %s at %v names peer %d: %w", e.What, e.At, p, transport.ErrNoPeer)
			}
		}
		broken, ended = e.What == Break, ended || e.What == Break
	}
	return list, nil
}

// plan arms the clock for the next event of the schedule.
func (l *Link) plan() {
	if len(l.schedule) == 0 {
		return
	}
	wait := max(l.schedule[0].At-l.now(), 0)
	if l.alarm == nil {
		l.alarm = l.clock.AfterFunc(wait, l.happen)
		return
	}
	l.alarm.Reset(wait)
}

// happen takes what is due in the schedule.
func (l *Link) happen() {
	var after []func()
	l.mu.Lock()
	for len(l.schedule) > 0 && l.schedule[0].At <= l.now() {
		e := l.schedule[0]
		l.schedule = l.schedule[1:]
		switch {
		case e.What == Return:
			if l.silent {
				after = append(after, l.returned)
			}
		case l.closed:
		case e.What == Break:
			l.silent, l.closed, l.held = true, true, queue{}
			if l.timer != nil {
				l.timer.Stop()
			}
			after = append(after, func() { l.inner.Abort() })
		default:
			for _, p := range e.Peers {
				l.part(p, e.What == Partition)
			}
			if len(e.Peers) == 0 {
				l.part(transport.All, e.What == Partition)
			}
		}
	}
	if !l.closed || l.silent {
		l.plan()
	}
	l.mu.Unlock()
	for _, f := range after {
		f()
	}
}

package remote

import (
	"time"

	"github.com/parley-go/parley/machines/events"
)

// maxQueued is how many bytes of events a queue holds.
const maxQueued = 16 << 10

// Queue has the events that one receiver has still to get, from all others. What is critical goes first, then the rest
// in the order in which it came; what is outdated goes nowhere. The zero value is empty.
type Queue struct {
	waiting [priorities][]queued
	bytes   int
	Lost
}

// Lost counts what was not passed on.
type Lost struct{ Outdated, Superseded, Overflow int }

// queued is an event that waits.
type queued struct {
	owner uint8
	kind  events.MessageKind
	until time.Duration // 0: it is never outdated
	raw   []byte
}

// Put adds an event that came at a time; the bytes are copied. Where there is no room the oldest of the least priority
// goes, which may be the new one.
func (q *Queue) Put(now time.Duration, owner uint8, raw []byte, m *events.Message) {
	r := &rules[m.Kind]
	e := queued{owner: owner, kind: m.Kind, raw: append([]byte(nil), raw...)}
	if r.life > 0 {
		e.until = now + r.life
	}
	list := q.waiting[r.priority]
	if r.latest {
		for i := range list {
			if list[i].kind == e.kind && list[i].owner == owner && same(&list[i], m) {
				q.bytes += len(e.raw) - len(list[i].raw)
				list[i] = e
				q.Superseded++
				return
			}
		}
	}
	q.waiting[r.priority] = append(list, e)
	q.bytes += len(e.raw)
	for p := priorities; q.bytes > maxQueued && p > 0; {
		if old := q.waiting[p-1]; len(old) > 0 {
			q.bytes -= len(old[0].raw)
			q.waiting[p-1] = old[1:]
			q.Overflow++
		} else {
			p--
		}
	}
}

// same reports whether a newer event makes an older one of its kind and owner superfluous: weapons each have a state.
func same(old *queued, m *events.Message) bool {
	if m.Kind != events.MessageWeaponState {
		return true
	}
	var before events.Message
	return events.DecodeMessage(old.raw, &before) == nil && before.WeaponState.Mask == m.WeaponState.Mask
}

// Len is how many events wait.
func (q *Queue) Len() (n int) {
	for _, list := range q.waiting {
		n += len(list)
	}
	return n
}

// Forget drops what waits of an owner, who has left.
func (q *Queue) Forget(owner uint8) {
	for p, list := range q.waiting {
		kept := list[:0]
		for _, e := range list {
			if e.owner == owner {
				q.bytes -= len(e.raw)
			} else {
				kept = append(kept, e)
			}
		}
		q.waiting[p] = kept
	}
}

// Take appends to dst what may go now, at most budget bytes, as a list of the player in slot first. An event that
// does not fit waits, and those behind it of its priority and below with it, so that they keep their order.
func (q *Queue) Take(dst []byte, now time.Duration, budget int, first uint8) []byte {
	begin, owner := len(dst), first
	for p, list := range q.waiting {
		for i := range list {
			e := &list[i]
			if e.until != 0 && e.until < now {
				q.Outdated++
				q.bytes -= len(e.raw)
				continue
			}
			need := len(e.raw)
			if e.owner != owner {
				need += size[events.MessageOwnerSection]
			}
			if len(dst)-begin+need > budget {
				q.waiting[p] = list[i:]
				return dst
			}
			if e.owner != owner {
				owner = e.owner
				m := events.Message{Kind: events.MessageOwnerSection,
					OwnerSection: events.OwnerSectionMessage{Owner: events.Level(owner)}}
				dst, _ = events.AppendMessage(dst, &m)
			}
			dst = append(dst, e.raw...)
			q.bytes -= len(e.raw)
		}
		q.waiting[p] = nil
	}
	return dst
}

package main

import (
	"time"

	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/machines/events"
	"github.com/parley-go/parley/machines/gameserver"
	"github.com/parley-go/parley/runtime/fsm"
)

// crowd is who plays, where the ships are, and what each player has still to get. It says what is sent next, and knows
// neither connections nor the machine.
type crowd struct {
	reach   float64 // how far ships can be seen, 0 for everywhere
	rate    int     // bytes a second that each player gets, 0 for no limit
	pilots  [16]seat
	jobs    []job // what is due, in the order in which it goes
	first   int   // of the jobs that were not done
	news    bool  // something has come since they were made
	spared  int   // states that were not sent to somebody whose share was used up
	refused int   // ships that are nowhere, and events of what is somebody else's
}

// seat is a player as the crowd sees it.
type seat struct {
	client fsm.Peer // 0: the slot is free
	flies  bool
	ship   gameserver.Ship
	at     [3]float64
	fresh  bool             // the state of its ship has not been passed on
	seen   gameserver.Slots // who may see it
	told   gameserver.Slots // as the machine was told
	queue  remote.Queue
	share  float64 // bytes that it may get now
	since  time.Duration
}

// job is a command for the machine: relay, sight, or, without a client, spread.
type job struct {
	client fsm.Peer
	sight  bool
	seen   gameserver.Slots
	ship   gameserver.Ship
	events gameserver.Events
}

const everybody = gameserver.Slots(1<<16 - 1)

// overhead is what a packet has beside events: of IP, UDP, and its own fields.
const overhead = 28 + 153

// enter has somebody in a slot, or nobody (0), who begins anew.
func (c *crowd) enter(slot gameserver.Slot, client fsm.Peer) {
	c.pilots[slot] = seat{client: client, seen: everybody, told: everybody}
	for i := range c.pilots {
		c.pilots[i].queue.Forget(uint8(slot))
	}
}

// land has a player without a ship, and reports whether it had one.
func (c *crowd) land(slot gameserver.Slot) bool {
	p := &c.pilots[slot]
	had := p.flies
	p.flies, p.fresh = false, false
	if had {
		c.look(slot)
	}
	return had
}

// fly has the ship of a player somewhere.
func (c *crowd) fly(slot gameserver.Slot, ship gameserver.Ship, s *remote.Ship) {
	p := &c.pilots[slot]
	x, y, z := s.Position()
	p.at = [3]float64{float64(x), float64(y), float64(z)}
	p.ship, p.flies, p.fresh, c.news = ship, true, true, true
	c.look(slot)
}

// look finds out who is near whom, now that a player has moved. Who has no ship sees all.
func (c *crowd) look(moved gameserver.Slot) {
	if c.reach == 0 {
		return
	}
	p := &c.pilots[moved]
	for i := range c.pilots {
		q, slot := &c.pilots[i], gameserver.Slot(i)
		if slot == moved || q.client == 0 {
			continue
		}
		near := !p.flies || !q.flies || distance2(p.at, q.at) < c.reach*c.reach
		p.seen, q.seen = put(p.seen, slot, near), put(q.seen, moved, near)
	}
	c.news = true
}

func put(s gameserver.Slots, slot gameserver.Slot, in bool) gameserver.Slots {
	if in {
		return s.With(slot)
	}
	return s.Without(slot)
}

func distance2(a, b [3]float64) (d float64) {
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
	}
	return d
}

// hear takes a list of events of a player, for all others. It returns those that it has taken, up to the first that is
// malformed.
func (c *crowd) hear(now time.Duration, slot gameserver.Slot, list []byte) (taken []byte) {
	c.news = true
	remote.Each(list, uint8(slot), func(owner uint8, raw []byte, m *events.Message) {
		if owner != uint8(slot) || made(m) != nil && remote.Owner(*made(m)) != uint8(slot) {
			c.refused++ // nobody speaks for others
			return
		}
		taken = append(taken, raw...)
		for i := range c.pilots {
			if p := &c.pilots[i]; p.client != 0 && gameserver.Slot(i) != slot {
				p.queue.Put(now, uint8(slot), raw, m)
			}
		}
	})
	return taken
}

// made is the object that an event creates, nil if it creates none that has a number.
func made(m *events.Message) *events.Object {
	switch m.Kind {
	case events.MessageCreateObject:
		return &m.CreateObject.Object
	case events.MessageCreateLaser:
		return &m.CreateLaser.Object
	case events.MessageCreateMissile:
		return &m.CreateMissile.Object
	case events.MessageCreateExtra:
		return &m.CreateExtra.Object
	}
	return nil
}

// left is how many jobs are known to be due. Where something has come since they were made, there is at least one.
func (c *crowd) left() int {
	n := len(c.jobs) - c.first
	if n == 0 && c.news {
		return 1
	}
	return n
}

// next returns what goes now, valid until it is called again. Where nothing does it is news of nothing for nobody.
func (c *crowd) next(now time.Duration) *job {
	if c.first == len(c.jobs) {
		c.jobs, c.first = c.jobs[:0], 0
		c.plan(now)
	}
	if len(c.jobs) == 0 {
		return &job{}
	}
	c.first++
	return &c.jobs[c.first-1]
}

// plan makes jobs of what has come: the newest state of each ship for all who see it, with the events that they have
// to get, and the other events. Whoever has used up its share gets nothing, and its events wait. Before the jobs are
// done no others are made, so there are never many: of a ship that flies on meanwhile the newest state goes.
func (c *crowd) plan(now time.Duration) {
	c.news = false
	for i := range c.pilots {
		if p := &c.pilots[i]; p.client != 0 && p.flies && p.seen != p.told {
			p.told = p.seen
			c.jobs = append(c.jobs, job{client: p.client, sight: true, seen: p.seen})
		}
	}
	for i := range c.pilots {
		p := &c.pilots[i]
		if !p.fresh {
			continue
		}
		p.fresh = false
		var plain gameserver.Slots
		for t := range c.pilots {
			to, slot := &c.pilots[t], gameserver.Slot(t)
			if t == i || to.client == 0 || !p.seen.Has(slot) {
				continue
			}
			room := c.room(now, to)
			switch {
			case room < 0:
				c.spared++
			case to.queue.Len() == 0:
				to.share -= overhead
				plain = plain.With(slot)
			default:
				list := c.take(now, to, room, uint8(i))
				if list.Len == 0 && to.queue.Len() > 0 {
					c.spared++ // events do not wait for states: the share is saved up for them
					continue
				}
				to.share -= overhead + float64(list.Len)
				one := gameserver.Slots(0).With(slot)
				c.jobs = append(c.jobs, job{client: p.client, seen: one, ship: p.ship, events: list})
			}
		}
		if plain != 0 {
			c.jobs = append(c.jobs, job{client: p.client, seen: plain, ship: p.ship})
		}
	}
	for t := range c.pilots {
		to := &c.pilots[t]
		if to.queue.Len() == 0 {
			continue
		}
		if room := c.room(now, to); room > 0 {
			if list := c.take(now, to, room, 255); list.Len > 0 {
				to.share -= overhead + float64(list.Len)
				c.jobs = append(c.jobs, job{seen: gameserver.Slots(0).With(gameserver.Slot(t)), events: list})
			}
		}
	}
}

// room is how many bytes of events a packet for a player may have now; less than 0: it may not be sent.
func (c *crowd) room(now time.Duration, to *seat) int {
	if c.rate == 0 {
		return remote.MaxList
	}
	to.share = min(to.share+float64(c.rate)*(now-to.since).Seconds(), max(float64(c.rate)/4, overhead+remote.MaxList))
	to.since = now
	return min(int(to.share)-overhead, remote.MaxList)
}

func (c *crowd) take(now time.Duration, to *seat, room int, first uint8) (list gameserver.Events) {
	list.Len = uint16(len(to.queue.Take(list.Data[:0], now, room, first)))
	return list
}

package stage

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/world"
)

// Rules are what a check says of what lies between its instances. How many timers they have is not
// in them: Timers has zeros.
//
// There is a link between two instances if one of them can send the other what its role mentions, and
// something of the link can be noticed. Between others there are datagrams, or nothing.
func Rules(c *model.Check) *world.Rules {
	f := c.Faults
	r, said := between(c, f), talks(c)
	for i, a := range c.Instances {
		for k, b := range c.Instances[i+1:] {
			if c.Links(a, b) && said.between(i, i+1+k) {
				l := link(i, i+1+k, a.Role, b.Role)
				l.Class, l.Datagrams = newsClass(r)
				r.Links = append(r.Links, l)
			}
		}
	}
	if f != nil {
		r.Faults = world.Faults{Lose: f.Lose, Duplicate: f.Duplicate, Overtake: max(f.Overtake, 0),
			Crash: f.Crash, Restart: f.Restart, CrashAll: f.CrashAll, Torn: !f.Atomic,
			Break: f.Break, Return: f.Return, Partition: f.Partition, Bridge: f.Bridge}
		if f.Partition > 0 {
			r.Faults.Return = -1 // what a partition has cost may come back
		}
	}
	if t := c.Time; t != nil {
		r.Time = &world.Time{Beat: t.Beat, Delay: t.Delay, Drift: t.Drift}
	}
	return r
}

// between are the instances of a check and the channels between them, with what faults say of these.
func between(c *model.Check, f *model.Faults) *world.Rules {
	r := &world.Rules{Instances: len(c.Instances), Timers: make([]int, len(c.Instances)),
		Faults: world.Faults{Lose: -1, Duplicate: -1}}
	for i, a := range c.Instances {
		r.Deferred, r.Come = append(r.Deferred, a.Role.DeferredMost()), append(r.Come, a.Come)
		if a.IsHostile() {
			r.Hostile |= 1 << i
		}
		if a.Hostile == model.Malformed {
			r.Malformed |= 1 << i
		}
		for j := range c.Instances {
			if i == j {
				continue
			}
			for class, ch := range c.Channels() {
				out := world.Channel{From: i, To: j, Class: class}
				r.Channels = append(r.Channels, channel(&ch, f, c.Several(), out))
			}
		}
	}
	return r
}

// channel is out as ch describes it, with what faults say of it. Of several channels, faults bound what a
// channel does by itself; a single one does what faults say.
func channel(ch *model.Channel, f *model.Faults, several bool, out world.Channel) world.Channel {
	out.Capacity, out.Lossy, out.Duplicates = ch.Capacity, ch.Lossy, ch.Duplicates
	switch ch.Full {
	case model.FullLose:
		out.Full = world.FullLose
	case model.FullWait:
		out.Full = world.FullWait
	}
	if !ch.Ordered {
		out.Order = world.Any
	}
	if f != nil {
		out.Overtakes = f.Overtake > 0
		if f.Lose >= 0 {
			out.Lossy = f.Lose > 0 && (ch.Lossy || !several)
		}
		if f.Duplicate >= 0 {
			out.Duplicates = f.Duplicate > 0 && (ch.Duplicates || !several)
		}
	}
	return out
}

// newsClass is the class of the channels in which news of links travels: the first that keeps order and loses and
// copies nothing. Where there is none links are of datagrams.
func newsClass(r *world.Rules) (class int, datagrams bool) {
	for _, ch := range r.Channels {
		if ch.Class < class { // those from one instance to another are next to each other
			break
		}
		if class = ch.Class; ch.Order == world.Fifo && !ch.Lossy && !ch.Duplicates && !ch.Overtakes {
			return class, false
		}
	}
	return 0, true
}

// link is the link between two instances.
func link(i, j int, a, b *model.Machine) world.Link {
	return world.Link{A: i, B: j, Untold: [2]bool{!a.Mentions(model.EventUp), !b.Mentions(model.EventUp)}}
}

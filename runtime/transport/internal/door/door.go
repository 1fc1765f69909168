// Package door decides who of those that come to a server is let in: so many
// at a time and so many a second, in all and from one origin.
//
// It knows no socket and no clock, and counts only whom it has let in, in memory
// that does not grow with the number of those who try. Start from [Door].
package door

import (
	"net/netip"
	"sync"
	"time"
)

// Limits are the limits of a [Door]. A limit that is not positive is none.
type Limits struct {
	Open       int // those who are in, at a time
	PerOrigin  int // those of one origin
	Rate       int // let in a second
	OriginRate int // of one origin
}

// Of fills in what is 0: an origin may have a quarter of the places, or least if that is more; 50
// of one and 1000 of all are let in a second. A negative number is no limit.
func Of(open, least, perOrigin, originRate, rate int) Limits {
	def := func(n, v int) int {
		if n == 0 {
			return v
		}
		return n
	}
	return Limits{Open: open, PerOrigin: def(perOrigin, max(least, open/4)),
		OriginRate: def(originRate, 50), Rate: def(rate, 1000)}
}

// Verdict is a door's decision about somebody who comes.
type Verdict uint8

const (
	In      Verdict = iota
	Full            // because of Limits.Open
	Crowded         // because of Limits.PerOrigin
	Hasty           // because of Limits.OriginRate
	Flooded         // because of Limits.Rate
	verdicts
)

// Counts is how often each verdict has been given.
type Counts [verdicts]uint64

// maxOrigins bounds the origins that a window remembers. More than these let in within a second
// are so many that the rate of one says little, and the earlier ones are forgotten.
const maxOrigins = 4096

// Door lets in those who come while the limits allow it. Its methods may be called by any goroutine.
type Door struct {
	limits Limits

	mu          sync.Mutex
	open        int
	from        map[netip.Addr]int // who is in, by origin; at most Limits.Open
	slot        int64              // the second that now is for
	now, before window
	counts      Counts
}

// window is who was let in within one second.
type window struct {
	all  int
	from map[netip.Addr]int32
}

// New returns a door.
func New(l Limits) *Door {
	empty := func() window { return window{from: map[netip.Addr]int32{}} }
	return &Door{limits: l, from: map[netip.Addr]int{}, now: empty(), before: empty()}
}

// Origin returns an address as a door counts it: an IPv4 address, or an IPv6 network of 64 bits, since
// whoever has one address of such a network has them all. Addresses of one link (fe80::) share
// their network with everybody on it, so each counts by itself.
func Origin(a netip.Addr) netip.Addr {
	if a = a.Unmap(); a.Is6() && !a.IsLinkLocalUnicast() {
		network, _ := a.Prefix(64)
		return network.Addr()
	}
	return a
}

// Enter reports whether somebody is let in. now is a time since any fixed moment. For each Enter
// that returned In there must be one Leave.
//
// The zero address stands for somebody without an origin, for whom only the limits for all hold.
//
// An origin's own limits are checked before the rate of all, so what one origin may not do costs
// the others nothing.
func (d *Door) Enter(from netip.Addr, now time.Duration) Verdict {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.judge(from, now)
	d.counts[v]++
	if v == In {
		d.note(from)
	}
	return v
}

func (d *Door) judge(from netip.Addr, now time.Duration) Verdict {
	l := &d.limits
	switch {
	case l.Open > 0 && d.open >= l.Open:
		return Full
	case l.PerOrigin > 0 && from.IsValid() && d.from[from] >= l.PerOrigin:
		return Crowded
	case l.Rate <= 0 && l.OriginRate <= 0:
		return In
	}
	d.turn(now)
	// How much of the second before is within one second of now.
	past := 1 - float64(now%time.Second)/float64(time.Second)
	within := func(now, before, limit int) bool {
		return limit <= 0 || float64(now)+past*float64(before)+1 <= float64(limit)
	}
	switch {
	case from.IsValid() && !within(int(d.now.from[from]), int(d.before.from[from]), l.OriginRate):
		return Hasty
	case !within(d.now.all, d.before.all, l.Rate):
		return Flooded
	}
	return In
}

// turn begins a new second if now is in one.
func (d *Door) turn(now time.Duration) {
	slot := int64(now / time.Second)
	if slot == d.slot {
		return
	}
	d.now, d.before = d.before, d.now
	d.now.clear()
	if slot != d.slot+1 {
		d.before.clear()
	}
	d.slot = slot
}

func (w *window) clear() {
	w.all = 0
	clear(w.from)
}

// note counts somebody who is in.
func (d *Door) note(from netip.Addr) {
	d.open++
	if d.limits.PerOrigin > 0 && from.IsValid() {
		d.from[from]++
	}
	d.now.all++
	if d.limits.OriginRate <= 0 || !from.IsValid() {
		return
	}
	if len(d.now.from) >= maxOrigins {
		d.now.from, d.before.from = d.before.from, d.now.from
		clear(d.now.from)
	}
	d.now.from[from]++
}

// Leave notes that somebody of an origin has left.
func (d *Door) Leave(from netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open--
	if d.limits.PerOrigin > 0 && from.IsValid() {
		if d.from[from]--; d.from[from] <= 0 {
			delete(d.from, from)
		}
	}
}

// Open returns how many are in.
func (d *Door) Open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// Counts returns how often each verdict has been given.
func (d *Door) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

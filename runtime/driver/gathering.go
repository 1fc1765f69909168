package driver

import (
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// Of a protocol with several channels that lose nothing a peer of a host is there when it has a link for
// each of them. Until then what arrives over any of them waits: here, in the order in which it came over
// each. The machine begins, and hears up, when the peer is whole.

// gathering are the peers of a host that are not whole yet.
type gathering struct {
	channels []int    // those that lose nothing, beside that of the host's own link
	own      []*early // by peer of the host's own link; nil: it is not there, or its machine has begun
	queue    []waiter // who waits since when, the oldest first
}

// early is what has come from a peer that is not whole.
type early struct {
	since time.Duration
	parts [][]byte // what came, piece by piece
	bytes int
}

// waiter is a peer of the host's own link, or of one beside it.
type waiter struct {
	by   *hostBeside // nil: of the own
	peer int
	was  *early
}

// mostEarly is how many bytes of a peer that is not whole are kept for each of its links; more ends it.
const mostEarly = 1 << 16

// needs reports which channels of the protocol need a link beside the host's own.
func needs(info *fsm.Info) (channels []int) {
	for k, ch := range info.Channels {
		if k != info.News && ch.Reliable {
			channels = append(channels, k)
		}
	}
	return channels
}

// lacks names a channel that loses nothing and has no link.
func (h *Host[R, M]) lacks() error {
	for _, k := range h.gather.channels {
		if h.over(k) == nil {
			return fmt.Errorf("the channel %q loses nothing and has no link: give the host one, with Beside",
				h.r.Info().Channels[k].Name)
		}
	}
	return nil
}

// keep puts aside what has come too early, and reports whether there was room.
func (e *early) keep(b []byte) bool {
	if e.bytes += len(b); e.bytes > mostEarly || len(e.parts) > mostEarly/16 {
		return false
	}
	e.parts = append(e.parts, append([]byte(nil), b...))
	return true
}

// comes notes a new peer of the host's own link, which waits for its other links.
func (h *Host[R, M]) comes(now time.Duration, peer int) {
	e := &early{since: now}
	h.gather.own[peer] = e
	h.queue(waiter{nil, peer, e})
	for _, b := range h.beside.list {
		for other, x := range b.early {
			if x != nil && b.of[other] == nobody {
				h.ask(now, b, other)
			}
		}
	}
}

// queue notes who waits, and forgets those who do no more when they are many.
func (h *Host[R, M]) queue(w waiter) {
	g := &h.gather
	if g.queue = append(g.queue, w); len(g.queue) > 4*len(g.own)+64 {
		g.queue = slices.DeleteFunc(g.queue, func(w waiter) bool { return !h.isWaiting(w) })
	}
}

func (h *Host[R, M]) isWaiting(w waiter) bool {
	if w.by == nil {
		return h.gather.own[w.peer] == w.was
	}
	return w.by.early[w.peer] == w.was
}

// waits reports whether a peer of the host's own link is there and not whole.
func (h *Host[R, M]) waits(peer int) bool {
	return len(h.gather.channels) > 0 && peer >= 0 && peer < len(h.gather.own) && h.gather.own[peer] != nil
}

// goes gives up a peer that is not whole, with all its links but that of the host if it has ended.
func (h *Host[R, M]) goes(peer int, lost bool) {
	h.gather.own[peer] = nil
	h.forgetBeside(peer)
	if !lost {
		h.drop(peer)
	}
}

// ask ties a peer of a link beside the host's own that loses nothing, if somebody knows whose it is.
func (h *Host[R, M]) ask(now time.Duration, b *hostBeside, other int) {
	e := b.early[other]
	peer := nobody
	switch from := b.link.RemoteAddr(other); {
	case b.whose == nil:
		peer = h.neighbour(b, from)
	default:
		peer = b.whose(from, b.first(e))
	}
	if !h.waits(peer) || b.tied[peer] != nobody {
		return
	}
	b.of[other], b.tied[peer] = peer, other
	b.confirm(other) // the peer's own link says whether it is a stranger
	h.whole(now, peer)
}

// first is the first frame of a peer, nil if it has not come yet.
func (b *hostBeside) first(e *early) []byte {
	if e == nil || len(e.parts) == 0 {
		return nil
	}
	if b.inlet == nil {
		return e.parts[0]
	}
	var all []byte
	for _, p := range e.parts {
		all = append(all, p...)
		if size, err := transport.Cut(b.size, b.inlet.max, all); err == nil && size > 0 {
			return all[:size]
		}
	}
	return nil
}

// neighbour is the peer that has waited longest, of those from the same host as an address.
func (h *Host[R, M]) neighbour(b *hostBeside, from net.Addr) int {
	for _, w := range h.gather.queue {
		if w.by == nil && h.isWaiting(w) && b.tied[w.peer] == nobody &&
			sameHost(h.link.RemoteAddr(w.peer), from) {
			return w.peer
		}
	}
	return nobody
}

// sameHost reports whether two addresses are of one host.
func sameHost(a, b net.Addr) bool {
	if a == nil || b == nil {
		return false
	}
	x, _, err := net.SplitHostPort(a.String())
	y, _, other := net.SplitHostPort(b.String())
	if err != nil || other != nil {
		return a.String() == b.String()
	}
	return x == y
}

// whole begins the machine of a peer that has all its links, and gives it what has waited.
func (h *Host[R, M]) whole(now time.Duration, peer int) {
	for _, k := range h.gather.channels {
		if b := h.over(k); b == nil || b.tied[peer] == nobody {
			return
		}
	}
	own := h.gather.own[peer]
	h.gather.own[peer] = nil
	s := h.begin(now, peer)
	for _, part := range own.parts {
		if h.sessions[peer] == s {
			h.takes(now, s, copy(h.buf, part))
		}
	}
	for _, k := range h.gather.channels {
		b := h.over(k)
		other := b.tied[peer]
		if other == nobody {
			return // its machine has ended
		}
		e := b.early[other]
		b.early[other] = nil
		for _, part := range e.parts {
			if h.sessions[peer] == s && b.tied[peer] == other {
				h.takesOn(now, s, b, other, copy(b.buf, part))
			}
		}
	}
}

// besideComes handles that somebody new is at a link beside that loses nothing.
func (h *Host[R, M]) besideComes(now time.Duration, b *hostBeside, other int) {
	e := &early{since: now}
	b.early[other] = e
	h.queue(waiter{b, other, e})
	h.ask(now, b, other)
}

// besideEnds handles that a link beside that loses nothing has ended: so do the peer's others.
func (h *Host[R, M]) besideEnds(now time.Duration, b *hostBeside, other int, why error) {
	begun := 0
	if b.inlet != nil {
		begun = len(b.intakes[other].begun)
		b.inlet.release(&b.intakes[other])
	}
	peer := b.of[other]
	b.early[other] = nil
	if b.untie(peer); peer == nobody {
		return
	}
	if h.waits(peer) {
		h.goes(peer, false)
	} else if s := h.sessions[peer]; s != nil {
		h.enter(s)
		s.up = false
		h.drop(peer)
		h.core.LinkLost(now, 0, brokenOff(why, begun))
		h.leave()
	}
}

// besideBrings handles n bytes that have come over a link beside that loses nothing.
func (h *Host[R, M]) besideBrings(now time.Duration, b *hostBeside, other, n int) {
	peer := b.of[other]
	if e := b.early[other]; e != nil {
		if !e.keep(b.buf[:n]) {
			h.core.bite("64 KiB before all links of a peer are there", "the peer is given up")
			b.early[other] = nil
			if b.drop(other); peer != nobody {
				b.untie(peer)
				h.goes(peer, false)
			}
			return
		}
		if peer == nobody {
			h.ask(now, b, other)
		}
		return
	}
	if peer != nobody && h.sessions[peer] != nil {
		h.takesOn(now, h.sessions[peer], b, other, n)
	}
}

// takesOn gives a machine n bytes of a link beside, which are in its buffer.
func (h *Host[R, M]) takesOn(now time.Duration, s *session[R, M], b *hostBeside, other, n int) {
	s.heard = now
	if b.inlet != nil {
		h.streamOn(now, s, b, other, n)
		return
	}
	h.enter(s)
	if h.core.FrameOn(now, 0, b.channel, b.buf[:n]) {
		b.confirm(other)
		if b.early != nil && !s.greeted {
			s.greeted = true
			h.confirm(s.peer)
		}
	}
	h.leave()
}

// streamOn handles n bytes that a stream beside the host's own has brought.
func (h *Host[R, M]) streamOn(now time.Duration, s *session[R, M], b *hostBeside, other, n int) {
	t, k := b.inlet, &b.intakes[other]
	in := t.joined(k, n)
	h.enter(s)
	h.core.on = b.channel
	greeted := s.greeted
	frames, rest := h.core.stream(now, 0, &s.peerState, in)
	if s.greeted && !greeted {
		h.confirm(s.peer)
	}
	if s.up {
		t.keep(k, rest)
	}
	if t.rate > 0 && frames > 0 && s.up {
		if d := t.took(k, now, frames); d > 0 {
			h.core.counters.Throttled++
			h.core.bite("FrameRate", "a peer is not read from for a while")
			t.pause(other, d)
		}
	}
	h.leave()
}

// drop has a link that can do so end a peer.
func (b *hostBeside) drop(other int) {
	if l, ok := b.link.(interface{ Drop(peer int) }); ok {
		l.Drop(other)
	}
}

// late is when the oldest of those who wait for their other links has waited too long.
func (h *Host[R, M]) late() time.Duration {
	g := &h.gather
	for len(g.queue) > 0 {
		if w := g.queue[0]; h.isWaiting(w) {
			if h.o.HandshakeLimit <= 0 {
				return noTime
			}
			return w.was.since + h.o.HandshakeLimit
		}
		g.queue = g.queue[1:]
	}
	return noTime
}

// giveUp ends those who have waited too long for their other links.
func (h *Host[R, M]) giveUp(now time.Duration) {
	for h.late() <= now {
		w := h.gather.queue[0]
		h.core.counters.Silent++
		switch {
		case w.by == nil:
			h.goes(w.peer, false)
		case w.by.of[w.peer] != nobody:
			h.goes(w.by.of[w.peer], false)
			w.by.early[w.peer] = nil
		default:
			w.by.early[w.peer] = nil
			w.by.drop(w.peer)
		}
	}
}

package dgram

import (
	"fmt"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// state of a place in the table.
type state uint8

const (
	free  state = iota
	known       // configured, and not up
	up
)

type peer[A comparable] struct {
	addr   A
	state  state
	fixed  bool          // configured: the place is kept when the peer is lost
	heard  bool          // since the last sweep
	silent time.Duration // how long nothing was heard, in whole sweeps

	frames, bytes float64 // what may still be taken
	since         time.Time

	credit int64 // bytes received, less those sent; with Limits.Even
}

// table numbers the peers of a link. The lowest free number is given first, so
// that equal runs number alike.
type table[A comparable] struct {
	peers  []peer[A]
	index  map[A]int
	events []transport.Arrival
	limits Limits
	every  time.Duration
	low    int // no place below it is free

	last     A // the sender found last: most frames come from the same one as the one before
	lastPeer int
	lastOK   bool
}

func (t *table[A]) init(limits Limits, every time.Duration) {
	t.limits, t.every = limits, every
	t.peers = make([]peer[A], limits.MaxPeers)
	t.index = make(map[A]int)
}

func (t *table[A]) find(a A) (int, bool) {
	if t.lastOK && a == t.last {
		return t.lastPeer, true
	}
	i, ok := t.index[a]
	if ok {
		t.last, t.lastPeer, t.lastOK = a, i, true
	}
	return i, ok
}

// place returns the number of an address, giving it one if there is any.
func (t *table[A]) place(a A) (int, bool) {
	if i, ok := t.find(a); ok {
		return i, true
	}
	for ; t.low < len(t.peers); t.low++ {
		if i := t.low; t.peers[i].state == free {
			t.peers[i] = peer[A]{addr: a, state: known}
			t.index[a] = i
			return i, true
		}
	}
	return 0, false
}

func (t *table[A]) configure(a A, rise bool) (int, error) {
	if len(t.events) > 4*len(t.peers) {
		return 0, fmt.Errorf("too many changes of peers that nobody has received")
	}
	i, ok := t.place(a)
	if !ok {
		return 0, fmt.Errorf("more than %d peers: raise MaxPeers", len(t.peers))
	}
	t.peers[i].fixed = true
	if rise {
		t.rise(i)
	}
	return i, nil
}

// admit makes the sender a peer that is up, if there is room.
func (t *table[A]) admit(a A) (int, bool) {
	i, ok := t.place(a)
	if ok {
		t.rise(i)
	}
	return i, ok
}

func (t *table[A]) rise(i int) {
	p := &t.peers[i]
	if p.state == up {
		return
	}
	p.state, p.heard, p.silent, p.since = up, true, 0, time.Time{}
	t.events = append(t.events, transport.Arrival{Kind: transport.PeerUp, Peer: i})
}

func (t *table[A]) drop(i int) {
	if i < 0 || i >= len(t.peers) || t.peers[i].state != up {
		return
	}
	p := &t.peers[i]
	t.events = append(t.events, transport.Arrival{Kind: transport.PeerLost, Peer: i})
	if p.fixed {
		p.state = known
		return
	}
	delete(t.index, p.addr)
	*p = peer[A]{}
	t.low = min(t.low, i)
	t.lastOK = false
}

func (t *table[A]) event() (transport.Arrival, bool) {
	if len(t.events) == 0 {
		return transport.Arrival{}, false
	}
	ev := t.events[0]
	t.events = t.events[1:]
	if len(t.events) == 0 {
		t.events = nil
	}
	return ev, true
}

// sweep counts the silence of each peer, and ends those that were silent too long.
func (t *table[A]) sweep(limit time.Duration) {
	for i := range t.peers {
		p := &t.peers[i]
		if p.state != up || limit <= 0 {
			continue
		}
		if p.heard {
			p.heard, p.silent = false, 0
			continue
		}
		if p.silent += t.every; p.silent >= limit {
			t.drop(i)
		}
	}
}

// pay notes bytes that are to be sent, and reports whether the peer has sent as many.
func (p *peer[A]) pay(size int) bool {
	if p.fixed {
		return true
	}
	if p.credit < int64(size) {
		return false
	}
	p.credit -= int64(size)
	return true
}

// take notes a frame of a peer; it reports whether it is within the limits.
func (t *table[A]) take(i, size int) bool {
	p := &t.peers[i]
	p.heard = true
	p.credit += int64(size)
	frames, bytes := float64(t.limits.FrameRate), float64(t.limits.ByteRate)
	if frames <= 0 && bytes <= 0 {
		return true
	}
	now := time.Now()
	if p.since.IsZero() {
		p.frames, p.bytes = frames, bytes
	} else {
		passed := now.Sub(p.since).Seconds()
		p.frames = min(p.frames+passed*frames, frames)
		p.bytes = min(p.bytes+passed*bytes, bytes)
	}
	p.since = now
	if frames > 0 && p.frames < 1 || bytes > 0 && p.bytes < float64(size) {
		return false
	}
	p.frames--
	p.bytes -= float64(size)
	return true
}

package dgram

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
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
	inside bool          // has been let in by the door, and has to leave by it
	from   netip.Addr    // its origin
	turn   uint32        // tells those who have the place one after the other apart
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

	door    *door.Door
	half    door.HalfOpen[int] // by place
	guarded bool               // they leave it when they are confirmed, else when a second datagram has come
	origin  func(A) netip.Addr
	stats   *Stats
	turns   uint32
	count   int // peers that are up

	last     A // the sender found last: most frames come from the same one as the one before
	lastPeer int
	lastOK   bool
}

func (t *table[A]) init(cfg Config[A], every time.Duration, stats *Stats) {
	limits := cfg.Limits
	t.limits, t.every, t.origin, t.stats = limits, every, cfg.Origin, stats
	if t.origin == nil {
		t.origin = func(A) netip.Addr { return netip.Addr{} }
	}
	doors := door.Of(limits.MaxPeers, leastPlaces, limits.PerAddress, limits.AddressRate, limits.AcceptRate)
	doors.Open = 0 // a half-open peer leaves after a newcomer has been let in
	t.door = door.New(doors)
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
	if !t.room() {
		return 0, false
	}
	i := t.low
	t.turns++
	t.peers[i] = peer[A]{addr: a, state: known, from: t.origin(a), turn: t.turns}
	t.index[a] = i
	return i, true
}

// room reports whether there is a free place, which low then is.
func (t *table[A]) room() bool {
	for t.low < len(t.peers) && t.peers[t.low].state != free {
		t.low++
	}
	return t.low < len(t.peers)
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
	t.half.Remove(i)
	t.leave(i)
	if rise {
		t.rise(i)
	}
	return i, nil
}

// admit makes the sender a peer that is up, if the door lets it in. One that has proved its address
// is half-open only until somebody confirms it, if somebody does that.
func (t *table[A]) admit(a A, proved bool, now time.Duration) (int, bool) {
	i, ok := t.find(a)
	if !ok {
		if i, ok = t.enter(a, now); !ok {
			return 0, false
		}
		if t.guarded || !proved {
			t.half.Add(i, now)
		}
	}
	t.rise(i)
	return i, true
}

// enter gives a stranger a place, if need be that of somebody who is half-open.
func (t *table[A]) enter(a A, now time.Duration) (int, bool) {
	if !t.room() && t.half.Len() == 0 {
		t.stats.Full++
		return 0, false
	}
	switch t.door.Enter(t.origin(a), now) {
	case door.Crowded:
		t.stats.Crowded++
		return 0, false
	case door.Hasty:
		t.stats.Hasty++
		return 0, false
	case door.Flooded:
		t.stats.Flooded++
		return 0, false
	}
	if !t.room() {
		oldest, _, _ := t.half.Oldest()
		t.stats.Evicted++
		t.drop(oldest, transport.ErrYielded)
	}
	i, _ := t.place(a)
	t.peers[i].inside = true
	return i, true
}

// leave gives the door back the place of a peer that it has let in.
func (t *table[A]) leave(i int) {
	if p := &t.peers[i]; p.inside {
		p.inside = false
		t.door.Leave(p.from)
	}
}

// confirm ends the time in which a peer is half-open.
func (t *table[A]) confirm(i int) {
	if i >= 0 && i < len(t.peers) {
		t.half.Remove(i)
	}
}

func (t *table[A]) rise(i int) {
	p := &t.peers[i]
	if p.state == up {
		return
	}
	t.count++
	p.state, p.heard, p.silent, p.since = up, true, 0, time.Time{}
	t.events = append(t.events, transport.Arrival{Kind: transport.PeerUp, Peer: i})
}

func (t *table[A]) drop(i int, why error) {
	if i < 0 || i >= len(t.peers) || t.peers[i].state != up {
		return
	}
	p := &t.peers[i]
	t.count--
	t.events = append(t.events, transport.Arrival{Kind: transport.PeerLost, Peer: i, Why: why})
	t.half.Remove(i)
	t.leave(i)
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

// silence is how long a peer may be silent, 0 for ever.
func (t *table[A]) silence(p *peer[A]) time.Duration {
	if t.limits.Silence == 0 && !p.fixed {
		return defaultSilence
	}
	return max(t.limits.Silence, 0)
}

// sweep counts the silence of each peer, and ends those that were silent or half-open too long.
func (t *table[A]) sweep(now time.Duration) {
	for {
		i, since, ok := t.half.Oldest()
		if limit := t.limits.HalfOpen; !ok || limit < 0 || now < since+limit {
			break
		}
		t.stats.Expired++
		t.drop(i, transport.ErrYielded)
	}
	for i := range t.peers {
		p := &t.peers[i]
		limit := t.silence(p)
		if p.state != up || limit == 0 {
			continue
		}
		if p.heard {
			p.heard, p.silent = false, 0
			continue
		}
		if p.silent += t.every; p.silent >= limit {
			t.stats.Silent++
			t.drop(i, transport.ErrSilent)
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

// take notes a frame of a peer, which may be that by which it became one; it reports whether it is
// within the limits.
func (t *table[A]) take(i, size int, first bool) bool {
	p := &t.peers[i]
	p.heard = true
	if !first && !t.guarded && t.half.Len() > 0 {
		t.half.Remove(i)
	}
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

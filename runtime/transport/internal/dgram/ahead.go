package dgram

import (
	"net/netip"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// sender is the peer that a frame came from, and what it was then.
type sender struct {
	peer int
	turn uint32
	from netip.Addr
	// others: there are more peers than this one.
	others bool
}

// maxServed is how many frames are taken from those that wait before the socket is emptied again,
// and maxAhead how many are read then at most. Whoever sends most would otherwise fill the
// system's queue, which is the same for all.
const maxServed, maxAhead = 32, 4096

// crowded reports whether more comes than is taken, and there is more than one peer.
func (l *Link[A]) crowded(who sender) bool { return who.others && l.batch != nil && l.batch.Crowded() }

// keep puts a frame among those that wait.
func (l *Link[A]) keep(who sender, frame []byte) {
	if !l.ahead.Put(who.from, who, frame) {
		l.mu.Lock()
		l.stats.Displaced++
		var from A
		if p := &l.table.peers[who.peer]; p.turn == who.turn {
			from = p.addr
		}
		l.bite("Waiting", "frames of the address that sends most are lost", from)
		l.mu.Unlock()
	}
}

// next returns a frame that waits. Now and then it looks at the clock, and reads on.
func (l *Link[A]) next(buf []byte) (transport.Arrival, bool, error) {
	if l.served++; l.served > maxServed {
		l.served = 0
		if err := l.overdue(); err != nil {
			return transport.Arrival{}, false, err
		}
		l.readAhead()
		if l.busy.Load() > 0 {
			return transport.Arrival{}, false, nil
		}
	}
	who, frame, ok := l.ahead.Take()
	if !ok {
		return transport.Arrival{}, false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.table.peers[who.peer]
	if p.turn != who.turn || p.state != up {
		return transport.Arrival{}, false, nil // the peer has lost its place meanwhile
	}
	if len(frame) > len(buf) {
		l.tooLong(p.addr)
		return transport.Arrival{}, false, nil
	}
	return transport.Arrival{Peer: who.peer, N: copy(buf, frame)}, true, nil
}

// overdue does what a deadline asks for that has passed while nobody waited for the socket.
func (l *Link[A]) overdue() error {
	l.dl.Lock()
	passed := !l.set.IsZero() && !time.Now().Before(l.set)
	l.dl.Unlock()
	if !passed {
		return nil
	}
	return l.late()
}

// readAhead empties the socket.
func (l *Link[A]) readAhead() {
	for range maxAhead {
		if !l.batch.Fetch() {
			return
		}
		frame, from, err := l.sock.Read(l.in)
		if err != nil {
			if failures := 0; l.failed(err, &failures) != nil {
				return
			}
			continue
		}
		if who, ok := l.accept(frame, from); ok {
			l.keep(who, frame)
		}
	}
}

// tooLong notes a frame that is dropped for its length. The caller holds mu.
func (l *Link[A]) tooLong(from A) {
	l.stats.TooLong++
	l.bite("MaxFrame", "longer frames are dropped", from)
}

// dropLong is tooLong for a frame of a peer that the receiver has no room for.
func (l *Link[A]) dropLong(peer int) {
	l.mu.Lock()
	l.tooLong(l.table.peers[peer].addr)
	l.mu.Unlock()
}

// bite tells the log of a limit. The caller holds mu.
func (l *Link[A]) bite(limit, effect string, from A) {
	if l.notes.Logger != nil {
		l.notes.Bite(limit, effect, func() string { return l.sock.Addr(from).String() })
	}
}

// tell tells the log which limits have bitten since before; from is who met them, if it is known.
func (l *Link[A]) tell(before Stats, from *A) {
	if l.notes.Logger == nil {
		return
	}
	for _, b := range []struct {
		more          bool
		limit, effect string
	}{
		{l.stats.Full > before.Full, "MaxPeers", "strangers are turned away"},
		{l.stats.Crowded > before.Crowded, "PerAddress", "strangers of that address are turned away"},
		{l.stats.Hasty > before.Hasty, "AddressRate", "strangers of that address are turned away"},
		{l.stats.Flooded > before.Flooded, "AcceptRate", "strangers are turned away"},
		{l.stats.Evicted > before.Evicted, "MaxPeers", "half-open peers give way to newcomers"},
		{l.stats.Expired > before.Expired, "HalfOpen", "peers lose their places"},
		{l.stats.Silent > before.Silent, "Silence", "peers lose their places"},
	} {
		if b.more {
			var who func() string
			if from != nil {
				who = func() string { return l.sock.Addr(*from).String() }
			}
			l.notes.Bite(b.limit, b.effect, who)
		}
	}
}

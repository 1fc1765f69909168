// Package ports is a server's UDP socket for players who have come over TCP: their datagrams bear keys. It knows
// no protocol. Start from [Open].
package ports

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// Ports is the server's UDP socket as a link of its players: peer i is who has connection i+1. Whoever sends a
// datagram with a player's key is that player, from whatever port it comes; what has no key becomes nobody, and
// takes no place.
type Ports struct {
	link  *udp.Link
	keyOf func([]byte) uint64

	mu   sync.Mutex
	last uint64 // the key that was given last
	keys map[uint64]int
	of   []int // by peers of the socket: the player, nobody
	at   []int // by players: the peer of the socket, nobody
	told []bool
	from []netip.Addr // by players: the only address that its key counts from, if it is a valid one

	early []byte // a frame that waits until its player has been announced
	whom  int
}

const nobody = -1

// Keys have 40 bits. They begin anywhere below firstKey, and at most maxGap lies between two: a stranger would have to
// try 2^38 of them, and who has one 2^22 for the next, from the address of who has that one. They grow, so that no old
// datagram bears one of today. They last for 390,000 players.
const (
	firstKey = 1 << 38
	maxGap   = 1 << 22
)

// Open opens the socket for so many players. keyOf finds the key in a datagram; 0 is none.
func Open(address string, players int, l udp.Limits, keyOf func(frame []byte) uint64) (*Ports, error) {
	l.MaxPeers = 2 * players // who moves to another port has two places for a while
	l.PerAddress = -1
	link, err := udp.Open("udp4", address, udp.Config{Limits: l})
	if err != nil {
		return nil, err
	}
	p := &Ports{link: link, keyOf: keyOf, last: rand.Uint64N(firstKey), keys: map[uint64]int{},
		of: nobodies(l.MaxPeers), at: nobodies(players), told: make([]bool, players),
		from: make([]netip.Addr, players)}
	link.Guard(func(frame []byte) bool { return p.whose(frame) != nobody })
	return p, nil
}

func nobodies(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = nobody
	}
	return list
}

// Admit gives a player a key that nobody has had, and returns it. The key counts only from the IPv4 address that the
// player's connection comes from, of whatever port; from anywhere if that is no IPv4 address.
func (p *Ports) Admit(player int, address string) (key uint64) {
	from, _ := netip.ParseAddr(address) // what cannot be read is no valid address
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.from[player] = from.Unmap(); !p.from[player].Is4() {
		p.from[player] = netip.Addr{}
	}
	p.last += 1 + rand.Uint64N(maxGap)
	p.keys[p.last] = player
	return p.last
}

// Key returns the key of a player, 0 if it has none.
func (p *Ports) Key(player int) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, who := range p.keys {
		if who == player {
			return key
		}
	}
	return 0
}

// whose returns the player that a datagram is of, by its key.
func (p *Ports) whose(frame []byte) int {
	key := p.keyOf(frame)
	p.mu.Lock()
	defer p.mu.Unlock()
	if player, ok := p.keys[key]; ok && key != 0 {
		return player
	}
	return nobody
}

// Properties implements [transport.Link].
func (p *Ports) Properties() transport.Properties {
	props := p.link.Properties()
	props.Peers = len(p.at)
	return props
}

// Receive implements [transport.Link].
func (p *Ports) Receive(buf []byte) (transport.Arrival, error) {
	if got, ok := p.waiting(buf); ok {
		return got, nil
	}
	for {
		got, err := p.link.Receive(buf)
		if err != nil {
			return got, err
		}
		if got, ok := p.tie(buf, got); ok {
			return got, nil
		}
	}
}

// Next implements [transport.Batched].
func (p *Ports) Next(buf []byte) (transport.Arrival, bool) {
	if got, ok := p.waiting(buf); ok {
		return got, true
	}
	for {
		got, ok := p.link.Next(buf)
		if !ok {
			return got, false
		}
		if got, ok := p.tie(buf, got); ok {
			return got, true
		}
	}
}

// Poll implements [transport.Polled].
func (p *Ports) Poll(buf []byte) (transport.Arrival, bool) {
	if got, ok := p.waiting(buf); ok {
		return got, true
	}
	got, ok := p.link.Poll(buf)
	if !ok {
		return got, false
	}
	if got, ok := p.tie(buf, got); ok {
		return got, true
	}
	return p.Next(buf)
}

// Polls implements [transport.Polled].
func (p *Ports) Polls() bool { return p.link.Polls() }

func (p *Ports) waiting(buf []byte) (transport.Arrival, bool) {
	if p.early == nil {
		return transport.Arrival{}, false
	}
	n := copy(buf, p.early)
	p.early = nil
	return transport.Arrival{Peer: p.whom, N: n}, true
}

// tie turns what the socket has brought into what its player has sent; false if that is nothing.
func (p *Ports) tie(buf []byte, got transport.Arrival) (transport.Arrival, bool) {
	socket, player := got.Peer, nobody
	if got.Kind == transport.Data {
		if player = p.whose(buf[:got.N]); player == nobody {
			return got, false // an old key, from an address that had another one
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch got.Kind {
	case transport.PeerUp:
		p.of[socket] = nobody
		return got, false
	case transport.PeerLost:
		if player = p.of[socket]; player != nobody && p.at[player] == socket {
			p.at[player] = nobody // it may be heard from elsewhere; that it is silent the machine finds itself
		}
		p.of[socket] = nobody
		return got, false
	}
	if from := p.from[player]; p.of[socket] != player && from.IsValid() {
		if at, ok := p.link.PeerAddr(socket); !ok || at.Addr().Unmap() != from {
			return got, false // a guess
		}
	}
	p.of[socket], p.at[player] = player, socket
	got.Peer = player
	if p.told[player] {
		return got, true
	}
	p.told[player] = true
	p.early, p.whom = append([]byte(nil), buf[:got.N]...), player
	return transport.Arrival{Kind: transport.PeerUp, Peer: player}, true
}

// Drop gives up what a player has.
func (p *Ports) Drop(player int) {
	p.mu.Lock()
	socket := p.at[player]
	p.at[player], p.told[player] = nobody, false
	for key, who := range p.keys {
		if who == player {
			delete(p.keys, key)
		}
	}
	p.mu.Unlock()
	if socket != nobody {
		p.link.Drop(socket)
	}
}

// Send implements [transport.Link].
func (p *Ports) Send(player int, frame []byte) error {
	p.mu.Lock()
	socket := p.at[player]
	p.mu.Unlock()
	if socket == nobody {
		return nil // lost, as datagrams are
	}
	p.link.Confirm(socket)
	return p.link.Send(socket, frame)
}

// Interrupt implements [transport.Link].
func (p *Ports) Interrupt(at time.Time) { p.link.Interrupt(at) }

// Flush implements [transport.Link].
func (p *Ports) Flush() error { return p.link.Flush() }

// Close implements [transport.Link].
func (p *Ports) Close() error { return p.link.Close() }

// Abort implements [transport.Link].
func (p *Ports) Abort() error { return p.link.Abort() }

// LocalAddr implements [transport.Link].
func (p *Ports) LocalAddr() net.Addr { return p.link.LocalAddr() }

// RemoteAddr implements [transport.Link].
func (p *Ports) RemoteAddr(player int) net.Addr {
	p.mu.Lock()
	socket := p.at[player]
	p.mu.Unlock()
	if socket == nobody {
		return nil
	}
	return p.link.RemoteAddr(socket)
}

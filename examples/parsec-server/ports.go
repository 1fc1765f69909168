package main

import (
	"encoding/binary"
	"net"
	"sync"
	"time"

	"github.com/parley-go/parley/machines/gameserver"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// ports is the server's UDP socket as a link of its players: peer i is who has connection i+1. Whoever sends a
// datagram with a player's key is that player, from whatever port it comes; what has no key becomes nobody, and
// takes no place.
type ports struct {
	link *udp.Link

	mu   sync.Mutex
	keys map[gameserver.Key]int
	of   []int // by peers of the socket: the player, nobody
	at   []int // by players: the peer of the socket, nobody
	told []bool

	early []byte // a frame that waits until its player has been announced
	from  int
}

const nobody = -1

// openPorts opens the socket for so many players.
func openPorts(address string, players int, l udp.Limits) (*ports, error) {
	l.MaxPeers = 2 * players // who moves to another port has two places for a while
	l.PerAddress = -1
	link, err := udp.Open("udp4", address, udp.Config{Limits: l})
	if err != nil {
		return nil, err
	}
	p := &ports{link: link, keys: map[gameserver.Key]int{}, of: nobodies(l.MaxPeers), at: nobodies(players),
		told: make([]bool, players)}
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

// admit gives a key to a player.
func (p *ports) admit(player int, key gameserver.Key) {
	p.mu.Lock()
	p.keys[key] = player
	p.mu.Unlock()
}

// keyAt is where the key stands from the end of a player's datagram: the key, the number of lines, the ships shown.
const keyAt = 9

// whose returns the player that a datagram is of, by its key.
func (p *ports) whose(frame []byte) int {
	if len(frame) < keyAt {
		return nobody
	}
	b := frame[len(frame)-keyAt:]
	key := gameserver.Key(binary.LittleEndian.Uint32(b)) | gameserver.Key(b[4])<<32
	p.mu.Lock()
	defer p.mu.Unlock()
	if player, ok := p.keys[key]; ok {
		return player
	}
	return nobody
}

// Properties implements [transport.Link].
func (p *ports) Properties() transport.Properties {
	props := p.link.Properties()
	props.Peers = len(p.at)
	return props
}

// Receive implements [transport.Link].
func (p *ports) Receive(buf []byte) (transport.Arrival, error) {
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
func (p *ports) Next(buf []byte) (transport.Arrival, bool) {
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

func (p *ports) waiting(buf []byte) (transport.Arrival, bool) {
	if p.early == nil {
		return transport.Arrival{}, false
	}
	n := copy(buf, p.early)
	p.early = nil
	return transport.Arrival{Peer: p.from, N: n}, true
}

// tie turns what the socket has brought into what its player has sent; false if that is nothing.
func (p *ports) tie(buf []byte, got transport.Arrival) (transport.Arrival, bool) {
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
	p.of[socket], p.at[player] = player, socket
	got.Peer = player
	if p.told[player] {
		return got, true
	}
	p.told[player] = true
	p.early, p.from = append([]byte(nil), buf[:got.N]...), player
	return transport.Arrival{Kind: transport.PeerUp, Peer: player}, true
}

// Drop gives up what a player has.
func (p *ports) Drop(player int) {
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
func (p *ports) Send(player int, frame []byte) error {
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
func (p *ports) Interrupt(at time.Time) { p.link.Interrupt(at) }

// Flush implements [transport.Link].
func (p *ports) Flush() error { return p.link.Flush() }

// Close implements [transport.Link].
func (p *ports) Close() error { return p.link.Close() }

// Abort implements [transport.Link].
func (p *ports) Abort() error { return p.link.Abort() }

// LocalAddr implements [transport.Link].
func (p *ports) LocalAddr() net.Addr { return p.link.LocalAddr() }

// RemoteAddr implements [transport.Link].
func (p *ports) RemoteAddr(player int) net.Addr {
	p.mu.Lock()
	socket := p.at[player]
	p.mu.Unlock()
	if socket == nobody {
		return nil
	}
	return p.link.RemoteAddr(socket)
}

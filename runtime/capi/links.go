package capi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// dialLimit is how long Connect waits for the other end.
const dialLimit = 10 * time.Second

// Connect gives the machine a link to a peer:
//
//	tcp:HOST:PORT          a connection that is made now
//	udp:LOCAL>HOST:PORT    a socket of one's own at LOCAL, such as 0.0.0.0:0, and the peer's address; ",HOST:PORT" for more of them
//	ipx:HOST:PORT/SOCKET   a network of DOSBox's kind, by its server; SOCKET in hexadecimal
//	own                    frames are carried by the program, in order and without loss: events Frame, and Deliver
//	own:datagrams          the same, but the program promises nothing
func (m *Machine) Connect(peer fsm.Peer, link string) error {
	l, err := m.dial(peer, link)
	if err != nil {
		return err
	}
	return m.d.Attach(peer, l)
}

func (m *Machine) dial(peer fsm.Peer, link string) (transport.Link, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialLimit)
	defer cancel()
	kind, address, _ := strings.Cut(link, ":")
	switch kind {
	case "tcp":
		return tcp.Dial(ctx, "tcp", address, tcp.Config{})
	case "udp":
		local, peers, ok := strings.Cut(address, ">")
		if !ok {
			return nil, fmt.Errorf("%q: want udp:LOCAL>HOST:PORT", link)
		}
		return udp.Open("udp", local, udp.Config{Peers: strings.Split(peers, ",")})
	case "ipx":
		server, socket, ok := strings.Cut(address, "/")
		var number uint16
		if _, err := fmt.Sscanf(socket, "%x", &number); !ok || err != nil {
			return nil, fmt.Errorf("%q: want ipx:HOST:PORT/SOCKET", link)
		}
		return ipx.Dial(ctx, "udp", server, ipx.Config{Socket: number})
	case "own":
		switch address {
		case "":
			return m.ownLink(peer), nil
		case "datagrams":
			return weak{m.ownLink(peer)}, nil
		}
	}
	return nil, fmt.Errorf("%q: a link begins with tcp:, udp: or ipx:, or is own", link)
}

// Listen gives the machine the first connection that comes to a TCP address, as the link to a
// peer, and returns the address with its port. It does not wait for the connection.
func (m *Machine) Listen(peer fsm.Peer, link string) (string, error) {
	address, ok := strings.CutPrefix(link, "tcp:")
	if !ok {
		return "", fmt.Errorf("%q: want tcp:ADDRESS:PORT; only TCP waits for connections", link)
	}
	ln, err := tcp.Listen("tcp", address, tcp.Config{})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.mu.Lock()
	m.closing = append(m.closing, cancel)
	m.mu.Unlock()
	go func() {
		defer cancel()
		l, err := ln.AcceptOne(ctx)
		if err == nil {
			err = m.d.Attach(peer, l)
		}
		if err != nil && ctx.Err() == nil {
			m.put(Event{Kind: LinkLost, Peer: peer, Text: err.Error()})
		}
	}()
	return ln.Addr().String(), nil
}

// Disconnect closes the link to a peer.
func (m *Machine) Disconnect(peer fsm.Peer) error { return m.d.Detach(peer) }

// ownQueue bounds what the program has delivered and the machine not yet taken, in bytes.
const ownQueue = 1 << 20

// ownLink is a link whose other end is the program.
func (m *Machine) ownLink(peer fsm.Peer) transport.Link {
	inside, outside := mem.Pair(mem.Config{Queue: ownQueue})
	m.mu.Lock()
	m.own[peer] = outside
	m.mu.Unlock()
	go func() {
		buf := make([]byte, 1<<16)
		for {
			got, err := outside.Receive(buf)
			if err != nil {
				outside.Abort()
				return
			}
			m.put(Event{Kind: Frame, Peer: peer, Data: append([]byte(nil), buf[:got.N]...)})
		}
	}()
	return inside
}

// weak is a link that promises nothing.
type weak struct{ transport.Link }

func (w weak) Properties() transport.Properties {
	p := w.Link.Properties()
	p.Ordered, p.Reliable, p.Duplicating = false, false, true
	return p
}

// Deliver gives the machine a frame that came from a peer over an own link.
func (m *Machine) Deliver(peer fsm.Peer, frame []byte) error {
	m.mu.Lock()
	l := m.own[peer]
	m.mu.Unlock()
	if l == nil {
		return fmt.Errorf("the link to peer %d is none of one's own", peer)
	}
	return errors.Join(l.Send(0, frame), l.Flush())
}

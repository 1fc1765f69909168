package peer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/transport/book"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/ipx/raw"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// Silence is after how long without a packet a player is given up (MAX_ALIVE_COUNTER of the original).
const Silence = 20 * time.Second

// Socket is the IPX socket unless it is said otherwise. That of the original is not known.
const Socket = 0x5043

// Place says where a peer is.
type Place struct {
	// Bind is the own IPv4 address ("192.168.1.5", "127.0.0.1"), with or without a port; Broadcast
	// where everybody hears ("192.168.1.255:6581"). Port 0 of Bind is any: several peers of one
	// computer need ports of their own. Port 0 of Broadcast is one that is free, so that nobody
	// else hears.
	Bind, Broadcast string
	// Server is that of the IPX tunnel ("host:port"), Card the network card for IPX itself.
	Server, Card string
	Framing      raw.Framing
	// Socket is the IPX socket.
	Socket uint16
	// Silence is after how long a player is given up, 0 for the original's 20 s. The link forgets an
	// address after twice as long.
	Silence time.Duration
	// Universe is that of the packets; peers of different universes do not hear each other. nil: that
	// of the specification.
	Universe *uint8
	// Logger is told of each limit that bites, once, and that there are peers of other universes. May
	// be nil.
	Logger *slog.Logger
}

func (p *Place) defaults() {
	if p.Silence <= 0 {
		p.Silence = Silence
	}
	if p.Socket == 0 {
		p.Socket = Socket
	}
}

// numbers says how a place's addresses become numbers.
func numbers(p Place) book.Config {
	c := book.Config{Shape: startup.Shape, Parties: Parties, Prove: true, Complete: complete, Logger: p.Logger}
	if p.Universe != nil {
		c.Constants = map[string]uint64{"universe": uint64(*p.Universe)}
	}
	return c
}

// complete gives the reply of an original peer that has four slots, and so one player list, the
// second list, in which nobody is.
func complete(frame []byte) []byte {
	const one, two, first = 556, 968, 140 + 412 // the sizes with a list and with two, and where the first one ends
	if len(frame) != one || frame[16] != reply {
		return frame
	}
	c := make([]byte, two)
	copy(c, frame[:first])
	c[first] = frame[140]
	return c
}

// reply is the type number of CONNECT_REPLY, at byte 16.
const reply = 1

// OpenUDP opens a link over UDP broadcast, IPv4.
func OpenUDP(p Place) (Link, error) {
	p.defaults()
	all, err := netip.ParseAddrPort(p.Broadcast)
	if err != nil || !all.Addr().Is4() {
		return nil, fmt.Errorf("broadcast address %q: it is like 127.255.255.255:6581", p.Broadcast)
	}
	bind := p.Bind
	if _, _, err := net.SplitHostPort(bind); err != nil {
		bind = net.JoinHostPort(bind, "0")
	}
	cfg := udp.Config{Limits: udp.Limits{Silence: 2 * p.Silence, MaxPeers: Parties,
		Logger: p.Logger}}
	if own, err := netip.ParseAddrPort(bind); err != nil || own.Addr().IsUnspecified() {
		return nil, fmt.Errorf("own address %q: the address of one network, such as 127.0.0.1, is needed; "+
			"by it the peers are told apart", p.Bind)
	}
	if own, err := netip.ParseAddrPort(bind); err == nil && own.Addr().IsLoopback() {
		cfg.PerAddress = -1 // all players are on this computer
	}
	var l *udp.Link
	for attempt := 0; ; attempt++ {
		at, err := freed(all)
		if err != nil {
			return nil, err
		}
		// A socket of a unicast address hears no broadcasts.
		cfg.Broadcast, cfg.Hear = []string{at.String()}, heardAt(at).String()
		if l, err = udp.Open("udp4", bind, cfg); err == nil {
			break
		}
		if at == all || attempt == 9 { // else another program took the port meanwhile
			return nil, err
		}
	}
	if err := udp.Reachable("udp4", bind, p.Broadcast); err != nil {
		return nil, errors.Join(err, l.Abort())
	}
	own := l.LocalAddr().(*net.UDPAddr).AddrPort()
	return joined(book.New(l, netip.AddrPortFrom(own.Addr().Unmap(), own.Port()), book.IPv4, numbers(p)))
}

// heardAt is where a socket hears what is sent to a broadcast address.
func heardAt(all netip.AddrPort) netip.AddrPort {
	if all.Addr() == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return netip.AddrPortFrom(netip.IPv4Unspecified(), all.Port())
	}
	return all
}

// freed replaces port 0 by one where nobody hears.
func freed(all netip.AddrPort) (netip.AddrPort, error) {
	if all.Port() != 0 {
		return all, nil
	}
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(heardAt(all)))
	if err != nil {
		return all, err
	}
	defer c.Close()
	return netip.AddrPortFrom(all.Addr(), c.LocalAddr().(*net.UDPAddr).AddrPort().Port()), nil
}

// OpenTunnel opens a link to the network of an IPX server as DOSBox has it.
func OpenTunnel(ctx context.Context, p Place) (Link, error) {
	p.defaults()
	l, err := ipx.Dial(ctx, "udp", p.Server, ipx.Config{Socket: p.Socket, MaxFrame: maxFrame,
		Limits: ipx.Limits{Silence: 2 * p.Silence, MaxPeers: Parties, Logger: p.Logger}})
	if err != nil {
		return nil, err
	}
	return joined(book.New(l, l.Address(), book.IPX(l.Address()), numbers(p)))
}

// OpenIPX opens a link over IPX on a network card. It needs root or CAP_NET_RAW.
func OpenIPX(p Place) (Link, error) {
	p.defaults()
	l, err := raw.Open(p.Card, raw.Config{Config: ipx.Config{Socket: p.Socket, MaxFrame: maxFrame,
		Limits: ipx.Limits{Silence: 2 * p.Silence, MaxPeers: Parties, Logger: p.Logger}}, Framing: p.Framing})
	if err != nil {
		return nil, err
	}
	return joined(book.New(l, l.Address(), book.IPX(l.Address()), numbers(p)))
}

// maxFrame is the largest packet of the protocol, in bytes.
const maxFrame = 1400

func joined[L Link](l L, err error) (Link, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

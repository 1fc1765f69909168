// Package carrier brings the frames of one program to another over TCP, UDP or IPX, in the same way: what is behind a
// link is a stream of bytes that loses nothing. TCP is one by itself; over UDP and IPX machines/stream makes one.
//
// It knows no game and no protocol of one. Start from [Listen] and [Dial].
package carrier

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// The networks.
const (
	TCP = "tcp"
	UDP = "udp"
	IPX = "ipx"
)

// interrupted is a time that has passed.
var interrupted = time.Unix(1, 0)

// Door lets others in.
type Door interface {
	// Accept waits for somebody.
	Accept(ctx context.Context) (transport.Link, error)
	// Addr is where others have to call.
	Addr() net.Addr
	// Close closes the door, and over UDP and IPX the streams through it, too.
	Close() error
}

// Config says what is wrapped around a network. The zero value is usable.
type Config struct {
	// Tunnel is the address of the IPX server ("host:port"), as DOSBox has one.
	Tunnel string
	// Impair makes a link over datagrams worse, for tests. May be nil.
	Impair func(transport.Link) (transport.Link, error)
}

func (c Config) impaired(l transport.Link) (transport.Link, error) {
	if c.Impair == nil {
		return l, nil
	}
	worse, err := c.Impair(l)
	if err != nil {
		return nil, errors.Join(err, l.Abort())
	}
	return worse, nil
}

// limits are those of a door over datagrams, as over TCP.
var limits = udp.Limits{MaxPeers: strangers, PerAddress: perAddress, Silence: 30 * time.Second}

// perAddress is how many connections a door has for one address: as many as a party behind one router brings, or a
// gateway for browsers.
const perAddress = 64

// Listen opens a door. The address is host:port, and over IPX the number of the socket in hexadecimal.
func Listen(ctx context.Context, network, address string, cfg Config) (Door, error) {
	switch network {
	case TCP:
		l, err := tcp.Listen("tcp", address, tcp.Config{MaxLinks: strangers, PerAddress: perAddress})
		if err != nil {
			return nil, err
		}
		return tcpDoor{l}, nil
	case UDP:
		l, err := udp.Open("udp", address, udp.Config{Limits: limits, Cookie: true})
		if err != nil {
			return nil, err
		}
		return door(l, cfg)
	case IPX:
		socket, err := socketOf(address)
		if err != nil {
			return nil, err
		}
		l, err := ipx.Dial(ctx, "udp", cfg.Tunnel, ipx.Config{Socket: socket, Limits: limits})
		if err != nil {
			return nil, err
		}
		return door(l, cfg)
	}
	return nil, unknown(network)
}

func unknown(network string) error {
	return fmt.Errorf("network %q: it is tcp, udp or ipx", network)
}

func socketOf(address string) (socket uint16, err error) {
	if _, err = fmt.Sscanf(address, "%x", &socket); err != nil || socket == 0 {
		return 0, fmt.Errorf("IPX socket %q: it is like 5358, in hexadecimal", address)
	}
	return socket, nil
}

func door(l transport.Link, cfg Config) (Door, error) {
	l, err := cfg.impaired(l)
	if err != nil {
		return nil, err
	}
	s, err := open(l)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// tcpDoor is a listener of TCP.
type tcpDoor struct{ *tcp.Listener }

func (d tcpDoor) Accept(ctx context.Context) (transport.Link, error) {
	l, err := d.Listener.Accept(ctx)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Dial calls a door. It fails if nobody answers before ctx ends, or for ten seconds.
func Dial(ctx context.Context, network, address string, cfg Config) (transport.Link, error) {
	switch network {
	case TCP:
		l, err := tcp.Dial(ctx, "tcp", address, tcp.Config{})
		if err != nil {
			return nil, err
		}
		return l, nil
	case UDP:
		own := ":0"
		if a, err := net.ResolveUDPAddr("udp", address); err != nil {
			return nil, err
		} else if a.IP.IsLoopback() {
			own = net.JoinHostPort(a.IP.String(), "0")
		}
		l, err := udp.Open("udp", own, udp.Config{Peers: []string{address}, Limits: udp.Limits{Closed: true},
			Cookie: true})
		if err != nil {
			return nil, err
		}
		return call(ctx, l, cfg)
	case IPX:
		a, err := ipx.ParseAddress(address)
		if err != nil {
			return nil, err
		}
		l, err := ipx.Dial(ctx, "udp", cfg.Tunnel, ipx.Config{Socket: free(), Peers: []ipx.Address{a},
			Limits: udp.Limits{Closed: true}})
		if err != nil {
			return nil, err
		}
		return call(ctx, l, cfg)
	}
	return nil, unknown(network)
}

// free is a number for the socket of somebody who calls: each end has a node of its own, so any will do.
func free() uint16 { return 0x4000 | uint16(token())&0xfff }

func call(ctx context.Context, l transport.Link, cfg Config) (transport.Link, error) {
	l, err := cfg.impaired(l)
	if err != nil {
		return nil, err
	}
	return Call(ctx, l)
}

// Package udp carries frames over UDP, IPv4 and IPv6: one datagram is one
// frame, and one socket reaches several peers. [Open] gives a [Link], which is
// a [transport.Link] that promises nothing: frames may be lost, doubled and
// reordered. Peers come up when they are configured or first heard, and are
// lost after a silence. Frames for everybody may be broadcast or multicast.
//
// It knows no protocol. Start from [Open].
package udp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/dgram"
	"github.com/parley-go/parley/runtime/transport/internal/door"
	"github.com/parley-go/parley/runtime/transport/internal/explain"
	"github.com/parley-go/parley/runtime/transport/internal/mmsg"
)

// Limits are the limits of a link and of each of its peers.
type Limits = dgram.Limits

// Stats count what a link has dropped.
type Stats = dgram.Stats

// DefaultMaxFrame is the largest frame in bytes unless Config says otherwise:
// what fits into one Ethernet frame without fragments, over IPv4.
const DefaultMaxFrame = 1472

// protocol is what errors call it.
const protocol = "UDP"

// maxDatagram is the largest payload of UDP in bytes.
const maxDatagram = 65507

// Config describes a link. The zero value is usable.
type Config struct {
	Limits
	// Peers are the addresses ("host:port") of peers that are there from the
	// start, in the order of their numbers.
	Peers []string
	// From reports whether somebody at an address who is not among Peers may become one. nil: anybody. It is
	// called for each frame of a stranger, by whoever receives, and must not wait.
	From func(netip.Addr) bool
	// Broadcast is where frames for everybody go: directed broadcast
	// ("192.168.1.255:port"), limited broadcast ("255.255.255.255:port", which
	// on Linux needs a socket bound to an address of its own, or a default
	// route), multicast, or any other address. Empty: to each peer in turn.
	Broadcast []string
	// Hear is an address on which broadcasts ("127.255.255.255:port", "0.0.0.0:port") or multicasts
	// ("239.1.2.3:port", on the network of the socket's own address if it has one;
	// "[ff02::1%eth0]:port") are heard in addition. It is shared: several programs on one computer
	// may hear the same address, each sending from a port of its own.
	Hear string
	// MaxFrame is the largest frame in bytes, 0 for DefaultMaxFrame.
	MaxFrame int
	// Cookie lets nobody become a peer who has not shown that it receives
	// under its address, so that a forged sender cannot make this end send
	// anything to a victim that is larger than what the forger sent. Both ends
	// need it, and configure at least one of each other. Nothing is remembered
	// of those who have not shown it, and their broadcasts are not heard.
	Cookie bool
	// Retry is the time between two requests to be admitted, 0 for 250 ms. With Cookie only.
	Retry time.Duration
	// Offload has the kernel cut one large piece into the frames of one size for one peer,
	// and join what comes from one peer, where it can (Linux 4.18, 5.0); elsewhere it
	// does nothing. It takes 64 KiB for each of up to 32 frames that are read at once.
	Offload bool
	// Gather is how long frames may wait after Flush, at most MaxGather, so that more of them leave
	// in one call, and with Offload in one piece for each peer. 0: they leave at Flush. They leave
	// only while somebody receives.
	Gather time.Duration
}

// MaxGather is the longest Config.Gather.
const MaxGather = 4 * time.Millisecond

// Link is a UDP socket and its peers, a [transport.Link]: Send, Receive and the others are those of that
// interface.
type Link struct {
	*dgram.Link[netip.AddrPort]
	hear    *net.UDPConn
	hearing sync.WaitGroup
}

// Open opens a socket on a local address ("host:port"; port 0 for any). The
// network is udp, udp4 or udp6. The error says what is wrong and what to do.
func Open(network, address string, cfg Config) (*Link, error) {
	if cfg.MaxFrame <= 0 {
		cfg.MaxFrame = DefaultMaxFrame
	}
	if cfg.MaxFrame > maxDatagram {
		return nil, fmt.Errorf("frames of %d bytes do not fit into a datagram: %d is the most",
			cfg.MaxFrame, maxDatagram)
	}
	if cfg.Gather < 0 || cfg.Gather > MaxGather {
		return nil, fmt.Errorf("frames cannot be gathered for %v: %v is the most", cfg.Gather, MaxGather)
	}
	peers, err := resolve(network, cfg.Peers)
	if err != nil {
		return nil, err
	}
	all, err := resolve(network, cfg.Broadcast)
	if err != nil {
		return nil, err
	}
	pc, err := (&net.ListenConfig{}).ListenPacket(context.Background(), network, address)
	if err != nil {
		return nil, explain.Network(explain.Listen, protocol, address, err)
	}
	dgram.BufferUDP(cfg.ReceiveBuffer, cfg.Logger, pc.(*net.UDPConn))
	if cfg.MaxPeers <= 0 {
		cfg.MaxPeers = dgram.DefaultPeers
	}
	sock, err := newSocket(pc.(*net.UDPConn),
		mmsg.Options{MaxFrame: cfg.MaxFrame, Peers: cfg.MaxPeers, Offload: cfg.Offload})
	if err != nil {
		pc.Close()
		return nil, err
	}
	dc := dgram.Config[netip.AddrPort]{Limits: cfg.Limits, MaxFrame: cfg.MaxFrame,
		All: all, Own: sock.own(), Origin: origin, Gather: cfg.Gather}
	if cfg.From != nil {
		dc.From = func(a netip.AddrPort) bool { return cfg.From(a.Addr()) }
	}
	if cfg.Cookie {
		dc.Gate = newGate(cfg.Retry)
	}
	inner, err := dgram.New(sock, dc, peers)
	if err != nil {
		pc.Close()
		return nil, err
	}
	l := &Link{Link: inner}
	if cfg.Hear != "" {
		if err := l.listen(network, cfg.Hear, cfg.MaxFrame); err != nil {
			inner.Close()
			return nil, err
		}
	}
	return l, nil
}

// Reachable asks the system whether datagrams may leave for an address ("host:port", a broadcast
// address too) from an own address ("host" or "host:port"), and says why not. Nothing is sent. A
// link does not tell: what the system does not take is lost, for a network may come back.
func Reachable(network, own, to string) error {
	if host, _, err := net.SplitHostPort(own); err == nil {
		own = host
	}
	from, err := net.ResolveUDPAddr(network, net.JoinHostPort(own, "0"))
	if err != nil {
		return explain.Network(explain.Find, protocol, own, err)
	}
	c, err := (&net.Dialer{LocalAddr: from}).Dial(network, to)
	if err != nil {
		return explain.Network(explain.Send, protocol+" from "+own, to, err)
	}
	return c.Close()
}

func resolve(network string, addresses []string) ([]netip.AddrPort, error) {
	list := make([]netip.AddrPort, 0, len(addresses))
	for _, s := range addresses {
		a, err := net.ResolveUDPAddr(network, s)
		if err != nil {
			return nil, explain.Network(explain.Find, protocol, s, err)
		}
		list = append(list, unmap(a.AddrPort()))
	}
	return list, nil
}

// origin is what counts as one address.
func origin(a netip.AddrPort) netip.Addr { return door.Origin(a.Addr()) }

// unmap gives an address one form, whichever kind of socket has seen it.
func unmap(a netip.AddrPort) netip.AddrPort {
	if a.Addr().Is4In6() {
		return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	}
	return a
}

// AddPeer configures a peer ("host:port") and returns its number.
func (l *Link) AddPeer(address string) (int, error) {
	a, err := resolve("udp", []string{address})
	if err != nil {
		return 0, err
	}
	return l.Add(a[0])
}

// listen opens the second socket, for broadcasts.
func (l *Link) listen(network, address string, maxFrame int) error {
	a, err := net.ResolveUDPAddr(network, address)
	if err != nil {
		return explain.Network(explain.Hear, protocol, address, err)
	}
	if a.IP.IsMulticast() {
		var ifi *net.Interface
		if a.Zone != "" {
			if ifi, err = net.InterfaceByName(a.Zone); err != nil {
				return explain.Card(a.Zone, err)
			}
		} else {
			ifi = interfaceOf(l.LocalAddr().(*net.UDPAddr).IP)
		}
		l.hear, err = net.ListenMulticastUDP(network, ifi, a)
	} else {
		var pc net.PacketConn
		lc := net.ListenConfig{Control: dgram.Share}
		if pc, err = lc.ListenPacket(context.Background(), network, address); err == nil {
			l.hear = pc.(*net.UDPConn)
		}
	}
	if err != nil {
		return explain.Network(explain.Hear, protocol, address, err)
	}
	dgram.BufferUDP(0, nil, l.hear)
	l.hearing.Go(func() {
		buf := make([]byte, maxFrame+1)
		for failures := 0; failures < 100; failures++ {
			n, from, err := l.hear.ReadFromUDPAddrPort(buf)
			if err == nil {
				failures = 0
				l.Inject(buf[:n], unmap(from))
			}
		}
	})
	return nil
}

// interfaceOf returns the network interface that has an address, nil if none has.
func interfaceOf(ip net.IP) *net.Interface {
	all, _ := net.Interfaces()
	for _, ifi := range all {
		addrs, _ := ifi.Addrs()
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
				return &ifi
			}
		}
	}
	return nil
}

// LocalAddr returns the socket's own address, a *net.UDPAddr: with the port that the system has chosen
// for port 0, and the unspecified address if the socket hears all of the computer's.
func (l *Link) LocalAddr() net.Addr { return l.Link.LocalAddr() }

// RemoteAddr returns the address of a peer that is up or configured, by its number from 0; nil if there
// is none.
func (l *Link) RemoteAddr(peer int) net.Addr { return l.Link.RemoteAddr(peer) }

// PeerAddr is RemoteAddr in a form that can be compared; false if there is no such peer.
func (l *Link) PeerAddr(peer int) (netip.AddrPort, bool) { return l.Link.PeerAddr(peer) }

// Drop ends a peer; Receive announces its loss. If it is heard again it comes up again.
func (l *Link) Drop(peer int) { l.Link.Drop(peer) }

// Stats returns what the link has counted so far.
func (l *Link) Stats() Stats { return l.Link.Stats() }

// Close implements [transport.Link].
func (l *Link) Close() error {
	err := l.Link.Close()
	if l.hear != nil {
		l.hear.Close()
		l.hearing.Wait()
	}
	return err
}

// Abort implements [transport.Link].
func (l *Link) Abort() error { return l.Close() }

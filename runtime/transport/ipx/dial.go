package ipx

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/dgram"
	"github.com/parley-go/parley/runtime/transport/internal/explain"
	"github.com/parley-go/parley/runtime/transport/internal/mmsg"
)

// Link is one IPX socket in a network of DOSBox's kind. It is a
// [transport.Link] whose peers are the other sockets that are configured or heard.
type Link struct {
	*dgram.Link[Address]
	tunnel *tunnel
}

// Dial registers with a server ("host:port") and returns a link. The network
// is udp, udp4 or udp6. The error says what is wrong and what to do.
func Dial(ctx context.Context, network, server string, cfg Config) (*Link, error) {
	cfg, err := cfg.check()
	if err != nil {
		return nil, err
	}
	to, err := net.ResolveUDPAddr(network, server)
	if err == nil && to.Port == 0 {
		err = &net.AddrError{Err: "no port to connect to", Addr: server}
	}
	if err != nil {
		return nil, explain.Network(explain.Connect, protocol, server, err)
	}
	conn, err := net.ListenUDP(network, nil)
	if err != nil {
		return nil, explain.Network(explain.Listen, protocol, ":0", err)
	}
	dgram.BufferUDP(cfg.ReceiveBuffer, cfg.Logger, conn)
	t := &tunnel{conn: conn, server: unmap(to.AddrPort()), largest: HeaderSize + cfg.MaxFrame}
	t.io, err = mmsg.New(conn, mmsg.Options{MaxFrame: t.largest})
	var local Address
	if err == nil {
		local, err = t.register(ctx, cfg, server)
	}
	if err == nil {
		t.Endpoint, cfg, err = NewEndpoint(local, cfg)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	t.sendPacket, t.putPacket = t.packet, t.put
	inner, err := dgram.New(t, dgram.Config[Address]{Limits: cfg.Limits, MaxFrame: cfg.MaxFrame, Overhead: HeaderSize,
		All: []Address{t.Everybody()}, Own: t.Own, Origin: Address.Origin}, cfg.Peers)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Link{Link: inner, tunnel: t}, nil
}

// Address is the link's own address.
func (l *Link) Address() Address { return l.tunnel.Local() }

// LocalAddr returns this end's address in the IPX network, an Address.
func (l *Link) LocalAddr() net.Addr { return l.Link.LocalAddr() }

// RemoteAddr returns the address of a peer that is up or configured, by its number from 0; nil if there
// is none.
func (l *Link) RemoteAddr(peer int) net.Addr { return l.Link.RemoteAddr(peer) }

// PeerAddr is RemoteAddr as an Address, which can be compared; false if there is no such peer.
func (l *Link) PeerAddr(peer int) (Address, bool) { return l.Link.PeerAddr(peer) }

// Add configures a peer, or finds it, and returns its number. It fails if all places are taken.
func (l *Link) Add(a Address) (int, error) { return l.Link.Add(a) }

// Drop ends a peer; Receive announces its loss. If it is heard again it comes up again.
func (l *Link) Drop(peer int) { l.Link.Drop(peer) }

// Stats returns what the link has counted so far.
func (l *Link) Stats() Stats { return l.Link.Stats() }

// Ping asks everybody in the network to answer; Config.OnEcho is told who does.
func (l *Link) Ping() error { return l.tunnel.packet(l.tunnel.PingPacket(), Address{}) }

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// tunnel is a dgram.Batch of packets in datagrams to one server.
type tunnel struct {
	*Endpoint
	conn       *net.UDPConn
	server     netip.AddrPort
	largest    int // packet in bytes
	io         *mmsg.Conn
	mu         sync.Mutex                  // guards sending and lost
	lost       int                         // packets put and not taken, to be told by Flush
	sendPacket func([]byte, Address) error // packet and putPacket put, made once
	putPacket  func([]byte, Address) error
}

// register asks for a node until the server gives one. The asker has to try
// again itself: nothing tells that a request or its answer was lost.
func (t *tunnel) register(ctx context.Context, cfg Config, server string) (Address, error) {
	wake := context.AfterFunc(ctx, func() { t.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer wake()
	ask := Header{Length: HeaderSize, Dst: Address{Socket: echoSocket}, Src: Address{Socket: echoSocket}}
	buf := make([]byte, 2048)
	var last error
	n := 0
	for ; n != cfg.Attempts && ctx.Err() == nil; n++ {
		if err := t.packet(ask.Append(nil), Address{}); err != nil {
			last = err
		}
		t.conn.SetReadDeadline(time.Now().Add(cfg.Retry))
		for ctx.Err() == nil {
			k, from, err := t.conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				last = err
				break
			}
			if h, _, err := Parse(buf[:k]); err == nil && unmap(from) == t.server && h.Dst.Socket == echoSocket &&
				h.Src.Socket == echoSocket && h.Dst.Node != (Node{}) && h.Dst.Node != Broadcast {
				t.conn.SetReadDeadline(time.Time{})
				return h.Dst, nil
			}
		}
	}
	if err := ctx.Err(); err != nil {
		last = err
	}
	if last != nil && !errors.Is(last, os.ErrDeadlineExceeded) && ctx.Err() == nil {
		return Address{}, explain.Network(explain.Send, protocol, server, last)
	}
	return Address{}, &explain.Error{
		Doing: string(explain.Connect) + " the IPX server " + server + " (" + protocol + ")", Err: last,
		Wrong: fmt.Sprintf("no answer to %d requests for a place in its network", n),
		Remedy: "start the server there (in DOSBox: ipxnet startserver PORT), check address and port, " +
			"and whether a firewall lets UDP through; a full server does not answer either"}
}

// protocol is what errors call it.
const protocol = "IPX in UDP"

// packet sends a packet to the server, which knows where it goes from there.
func (t *tunnel) packet(b []byte, to Address) error {
	err := t.put(b, to)
	if t.Flush() > 0 && err == nil {
		err = errUnsent
	}
	return err
}

var errUnsent = errors.New("the network does not take the packet now")

// put keeps a packet for the server until Flush.
func (t *tunnel) put(b []byte, _ Address) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	lost, err := t.io.Put(-1, b, t.server)
	if err == nil {
		t.lost += lost // of those before
	}
	return err
}

// Read implements [dgram.Socket].
func (t *tunnel) Read([]byte) ([]byte, Address, error) {
	b, from, err := t.io.Read()
	if err != nil {
		return nil, Address{}, err
	}
	if unmap(from) != t.server || len(b) > t.largest {
		return nil, Address{}, dgram.ErrSkip // of a packet longer than any the rest is cut off
	}
	return t.Open(b, t.sendPacket)
}

// Held implements [dgram.Batch].
func (t *tunnel) Held() bool { return t.io.Held() }

// Fetch implements [dgram.Batch].
func (t *tunnel) Fetch() bool { return t.io.Fetch() }

// Crowded implements [dgram.Batch].
func (t *tunnel) Crowded() bool { return t.io.Crowded() }

// Write implements [dgram.Socket].
func (t *tunnel) Write(frame []byte, to Address) error { return t.Send(frame, to, t.sendPacket) }

// Put implements [dgram.Batch].
func (t *tunnel) Put(_ int, frame []byte, to Address) (lost int, err error) {
	if err = t.Send(frame, to, t.putPacket); err != nil {
		lost = 1
	}
	return lost, err
}

// Flush implements [dgram.Batch].
func (t *tunnel) Flush() (lost int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lost = t.io.Flush() + t.lost
	t.lost = 0
	return lost
}

// SetReadDeadline implements [dgram.Socket].
func (t *tunnel) SetReadDeadline(at time.Time) error { return t.conn.SetReadDeadline(at) }

// Close implements [dgram.Socket].
func (t *tunnel) Close() error { return t.conn.Close() }

// LocalAddr implements [dgram.Socket].
func (t *tunnel) LocalAddr() net.Addr { return t.Local() }

// Addr implements [dgram.Socket].
func (t *tunnel) Addr(a Address) net.Addr { return a }

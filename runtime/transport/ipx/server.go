package ipx

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/dgram"
	"github.com/parley-go/parley/runtime/transport/internal/door"
	"github.com/parley-go/parley/runtime/transport/internal/explain"
	"github.com/parley-go/parley/runtime/transport/internal/mmsg"
)

// ServerConfig describes a server. The zero value is usable.
type ServerConfig struct {
	// MaxClients is the most clients at a time, 0 for 64.
	MaxClients int
	// PerAddress, AddressRate and AcceptRate are the same as those of [Limits], for clients of one
	// IPv4 address or IPv6 network of 64 bits.
	PerAddress, AddressRate, AcceptRate int
	// FrameRate is the most packets a second that are relayed for one client, 0 for 2000, negative
	// for no limit; ByteRate the most bytes, 0 for no limit. A second's worth may come at once. One
	// packet for everybody is sent to each client, and costs as much as many.
	FrameRate, ByteRate int
	// Waiting is how many packets wait when they come faster than they can be relayed, 0 for 1024.
	// The addresses have turns, and what exceeds it is lost by who has most of them there.
	Waiting int
	// Silence is after how long a client that sends nothing and answers no
	// ping loses its place, 0 for 45 seconds.
	Silence time.Duration
	// HalfOpen is how long a client with a plain node may have a place without having sent anything
	// but its request, 0 for ten seconds, negative for ever. While all places are taken, the oldest
	// such one is given to who comes.
	HalfOpen time.Duration
	// ReceiveBuffer and Logger are the same as those of [Limits].
	ReceiveBuffer int
	Logger        *slog.Logger
	// PlainNodes makes a client's node of its IPv4 address and port, as DOSBox
	// does. Anybody can tell such a node, and so register somebody else, who
	// then gets all broadcasts of the network. Otherwise a node is a keyed hash of the address,
	// and only who has received it gets anything but the answer to its request.
	PlainNodes bool
}

// ServerStats count what a server has done.
type ServerStats struct {
	Registered uint64 // requests that were answered
	Relayed    uint64 // packets sent on, each copy counted
	Malformed  uint64 // datagrams that are no IPX packets
	Strangers  uint64 // packets of senders that are not registered, or whose source is not their node
	Full       uint64 // clients for whom there was no place
	Crowded    uint64 // clients turned away because of PerAddress
	Hasty      uint64 // because of AddressRate
	Flooded    uint64 // because of AcceptRate
	Evicted    uint64 // half-open clients whose place was given to somebody else
	Expired    uint64 // half-open clients after HalfOpen
	Silent     uint64 // clients that lost their place after Silence
	Displaced  uint64 // packets that found no room among those that wait
	Limited    uint64 // packets above FrameRate or ByteRate
	Unknown    uint64 // packets to nodes that nobody has
}

// Counts is s for [transport.Counted].
func (s ServerStats) Counts() []transport.Count {
	return []transport.Count{
		{Name: "registered", Help: "Requests for a node that were answered", Value: s.Registered},
		{Name: "relayed", Help: "Packets sent on, each copy counted", Value: s.Relayed},
		{Name: "malformed", Help: "Datagrams that are no IPX packets", Value: s.Malformed},
		{Name: "strangers", Help: "Packets of senders that are not registered", Value: s.Strangers},
		{Name: "full", Help: "Clients turned away because all places were taken", Value: s.Full},
		{Name: "crowded", Help: "Clients turned away because their address has its places", Value: s.Crowded},
		{Name: "hasty", Help: "Clients turned away because too many of their address came in a second", Value: s.Hasty},
		{Name: "flooded", Help: "Clients turned away because too many came in a second", Value: s.Flooded},
		{Name: "evicted", Help: "Half-open clients whose place was given to somebody else", Value: s.Evicted},
		{Name: "expired", Help: "Half-open clients whose time was over", Value: s.Expired},
		{Name: "silent", Help: "Clients lost because nothing came from them", Value: s.Silent},
		{Name: "displaced", Help: "Packets that found no room among those that wait", Value: s.Displaced},
		{Name: "limited", Help: "Packets above the rates of a client", Value: s.Limited},
		{Name: "unknown", Help: "Packets to nodes that nobody has", Value: s.Unknown},
	}
}

// client is a place in the server's table.
type client struct {
	addr          netip.AddrPort
	from          netip.Addr // its origin
	node          Node
	heard         time.Time
	frames, bytes float64   // what may still be relayed for it
	since         time.Time // as of when
}

// Server relays packets between the clients of one network.
type Server struct {
	cfg    ServerConfig
	conn   *net.UDPConn
	io     *mmsg.Conn
	send   func(b []byte, to netip.AddrPort) error
	node   Node
	secret [32]byte
	closed atomic.Bool

	mu      sync.Mutex // guards what follows; Serve is the only one that changes it
	clients []client
	byAddr  map[netip.AddrPort]int
	byNode  map[Node]int
	asked   []netip.AddrPort // have been given a node and not used it yet
	stats   ServerStats
	door    *door.Door
	half    door.HalfOpen[netip.AddrPort]
	waiting *door.Queue[netip.Addr, packet]
	began   time.Time // the door's time begins
	notes   door.Notes
}

// packet is one that waits to be relayed: who sent it, and whom it is for.
type packet struct {
	sender netip.AddrPort
	dst    Node
}

// maxAsked is how many are pinged once because they have registered and said nothing.
const maxAsked = 64

// Listen opens a server ("host:port"); Serve runs it.
func Listen(network, address string, cfg ServerConfig) (*Server, error) {
	pc, err := (&net.ListenConfig{}).ListenPacket(context.Background(), network, address)
	if err != nil {
		return nil, explain.Network(explain.Listen, protocol, address, err)
	}
	conn := pc.(*net.UDPConn)
	dgram.BufferUDP(cfg.ReceiveBuffer, cfg.Logger, conn)
	io, err := mmsg.New(conn, mmsg.Options{MaxFrame: 65535})
	if err != nil {
		conn.Close()
		return nil, err
	}
	s := newServer(cfg, func(b []byte, to netip.AddrPort) error {
		_, err := io.Put(-1, b, to)
		return err
	})
	s.conn, s.io = conn, io
	return s, nil
}

func newServer(cfg ServerConfig, send func([]byte, netip.AddrPort) error) *Server {
	if cfg.MaxClients <= 0 {
		cfg.MaxClients = 64
	}
	if cfg.Silence <= 0 {
		cfg.Silence = 45 * time.Second
	}
	if cfg.HalfOpen == 0 {
		cfg.HalfOpen = 10 * time.Second
	}
	if cfg.FrameRate == 0 {
		cfg.FrameRate = 2000
	}
	if cfg.Waiting <= 0 {
		cfg.Waiting = 1024
	}
	s := &Server{cfg: cfg, send: send, byAddr: map[netip.AddrPort]int{}, byNode: map[Node]int{},
		waiting: door.NewQueue[netip.Addr, packet](cfg.Waiting)}
	limits := door.Of(cfg.MaxClients, 4, cfg.PerAddress, cfg.AddressRate, cfg.AcceptRate)
	limits.Open = 0 // a half-open client leaves after a newcomer has been let in
	s.door = door.New(limits)
	s.notes.Logger, s.notes.Place = cfg.Logger, func() string { return "IPX server " + s.Addr().String() }
	rand.Read(s.secret[:]) // never fails
	s.node = s.hash(netip.AddrPort{})
	return s
}

// Addr is the server's address.
func (s *Server) Addr() net.Addr { return s.conn.LocalAddr() }

// Stats returns the counters.
func (s *Server) Stats() ServerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Counts implements [transport.Counted].
func (s *Server) Counts() []transport.Count {
	now := transport.Count{Name: "peers", Help: "Clients now", Level: true, Value: uint64(s.Clients())}
	return append([]transport.Count{now}, s.Stats().Counts()...)
}

// Clients returns how many there are.
func (s *Server) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients)
}

// Close ends Serve.
func (s *Server) Close() error {
	s.closed.Store(true)
	return s.conn.Close()
}

// Serve relays until ctx ends, whose cause it returns, or Close (nil).
func (s *Server) Serve(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.conn.Close() })()
	next := time.Now().Add(s.tick())
	s.conn.SetReadDeadline(next)
	for failures := 0; ; {
		b, from, err := s.io.Read()
		now := time.Now()
		switch {
		case err == nil:
			failures = 0
			s.handle(now, b, unmap(from))
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.sweep(now)
			next = now.Add(s.tick())
			s.conn.SetReadDeadline(next)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case s.closed.Load():
			return nil
		default:
			if failures++; failures > 100 {
				return err
			}
		}
		if !s.io.Held() {
			s.relayAll(next)
		}
	}
}

// tick is the time between two sweeps.
func (s *Server) tick() time.Duration { return min(s.cfg.Silence/4, time.Second) }

// maxServed is how many packets are relayed before the socket is emptied again, and maxAhead how
// many are read then at most. Whoever sends most would otherwise fill the system's queue.
const maxServed, maxAhead = 32, 4096

// relayAll relays what waits and what comes meanwhile, until nothing waits or it is time for a sweep.
func (s *Server) relayAll(until time.Time) {
	for {
		more := s.serve(maxServed)
		s.io.Flush() // what came together leaves together
		now := time.Now()
		if !more || s.closed.Load() || !now.Before(until) {
			return
		}
		for n := 0; n < maxAhead && s.io.Fetch(); n++ {
			if b, from, err := s.io.Read(); err == nil {
				s.handle(now, b, unmap(from))
			}
		}
	}
}

// nodeOf returns the node of an address.
func (s *Server) nodeOf(a netip.AddrPort) Node {
	if !s.cfg.PlainNodes || !a.Addr().Is4() {
		return s.hash(a)
	}
	ip := a.Addr().As4()
	return Node{ip[0], ip[1], ip[2], ip[3], byte(a.Port() >> 8), byte(a.Port())}
}

func (s *Server) hash(a netip.AddrPort) (n Node) {
	h := hmac.New(sha256.New, s.secret[:])
	ip := a.Addr().As16()
	h.Write(binary.BigEndian.AppendUint16(ip[:], a.Port()))
	copy(n[:], h.Sum(nil))
	n[0] = 0x02 // an address that no manufacturer gives
	return n
}

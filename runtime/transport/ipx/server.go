package ipx

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/explain"
	"github.com/parley-go/parley/runtime/transport/internal/mmsg"
)

// ServerConfig describes a server. The zero value is usable.
type ServerConfig struct {
	// MaxClients is the most clients at a time, 0 for 64.
	MaxClients int
	// FrameRate and ByteRate are the most packets and bytes a second that are
	// relayed for one client, 0 for no limit. A second's worth may come at once.
	FrameRate, ByteRate int
	// Silence is after how long a client that sends nothing and answers no
	// ping loses its place, 0 for one minute.
	Silence time.Duration
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
	Limited    uint64 // packets above FrameRate or ByteRate
	Unknown    uint64 // packets to nodes that nobody has
}

// client is a place in the server's table.
type client struct {
	addr          netip.AddrPort
	node          Node
	heard         time.Time
	frames, bytes float64
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
		cfg.Silence = time.Minute
	}
	s := &Server{cfg: cfg, send: send, byAddr: map[netip.AddrPort]int{}, byNode: map[Node]int{}}
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
	tick := min(s.cfg.Silence/4, time.Second)
	next := time.Now().Add(tick)
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
			next = now.Add(tick)
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
			s.io.Flush() // what came together leaves together
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

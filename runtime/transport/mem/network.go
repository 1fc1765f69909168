package mem

import (
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/dgram"
)

// Address is the address of a node in a [Network].
type Address uint32

// Network implements [net.Addr].
func (a Address) Network() string { return "mem" }

// String implements [net.Addr].
func (a Address) String() string { return "node " + strconv.FormatUint(uint64(a), 10) }

// everybody is where broadcasts go; no node has it.
const everybody Address = 1<<32 - 1

// NodeQueue is how many frames wait for a node; what comes then is lost, as on a card that is not read.
const NodeQueue = 256

// Network is a network in memory: datagrams go to one node or to all. It promises what UDP
// promises; by itself it loses nothing but what finds a queue full.
type Network struct {
	mu    sync.Mutex
	nodes map[Address]*node
}

// NodeLink is a link of a network with many peers, of the kind that packages udp and ipx have.
type NodeLink = dgram.Link[Address]

// NodeLimits are the limits of such a link and of each of its peers.
type NodeLimits = dgram.Limits

// Join makes a node and returns its link; frames for everybody are broadcast. It fails if the
// address is taken or that of everybody, 1<<32 - 1.
func (n *Network) Join(a Address, limits NodeLimits) (*NodeLink, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.nodes == nil {
		n.nodes = map[Address]*node{}
	}
	if n.nodes[a] != nil || a == everybody {
		return nil, os.ErrExist
	}
	s := &node{network: n, address: a, wake: make(chan struct{}, 1)}
	n.nodes[a] = s
	return dgram.New[Address](s, dgram.Config[Address]{Limits: limits, MaxFrame: 1472,
		All: []Address{everybody}, Own: func(x Address) bool { return x == a }}, nil)
}

// node is a dgram.Socket.
type node struct {
	network *Network
	address Address
	wake    chan struct{} // something has changed

	mu       sync.Mutex // guards what follows
	frames   [][]byte
	from     []Address
	deadline time.Time
	closed   bool
}

func (s *node) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Read implements [dgram.Socket].
func (s *node) Read(buf []byte) ([]byte, Address, error) {
	for {
		s.mu.Lock()
		closed, deadline := s.closed, s.deadline
		late := !deadline.IsZero() && !time.Now().Before(deadline)
		if !closed && !late && len(s.frames) > 0 {
			frame, from := s.frames[0], s.from[0]
			s.frames, s.from = s.frames[1:], s.from[1:]
			s.mu.Unlock()
			return buf[:copy(buf, frame)], from, nil
		}
		s.mu.Unlock()
		switch {
		case closed:
			return nil, 0, net.ErrClosed
		case late:
			return nil, 0, os.ErrDeadlineExceeded
		case deadline.IsZero():
			<-s.wake
		default:
			timer := time.NewTimer(time.Until(deadline))
			select {
			case <-s.wake:
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

// Write implements [dgram.Socket].
func (s *node) Write(frame []byte, to Address) error {
	n := s.network
	n.mu.Lock()
	defer n.mu.Unlock()
	if to != everybody {
		if d := n.nodes[to]; d != nil {
			d.take(frame, s.address)
		}
		return nil
	}
	for _, d := range n.nodes {
		d.take(frame, s.address)
	}
	return nil
}

func (s *node) take(frame []byte, from Address) {
	s.mu.Lock()
	if len(s.frames) < NodeQueue {
		s.frames = append(s.frames, append([]byte(nil), frame...))
		s.from = append(s.from, from)
	}
	s.mu.Unlock()
	s.signal()
}

// SetReadDeadline implements [dgram.Socket].
func (s *node) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	s.deadline = t
	s.mu.Unlock()
	s.signal()
	return nil
}

// Close implements [dgram.Socket]; the address is free from then on.
func (s *node) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.signal()
	s.network.mu.Lock()
	delete(s.network.nodes, s.address)
	s.network.mu.Unlock()
	return nil
}

// LocalAddr implements [dgram.Socket].
func (s *node) LocalAddr() net.Addr { return s.address }

// Addr implements [dgram.Socket].
func (s *node) Addr(a Address) net.Addr { return a }

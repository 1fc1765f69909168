// Package mmsg reads and writes the datagrams of a UDP socket, several in one call of the kernel
// where that is possible (Linux: recvmmsg, sendmmsg, and on request segmentation offload:
// UDP_SEGMENT, UDP_GRO); elsewhere one by one. Sending never waits: what the kernel does not take
// at once is lost, as it might be further on.
//
// It knows addresses and bytes, no peers' states and no protocol. Start from [Conn].
package mmsg

import (
	"net"
	"net/netip"
)

// Options say how a socket is used.
type Options struct {
	// MaxFrame is the largest datagram to be received, in bytes. Of a longer one MaxFrame+1 bytes
	// are given.
	MaxFrame int
	// Peers is how many destinations have numbers; see Conn.Put.
	Peers int
	// Offload has the kernel cut and join datagrams of one size, if it can.
	Offload bool
}

const (
	// maxBatch is how many datagrams are read at a time.
	maxBatch = 32
	// maxFrames and maxData bound what waits to be sent: more is sent before Flush.
	maxFrames, maxData = 1024, 256 << 10
	// maxRun and maxRunBytes bound what goes to the kernel as one piece, to be cut by it.
	maxRun, maxRunBytes = 64, 65000
	// joined is the size of what the kernel may join on receiving, in bytes.
	joined = 1 << 16
)

// Conn is a UDP socket. One goroutine at a time may read and one at a time write.
type Conn struct {
	receiver
	sender
}

// New returns a Conn over conn, which stays the caller's to close and to give deadlines.
func New(conn *net.UDPConn, o Options) (*Conn, error) {
	c := new(Conn)
	if err := c.sender.init(conn, o); err != nil {
		return nil, err
	}
	return c, c.receiver.init(conn, o, c.sender.offload)
}

// Read returns a datagram, valid until the next Read. It waits for one and fails like net.UDPConn.Read.
func (c *Conn) Read() ([]byte, netip.AddrPort, error) { return c.receiver.read() }

// Held reports whether Read has datagrams at hand; then it neither waits nor looks at the deadline.
func (c *Conn) Held() bool { return c.receiver.held() }

// Fetch reads what has come, without waiting, unless something is at hand. It reports whether
// something is at hand then.
func (c *Conn) Fetch() bool { return c.receiver.held() || c.receiver.fetch() }

// Crowded reports whether what was read last was as much as is read at once.
func (c *Conn) Crowded() bool { return c.receiver.crowded() }

// Put keeps a copy of a datagram until Flush, or until too much waits. What goes to one peer keeps
// its order; peer is its number below Options.Peers, or negative for an address without one. It
// returns how many datagrams were lost because the kernel did not take them.
func (c *Conn) Put(peer int, b []byte, to netip.AddrPort) (lost int, err error) {
	return c.sender.put(peer, b, to)
}

// Flush sends what waits. It returns how many datagrams the kernel did not take.
func (c *Conn) Flush() (lost int) { return c.sender.flush() }

// Waiting is how many datagrams wait for Flush.
func (c *Conn) Waiting() int { return c.sender.waiting() }

// Offload reports whether the kernel cuts and joins datagrams.
func (c *Conn) Offload() bool { return c.sender.offload }

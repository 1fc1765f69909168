package driver

import (
	"errors"
	"fmt"
	"net"

	"github.com/parley-go/parley/runtime/fsm"
)

// Streams that change their format, see fsm.Phased, and end as somebody else's.

// phase is that of what comes from a peer.
func (c *Core[R]) phase(peer fsm.Peer) uint8 {
	if int(peer) < len(c.phases) {
		return c.phases[peer]
	}
	return 0
}

func (c *Core[R]) setPhase(peer fsm.Peer, phase uint8) {
	if c.phased == nil || int(peer) >= len(c.phases) && phase == 0 {
		return
	}
	for int(peer) >= len(c.phases) {
		c.phases = append(c.phases, 0)
	}
	c.phases[peer] = phase
}

// raw reports whether what comes from a peer is no frames any more.
func (c *Core[R]) raw(peer fsm.Peer) bool {
	return c.phased != nil && c.info.Phases[c.phase(peer)].Raw
}

// carried reports whether the bytes that a link brings are the program's. They wait until it gets the connection.
func (d *Driver[R]) carried(s *slot) bool { return s.split != nil && d.core.raw(s.first) }

// errKept is the cause of an error for a link that cannot be handed over.
var errKept = errors.New("this link does not give its connection away, as one of TCP does")

// handOver gives the program the connections that are its own from now on.
func (d *Driver[R]) handOver(slots []*slot) {
	for _, s := range slots {
		conn, err := net.Conn(nil), errKept
		if l, ok := s.link.(interface{ Release() (net.Conn, error) }); ok {
			conn, err = l.Release()
		}
		if err != nil {
			s.link.Abort()
			e := d.core.newError(NoLink, s.first, fsm.NoTransition)
			e.Event, e.Cause = "hand over", fmt.Errorf("the connection is lost: %w", err)
			d.core.report(e)
			continue
		}
		d.o.HandOver(d.core.r, s.first, &begun{conn, append([]byte(nil), s.split.Rest()...)})
	}
}

// begun is a connection of which some bytes have been read already.
type begun struct {
	net.Conn
	ahead []byte
}

// Read implements net.Conn.
func (c *begun) Read(b []byte) (int, error) {
	if len(c.ahead) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.ahead)
	c.ahead = c.ahead[n:]
	return n, nil
}

// CloseWrite tells the peer that nothing follows, and leaves the other direction open.
func (c *begun) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

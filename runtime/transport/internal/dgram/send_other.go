//go:build !unix

package dgram

import (
	"net"
	"net/netip"
	"syscall"
)

// Sender sends over UDP by the ordinary way, which on these systems waits only while
// the computer's own queue is full.
type Sender struct{ conn *net.UDPConn }

// Init makes s send over conn.
func (s *Sender) Init(conn *net.UDPConn) error {
	s.conn = conn
	return nil
}

// Send sends a datagram; one goroutine at a time.
func (s *Sender) Send(b []byte, to netip.AddrPort) error {
	_, err := s.conn.WriteToUDPAddrPort(b, to)
	return err
}

// Share does nothing: one program a port.
func Share(_, _ string, _ syscall.RawConn) error { return nil }

// Granted is 0: these systems do not say what they keep.
func Granted(syscall.RawConn) int { return 0 }

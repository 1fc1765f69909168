//go:build !unix

package udp

import (
	"net"
	"net/netip"
	"syscall"
)

// sender sends by the ordinary way, which on these systems waits only while
// the computer's own queue is full.
type sender struct{ conn *net.UDPConn }

func (s *sender) init(conn *net.UDPConn) error {
	s.conn = conn
	return nil
}

func (s *sender) send(b []byte, to netip.AddrPort) error {
	_, err := s.conn.WriteToUDPAddrPort(b, to)
	return err
}

// share does nothing: one program a port.
func share(_, _ string, _ syscall.RawConn) error { return nil }

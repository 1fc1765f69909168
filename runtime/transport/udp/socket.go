package udp

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/dgram"
)

// socket is a UDP socket as package dgram wants it.
type socket struct {
	conn  *net.UDPConn
	local netip.AddrPort
	write sync.Mutex // the two goroutines of a link may both send
	out   dgram.Sender
}

func newSocket(conn *net.UDPConn) (*socket, error) {
	s := &socket{conn: conn, local: unmap(conn.LocalAddr().(*net.UDPAddr).AddrPort())}
	return s, s.out.Init(conn)
}

func (s *socket) Read(buf []byte) ([]byte, netip.AddrPort, error) {
	n, from, err := s.conn.ReadFromUDPAddrPort(buf)
	return buf[:max(n, 0)], unmap(from), err
}

func (s *socket) Write(frame []byte, to netip.AddrPort) error {
	s.write.Lock()
	defer s.write.Unlock()
	return s.out.Send(frame, to)
}

func (s *socket) SetReadDeadline(t time.Time) error { return s.conn.SetReadDeadline(t) }
func (s *socket) Close() error                      { return s.conn.Close() }
func (s *socket) LocalAddr() net.Addr               { return s.conn.LocalAddr() }
func (s *socket) Addr(a netip.AddrPort) net.Addr    { return net.UDPAddrFromAddrPort(a) }

// own returns a function that knows the addresses of this socket. One that is
// bound to all addresses has many; nobody else on this computer can have its port.
func (s *socket) own() func(netip.AddrPort) bool {
	if !s.local.Addr().IsUnspecified() {
		return func(a netip.AddrPort) bool { return a == s.local }
	}
	mine := map[netip.Addr]bool{}
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				mine[ip.Unmap()] = true
			}
		}
	}
	return func(a netip.AddrPort) bool {
		return a.Port() == s.local.Port() && (a.Addr().IsLoopback() || mine[a.Addr().WithZone("")])
	}
}

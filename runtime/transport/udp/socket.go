package udp

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/mmsg"
)

// socket is a UDP socket as package dgram wants it.
type socket struct {
	conn  *net.UDPConn
	io    *mmsg.Conn
	local netip.AddrPort
	write sync.Mutex // the two goroutines of a link may both send
}

func newSocket(conn *net.UDPConn, o mmsg.Options) (*socket, error) {
	c, err := mmsg.New(conn, o)
	return &socket{conn: conn, io: c, local: unmap(conn.LocalAddr().(*net.UDPAddr).AddrPort())}, err
}

func (s *socket) Read([]byte) ([]byte, netip.AddrPort, error) { return s.io.Read() }

func (s *socket) Held() bool    { return s.io.Held() }
func (s *socket) Fetch() bool   { return s.io.Fetch() }
func (s *socket) Crowded() bool { return s.io.Crowded() }

func (s *socket) Write(frame []byte, to netip.AddrPort) error {
	_, err := s.Put(-1, frame, to)
	return err
}

func (s *socket) Put(peer int, frame []byte, to netip.AddrPort) (lost int, err error) {
	s.write.Lock()
	defer s.write.Unlock()
	return s.io.Put(peer, frame, to)
}

func (s *socket) Flush() (lost int) {
	s.write.Lock()
	defer s.write.Unlock()
	return s.io.Flush()
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

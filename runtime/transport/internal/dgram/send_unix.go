//go:build unix

package dgram

import (
	"net"
	"net/netip"
	"runtime"
	"syscall"
)

// Sender sends over UDP without waiting: what the kernel does not take at once is
// lost, as it might be further on. The callback is made once, so that sending
// does not allocate.
type Sender struct {
	raw  syscall.RawConn
	call func(fd uintptr) bool
	six  bool // the socket is of IPv6, and reaches IPv4 by mapped addresses
	b    []byte
	sa4  syscall.SockaddrInet4
	sa6  syscall.SockaddrInet6
	to   syscall.Sockaddr
	err  error

	zones map[string]uint32
}

// Init makes s send over conn.
func (s *Sender) Init(conn *net.UDPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Control(func(fd uintptr) {
		sa, _ := syscall.Getsockname(int(fd))
		_, s.six = sa.(*syscall.SockaddrInet6)
	})
	s.raw, s.zones = raw, map[string]uint32{}
	s.to = &s.sa4
	if s.six {
		s.to = &s.sa6
	}
	s.call = func(fd uintptr) bool {
		for {
			s.err = syscall.Sendto(int(fd), s.b, 0, s.to)
			if s.err != syscall.EINTR {
				return true // never wait here
			}
		}
	}
	return err
}

// Send sends a datagram; one goroutine at a time.
func (s *Sender) Send(b []byte, to netip.AddrPort) error {
	switch {
	case s.six:
		s.sa6.Addr, s.sa6.Port = to.Addr().As16(), int(to.Port())
		s.sa6.ZoneId = s.zone(to.Addr().Zone())
	case to.Addr().Is4():
		s.sa4.Addr, s.sa4.Port = to.Addr().As4(), int(to.Port())
	default:
		return &net.AddrError{Err: "no way to an IPv6 address from an IPv4 socket", Addr: to.String()}
	}
	s.b, s.err = b, nil
	err := s.raw.Write(s.call)
	s.b = nil
	if err == nil {
		err = s.err
	}
	return err
}

// zone returns the number of an interface, 0 if there is none of that name.
func (s *Sender) zone(name string) uint32 {
	if name == "" {
		return 0
	}
	if n, ok := s.zones[name]; ok {
		return n
	}
	ifi, err := net.InterfaceByName(name)
	if err != nil || len(s.zones) > 100 {
		return 0
	}
	s.zones[name] = uint32(ifi.Index)
	return uint32(ifi.Index)
}

// Share is a net.ListenConfig.Control that lets several programs hear broadcasts on one port.
func Share(_, _ string, c syscall.RawConn) error {
	var err error
	if e := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	}); e != nil {
		return e
	}
	return err
}

// Granted is how many bytes of datagrams the system keeps for a socket, 0 if it does not say.
func Granted(c syscall.RawConn) (bytes int) {
	c.Control(func(fd uintptr) {
		bytes, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	})
	if runtime.GOOS == "linux" {
		bytes /= 2 // Linux doubles what it is given, for its own use
	}
	return bytes
}

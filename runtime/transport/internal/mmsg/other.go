//go:build !(linux && (amd64 || arm64))

package mmsg

import (
	"net"
	"net/netip"

	"github.com/parley-go/parley/runtime/transport/internal/dgram"
)

// receiver reads one datagram at a time.
type receiver struct {
	conn *net.UDPConn
	buf  []byte
}

func (r *receiver) init(conn *net.UDPConn, o Options, _ bool) error {
	r.conn, r.buf = conn, make([]byte, o.MaxFrame+1)
	return nil
}

func (r *receiver) held() bool    { return false }
func (r *receiver) fetch() bool   { return false }
func (r *receiver) crowded() bool { return false }

func (r *receiver) read() ([]byte, netip.AddrPort, error) {
	n, from, err := r.conn.ReadFromUDPAddrPort(r.buf)
	if from.Addr().Is4In6() {
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	}
	return r.buf[:max(n, 0)], from, err
}

// sender sends each datagram at once.
type sender struct {
	out     dgram.Sender
	offload bool
}

func (s *sender) init(conn *net.UDPConn, _ Options) error { return s.out.Init(conn) }

func (s *sender) put(_ int, b []byte, to netip.AddrPort) (lost int, err error) {
	if err = s.out.Send(b, to); err != nil {
		lost = 1
	}
	return lost, err
}

func (s *sender) flush() (lost int) { return 0 }

func (s *sender) waiting() int { return 0 }

//go:build linux && (amd64 || arm64)

package mmsg

import (
	"net"
	"net/netip"
	"syscall"
	"unsafe"
)

// sender keeps datagrams until they are sent together.
type sender struct {
	raw     syscall.RawConn
	call    func(fd uintptr) bool // made once, so that sending does not allocate
	six     bool                  // the socket is of IPv6, and reaches IPv4 by mapped addresses
	offload bool
	largest int // datagrams up to this size may be cut by the kernel
	zones   zones

	data   []byte // the datagrams that wait, one after another
	frames []frame
	runs   []run
	open   []opened // by peer: its last run
	turn   uint32   // of open

	headers []header // of runs, made by flush, like the next two
	parts   []syscall.Iovec
	control [][24]byte
	from    int // the first header that is not sent
	errno   syscall.Errno
}

// frame is a datagram that waits.
type frame struct{ run, size int32 }

// run is a message to the kernel: one datagram, or several of one size, of which the last may be
// shorter.
type run struct {
	to     netip.AddrPort
	name   sockaddr
	length uint32 // of name
	size   int
	bytes  int
	frames int
	first  int  // of its parts
	shut   bool // the last one was shorter
}

type opened struct {
	turn uint32
	run  int32
}

func (s *sender) init(conn *net.UDPConn, o Options) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	s.raw, s.call, s.turn = raw, s.send, 1
	s.open, s.largest = make([]opened, o.Peers), maxRunBytes/2
	return raw.Control(func(fd uintptr) {
		sa, _ := syscall.Getsockname(int(fd))
		_, s.six = sa.(*syscall.SockaddrInet6)
		if o.Offload {
			_, err := syscall.GetsockoptInt(int(fd), solUDP, udpSegment)
			s.offload = err == nil
		}
	})
}

func (s *sender) waiting() int { return len(s.frames) }

func (s *sender) put(peer int, b []byte, to netip.AddrPort) (lost int, err error) {
	if !s.six && !to.Addr().Is4() {
		return 1, &net.AddrError{Err: "no way to an IPv6 address from an IPv4 socket", Addr: to.String()}
	}
	if len(s.frames) >= maxFrames || len(s.data)+len(b) > maxData {
		lost = s.flush()
	}
	s.data = append(s.data, b...)
	s.frames = append(s.frames, frame{run: s.runOf(peer, len(b), to), size: int32(len(b))})
	return lost, nil
}

// runOf returns the run that a datagram joins or begins.
func (s *sender) runOf(peer, size int, to netip.AddrPort) int32 {
	numbered := s.offload && peer >= 0 && peer < len(s.open)
	if numbered && s.open[peer].turn == s.turn {
		k := s.open[peer].run
		if r := &s.runs[k]; !r.shut && size > 0 && size <= r.size && r.size <= s.largest &&
			r.frames < maxRun && r.bytes+size <= maxRunBytes && r.to == to {
			r.shut = size < r.size
			r.frames++
			r.bytes += size
			return k
		}
	}
	k := int32(len(s.runs))
	if len(s.runs) < cap(s.runs) {
		s.runs = s.runs[:k+1]
	} else {
		s.runs = append(s.runs, run{})
	}
	r := &s.runs[k]
	if r.to != to {
		r.length = r.name.put(to, s.six, &s.zones)
	}
	r.to, r.size, r.bytes, r.frames, r.shut = to, size, size, 1, false
	if numbered {
		s.open[peer] = opened{s.turn, k}
	}
	return k
}

// flush gives the kernel one message for each run.
func (s *sender) flush() (lost int) {
	if len(s.frames) == 0 {
		return 0
	}
	s.prepare()
	for s.from = 0; s.from < len(s.headers); {
		if err := s.raw.Write(s.call); err != nil {
			s.errno = syscall.EBADF // closed
		}
		switch s.errno {
		case 0:
			continue
		case syscall.EAGAIN, syscall.EBADF:
			for ; s.from < len(s.headers); s.from++ {
				lost += s.runs[s.from].frames
			}
		default:
			lost += s.refused(s.from)
			s.from++
		}
	}
	s.data, s.frames, s.runs = s.data[:0], s.frames[:0], s.runs[:0]
	s.turn++
	return lost
}

// prepare makes the headers of the runs.
func (s *sender) prepare() {
	if n := len(s.runs); cap(s.headers) < n {
		s.headers, s.control = make([]header, n, 2*n), make([][24]byte, n, 2*n)
	}
	if n := len(s.frames); cap(s.parts) < n {
		s.parts = make([]syscall.Iovec, n, 2*n)
	}
	s.headers, s.control, s.parts = s.headers[:len(s.runs)], s.control[:len(s.runs)], s.parts[:len(s.frames)]
	first := 0
	for i := range s.runs {
		r, h := &s.runs[i], &s.headers[i]
		r.first = first
		h.Name, h.Namelen = (*byte)(unsafe.Pointer(&r.name)), r.length
		h.Iov, h.Iovlen = &s.parts[first], 0
		h.Control, h.Controllen = nil, 0
		if r.frames > 1 {
			c := (*syscall.Cmsghdr)(unsafe.Pointer(&s.control[i]))
			c.Level, c.Type, c.Len = solUDP, udpSegment, syscall.SizeofCmsghdr+2
			*(*uint16)(unsafe.Pointer(&s.control[i][syscall.SizeofCmsghdr])) = uint16(r.size)
			h.Control, h.Controllen = &s.control[i][0], uint64(len(s.control[i]))
		}
		first += r.frames
	}
	at := 0
	for _, f := range s.frames {
		r, h := &s.runs[f.run], &s.headers[f.run]
		p := &s.parts[r.first+int(h.Iovlen)]
		p.Base, p.Len = nil, uint64(f.size)
		if f.size > 0 {
			p.Base = &s.data[at]
		}
		h.Iovlen++
		at += int(f.size)
	}
}

// few is how many datagrams are sent so quickly, within a tenth of a millisecond, that the scheduler need not know of
// it. Otherwise it gives the processor to another thread meanwhile, which costs more than the sending.
const few = 32

// send is called with the socket, and never waits.
func (s *sender) send(fd uintptr) bool {
	rest := s.headers[s.from:]
	for {
		var n uintptr
		if len(s.frames) <= few {
			n, _, s.errno = syscall.RawSyscall6(sysSendmmsg, fd, uintptr(unsafe.Pointer(&rest[0])),
				uintptr(len(rest)), syscall.MSG_DONTWAIT, 0, 0)
		} else {
			n, _, s.errno = syscall.Syscall6(sysSendmmsg, fd, uintptr(unsafe.Pointer(&rest[0])),
				uintptr(len(rest)), syscall.MSG_DONTWAIT, 0, 0)
		}
		if s.errno == 0 {
			s.from += int(n)
		}
		if s.errno != syscall.EINTR {
			return true
		}
	}
}

// refused handles a message that the kernel did not take. If it was to be cut, its datagrams go one
// by one.
func (s *sender) refused(i int) (lost int) {
	r, h := &s.runs[i], s.headers[i]
	if r.frames == 1 {
		return 1
	}
	if s.errno == syscall.EIO {
		s.offload = false // the way out of this computer cannot do it
	} else {
		s.largest = min(s.largest, r.size-1) // it does not fit into what the way carries
	}
	parts, headers, from := s.parts[r.first:r.first+r.frames], s.headers, s.from
	one := [1]header{h}
	one[0].Control, one[0].Controllen, one[0].Iovlen = nil, 0, 1
	for k := range parts {
		one[0].Iov = &parts[k]
		s.headers, s.from = one[:], 0
		if err := s.raw.Write(s.call); err != nil || s.errno != 0 {
			lost++
		}
	}
	s.headers, s.from = headers, from
	return lost
}

//go:build linux && (amd64 || arm64)

package mmsg

import (
	"net"
	"net/netip"
	"syscall"
	"unsafe"
)

const (
	solUDP     = 17
	udpSegment = 103
	udpGRO     = 104
)

// receiver reads several datagrams at a time. It has room for one, and for more once more have come
// together.
type receiver struct {
	raw   syscall.RawConn
	call  func(fd uintptr) bool // made once, so that reading does not allocate
	size  int                   // of a buffer
	join  bool
	err   syscall.Errno
	zones zones

	headers []header
	parts   []syscall.Iovec
	names   []sockaddr
	control [][24]byte
	count   int  // datagrams read
	next    int  // the next to be given
	offset  int  // in what the kernel has joined
	at      bool // do not wait
}

func (r *receiver) init(conn *net.UDPConn, o Options, offload bool) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	r.raw, r.size = raw, o.MaxFrame+1
	if offload {
		err = raw.Control(func(fd uintptr) { r.join = syscall.SetsockoptInt(int(fd), solUDP, udpGRO, 1) == nil })
	}
	if r.join {
		r.size = max(r.size, joined)
	}
	r.call = r.receive
	r.grow(1)
	return err
}

// grow makes room for n datagrams. None is at hand.
func (r *receiver) grow(n int) {
	r.count, r.next = 0, 0
	r.headers, r.parts = make([]header, n), append(make([]syscall.Iovec, 0, n), r.parts...)
	r.names, r.control = make([]sockaddr, n), make([][24]byte, n)
	for len(r.parts) < n {
		buf := make([]byte, r.size)
		r.parts = append(r.parts, syscall.Iovec{Base: &buf[0], Len: uint64(r.size)})
	}
	for i := range r.headers {
		h := &r.headers[i]
		h.Name = (*byte)(unsafe.Pointer(&r.names[i]))
		h.Iov, h.Iovlen = &r.parts[i], 1
		r.prepare(h, i)
	}
}

// prepare resets what the kernel writes.
func (r *receiver) prepare(h *header, i int) {
	h.Namelen = uint32(len(r.names[i]))
	if r.join {
		h.Control, h.Controllen = &r.control[i][0], uint64(len(r.control[i]))
	}
}

// receive is called with the socket; it reports false if there is nothing to read.
func (r *receiver) receive(fd uintptr) bool {
	for {
		// It does not wait, and so the scheduler need not know of it.
		n, _, errno := syscall.RawSyscall6(sysRecvmmsg, fd,
			uintptr(unsafe.Pointer(&r.headers[0])), uintptr(len(r.headers)),
			syscall.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			r.count, r.err = int(n), 0
			return true
		case syscall.EINTR:
		case syscall.EAGAIN:
			r.err = errno
			return r.at
		default:
			r.err = errno
			return true
		}
	}
}

func (r *receiver) crowded() bool { return r.count == maxBatch }

func (r *receiver) fetch() bool {
	r.at = true
	err := r.fill()
	r.at = false
	return err == nil && r.held()
}

func (r *receiver) held() bool { return r.next < r.count }

func (r *receiver) read() ([]byte, netip.AddrPort, error) {
	for r.next >= r.count {
		if err := r.fill(); err != nil {
			return nil, netip.AddrPort{}, err
		}
	}
	i := r.next
	b := unsafe.Slice(r.parts[i].Base, r.size)[:min(int(r.headers[i].n), r.size)]
	end := len(b)
	if seg := r.segment(i); seg > 0 {
		end = min(r.offset+seg, end)
	}
	b = b[r.offset:end:end]
	if r.offset = end; end >= int(r.headers[i].n) || end >= r.size {
		r.next++
		r.offset = 0
	}
	return b, r.names[i].get(&r.zones), nil
}

// segment is the size of the datagrams that were joined, 0 if there is only one.
func (r *receiver) segment(i int) int {
	h := &r.headers[i]
	if !r.join || h.Controllen < syscall.SizeofCmsghdr+4 {
		return 0
	}
	c := (*syscall.Cmsghdr)(unsafe.Pointer(&r.control[i]))
	if c.Level != solUDP || c.Type != udpGRO {
		return 0
	}
	return int(*(*int32)(unsafe.Pointer(&r.control[i][syscall.SizeofCmsghdr])))
}

// fill waits for datagrams.
func (r *receiver) fill() error {
	if n := len(r.headers); r.count == n && n < maxBatch {
		r.grow(2 * n)
	}
	for i := range r.count {
		r.prepare(&r.headers[i], i)
	}
	r.count, r.next, r.offset = 0, 0, 0
	if err := r.raw.Read(r.call); err != nil {
		return err
	}
	if r.err != 0 {
		return r.err
	}
	return nil
}

//go:build unix

package tcp

import (
	"net"
	"syscall"
)

// directWriter writes what the kernel takes now. Its callback is made once, so
// that writing does not allocate.
type directWriter struct {
	raw  syscall.RawConn
	call func(fd uintptr) bool
	b    []byte
	n    int
	err  error
}

func newDirectWriter(conn *net.TCPConn) *directWriter {
	raw, err := conn.SyscallConn()
	if err != nil {
		return &directWriter{} // the connection is closed; the first write says so
	}
	d := &directWriter{raw: raw}
	d.call = func(fd uintptr) bool {
		for {
			d.n, d.err = syscall.Write(int(fd), d.b)
			if d.err != syscall.EINTR {
				return true // never wait here
			}
		}
	}
	return d
}

// write returns how many bytes of b were taken, which may be none.
func (d *directWriter) write(b []byte) (int, error) {
	if d.raw == nil {
		return 0, net.ErrClosed
	}
	d.b, d.n, d.err = b, 0, nil
	err := d.raw.Write(d.call)
	d.b = nil
	if err == nil {
		err = d.err
	}
	if err == syscall.EAGAIN {
		err = nil
	}
	return max(d.n, 0), err
}

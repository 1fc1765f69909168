package tcp

import (
	"os"
	"syscall"
	"time"
)

// poller is an epoll instance that is itself waited for by the Go runtime: a
// goroutine that waits for it takes no thread, and has a deadline that others can set.
type poller struct {
	fd   int
	file *os.File
	raw  syscall.RawConn
	call func(uintptr) bool
	list [64]syscall.EpollEvent // list[:n] was found by the last wait
	n    int
}

func newPoller() (*poller, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // has NewFile hand it to the runtime
		syscall.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	p := &poller{fd: fd, file: os.NewFile(uintptr(fd), "epoll")}
	if err := p.file.SetReadDeadline(time.Time{}); err != nil {
		p.file.Close()
		return nil, err
	}
	if p.raw, err = p.file.SyscallConn(); err != nil {
		p.file.Close()
		return nil, err
	}
	p.call = func(fd uintptr) bool {
		for {
			n, err := syscall.EpollWait(int(fd), p.list[:], 0)
			if err != syscall.EINTR {
				p.n = max(n, 0)
				return p.n > 0
			}
		}
	}
	return p, nil
}

// wait waits until something is ready, or the deadline of the file.
func (p *poller) wait() error {
	p.n = 0
	return p.raw.Read(p.call)
}

// watch adds a descriptor, or changes what is watched of it. The number comes back with the event.
func (p *poller) watch(add bool, fd int, events uint32, number int) error {
	op := syscall.EPOLL_CTL_MOD
	if add {
		op = syscall.EPOLL_CTL_ADD
	}
	return syscall.EpollCtl(p.fd, op, fd, &syscall.EpollEvent{Events: events, Fd: int32(number)})
}

func (p *poller) forget(fd int) {
	syscall.EpollCtl(p.fd, syscall.EPOLL_CTL_DEL, fd, &syscall.EpollEvent{})
}

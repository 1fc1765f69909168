//go:build amd64 || arm64

package udp_test

import (
	"context"
	"encoding/binary"
	"net"
	"syscall"
	"testing"
	"unsafe"

	"github.com/parley-go/parley/runtime/transport/linktest"
)

// BenchmarkKernel says what would be gained if the kernel kept a flood apart, for bare loops that
// do nothing else than to answer: one socket for all, a connected socket for the peer beside it,
// and one socket with a filter that drops what the flooder's address sends.
func BenchmarkKernel(b *testing.B) {
	for _, kind := range []string{"one", "connected", "filter"} {
		b.Run(kind, func(b *testing.B) {
			for range b.N {
				all := reuse(b, "127.0.0.1:0")
				to := all.LocalAddr().String()
				c, err := net.Dial("udp4", to)
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close()
				switch kind {
				case "connected":
					own := reuse(b, to)
					connect(b, own, c.LocalAddr().(*net.UDPAddr))
					go linktest.Echo(own)
					defer own.Close()
				case "filter":
					drop(b, all, net.IPv4(127, 0, 0, 2))
				}
				go linktest.Echo(all)
				linktest.FloodSocket(b, c, linktest.Datagrams(b, "127.0.0.2", to, make([]byte, 100)))
				all.Close()
			}
		})
	}
}

// reusePort is SO_REUSEPORT, which package syscall does not have for all processors.
const reusePort = 15

func reuse(b *testing.B, address string) *net.UDPConn {
	b.Helper()
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, reusePort, 1) })
	}}
	pc, err := lc.ListenPacket(context.Background(), "udp4", address)
	if err != nil {
		b.Fatal(err)
	}
	return pc.(*net.UDPConn)
}

func control(b *testing.B, c *net.UDPConn, what func(fd int) error) {
	b.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	if e := raw.Control(func(fd uintptr) { err = what(int(fd)) }); e != nil || err != nil {
		b.Skip(e, err)
	}
}

func connect(b *testing.B, c *net.UDPConn, to *net.UDPAddr) {
	b.Helper()
	control(b, c, func(fd int) error {
		return syscall.Connect(fd, &syscall.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())})
	})
}

// drop has the kernel drop what comes from an address.
func drop(b *testing.B, c *net.UDPConn, from net.IP) {
	b.Helper()
	const source = 0xfff0_0000 + 12 // SKF_NET_OFF, and the sender's address in a header of IP
	program := []syscall.SockFilter{
		{Code: syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS, K: source},
		{Code: syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, Jf: 1, K: binary.BigEndian.Uint32(from.To4())},
		{Code: syscall.BPF_RET | syscall.BPF_K, K: 0},
		{Code: syscall.BPF_RET | syscall.BPF_K, K: 1 << 16},
	}
	prog := syscall.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	control(b, c, func(fd int) error {
		_, _, errno := syscall.Syscall6(syscall.SYS_SETSOCKOPT, uintptr(fd), syscall.SOL_SOCKET,
			syscall.SO_ATTACH_FILTER, uintptr(unsafe.Pointer(&prog)), unsafe.Sizeof(prog), 0)
		if errno != 0 {
			return errno
		}
		return nil
	})
}

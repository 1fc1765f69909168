//go:build unix

package tcp_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport/tcp"
)

// Without file descriptors nobody is accepted, those who are there are served, and when there are
// some again everything goes on.
func TestServerStarved(t *testing.T) {
	engines(t, func(t *testing.T, open func(tcp.ServeConfig) *tcp.Server) {
		e := echoing(t, open(tcp.ServeConfig{}))
		good := e.dial(t)
		served(t, good, "before")
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(fd)
		release := exhaust(t)
		to := e.LocalAddr().(*net.TCPAddr).AddrPort()
		if err := syscall.Connect(fd, &syscall.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}); err != nil {
			t.Fatal(err)
		}
		for e.Stats().Starved == 0 {
			served(t, good, "meanwhile")
		}
		release()
		if _, err := syscall.Write(fd, []byte("after")); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 5)
		if n, err := syscall.Read(fd, b); err != nil || string(b[:n]) != "after" {
			t.Errorf("%q, %v", b[:n], err)
		}
	})
}

// exhaust takes all file descriptors that this process may have, of which it leaves it few.
func exhaust(t *testing.T) (release func()) {
	var before, few syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Skip(err)
	}
	few = before
	few.Cur = min(few.Cur, 256)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Skip(err)
	}
	var taken []int
	for {
		fd, err := syscall.Dup(0)
		if err != nil {
			break
		}
		taken = append(taken, fd)
	}
	over := false
	release = func() {
		if over {
			return
		}
		over = true
		for _, fd := range taken {
			syscall.Close(fd)
		}
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
	}
	t.Cleanup(release)
	return release
}

// BenchmarkAccept says what a connection that comes and goes costs in processor time, both ends
// together: without limits, within them, and turned away.
func BenchmarkAccept(b *testing.B) {
	cpu := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	const turn = 200
	for _, c := range []struct {
		name string
		cfg  tcp.ServeConfig
	}{
		{"no limits", tcp.ServeConfig{PerAddress: -1, AddressRate: -1, AcceptRate: -1}},
		{"within", tcp.ServeConfig{PerAddress: 1000, AddressRate: 1 << 30, AcceptRate: 1 << 30}},
		{"turned away", tcp.ServeConfig{AddressRate: 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, err := tcp.Serve("tcp4", "127.0.0.1:0", c.cfg)
			if err != nil {
				b.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for {
					if _, err := s.Receive(make([]byte, 10)); err != nil {
						return
					}
				}
			}()
			var best time.Duration
			for b.Loop() {
				before := cpu()
				for range turn {
					if c, err := net.Dial("tcp4", s.LocalAddr().String()); err == nil {
						c.(*net.TCPConn).SetLinger(0)
						c.Close()
					}
				}
				if spent := cpu() - before; best == 0 || spent < best {
					best = spent
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(best)/turn, "cpu-ns/conn")
			s.Abort()
			<-ended
		})
	}
}

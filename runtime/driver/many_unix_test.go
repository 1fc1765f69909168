//go:build unix

package driver_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// crowd is the other ends of many connections: descriptors only, so that
// what is measured is the server.
type crowd []int

func gather(tb testing.TB, to net.Addr, count int) crowd {
	a := to.(*net.TCPAddr).AddrPort()
	var c crowd
	tb.Cleanup(func() { c.leave() })
	for range count {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
		if err != nil {
			tb.Fatal(err)
		}
		c = append(c, fd)
		// ends a run that would hang
		syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: 20})
		if err := syscall.Connect(fd, &syscall.SockaddrInet4{Addr: a.Addr().As4(), Port: int(a.Port())}); err != nil {
			tb.Fatal(err)
		}
	}
	return c
}

func (c crowd) leave() {
	for i, fd := range c {
		if fd >= 0 {
			syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
			syscall.Close(fd)
			c[i] = -1
		}
	}
}

// round has each of them ask, and then each hear the answer, the last one first: most answers are there
// by then, and few are worth waking anybody for.
func (c crowd) round(tb testing.TB, out, in []byte) {
	for _, fd := range c {
		n, err := syscall.Write(fd, out) // so little is taken whole or not at all
		for err == syscall.EINTR {
			n, err = syscall.Write(fd, out)
		}
		if n != len(out) {
			tb.Fatal(err)
		}
	}
	for _, fd := range slices.Backward(c) {
		for got := 0; got < len(in); {
			n, err := syscall.Read(fd, in[got:])
			if err == syscall.EINTR {
				continue
			}
			if n <= 0 {
				tb.Fatal(n, err)
			}
			got += n
		}
	}
}

type pingServer struct {
	*driver.Host[runner, pingpong.Machine]
	link *tcp.Server
	stop func()
}

func serveMany(tb testing.TB, cfg tcp.ServeConfig, o driver.Options[runner]) *pingServer {
	cfg.PerAddress, cfg.AddressRate, cfg.AcceptRate = -1, -1, -1 // all are of one address and come at once
	l, err := tcp.Serve("tcp4", "127.0.0.1:0", cfg)
	if err != nil {
		tb.Fatal(err)
	}
	h, err := driver.NewHost(pingpong.New(), func(r runner) *pingpong.Machine { return &r.M }, nil, l, o)
	if err != nil {
		tb.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- h.Run(context.Background()) }()
	return &pingServer{h, l, func() {
		h.Stop()
		if err := <-ran; err != nil {
			tb.Error(err)
		}
	}}
}

// occupied is the memory of this process in use: heap and stacks.
func occupied() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first has put into pools is free now
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// atRest brings up connections that have said something once, and returns what each takes.
func atRest(tb testing.TB, count int, o driver.Options[runner]) (s *pingServer, c crowd, bytes float64) {
	out := appendPing(nil, 7)
	before := occupied()
	s = serveMany(tb, tcp.ServeConfig{MaxPeers: count, Linger: 50 * time.Millisecond}, o)
	c = gather(tb, s.link.LocalAddr(), count)
	for range 3 {
		c.round(tb, out, make([]byte, len(out)))
	}
	if n := s.Sessions(); n != count {
		tb.Fatalf("%d machines for %d connections", n, count)
	}
	return s, c, (occupied() - before) / float64(count)
}

// A connection at rest with its machine takes less than a KiB.
func TestHostStreamMemory(t *testing.T) {
	s, c, bytes := atRest(t, 400, driver.Options[runner]{IdleLimit: time.Hour})
	t.Logf("%.0f bytes for each of %d connections at rest, what all share included", bytes, len(c))
	if bytes > 1024 && runtime.GOOS == "linux" {
		t.Errorf("%.0f bytes for a connection at rest", bytes)
	}
	c.leave()
	s.stop()
}

// BenchmarkManyIdle measures 10,000 TCP connections at rest, or as many as there are descriptors
// for: memory of each, and processor time in percent of a core.
func BenchmarkManyIdle(b *testing.B) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil {
		limit.Cur = limit.Max
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
	count := int(min(10_000, uint64(limit.Cur-100)/2))
	s, c, bytes := atRest(b, count, driver.Options[runner]{IdleLimit: 2 * time.Hour})
	least := time.Hour
	for b.Loop() {
		before := cpu()
		time.Sleep(time.Second)
		least = min(least, cpu()-before)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(len(c)), "connections")
	b.ReportMetric(bytes, "bytes/connection")
	b.ReportMetric(100*least.Seconds(), "%-of-a-core")
	c.leave()
	s.stop()
}

// BenchmarkManyEcho answers pings on 100 connections, by a host and by a goroutine for each
// connection, in turns within one run. It compares how many they answer in a second of processor
// time, the client's included, in the best of their turns.
func BenchmarkManyEcho(b *testing.B) {
	for _, pings := range []int{1, 8} {
		b.Run(fmt.Sprint(pings, " in flight each"), func(b *testing.B) {
			s := serveMany(b, tcp.ServeConfig{Linger: 50 * time.Millisecond}, driver.Options[runner]{})
			plain, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer plain.Close()
			go func() {
				for conn, err := plain.Accept(); err == nil; conn, err = plain.Accept() {
					go bareServer(conn)
				}
			}()
			sides := []crowd{gather(b, s.link.LocalAddr(), 100), gather(b, plain.Addr(), 100)}
			out := newClient(nil, pings).out
			in := make([]byte, len(out))
			var best [2]time.Duration
			const turn = 50 // rounds before the other has its turn
			for b.Loop() {
				for i, c := range sides {
					before := cpu()
					for range turn {
						c.round(b, out, in)
					}
					if spent := cpu() - before; best[i] == 0 || spent < best[i] {
						best[i] = spent
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(best[1])/float64(best[0]), "host/goroutines-throughput")
			b.ReportMetric(float64(best[0])/float64(turn*100*pings), "cpu-ns/msg")
			sides[0].leave()
			s.stop()
		})
	}
}

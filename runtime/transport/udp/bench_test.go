//go:build linux

package udp_test

import (
	"context"
	"encoding/binary"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/internal/race"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// inFlight is how many messages the benchmark's client keeps under way.
const inFlight = 32

// cpu returns the processor time that the calling thread has used.
func cpu() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	syscall.Getrusage(thread, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// volley sends n pings and takes the answers, inFlight at a time.
func volley(b *testing.B, conn *net.UDPConn, n int) {
	ping, buf := []byte{0, 7, pingpong.PING, 0, 0, 0, 0}, make([]byte, 100)
	for sent, got := 0, 0; got < n; {
		for ; sent < n && sent-got < inFlight; sent++ {
			binary.BigEndian.PutUint32(ping[3:], uint32(sent))
			if _, err := conn.Write(ping); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := conn.Read(buf); err != nil {
			b.Fatal(err)
		}
		got++
	}
}

// bare answers as plain Go code would.
func bare(conn *net.UDPConn) {
	buf := make([]byte, 100)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil || n == 1 {
			return
		}
		buf[2] = pingpong.PONG
		if _, err := conn.WriteToUDPAddrPort(buf[:n], from); err != nil {
			return
		}
	}
}

// strong is a link that is declared as good as the test protocol demands; over loopback it is.
type strong struct{ *udp.Link }

func (s strong) Properties() transport.Properties {
	p := s.Link.Properties()
	p.Ordered, p.Reliable, p.Duplicating = true, true, false
	return p
}

// BenchmarkEcho has messages answered by a bare loop, by a link, by a
// driver and by a host, in turns within one run, and compares the processor time that the
// answering thread needs for each message in its best turn. Every turn answers turn messages.
func BenchmarkEcho(b *testing.B) {
	const turn = 5000
	var best [4]time.Duration // of a turn
	var mallocs [4]uint64
	turns := 0
	run := func(k int, serve func() (addr string, answer func(), stop func())) {
		addr, answer, stop := serve()
		used := make(chan time.Duration)
		go func() {
			runtime.LockOSThread()
			before := cpu()
			answer()
			used <- cpu() - before
		}()
		c, err := net.Dial("udp4", addr)
		if err != nil {
			b.Fatal(err)
		}
		conn := c.(*net.UDPConn)
		volley(b, conn, 100)
		var m0, m1 runtime.MemStats
		runtime.ReadMemStats(&m0)
		volley(b, conn, turn)
		runtime.ReadMemStats(&m1)
		mallocs[k] += m1.Mallocs - m0.Mallocs
		stop()
		if spent := <-used; turns == 1 || spent < best[k] {
			best[k] = spent
		}
		conn.Close()
	}
	for b.Loop() {
		turns++
		run(0, serveBare(b))
		run(1, serveLink(b))
		run(2, serveDriver(b))
		run(3, serveHost(b))
	}
	perMessage := func(k int) float64 { return float64(best[k]) / (turn + 100) }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(perMessage(0), "bare-cpu-ns/msg")
	b.ReportMetric(perMessage(1)/perMessage(0), "link/bare")
	b.ReportMetric(perMessage(2)/perMessage(0), "driver/bare")
	b.ReportMetric(perMessage(3)/perMessage(0), "host/bare")
	b.ReportMetric(float64(mallocs[3])/float64(turns*turn), "host-allocs/msg")
	b.ReportMetric(float64(mallocs[1])/float64(turns*turn), "link-allocs/msg")
	b.ReportMetric(float64(mallocs[2])/float64(turns*turn), "driver-allocs/msg")
}

func serveBare(b *testing.B) func() (string, func(), func()) {
	return func() (string, func(), func()) {
		pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		conn := pc.(*net.UDPConn)
		return conn.LocalAddr().String(), func() { bare(conn) }, func() { conn.Close() }
	}
}

func serveLink(b *testing.B) func() (string, func(), func()) {
	return func() (string, func(), func()) {
		l := open(b, "127.0.0.1:0", udp.Config{})
		answer := func() {
			buf := make([]byte, 100)
			for {
				got, err := l.Receive(buf)
				for ok := err == nil; ok; got, ok = l.Next(buf) {
					if got.Kind == transport.Data {
						buf[2] = pingpong.PONG
						l.Send(got.Peer, buf[:got.N])
					}
				}
				if err != nil {
					return
				}
				l.Flush()
			}
		}
		return l.LocalAddr().String(), answer, func() { l.Abort() }
	}
}

func serveDriver(b *testing.B) func() (string, func(), func()) {
	return func() (string, func(), func()) {
		l := open(b, "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 1}})
		d := driver.New(pingpong.New(), driver.Options[*pingpong.Runner]{})
		if err := d.Attach(0, strong{l}); err != nil {
			b.Fatal(err)
		}
		return l.LocalAddr().String(), func() { d.Run(context.Background()) }, func() { d.Stop(); <-d.Done() }
	}
}

func serveHost(b *testing.B) func() (string, func(), func()) {
	return func() (string, func(), func()) {
		l := open(b, "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 1}})
		where := func(r *pingpong.Runner) *pingpong.Machine { return &r.M }
		h, err := driver.NewHost(pingpong.New(), where, nil, strong{l}, driver.Options[*pingpong.Runner]{})
		if err != nil {
			b.Fatal(err)
		}
		return l.LocalAddr().String(), func() { h.Run(context.Background()) }, h.Stop
	}
}

// A frame sent and received costs no allocation, with limits and silence too.
func TestNoAllocation(t *testing.T) {
	a, b := join(t, "127.0.0.1:0", udp.Config{Limits: udp.Limits{Silence: time.Hour, FrameRate: 1e6, ByteRate: 1e9}})
	expect(t, a, "up 0")
	expect(t, b, "up 0")
	f, buf := make([]byte, 100), make([]byte, 200)
	n := testing.AllocsPerRun(200, func() {
		if a.Send(0, f) != nil || a.Flush() != nil {
			t.Fatal("cannot send")
		}
		if _, err := b.Receive(buf); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 && !race.Enabled {
		t.Errorf("%v allocations", n)
	}
}

package linktest

import (
	"encoding/binary"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Drained returns how many datagrams a second a bare loop takes from a UDP socket while another
// one sends as fast as it can, in this process: what Flood is measured by.
func Drained(b *testing.B) int {
	b.Helper()
	pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer pc.Close()
	send := Flooder(b, "127.0.0.1", pc.LocalAddr().String(), make([]byte, 100))
	var stop atomic.Bool
	var done sync.WaitGroup
	done.Go(func() {
		for !stop.Load() {
			send(64)
		}
	})
	conn, buf, got, began := pc.(*net.UDPConn), make([]byte, 2000), 0, time.Now()
	for time.Since(began) < 300*time.Millisecond {
		if _, _, err := conn.ReadFromUDPAddrPort(buf); err != nil {
			b.Fatal(err)
		}
		got++
	}
	stop.Store(true)
	done.Wait()
	return int(float64(got) / time.Since(began).Seconds())
}

// Flooder returns a function that sends a datagram n times from an address of this computer.
func Flooder(b *testing.B, from, to string, datagram []byte) func(n int) {
	b.Helper()
	local := &net.UDPAddr{IP: net.ParseIP(from)}
	remote, err := net.ResolveUDPAddr("udp4", to)
	if err != nil {
		b.Fatal(err)
	}
	c, err := net.DialUDP("udp4", local, remote)
	if err != nil {
		b.Skipf("this computer has no address %s: %v", from, err)
	}
	b.Cleanup(func() { c.Close() })
	return func(n int) {
		for range n {
			c.Write(datagram)
		}
	}
}

// Felt is what somebody notices of a flood.
type Felt struct {
	Sent, Lost int
	P50, P99   time.Duration // of the way there and back
	Flooded    int           // datagrams a second that were sent meanwhile
}

// Feel has a link send a frame of 12 bytes each millisecond to its peer 0, which answers each, while
// flood (nil for an idle run) is called rate times a second. It lasts for a while.
func Feel(b *testing.B, l transport.Link, flood func(n int), rate int, lasts time.Duration) Felt {
	b.Helper()
	var stop atomic.Bool
	var done sync.WaitGroup
	sent := 0
	if flood != nil {
		done.Go(func() {
			for began := time.Now(); !stop.Load(); time.Sleep(200 * time.Microsecond) {
				due := int(time.Since(began).Seconds() * float64(rate))
				flood(min(due-sent, 1000))
				sent = due
			}
		})
	}
	var f Felt
	var ways []time.Duration
	began := time.Now()
	done.Go(func() {
		buf := make([]byte, 2000)
		l.Interrupt(began.Add(lasts + 200*time.Millisecond))
		for {
			got, err := l.Receive(buf)
			if err != nil {
				return
			}
			for in := buf[:got.N]; got.Kind == transport.Data && len(in) >= 12; in = in[12:] {
				ways = append(ways, time.Since(began)-time.Duration(binary.BigEndian.Uint64(in)))
			}
		}
	})
	for time.Since(began) < lasts {
		frame := binary.BigEndian.AppendUint64(nil, uint64(time.Since(began)))
		if l.Send(0, append(frame, "ping"...)) == nil {
			f.Sent++
		}
		l.Flush()
		time.Sleep(time.Millisecond)
	}
	if lasts := time.Since(began); lasts > 0 {
		f.Flooded = int(float64(sent) / lasts.Seconds())
	}
	time.AfterFunc(200*time.Millisecond, func() { stop.Store(true) })
	done.Wait()
	slices.Sort(ways)
	f.Lost = f.Sent - len(ways)
	if n := len(ways); n > 0 {
		f.P50, f.P99 = ways[n/2], ways[n*99/100]
	}
	return f
}

// Report shows what was felt in an idle run and in a flood; drained is 0 if that says nothing.
func Report(b *testing.B, drained int, idle, flood Felt) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(idle.P99.Microseconds()), "idle-p99-us")
	b.ReportMetric(float64(flood.P99.Microseconds()), "flood-p99-us")
	b.ReportMetric(float64(flood.P50.Microseconds()), "flood-p50-us")
	b.ReportMetric(float64(flood.P99)/float64(max(idle.P99, 1)), "p99-times")
	b.ReportMetric(100*float64(flood.Lost)/float64(max(flood.Sent, 1)), "lost-%")
	b.ReportMetric(float64(flood.Flooded), "flood/s")
	if drained > 0 {
		b.ReportMetric(float64(drained), "drained/s")
	}
}

// Answer answers every frame of a link until it ends.
func Answer(l transport.Link) {
	buf := make([]byte, 2000)
	more, _ := l.(transport.Batched)
	for {
		got, err := l.Receive(buf)
		for n := 0; err == nil && n < 64; n++ { // as a driver does
			if got.Kind == transport.Data {
				l.Send(got.Peer, buf[:got.N])
			}
			ok := false
			if more != nil {
				got, ok = more.Next(buf)
			}
			if !ok {
				break
			}
		}
		if err != nil {
			return
		}
		l.Flush()
	}
}

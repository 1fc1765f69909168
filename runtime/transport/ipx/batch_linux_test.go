package ipx_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
)

const volley = 24

// three returns three links of a server; what the first sends to all comes to the second before the
// third.
func three(t testing.TB) (links [3]*ipx.Link) {
	s := serve(t, "udp4", "127.0.0.1:0", ipx.ServerConfig{FrameRate: -1})
	for i := range links {
		links[i] = dial(t, s, ipx.Config{})
		known(t, links[i], s, i+1)
	}
	return links
}

func sendVolley(t testing.TB, l *ipx.Link) {
	for n := range byte(volley) {
		if err := l.Send(transport.All, []byte{n, 1, 2, 3, 4, 5, 6, 7}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
}

// takeVolley receives one and returns how often it had to ask the kernel or might have.
func takeVolley(t testing.TB, l *ipx.Link) (waits int) {
	buf := make([]byte, 64)
	for n := byte(0); n < volley; {
		got, err := l.Receive(buf)
		if err != nil {
			t.Fatal(err)
		}
		waits++
		for ok := true; ok; got, ok = l.Next(buf) {
			if got.Kind != transport.Data {
				continue
			}
			if got.N != 8 || buf[0] != n {
				t.Fatalf("frame %d has number %d and %d bytes", n, buf[0], got.N)
			}
			n++
		}
	}
	return waits
}

// What came together over the tunnel is there without another call of the kernel for each, in its
// order.
func TestTogether(t *testing.T) {
	links := three(t)
	sendVolley(t, links[0])
	takeVolley(t, links[2]) // then the second has it all
	if waits := takeVolley(t, links[1]); waits > volley/2 {
		t.Errorf("%d frames were waited for %d times", volley, waits)
	}
}

// BenchmarkServer has a server relay volleys from one link to two others. It says what a message
// costs in processor time, all of them together, in the best turn.
func BenchmarkServer(b *testing.B) {
	cpu := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	const turn = 100
	links := three(b)
	var best time.Duration
	for b.Loop() {
		before := cpu()
		for range turn {
			sendVolley(b, links[0])
			takeVolley(b, links[2])
			takeVolley(b, links[1])
		}
		if spent := cpu() - before; best == 0 || spent < best {
			best = spent
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(best)/(turn*volley), "cpu-ns/msg")
}

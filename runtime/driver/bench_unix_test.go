//go:build unix

package driver_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// cpu returns the processor time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTCP answers pings over loopback TCP, by a driver and by a bare loop, in turns within one run. It
// compares how many they answer in a second of processor time, the client's included, in the best of their turns.
func BenchmarkTCP(b *testing.B) {
	for _, pings := range []int{1, 8, 16, 64} {
		b.Run(fmt.Sprint(pings, " in flight"), func(b *testing.B) {
			a1, s1 := socketPair(b)
			a2, s2 := socketPair(b)
			go bareServer(s2)
			stop := answering(b, tcp.New(s1, tcp.Config{}), driver.Options[runner]{})
			sides := [2]*client{newClient(a1, pings), newClient(a2, pings)}
			var best [2]time.Duration
			const turn = 2000 // rounds before the other has its turn
			b.ReportAllocs()
			for b.Loop() {
				for i, c := range sides {
					before := cpu()
					for range turn {
						c.round(b)
					}
					if spent := cpu() - before; best[i] == 0 || spent < best[i] {
						best[i] = spent
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(best[1])/float64(best[0]), "driver/bare-throughput")
			b.ReportMetric(float64(best[0])/float64(turn*pings), "cpu-ns/msg")
			a1.Close()
			a2.Close()
			stop()
		})
	}
}

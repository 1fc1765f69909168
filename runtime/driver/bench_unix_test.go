//go:build unix

package driver_test

import (
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// cpu returns the processor time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTCP answers pings over loopback TCP, by a driver and by a bare loop, in turns within one
// run. It compares how many they answer in a second of processor time, the client's included, in
// the best of their turns.
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

// sure is a link that is declared as good as the test protocol demands; over loopback it is.
type sure struct{ *udp.Link }

func (s sure) Properties() transport.Properties {
	p := s.Link.Properties()
	p.Ordered, p.Reliable, p.Duplicating = true, true, false
	return p
}

// BenchmarkSeveral answers volleys of 32 datagrams by a driver with one link and by one with two,
// of which the other is silent. It says what a message costs in processor time, the client's
// included, in the best turn.
func BenchmarkSeveral(b *testing.B) {
	const volley, turn = 32, 200
	for links := 1; links <= 2; links++ {
		b.Run(fmt.Sprint(links, " links"), func(b *testing.B) {
			d := driver.New(pingpong.New(), driver.Options[runner]{})
			var to string
			for peer := range links {
				l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 1}})
				if err != nil {
					b.Skip(err)
				}
				if err := d.Attach(fsm.Peer(peer), sure{l}); err != nil {
					b.Fatal(err)
				}
				if peer == 0 {
					to = l.LocalAddr().String()
				}
			}
			go d.Run(b.Context())
			defer func() { d.Stop(); <-d.Done() }()
			client, err := net.Dial("udp4", to)
			if err != nil {
				b.Fatal(err)
			}
			defer client.Close()
			ping, answer := appendPing(nil, 1), make([]byte, 64)
			var best time.Duration
			for b.Loop() {
				before := cpu()
				for range turn {
					for range volley {
						client.Write(ping)
					}
					for range volley {
						if _, err := client.Read(answer); err != nil {
							b.Fatal(err)
						}
					}
				}
				if spent := cpu() - before; best == 0 || spent < best {
					best = spent
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(best)/(volley*turn), "cpu-ns/msg")
		})
	}
}

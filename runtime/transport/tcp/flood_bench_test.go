package tcp_test

import (
	"net"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// BenchmarkFlood says what a peer notices of an address that connects as fast as it can.
func BenchmarkFlood(b *testing.B) {
	for range b.N {
		server, err := tcp.Serve("tcp4", "127.0.0.1:0", tcp.ServeConfig{})
		if err != nil {
			b.Fatal(err)
		}
		go linktest.Answer(server)
		to := server.LocalAddr().String()
		peer, err := tcp.Dial(b.Context(), "tcp4", to, tcp.Config{})
		if err != nil {
			b.Fatal(err)
		}
		idle := linktest.Feel(b, peer, nil, 0, time.Second)
		flood := linktest.Feel(b, peer, func(n int) {
			for range min(n, 100) {
				if c, err := dialFrom("127.0.0.2", to); err == nil {
					c.(*net.TCPConn).SetLinger(0) // no port is kept for a connection that has ended
					c.Close()
				}
			}
		}, 1<<20, 2*time.Second)
		flood.Flooded = int(server.Stats().Hasty / 2)
		linktest.Report(b, 0, idle, flood)
		peer.Abort()
		server.Abort()
	}
}

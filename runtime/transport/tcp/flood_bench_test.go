package tcp_test

import (
	"testing"

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
		linktest.Flood(b, peer, linktest.Connections(b, "127.0.0.2", to))
		peer.Abort()
		server.Abort()
	}
}

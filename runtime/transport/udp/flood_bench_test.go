package udp_test

import (
	"testing"

	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// BenchmarkFlood says what a peer notices of an address that sends 0.8 of what a bare socket takes:
// to a link whose frames come from strangers too and which answers each, to one that takes 1000
// frames a second from a peer, and to one that asks for cookies.
func BenchmarkFlood(b *testing.B) {
	for _, kind := range []struct {
		name   string
		cookie bool
		rate   int
	}{{"plain", false, 0}, {"rate", false, 1000}, {"cookie", true, 0}} {
		b.Run(kind.name, func(b *testing.B) {
			for range b.N {
				cfg := udp.Config{Cookie: kind.cookie}
				cfg.FrameRate = kind.rate
				server := open(b, "127.0.0.1:0", cfg)
				go linktest.Answer(server)
				to := server.LocalAddr().String()
				peer := open(b, "127.0.0.1:0", udp.Config{Cookie: kind.cookie, Peers: []string{to}})
				linktest.Flood(b, peer, linktest.Datagrams(b, "127.0.0.2", to, make([]byte, 100)))
				server.Abort()
			}
		})
	}
}

package udp_test

import (
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// BenchmarkFlood says what a peer notices of an address that sends 0.8 of what a bare socket takes:
// to a link whose frames come from strangers too, and to one that asks for cookies.
func BenchmarkFlood(b *testing.B) {
	for name, cookie := range map[string]bool{"plain": false, "cookie": true} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				server := open(b, "127.0.0.1:0", udp.Config{Cookie: cookie})
				go linktest.Answer(server)
				to := server.LocalAddr().String()
				peer := open(b, "127.0.0.1:0", udp.Config{Cookie: cookie, Peers: []string{to}})
				drained := linktest.Drained(b)
				idle := linktest.Feel(b, peer, nil, 0, time.Second)
				flooder := linktest.Flooder(b, "127.0.0.2", to, make([]byte, 100))
				flood := linktest.Feel(b, peer, flooder, drained*8/10, 2*time.Second)
				linktest.Report(b, drained, idle, flood)
				server.Abort()
			}
		})
	}
}

package dtlslink_test

import (
	"testing"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/linktest"
)

// BenchmarkFlood says what a peer notices of an address that sends 0.8 of what a bare socket takes:
// datagrams that are nothing, and beginnings of handshakes.
func BenchmarkFlood(b *testing.B) {
	alice, bob := newPerson(b, "alice"), newPerson(b, "bob")
	for name, datagram := range map[string][]byte{"rubbish": make([]byte, 100), "hello": hello} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				server := open(b)
				y := wrap(b, server, bob.server(alice.key))
				go linktest.Answer(y)
				to := server.LocalAddr().String()
				x := wrap(b, open(b, to), alice.client(bob.key))
				expect(b, x, transport.PeerUp, "")
				linktest.Flood(b, x, linktest.Datagrams(b, "127.0.0.2", to, datagram))
				y.Abort()
			}
		})
	}
}

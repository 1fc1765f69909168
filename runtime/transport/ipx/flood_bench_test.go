package ipx_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/linktest"
)

// BenchmarkFlood says what a pair notices of a third one in its network that sends 0.8 of what a
// bare socket takes, to a node that nobody has and to everybody.
func BenchmarkFlood(b *testing.B) {
	for name, everybody := range map[string]bool{"nobody": false, "everybody": true} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				server, err := ipx.Listen("udp4", "127.0.0.1:0", ipx.ServerConfig{})
				if err != nil {
					b.Fatal(err)
				}
				go server.Serve(context.Background())
				join := func(peers ...ipx.Address) *ipx.Link {
					cfg := ipx.Config{Socket: 0x5000, Peers: peers}
					l, err := ipx.Dial(b.Context(), "udp4", server.Addr().String(), cfg)
					if err != nil {
						b.Fatal(err)
					}
					b.Cleanup(func() { l.Abort() })
					return l
				}
				far := join()
				near := join(far.Address())
				go linktest.Answer(far)
				linktest.Flood(b, near, flooding(b, server.Addr().String(), everybody))
				server.Close()
			}
		})
	}
}

// flooding registers from another address and returns a flooder that sends packets from there.
func flooding(b *testing.B, to string, everybody bool) *linktest.Flooder {
	b.Helper()
	c, node := registered(b, to)
	h := ipx.Header{Length: 100, Type: 4,
		Dst: ipx.Address{Node: ipx.Node{9}, Socket: 0x6000}, Src: ipx.Address{Node: node, Socket: 0x6000}}
	if everybody {
		h.Dst.Node = ipx.Broadcast
	}
	packet := append(h.Append(nil), make([]byte, 70)...)
	return linktest.Through(b, c, packet)
}

// registered is a socket of another address, and the node that it has been given.
func registered(b *testing.B, to string) (net.Conn, ipx.Node) {
	b.Helper()
	d := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	c, err := d.Dial("udp4", to)
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { c.Close() })
	ask := ipx.Header{Length: ipx.HeaderSize, Dst: ipx.Address{Socket: 2}, Src: ipx.Address{Socket: 2}}
	buf := make([]byte, 100)
	c.Write(ask.Append(nil))
	c.SetReadDeadline(time.Now().Add(time.Minute))
	n, err := c.Read(buf)
	if err != nil {
		b.Fatal(err)
	}
	h, _, err := ipx.Parse(buf[:n])
	if err != nil {
		b.Fatal(err)
	}
	return c, h.Dst.Node
}

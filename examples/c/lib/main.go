// Command lib is a C library with the machines that a program in C wants:
// those named here and in roles.go. Copy it, change the list, and build it with
//
//	go build -buildmode=c-archive -o libparley.a ./examples/c/lib
//	go build -buildmode=c-shared -o libparley.so ./examples/c/lib
//
// The header is runtime/capi/parley.h.
package main

import (
	"context"

	"github.com/parley-go/parley/examples/startup/peer"
	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/capi"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

func init() {
	capi.Register("ready.peer", func(*capi.Params) (fsm.Commander, error) { return ready.NewPeerRunner(), nil })
	capi.Register("setup.peer", func(p *capi.Params) (fsm.Commander, error) {
		return setup.NewPeerRunner(uint8(p.Int("index", 0, 1)))
	})
	capi.RegisterLinked("startup.peer", newStartup)
}

// newStartup makes a peer of the startup together with its link, which knows the peer's own number:
// `bind: "192.168.1.5", broadcast: "192.168.1.255:6581"` for UDP, or `tunnel: "HOST:2130"` for IPX
// through a server.
func newStartup(ctx context.Context, p *capi.Params) (fsm.Commander, transport.Link, error) {
	var link peer.Link
	var err error
	if p.Has("tunnel") {
		link, err = peer.OpenTunnel(ctx, peer.Place{Server: p.Text("tunnel", 256)})
	} else {
		link, err = peer.OpenUDP(peer.Place{Bind: p.Text("bind", 256), Broadcast: p.Text("broadcast", 256)})
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := startup.NewPeerRunner(fsm.Peer(link.Self()))
	if err != nil {
		link.Abort()
		return nil, nil, err
	}
	return r, link, nil
}

func main() {} // a library

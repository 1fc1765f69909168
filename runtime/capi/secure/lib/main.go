// Command lib is a C library with TLS and DTLS: what examples/c/lib is without them. Copy it to a
// module of your own, which requires this one, and build it in the same way.
package main

import (
	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/runtime/capi"
	_ "github.com/parley-go/parley/runtime/capi/secure" // tls: and dtls:
	"github.com/parley-go/parley/runtime/fsm"
)

func init() {
	capi.Register("setup.peer", func(p *capi.Params) (fsm.Commander, error) {
		return setup.NewPeerRunner(uint8(p.Int("index", 0, 1)))
	})
}

func main() {} // a library

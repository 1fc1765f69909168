// Command lib is a C library with the machines that a program in C wants:
// those imported here. Copy it, change the list, and build it with
//
//	go build -buildmode=c-archive -o libparley.a ./examples/c/lib
//	go build -buildmode=c-shared -o libparley.so ./examples/c/lib
//
// The header is runtime/capi/parley.h.
package main

import (
	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/runtime/capi"
	"github.com/parley-go/parley/runtime/fsm"
)

func init() {
	capi.Register("ready.peer", func(*capi.Params) (fsm.Commander, error) { return ready.NewPeerRunner(), nil })
	capi.Register("setup.peer", func(p *capi.Params) (fsm.Commander, error) {
		return setup.NewPeerRunner(uint8(p.Int("index", 0, 1)))
	})
}

func main() {} // a library

package pipe_test

import (
	"net"
	"testing"

	"github.com/parley-go/parley/examples/skirmish/pipe"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/linktest"
)

// A pipe is a link like any other. Only it gives up a program that lets 256 KiB wait instead of making the other
// end wait.
func TestLink(t *testing.T) {
	linktest.Run(t, func(t *testing.T) (a, b transport.Link) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		x, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		y, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		a, b = pipe.Link(x), pipe.Link(y)
		t.Cleanup(func() { a.Abort(); b.Abort() })
		return a, b
	}, "flood")
}

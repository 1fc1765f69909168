package driver

import (
	"net"
	"testing"

	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// A peer of a datagram link that a driver closes, here for a frame that is none, leaves its place,
// however much it goes on sending.
func TestClosedPeerLeavesItsPlace(t *testing.T) {
	l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 1}})
	if err != nil {
		t.Skip(err)
	}
	problems := make(chan *Error, 10)
	d := New(pingpong.New(), Options[*pingpong.Runner]{OnError: func(_ *pingpong.Runner, e *Error) { problems <- e }})
	if err := d.Attach(0, strong{l}); err != nil {
		t.Fatal(err)
	}
	go d.Run(t.Context())
	defer func() { d.Stop(); <-d.Done() }()
	bad, good := visit(t, l), visit(t, l)
	bad.say(t, pingpong.PING, 0, 0, 0, 1)
	bad.hear(t, pingpong.PONG)
	bad.say(t, pingpong.PING) // a ping without its number
	if e := <-problems; e.Kind != Malformed {
		t.Fatal(e)
	}
	bad.say(t, 99)
	good.say(t, pingpong.PING, 0, 0, 0, 2)
	good.hear(t, pingpong.PONG)
	if a, ok := l.RemoteAddr(0).(*net.UDPAddr); !ok || l.Stats().Peers != 1 {
		t.Errorf("%v has the place; %+v", a, l.Stats())
	}
}

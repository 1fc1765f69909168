package udp_test

import (
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// Poll does not wait, brings what has come, and nothing once Interrupt's time has passed.
func TestPoll(t *testing.T) {
	to := open(t, "127.0.0.1:0", udp.Config{})
	if !to.Polls() {
		t.Skip("this system does not tell what has come")
	}
	from := open(t, "127.0.0.1:0", udp.Config{Peers: []string{to.LocalAddr().String()}})
	buf := make([]byte, 2000)
	if got, ok := to.Poll(buf); ok {
		t.Fatalf("there is %v before anything was sent", got)
	}
	const frames = 40 // more than are read at once
	for i := range frames {
		if err := from.Send(0, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	from.Flush()
	to.Interrupt(time.Unix(1, 0))
	if got, ok := to.Poll(buf); ok {
		t.Fatalf("there is %v after the time has passed", got)
	}
	to.Interrupt(time.Time{})
	next := 0
	for end := time.Now().Add(time.Minute); next < frames && time.Now().Before(end); {
		got, ok := to.Poll(buf)
		switch {
		case !ok || got.Kind == transport.PeerUp:
		case got.Kind != transport.Data || got.N != 1 || int(buf[0]) != next:
			t.Fatalf("%v, %d; want frame %d", got, buf[0], next)
		default:
			next++
		}
	}
	if next < frames {
		t.Errorf("%d of %d frames came", next, frames)
	}
}

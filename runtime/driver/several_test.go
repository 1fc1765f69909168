package driver

import (
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// counted is a link that counts how often it was asked to wait.
type counted struct {
	strong
	receives atomic.Int32
}

func (c *counted) Receive(buf []byte) (transport.Arrival, error) {
	c.receives.Add(1)
	return c.strong.Receive(buf)
}

// A driver with several links (the other is silent: the machine knows one peer) takes what came
// together on one of them without a turn of its mailbox for each frame.
func TestSeveralLinksTogether(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("datagrams are read one by one here")
	}
	const pings = 24
	d := New(pingpong.New(), Options[*pingpong.Runner]{})
	var links [2]*counted
	for i := range links {
		l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 1}})
		if err != nil {
			t.Skip(err)
		}
		links[i] = &counted{strong: strong{l}}
		if err := d.Attach(fsm.Peer(i), links[i]); err != nil {
			t.Fatal(err)
		}
	}
	client, err := net.Dial("udp4", links[0].LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	for n := range byte(pings) {
		client.Write([]byte{0, 7, pingpong.PING, 0, 0, 0, n})
	}
	go d.Run(t.Context())
	answer := make([]byte, 64)
	for n := range byte(pings) {
		if k, err := client.Read(answer); err != nil || k != 7 || answer[2] != pingpong.PONG || answer[6] != n {
			t.Fatalf("answer %d is % x, %v", n, answer[:k], err)
		}
	}
	d.Stop()
	<-d.Done()
	if c := d.Counters(); c.FramesIn != pings || c.FramesOut != pings {
		t.Errorf("%+v", c)
	}
	if n := links[0].receives.Load(); n > pings/2 {
		t.Errorf("%d frames were waited for %d times", pings, n)
	}
}

// A link is refused under a number that no party has.
func TestNoSuchPeer(t *testing.T) {
	few := pingpong.New()
	info := *few.Info()
	info.Parties = 3
	for _, tt := range []struct {
		info fsm.Info
		peer fsm.Peer
		want string
	}{
		{*few.Info(), -1, "peer number -1 is out of range"},
		{*few.Info(), 61, ""},
		{*few.Info(), 62, "there is no peer 62: the `parties` of pingpong have the numbers 0 to 61"},
		{info, 2, ""},
		{info, 3, "there is no peer 3: the `parties` of pingpong have the numbers 0 to 2"},
	} {
		err := suits(&tt.info, tt.peer, 0, transport.Properties{Ordered: true, Reliable: true, Stream: true})
		if got := fmt.Sprint(err); got != tt.want && !(tt.want == "" && err == nil) {
			t.Errorf("peer %d: %v, want %s", tt.peer, err, tt.want)
		}
	}
}

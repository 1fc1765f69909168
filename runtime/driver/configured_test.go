package driver_test

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// carrying is a link that is declared as good as the test protocol demands; over loopback it is.
type carrying struct{ *udp.Link }

func (s carrying) Properties() transport.Properties {
	p := s.Link.Properties()
	p.Ordered, p.Reliable, p.Duplicating = true, true, false
	return p
}

// A configured peer of a datagram link is up before the first command, through a wrapper too: what the
// command sends leaves.
func TestConfiguredPeerIsUp(t *testing.T) {
	for _, wrap := range []func(carrying) transport.Link{
		func(l carrying) transport.Link { return l },
		func(l carrying) transport.Link {
			w, err := impair.New(l, impair.Config{})
			must(t, err)
			return w
		},
	} {
		far, err := net.ListenPacket("udp4", "127.0.0.1:0")
		must(t, err)
		l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Peers: []string{far.LocalAddr().String()},
			Limits: udp.Limits{MaxPeers: 1}})
		must(t, err)
		a := newSide(driver.Options[runner]{})
		must(t, a.Attach(0, wrap(carrying{l})))
		a.run(t.Context())
		if res, err := a.Do(t.Context(), ping(7)); err != nil || res.Code != fsm.Took {
			t.Errorf("%v, %v: the command came before the link was up", res, err)
		}
		a.Stop()
		<-a.Done()
		if c := a.Counters(); c.SendsDropped != 0 || c.FramesOut != 1 || c.LinksUp != 1 {
			t.Errorf("%+v", c)
		}
		equal(t, "errors", a.kinds())
		must(t, far.Close())
	}
}

// Whoever sends to a peer that has not come up yet hears of it, once.
func TestSendBeforeUp(t *testing.T) {
	l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 1}})
	must(t, err)
	var got []*driver.Error
	o := driver.Options[runner]{OnError: func(_ runner, e *driver.Error) {
		if e.Kind == driver.NoLink { // the test protocol does not begin in this state, which is another error
			got = append(got, e)
		}
	}}
	r := pingpong.New()
	r.M.State = pingpong.Idle
	d := driver.New(r, o)
	must(t, d.Attach(0, carrying{l}))
	ended := make(chan error, 1)
	go func() { ended <- d.Run(t.Context()) }()
	for n := range uint32(2) {
		if res, err := d.Do(t.Context(), ping(n)); err != nil || res.Code != fsm.Took {
			t.Errorf("%v, %v", res, err)
		}
	}
	d.Stop()
	<-ended
	if c := d.Counters(); len(got) != 1 || c.SendsDropped != 2 || c.FramesOut != 0 ||
		!strings.Contains(got[0].Error(), "there is no link that has come up to peer 0") {
		t.Errorf("%+v, errors %v", c, got)
	}
}

// timesheet notes the times of a record.
type timesheet struct{ times []time.Duration }

func (c *timesheet) Begin(trace.Header) {}
func (c *timesheet) Step(s *trace.Step) { c.times = append(c.times, s.At) }
func (c *timesheet) Flush() error       { return nil }

// The first datagram of a stranger makes two steps, that it is there and what it says: no record goes back in time.
func TestStrangerInTime(t *testing.T) {
	l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 1}})
	must(t, err)
	c := &timesheet{}
	d := driver.New(pingpong.New(), driver.Options[runner]{Trace: []trace.Sink{c}})
	must(t, d.Attach(0, carrying{l}))
	ended := make(chan error, 1)
	go func() { ended <- d.Run(t.Context()) }()
	far, err := net.Dial("udp4", l.LocalAddr().String())
	must(t, err)
	defer far.Close()
	_, err = far.Write([]byte{0, 7, pingpong.PING, 0, 0, 0, 9})
	must(t, err)
	answer := make([]byte, 100)
	if _, err := far.Read(answer); err != nil {
		t.Fatal(err)
	}
	d.Stop()
	<-ended
	if len(c.times) < 3 || !slices.IsSorted(c.times) {
		t.Errorf("steps at %v", c.times)
	}
}

package peer

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/ipx"
)

// table is the peers of a test, each with its record.
type table struct {
	t                 *testing.T
	open              func() (Link, error)
	silence, announce time.Duration
	stop              map[*Peer]context.CancelFunc
	ended             map[*Peer]chan error
	trace             map[*Peer]*bytes.Buffer
}

func newTable(t *testing.T, open func() (Link, error)) *table {
	x := &table{t: t, open: open, silence: Silence, stop: map[*Peer]context.CancelFunc{},
		ended: map[*Peer]chan error{}, trace: map[*Peer]*bytes.Buffer{}}
	t.Cleanup(func() {
		for p := range x.stop { // after a failure
			p.Kill()
		}
	})
	return x
}

// start starts a peer.
func (x *table) start() *Peer {
	x.t.Helper()
	link, err := x.open()
	if err != nil {
		x.t.Fatal(err)
	}
	record := &bytes.Buffer{}
	p, err := New(link, Config{Tick: 100 * time.Millisecond, Silence: x.silence, Announce: x.announce,
		Sinks:   []trace.Sink{trace.NewWriter(record)},
		OnError: func(err error) { x.t.Logf("%v", err) }})
	if err != nil {
		x.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	x.stop[p], x.ended[p], x.trace[p] = cancel, ended, record
	go func() { ended <- p.Run(ctx) }()
	return p
}

// until waits for a condition of what the peers show.
func (x *table) until(what string, ok func() bool, peers ...*Peer) {
	x.t.Helper()
	limit := time.After(2 * time.Minute) // ends a test that would hang
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			text := ""
			for _, p := range peers {
				text += fmt.Sprintf("\n%v", p.View(context.Background()))
			}
			x.t.Fatalf("waiting for: %s%s", what, text)
		}
	}
}

// together reports whether the peers are the players of one game, and only they.
func together(peers ...*Peer) bool {
	var first View
	for i, p := range peers {
		v := p.View(context.Background())
		if i == 0 {
			first = v
		}
		taken := 0
		for k, q := range v.Players {
			if q.Taken {
				taken++
			}
			if k >= len(first.Players) || q.Address != first.Players[k].Address {
				return false
			}
		}
		if v.State != "game" || taken != len(peers) || v.Founder != first.Founder || v.Slot < 0 ||
			!v.Players[v.Slot].Self {
			return false
		}
	}
	return true
}

// leave has a peer leave, and holds its record to the specification.
func (x *table) leave(p *Peer) {
	x.t.Helper()
	x.stop[p]()
	if err := <-x.ended[p]; err != nil {
		x.t.Error(err)
	}
	x.accepted(p)
}

func (x *table) kill(p *Peer) {
	x.t.Helper()
	p.Kill()
	x.accepted(p)
}

var specification = sync.OnceValue(func() *model.Protocol {
	p, errs := compile.Load("../../../specs/startup/spec.yaml", compile.Options{})
	if len(errs) > 0 {
		panic(errs[0])
	}
	return p
})

func (x *table) accepted(p *Peer) {
	x.t.Helper()
	delete(x.stop, p)
	spec := specification()
	r, err := trace.NewReader(x.trace[p])
	if err != nil {
		x.t.Fatal(err)
	}
	if c, err := replay.Check(spec, r); err != nil || c.Deviation != nil || c.Frames == 0 {
		x.t.Errorf("%v, %+v", err, c.Deviation)
	}
}

// life is what peers go through on any link: three start together, the highest address founds the
// game, five more come later, a ninth is refused, the founder goes (by end, which is x.leave or
// x.kill) and the next keeper gives its slot away, and the others leave.
func life(x *table, end func(*Peer)) {
	a, b, c := x.start(), x.start(), x.start()
	x.until("a game of three", func() bool { return together(a, b, c) }, a, b, c)
	rest := []*Peer{a, b, c}
	for range 5 {
		rest = append(rest, x.start())
	}
	x.until("a game of eight", func() bool { return together(rest...) }, rest...)
	e := x.start()
	x.until("a refusal", func() bool { return e.View(context.Background()).State == "refused" }, e)
	for i, p := range rest {
		if v := p.View(context.Background()); v.Slot == 0 {
			if v.Founder != v.Address {
				x.t.Errorf("slot 0 is not the founder's: %v", v)
			}
			rest = append(rest[:i:i], rest[i+1:]...)
			end(p)
			break
		}
	}
	x.until("a game without the founder", func() bool { return together(rest...) }, rest...)
	e.give((*startup.PeerRunner).Connect)
	rest = append(rest, e)
	x.until("the founder's slot for the one who was refused", func() bool {
		return together(rest...) && e.View(context.Background()).Slot == 0
	}, rest...)
	for len(rest) > 1 {
		x.leave(rest[0])
		rest = rest[1:]
		x.until("a game without who has left", func() bool { return together(rest...) }, rest...)
	}
	x.leave(rest[0])
}

func TestUDP(t *testing.T) {
	t.Parallel()
	x, end := onUDP(t, Silence)
	defer end()
	life(x, x.leave)
}

// TestSilent kills a player over a real network; the others hear of it through its silence. That is
// short, so on a busy computer two who live may part as well: each is then alone, as in the end.
func TestSilent(t *testing.T) {
	if os.Getenv("PARLEY_LONG") == "" {
		t.Skip("with PARLEY_LONG=1 alone: TestFaults kills peers in less time")
	}
	t.Parallel()
	x, end := onUDP(t, 1500*time.Millisecond)
	defer end()
	a, b := x.start(), x.start()
	x.until("two in a game", func() bool {
		return a.View(t.Context()).State == "game" && b.View(t.Context()).State == "game"
	}, a, b)
	x.kill(a)
	x.until("a game of one", func() bool { return together(b) }, b)
	x.leave(b)
}

// onUDP is a table on the loopback's broadcast network, and what ends it.
func onUDP(t *testing.T, silence time.Duration) (*table, func() error) {
	free, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no UDP here: %v", err)
	}
	// So long as this socket is open no other test is given its port.
	broadcast := fmt.Sprintf("127.255.255.255:%d", free.LocalAddr().(*net.UDPAddr).Port)
	x := newTable(t, func() (Link, error) {
		return OpenUDP(Place{Bind: "127.0.0.1", Broadcast: broadcast, Silence: silence})
	})
	x.silence = silence
	return x, free.Close
}

func TestTunnel(t *testing.T) {
	t.Parallel()
	server, err := ipx.Listen("udp", "127.0.0.1:0", ipx.ServerConfig{})
	if err != nil {
		t.Skipf("no UDP here: %v", err)
	}
	ended := make(chan error)
	go func() { ended <- server.Serve(context.Background()) }()
	defer func() { server.Close(); <-ended }()
	x := newTable(t, func() (Link, error) {
		return OpenTunnel(t.Context(), Place{Server: server.Addr().String()})
	})
	life(x, x.leave)
}

package driver

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// strong is a UDP link that is declared as good as the test protocol demands; over loopback it is.
type strong struct{ *udp.Link }

func (s strong) Properties() transport.Properties {
	p := s.Link.Properties()
	p.Ordered, p.Reliable, p.Duplicating = true, true, false
	return p
}

func where(r *pingpong.Runner) *pingpong.Machine { return &r.M }

type pingHost = Host[*pingpong.Runner, pingpong.Machine]

func newHost(tb testing.TB, peers int, o Options[*pingpong.Runner]) (*pingHost, *udp.Link) {
	tb.Helper()
	l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: peers}})
	if err != nil {
		tb.Skip(err)
	}
	h, err := NewHost(pingpong.New(), where, nil, strong{l}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return h, l
}

// hostEvent is what a handler of a host was told.
type hostEvent struct {
	peer int
	what string
}

// guest is a client of a host.
type guest struct{ net.Conn }

func visit(t *testing.T, l *udp.Link) guest {
	t.Helper()
	c, err := net.Dial("udp4", l.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	t.Cleanup(func() { c.Close() })
	return guest{c}
}

func (g guest) say(t *testing.T, kind byte, body ...byte) {
	t.Helper()
	b := binary.BigEndian.AppendUint16(nil, uint16(3+len(body)))
	if _, err := g.Write(append(append(b, kind), body...)); err != nil {
		t.Fatal(err)
	}
}

func (g guest) hear(t *testing.T, kind byte) {
	t.Helper()
	b := make([]byte, 100)
	if n, err := g.Read(b); err != nil || n < 3 || b[2] != kind {
		t.Fatalf("heard % x, %v; want a message of type %d", b[:n], err, kind)
	}
}

// Every peer has a machine of its own, with its own state and timers.
func TestHost(t *testing.T) {
	var h *pingHost
	told := make(chan hostEvent, 100)
	o := Options[*pingpong.Runner]{
		OnReport: func(r *pingpong.Runner, i int) {
			told <- hostEvent{h.Peer(), info(r).Reports[r.Effect(i).ID]}
		},
		OnLink: func(r *pingpong.Runner, _ fsm.Peer, up bool, _ error) {
			if !up {
				told <- hostEvent{h.Peer(), "gone"}
			}
		},
	}
	h, l := newHost(t, 10, o)
	ran := make(chan error, 1)
	go func() { ran <- h.Run(t.Context()) }()
	a, b := visit(t, l), visit(t, l)
	a.say(t, pingpong.READY) // a waits at the barrier, b does not
	a.say(t, pingpong.NOTE, 'x')
	expectTold(t, told, hostEvent{0, "noted"})
	b.say(t, pingpong.PING, 0, 0, 0, 1)
	b.hear(t, pingpong.PONG)
	for peer := range 2 {
		if err := h.Post(peer, func(r *pingpong.Runner) fsm.Result { return r.Barrier() }); err != nil {
			t.Fatal(err)
		}
	}
	expectTold(t, told, hostEvent{0, "passed"})
	a.hear(t, pingpong.READY)
	b.hear(t, pingpong.READY)
	b.say(t, pingpong.READY)
	expectTold(t, told, hostEvent{1, "passed"})
	// A ping that is not answered: the timer is that of this machine.
	if err := h.Post(1, func(r *pingpong.Runner) fsm.Result { return r.Ping(5) }); err != nil {
		t.Fatal(err)
	}
	b.hear(t, pingpong.PING)
	expectTold(t, told, hostEvent{1, "late"})
	// What is refused ends that peer alone.
	b.say(t, pingpong.PONG, 0, 0, 0, 9)
	expectTold(t, told, hostEvent{1, "gone"})
	a.say(t, pingpong.PING, 0, 0, 0, 2)
	a.hear(t, pingpong.PONG)
	a.say(t, 77)
	expectTold(t, told, hostEvent{0, "gone"})
	b.say(t, pingpong.PING, 0, 0, 0, 3) // heard again, it gets a new machine
	b.hear(t, pingpong.PONG)
	h.Stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if err := h.Post(1, nil); !errors.Is(err, ErrStopped) {
		t.Errorf("Post after the end: %v", err)
	}
	if err := (*hostCarrier[*pingpong.Runner, pingpong.Machine])(h).Send(1, nil); err != ErrNoLink {
		t.Errorf("a hosted machine has peer 0 alone, sending to 1: %v", err)
	}
}

func info(r *pingpong.Runner) *fsm.Info { return r.Info() }

func expectTold(t *testing.T, told chan hostEvent, want hostEvent) {
	t.Helper()
	for {
		select {
		case got := <-told:
			if got.what == "parted" {
				continue
			}
			if got != want {
				t.Fatalf("told %v, want %v", got, want)
			}
			return
		case <-time.After(time.Minute):
			t.Fatalf("not told %v", want)
		}
	}
}

func TestHostLimits(t *testing.T) {
	gone := make(chan error, 10)
	h, l := newHost(t, 10, Options[*pingpong.Runner]{HandshakeLimit: 20 * time.Millisecond, IdleLimit: time.Hour,
		OnLink: func(_ *pingpong.Runner, _ fsm.Peer, up bool, why error) {
			if !up {
				gone <- why
			}
		}, KeepMalformed: true})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- h.Run(ctx) }()
	g := visit(t, l)
	g.say(t, 77)            // begins like no frame, and so it does not come up
	g.say(t, pingpong.PING) // comes up, and is nothing acceptable
	e := new(Error)
	if why := <-gone; !errors.As(why, &e) || e.Kind != NoHandshake {
		t.Errorf("lost for %v", why)
	}
	cancel()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if h.Sessions() != 0 {
		t.Errorf("%d sessions", h.Sessions())
	}
}

func TestHostRefusesLinks(t *testing.T) {
	weak, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{})
	if err != nil {
		t.Skip(err)
	}
	_, err = NewHost(pingpong.New(), where, nil, weak, Options[*pingpong.Runner]{})
	if !errors.Is(err, ErrLinkTooWeak) {
		t.Errorf("a weak link: %v", err)
	}
	single, _ := mem.Pair(mem.Config{})
	if _, err := NewHost(pingpong.New(), where, nil, single, Options[*pingpong.Runner]{}); err == nil {
		t.Error("a link with one peer was accepted")
	}
}

// The agenda keeps its order whatever is set and taken out.
func TestAgenda(t *testing.T) {
	var a agenda[*pingpong.Runner, pingpong.Machine]
	var all []*session[*pingpong.Runner, pingpong.Machine]
	for n := range 50 {
		all = append(all, &session[*pingpong.Runner, pingpong.Machine]{peer: n, place: -1})
	}
	rng := uint64(1)
	for range 5000 {
		rng = rng*6364136223846793005 + 1442695040888963407
		s, at := all[rng>>33%50], time.Duration(rng>>40%100)
		if at > 80 {
			at = noTime
		}
		a.set(s, at)
		least, in := noTime, 0
		for _, s := range all {
			if s.place >= 0 {
				in++
				least = min(least, s.deadline)
			}
		}
		if a.next() != least || in != len(a.list) {
			t.Fatalf("the next is %v of %d, not %v of %d", a.next(), len(a.list), least, in)
		}
	}
}

// idleMachines brings up many machines, each with a timer running.
func idleMachines(tb testing.TB, count int, o Options[*pingpong.Runner]) (h *pingHost, bytes float64) {
	h, l := newHost(tb, count, o)
	tb.Cleanup(func() { l.Abort() })
	h.epoch = time.Now()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n := range count {
		h.arrived(0, transport.Arrival{Kind: transport.PeerUp, Peer: n})
		h.command(hosted[*pingpong.Runner]{peer: n, cmd: func(r *pingpong.Runner) fsm.Result { return r.Ping(1) }})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	return h, float64(after.HeapAlloc-before.HeapAlloc) / float64(count)
}

// A machine at rest is small.
func TestHostMemory(t *testing.T) {
	h, bytes := idleMachines(t, 10_000, Options[*pingpong.Runner]{})
	if h.Sessions() != 10_000 || len(h.due.list) != 10_000 {
		t.Fatalf("%d sessions, %d deadlines", h.Sessions(), len(h.due.list))
	}
	t.Logf("%.0f bytes for a machine at rest with a timer", bytes)
	if bytes > 1024 {
		t.Errorf("%.0f bytes for a machine at rest", bytes)
	}
}

// BenchmarkHost is a frame for each of 10,000 machines in turn, each of which moves a limit on
// silence further away or has none.
func BenchmarkHost(b *testing.B) {
	for name, o := range map[string]Options[*pingpong.Runner]{
		"no limit": {}, "idle limit": {IdleLimit: 50 * time.Millisecond},
	} {
		b.Run(name, func(b *testing.B) {
			h, _ := idleMachines(b, 10_000, o)
			frame := appendNote(h.buf[:0])
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				h.arrived(time.Duration(n), transport.Arrival{Peer: n % 10_000, N: len(frame)})
			}
		})
	}
}

func appendNote(b []byte) []byte { return append(b, 0, 4, pingpong.NOTE, 'x') }

// A deadline that has moved away stands until it comes, and is corrected then.
func TestHostIdleLimit(t *testing.T) {
	const limit = 50 * time.Millisecond
	h, _ := idleMachines(t, 3, Options[*pingpong.Runner]{IdleLimit: limit, KeepRefused: true})
	frame := appendNote(h.buf[:0])
	h.arrived(limit/2, transport.Arrival{Peer: 1, N: len(frame)})
	if at := h.due.next(); at != limit {
		t.Errorf("the next deadline is %v", at)
	}
	h.expire(limit)
	if h.sessions[0] != nil || h.sessions[1] == nil || h.sessions[2] != nil || h.due.next() != limit+limit/2 {
		t.Errorf("%v are left, next at %v", h.sessions, h.due.next())
	}
	h.expire(limit + limit/2)
	if h.Sessions() != 0 || h.due.next() != noTime {
		t.Errorf("%d are left, next at %v", h.Sessions(), h.due.next())
	}
}

package drive

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/proptest/conform/sample/gne"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/looplab"
	"github.com/parley-go/parley/runtime/sim"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// Drivers of a protocol with two channels: a client and a server of specs/library/gne.

// longest ends a test that would hang.
const longest = time.Minute

// short is how long a link that is closed waits for the other end.
const short = 10 * time.Millisecond

// player is one of the two with what its program has heard.
type player[R fsm.Runner] struct {
	*driver.Driver[R]
	told chan string
}

// starts makes a player that tells its reports, its errors and its links.
func starts[R fsm.Runner](r R) *player[R] {
	p := &player[R]{told: make(chan string, 100)}
	p.Driver = driver.New(r, driver.Options[R]{
		OnReport: func(r R, i int) { p.told <- string(r.AppendEffect(nil, i)) },
		OnError:  func(_ R, err *driver.Error) { p.told <- fmt.Sprintf("error %v: %v", err.Kind, err.Cause) },
		OnLink:   func(_ R, _ fsm.Peer, up bool, _ error) { p.told <- fmt.Sprintf("up %v", up) },
	})
	return p
}

// hears waits for something that contains a text, and fails if something else comes.
func (p *player[R]) hears(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-p.told:
		if !strings.Contains(got, want) {
			t.Fatalf("%q, not %q", got, want)
		}
	case <-time.After(longest):
		t.Fatalf("nobody says %q", want)
	}
}

func (p *player[R]) run(t *testing.T) {
	go p.Run(t.Context())
	t.Cleanup(func() { p.Stop(); <-p.Done() })
}

func (p *player[R]) gives(t *testing.T, f func(R) fsm.Result) {
	t.Helper()
	if res, err := p.Do(t.Context(), f); err != nil || res.Code != fsm.Took {
		t.Fatal(res, err)
	}
}

type (
	client = *gne.ClientRunner
	server = *gne.ServerRunner
)

// attach gives a driver a link for each of two channels.
func attach(t *testing.T, on func(peer fsm.Peer, channel string, link transport.Link) error, peer fsm.Peer,
	links ...transport.Link) {
	t.Helper()
	for i, l := range links {
		if err := on(peer, []string{"events", "places"}[i], l); err != nil {
			t.Fatal(err)
		}
	}
}

// meet has the two begin, say where they stand, and part.
func meet(t *testing.T, c *player[client], s *player[server]) {
	t.Helper()
	c.gives(t, func(r client) fsm.Result { return r.Enter() })
	s.hears(t, "report entered")
	c.hears(t, "report entered")
	c.gives(t, func(r client) fsm.Result { return r.Move(7) })
	s.hears(t, "report moved{place: 7}")
	s.gives(t, func(r server) fsm.Result { return r.Move(9) })
	c.hears(t, "report moved{place: 9}")
}

// TestTwoLinks: each message goes over the link of its channel, and both links end with the game.
func TestTwoLinks(t *testing.T) {
	for _, order := range []string{"events first", "places first"} {
		c, s := starts(gne.NewClientRunner()), starts(gne.NewServerRunner())
		e1, e2 := mem.Pair(mem.Config{Stream: true, Linger: short})
		p1, p2 := mem.Pair(mem.Config{Linger: short})
		watch := &carried{Link: p2, closed: make(chan struct{})}
		attach(t, c.AttachOn, 0, e1, p1)
		if order == "events first" {
			attach(t, s.AttachOn, 0, e2, watch)
		} else {
			if err := s.AttachOn(0, "places", watch); err != nil {
				t.Fatal(err)
			}
			if err := s.Attach(0, e2); err != nil {
				t.Fatal(err)
			}
		}
		c.run(t)
		s.run(t)
		c.hears(t, "up true")
		s.hears(t, "up true")
		meet(t, c, s)
		s.gives(t, func(r server) fsm.Result { return r.Leave() })
		s.hears(t, "report gone")
		c.hears(t, "report gone")
		if got := watch.frames; len(got) != 1 || len(got[0]) != 5 || got[0][0] != 18 {
			t.Errorf("over the second link went % x", got)
		}
		select {
		case <-watch.closed:
		case <-time.After(longest):
			t.Error("the link beside is still open")
		}
	}
}

// carried notes what is sent over a link, and that it is closed.
type carried struct {
	transport.Link
	frames [][]byte
	closed chan struct{}
}

func (c *carried) Close() error {
	close(c.closed)
	return c.Link.Close()
}

func (c *carried) Send(peer int, frame []byte) error {
	c.frames = append(c.frames, append([]byte(nil), frame...))
	return c.Link.Send(peer, frame)
}

// TestOtherChannel: a message that comes over another channel than its own is malformed, and ends both links.
func TestOtherChannel(t *testing.T) {
	s := starts(gne.NewServerRunner())
	e1, e2 := mem.Pair(mem.Config{Stream: true, Linger: short})
	p1, p2 := mem.Pair(mem.Config{Linger: short})
	attach(t, s.AttachOn, 0, e2, p2)
	s.run(t)
	s.hears(t, "up true")
	enter, err := gne.AppendMessage(nil, &gne.Message{Kind: gne.MessageEnter})
	if err != nil {
		t.Fatal(err)
	}
	p1.Send(0, enter)
	p1.Flush()
	s.hears(t, "over the channel places: bad frame at byte 0: no message has type 78")
	s.hears(t, "report gone")
	s.hears(t, "up false")
	if _, err := e1.Receive(make([]byte, 10)); err == nil {
		t.Error("the link of events is still there")
	}
}

// TestLinkBeside: a link for a channel that loses messages may come later; what is sent over it before is lost, and
// the program is told once. When it ends, the peer is gone.
func TestLinkBeside(t *testing.T) {
	c, s := starts(gne.NewClientRunner()), starts(gne.NewServerRunner())
	e1, e2 := mem.Pair(mem.Config{Stream: true, Linger: short})
	p1, p2 := mem.Pair(mem.Config{Linger: short})
	attach(t, c.AttachOn, 0, e1)
	attach(t, s.AttachOn, 0, e2)
	c.run(t)
	s.run(t)
	c.hears(t, "up true")
	s.hears(t, "up true")
	c.gives(t, func(r client) fsm.Result { return r.Enter() })
	s.hears(t, "report entered")
	c.hears(t, "report entered")
	c.gives(t, func(r client) fsm.Result { return r.Move(1) })
	c.hears(t, `no link was given (AttachOn) for the channel "places"`)
	c.gives(t, func(r client) fsm.Result { return r.Move(2) })
	if err := c.AttachOn(0, "places", p1); err != nil {
		t.Fatal(err)
	}
	if err := s.AttachOn(0, "places", p2); err != nil {
		t.Fatal(err)
	}
	c.gives(t, func(r client) fsm.Result { return r.Move(3) })
	s.hears(t, "report moved{place: 3}")
	p2.Abort()
	s.hears(t, "report gone")
	s.hears(t, "up false")
	c.hears(t, "report gone")
}

// TestNoSuchChannel: a link for a channel that is not there, or that is too weak for it, is refused.
func TestNoSuchChannel(t *testing.T) {
	c := starts(gne.NewClientRunner())
	for channel, want := range map[string]string{
		"place":  `gne.client has no channel "place"`,
		"events": "ordered delivery, reliable delivery",
	} {
		u, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 1}})
		if err != nil {
			t.Skip(err)
		}
		if err := c.AttachOn(0, channel, u); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", channel, err)
		}
	}
}

// TestAdapterChannels: behind looplab/fsm, too, a frame is read with the codec of its channel.
func TestAdapterChannels(t *testing.T) {
	r := gne.NewServerRunner()
	c, s := starts(gne.NewClientRunner()), starts(looplab.New[gne.Server, gne.ServerEvent](r, &r.Machine, nil))
	e1, e2 := mem.Pair(mem.Config{Stream: true, Linger: short})
	p1, p2 := mem.Pair(mem.Config{Linger: short})
	attach(t, c.AttachOn, 0, e1, p1)
	attach(t, s.AttachOn, 0, e2, p2)
	c.run(t)
	s.run(t)
	c.hears(t, "up true")
	s.hears(t, "up true")
	c.gives(t, func(r client) fsm.Result { return r.Enter() })
	s.hears(t, "report entered")
	c.hears(t, "report entered")
	c.gives(t, func(r client) fsm.Result { return r.Move(7) })
	s.hears(t, "report moved{place: 7}")
	s.gives(t, func(r *looplab.Adapter[gne.Server, gne.ServerEvent]) fsm.Result {
		res, _ := r.Command("move{place: 9}")
		return res
	})
	c.hears(t, "report moved{place: 9}")
}

// TestWrappedChannels: a runner that hides that another tells channels apart gets no link.
func TestWrappedChannels(t *testing.T) {
	s := starts(fsm.Runner(struct{ fsm.Runner }{gne.NewServerRunner()}))
	const want = "must implement fsm.Channeled"
	for _, channel := range []string{"events", "places"} {
		l, _ := mem.Pair(mem.Config{Stream: channel == "events"})
		if err := s.AttachOn(0, channel, l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", channel, err)
		}
	}
	l, _ := mem.Pair(mem.Config{Stream: true})
	if err := s.Attach(0, l); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	r := gne.NewServerRunner()
	l, _ = mem.Pair(mem.Config{Stream: true})
	_, err := driver.NewHost(fsm.Runner(struct{ fsm.Runner }{r}), func(fsm.Runner) *gne.Server { return &r.Machine },
		func(int) gne.Server { return gne.NewServer() }, l, driver.Options[fsm.Runner]{})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// TestTCPAndUDP is the game over a TCP connection and two UDP sockets.
func TestTCPAndUDP(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	first, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Limits: udp.Limits{MaxPeers: 1}})
	if err != nil {
		t.Skip(err)
	}
	second, err := udp.Open("udp4", "127.0.0.1:0",
		udp.Config{Peers: []string{first.LocalAddr().String()}, Limits: udp.Limits{MaxPeers: 1}})
	if err != nil {
		t.Fatal(err)
	}
	c, s := starts(gne.NewClientRunner()), starts(gne.NewServerRunner())
	attach(t, c.AttachOn, 0, tcp.New(a.(*net.TCPConn), tcp.Config{}), second)
	attach(t, s.AttachOn, 0, tcp.New(b.(*net.TCPConn), tcp.Config{}), first)
	c.run(t)
	s.run(t)
	c.hears(t, "up true")
	s.hears(t, "up true")
	meet(t, c, s)
	c.gives(t, func(r client) fsm.Result { return r.Leave() })
	c.hears(t, "report gone")
	s.hears(t, "report gone")
}

// sure is a server whose second channel loses nothing.
type sure struct {
	*gne.ServerRunner
	info fsm.Info
}

func (s *sure) Info() *fsm.Info { return &s.info }

// TestReliableBeside: a peer is up when it has a link for each reliable channel, and what came before is heard then,
// though the machine refuses it.
func TestReliableBeside(t *testing.T) {
	for _, first := range []string{"events", "places"} {
		r := &sure{ServerRunner: gne.NewServerRunner()}
		r.info = *r.ServerRunner.Info()
		r.info.Channels = []fsm.Channel{r.info.Channels[0], {Name: "places", Reliable: true}}
		s := starts(r)
		_, e := mem.Pair(mem.Config{Stream: true, Linger: short})
		far, p := mem.Pair(mem.Config{Linger: short})
		frame, err := gne.AppendMessage(nil, &gne.Message{Kind: gne.MessagePlace})
		if err != nil {
			t.Fatal(err)
		}
		far.Send(0, frame)
		far.Flush()
		links, then := map[string]transport.Link{"events": e, "places": p}, "places"
		if first == "places" {
			then = "events"
		}
		if err := s.AttachOn(0, first, links[first]); err != nil {
			t.Fatal(err)
		}
		s.run(t)
		legal := ""
		err = s.Read(t.Context(), func(r *sure) { legal = string(r.AppendLegal(nil)) })
		if err != nil || legal != "up" {
			t.Fatalf("with a link for %s the server takes %s, %v", first, legal, err)
		}
		if err := s.AttachOn(0, then, links[then]); err != nil {
			t.Fatal(err)
		}
		s.hears(t, "up true")
		s.hears(t, "error")
		s.hears(t, "report gone")
	}
}

// TestSimulatedGame: in simulated runs whose second channel loses, copies and reorders, and whose network falls
// apart, places are heard and the game comes to its end. A seed repeats its run.
func TestSimulatedGame(t *testing.T) {
	moved, over := 0, 0
	for seed := range uint64(60) {
		var c client
		var s server
		scenario := &sim.Scenario{
			Worst: impair.Faults{Loss: 0.5, Duplicate: 0.3, Reorder: 0.3, Late: 100 * time.Millisecond,
				Jitter: 50 * time.Millisecond},
			Partitions: 1,
			Setup: func(w *sim.World) {
				c, s = gne.NewClientRunner(), gne.NewServerRunner()
				a := sim.Add(w, "c", c, driver.Options[client]{OnError: ignores[client]},
					sim.Command[client]{Calm: true, Do: func(_ *sim.World, r client) fsm.Result { return r.Enter() }},
					sim.Command[client]{Do: func(_ *sim.World, r client) fsm.Result { return r.Move(7) }},
					sim.Command[client]{Calm: true, May: func(client) bool { return w.Calm() },
						Do: func(_ *sim.World, r client) fsm.Result { return r.Leave() }})
				b := sim.Add(w, "s", s, driver.Options[server]{OnError: ignores[server],
					OnReport: func(r server, i int) {
						if strings.HasPrefix(string(r.AppendEffect(nil, i)), "report moved{place: 7}") {
							moved++
						}
					}})
				w.Connect(a, b, 0, 0)
			},
		}
		res := scenario.Run(seed, nil)
		if res.Failure != nil {
			t.Errorf("seed %d: %v", seed, res.Failure)
		}
		if again := scenario.Run(seed, nil); again.Digest != res.Digest {
			t.Errorf("seed %d does not repeat", seed)
		}
		if c.Machine.State == gne.ClientStateOver && s.Machine.State == gne.ServerStateOver {
			over++
		}
	}
	if moved < 60 || over < 60 {
		t.Errorf("%d places heard, %d games over", moved, over)
	}
}

func ignores[R fsm.Runner](R, *driver.Error) {}

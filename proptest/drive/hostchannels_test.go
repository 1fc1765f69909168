package drive

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/proptest/conform/sample/gne"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// hall is a server of many games: connections over TCP, and one UDP socket beside them.
type hall struct {
	*driver.Host[server, gne.Server]
	events *tcp.Server
	places *udp.Link
	told   chan string
	ran    chan error
}

// opens makes a hall. A place tells whose it is: that of peer n is 100n and something.
func opens(t *testing.T) *hall {
	h := &hall{told: make(chan string, 100), ran: make(chan error, 1)}
	var err error
	if h.events, err = tcp.Serve("tcp4", "127.0.0.1:0", tcp.ServeConfig{Linger: short}); err != nil {
		t.Skip(err)
	}
	if h.places, err = udp.Open("udp4", "127.0.0.1:0", udp.Config{}); err != nil {
		t.Fatal(err)
	}
	say := func(what string) { h.told <- fmt.Sprintf("%d %s", h.Peer(), what) }
	h.Host, err = driver.NewHost(gne.NewServerRunner(), func(r server) *gne.Server { return &r.Machine }, nil,
		h.events,
		driver.Options[server]{
			OnReport: func(r server, i int) { say(string(r.AppendEffect(nil, i))) },
			OnError:  func(_ server, err *driver.Error) { say(fmt.Sprintf("error %v: %v", err.Kind, err.Cause)) },
			OnLink:   func(_ server, _ fsm.Peer, up bool, _ error) { say(fmt.Sprintf("up %v", up)) },
		})
	if err != nil {
		t.Fatal(err)
	}
	whose := func(from net.Addr, frame []byte) int {
		if from == nil || len(frame) != 5 {
			return -1
		}
		return (int(frame[3]) | int(frame[4])<<8) / 100
	}
	if err := h.Beside("places", h.places, whose); err != nil {
		t.Fatal(err)
	}
	go func() { h.ran <- h.Run(context.Background()) }()
	t.Cleanup(func() {
		h.Stop()
		if err := <-h.ran; err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *hall) hears(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-h.told:
		if !strings.Contains(got, want) {
			t.Fatalf("%q, not %q", got, want)
		}
	case <-time.After(longest):
		t.Fatalf("nobody says %q", want)
	}
}

// socket opens a UDP socket that knows the hall's.
func (h *hall) socket(t *testing.T) *udp.Link {
	t.Helper()
	l, err := udp.Open("udp4", "127.0.0.1:0",
		udp.Config{Peers: []string{h.places.LocalAddr().String()}, Limits: udp.Limits{MaxPeers: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// enters has a client come and play. The machine of a client is n-th.
func (h *hall) enters(t *testing.T, n int) *player[client] {
	t.Helper()
	conn, err := net.Dial("tcp4", h.events.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := starts(gne.NewClientRunner())
	attach(t, c.AttachOn, 0, tcp.New(conn.(*net.TCPConn), tcp.Config{Linger: short}), h.socket(t))
	c.run(t)
	c.hears(t, "up true")
	h.hears(t, fmt.Sprintf("%d up true", n))
	c.gives(t, func(r client) fsm.Result { return r.Enter() })
	h.hears(t, fmt.Sprintf("%d report entered", n))
	c.hears(t, "report entered")
	return c
}

// TestHostedGames: each of two players has a machine, which hears over UDP what that player sends, and nobody else's.
// The socket of a player is the hall's when whose says so, and stays it from then on.
func TestHostedGames(t *testing.T) {
	h := opens(t)
	one, two := h.enters(t, 0), h.enters(t, 1)
	place := func(c *player[client], n int) {
		t.Helper()
		c.gives(t, func(r client) fsm.Result { return r.Move(gne.Place(n)) })
	}
	h.moves(t, 1, 5) // nobody knows yet where that goes
	place(two, 107)
	h.hears(t, "1 report moved{place: 107}")
	place(one, 3)
	h.hears(t, "0 report moved{place: 3}")
	place(one, 104) // it is known whose socket that is
	h.hears(t, "0 report moved{place: 104}")

	// Somebody without a place of a game is heard by nobody, and whoever has one comes from there from now on.
	stranger := h.socket(t)
	defer stranger.Abort()
	send := func(m gne.Message) {
		t.Helper()
		frame, err := gne.AppendMessage(nil, &m)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(stranger.Send(0, frame), stranger.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	send(gne.Message{Kind: gne.MessagePlace, Place: gne.PlaceMessage{Frame: 1, Place: 700}})
	send(gne.Message{Kind: gne.MessagePlace, Place: gne.PlaceMessage{Frame: 2, Place: 150}})
	h.hears(t, "1 report moved{place: 150}")
	h.moves(t, 1, 11)
	buf := make([]byte, 600)
	stranger.Interrupt(time.Now().Add(longest))
	for {
		got, err := stranger.Receive(buf)
		if err != nil {
			t.Fatal(err)
		}
		if got.Kind == transport.Data {
			if got.N != 5 || buf[3] != 11 {
				t.Errorf("the new address hears % x", buf[:got.N])
			}
			break
		}
	}

	// The player is back at its own socket, and heard from there and nowhere else.
	place(two, 108) // an older one
	place(two, 109)
	h.hears(t, "1 report moved{place: 109}")
	h.moves(t, 1, 9)
	two.hears(t, "report moved{place: 9}")
	send(gne.Message{Kind: gne.MessagePlace, Place: gne.PlaceMessage{Frame: 1, Place: 151}})

	// What goes over the other channel is malformed here, and ends the game of that player alone.
	send(gne.Message{Kind: gne.MessageEnter})
	h.hears(t, "over the channel places: bad frame at byte 0: no message has type 78")
	h.hears(t, "1 report gone")
	h.hears(t, "1 up false")
	two.hears(t, "report gone")
	send(gne.Message{Kind: gne.MessagePlace, Place: gne.PlaceMessage{Frame: 3, Place: 160}}) // there is no machine
	place(one, 8)
	h.hears(t, "0 report moved{place: 8}")
	one.gives(t, func(r client) fsm.Result { return r.Leave() })
	h.hears(t, "0 report gone")
}

// moves has the machine of a peer say where its figure stands.
func (h *hall) moves(t *testing.T, peer, place int) {
	t.Helper()
	done := make(chan fsm.Result, 1)
	err := h.Post(peer, func(r server) fsm.Result {
		res := r.Move(gne.Place(place))
		done <- res
		return res
	})
	if err != nil {
		t.Fatal(err)
	}
	if res := <-done; res.Code != fsm.Took {
		t.Fatal(res)
	}
}

// TestHostLinks: a link that a host cannot use is refused, with what is wrong.
func TestHostLinks(t *testing.T) {
	at := func(r server) *gne.Server { return &r.Machine }
	links := func() transport.Link {
		l, err := tcp.Serve("tcp4", "127.0.0.1:0", tcp.ServeConfig{Linger: short})
		if err != nil {
			t.Skip(err)
		}
		return l
	}
	h, err := driver.NewHost(gne.NewServerRunner(), at, nil, links(), driver.Options[server]{})
	if err != nil {
		t.Fatal(err)
	}
	socket := func() transport.Link {
		l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{})
		if err != nil {
			t.Skip(err)
		}
		return l
	}
	single, _ := mem.Pair(mem.Config{Linger: short})
	for _, x := range []struct {
		channel string
		link    transport.Link
		want    string
	}{
		{"place", socket(), `gne.server has no channel "place"`},
		{"events", socket(), `the host has a link for the channel "events" already`},
		{"places", single, "needs links with several peers"},
		{"places", links(), "takes links of frames for it, no streams"},
		{"places", socket(), ""},
		{"places", socket(), `the host has a link for the channel "places" already`},
	} {
		err := h.Beside(x.channel, x.link, func(net.Addr, []byte) int { return 0 })
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, not %q", x.channel, err, x.want)
		}
	}
	h.Stop()
	if err := h.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestHostLosesLink: without its socket a host cannot go on, and says which it was.
func TestHostLosesLink(t *testing.T) {
	h := opens(t)
	h.enters(t, 0)
	h.places.Abort()
	err := <-h.ran
	if err == nil || !strings.Contains(err.Error(), `the link of the channel "places" is lost with all its peers`) {
		t.Error(err)
	}
	h.ran <- nil
}

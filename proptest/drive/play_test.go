package drive

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/proptest/conform/sample/gne"
	"github.com/parley-go/parley/runtime/fsm"
	parley "github.com/parley-go/parley/runtime/play"
)

// Sessions of package play for a protocol with two channels.

// tells passes reports on.
type tells[R interface {
	fsm.Runner
	AppendEffect(dst []byte, i int) []byte
}] chan string

func (c tells[R]) OnReport(r R, i int) { c <- string(r.AppendEffect(nil, i)) }

func (c tells[R]) hears(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-c:
		if !strings.Contains(got, want) {
			t.Fatalf("%q, not %q", got, want)
		}
	case <-time.After(longest):
		t.Fatalf("nobody says %q", want)
	}
}

func place(channel, network string, at net.Addr) parley.Place {
	p := parley.Place{Channel: channel, Network: network, Address: "127.0.0.1:0"}
	if at != nil {
		p.Address = at.String()
	}
	return p
}

// TestPlayChannels: a session has a link for each channel, over TCP and UDP, and the machine is up when they are
// there.
func TestPlayChannels(t *testing.T) {
	here := []parley.Place{place("places", "udp4", nil), place("events", "tcp4", nil)}
	l, err := parley.ListenChannels(here, parley.Options{})
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	events, places := l.AddrOf("events"), l.AddrOf("places")
	if events == nil || places == nil || l.AddrOf("nothing") != nil {
		t.Fatal(events, places)
	}

	// Somebody on another address of this host is heard first, and is not the peer.
	from := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)}
	stranger, err := net.DialUDP("udp4", from, places.(*net.UDPAddr))
	if err != nil {
		t.Skip(err)
	}
	defer stranger.Close()
	for range 3 {
		if _, err := stranger.Write([]byte{18, 1, 0, 3, 0}); err != nil {
			t.Fatal(err)
		}
	}

	toClient, toServer := make(tells[client], 100), make(tells[server], 100)
	type accepted struct {
		s   *parley.Session[server]
		err error
	}
	far := make(chan accepted, 1)
	go func() {
		s, err := parley.Accept(t.Context(), l, gne.NewServerRunner(), toServer, parley.Options{Handshake: -1})
		far <- accepted{s, err}
	}()
	there := []parley.Place{place("events", "tcp4", events), place("places", "udp4", places)}
	c, err := parley.DialChannels(t.Context(), there,
		gne.NewClientRunner(), toClient, parley.Options{Handshake: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := <-far
	if s.err != nil {
		t.Fatal(s.err)
	}
	defer s.s.Close()
	if err := c.Give(client.Enter); err != nil {
		t.Fatal(err)
	}
	toServer.hears(t, "report entered")
	toClient.hears(t, "report entered")
	if err := c.Give(func(r client) fsm.Result { return r.Move(7) }); err != nil {
		t.Fatal(err)
	}
	toServer.hears(t, "report moved{place: 7}")
	if err := s.s.Give(func(r server) fsm.Result { return r.Move(9) }); err != nil {
		t.Fatal(err)
	}
	toClient.hears(t, "report moved{place: 9}")
	if err := s.s.Give(server.Leave); err != nil {
		t.Fatal(err)
	}
	toServer.hears(t, "report gone")
	toClient.hears(t, "report gone")
	if err := errors.Join(c.Wait(), s.s.Wait()); err != nil {
		t.Error(err)
	}
	_, err = parley.Accept(t.Context(), l, gne.NewServerRunner(), nil, parley.Options{})
	if !errors.Is(err, parley.ErrTaken) {
		t.Errorf("a second session over one socket: %v", err)
	}
}

// TestPlayPlaces: what does not fit the protocol's channels is refused in words.
func TestPlayPlaces(t *testing.T) {
	events := parley.Place{Channel: "events", Network: "tcp", Address: "127.0.0.1:1"}
	places := parley.Place{Channel: "places", Network: "udp", Address: "127.0.0.1:1"}
	for _, x := range []struct {
		places []parley.Place
		want   string
	}{
		{[]parley.Place{events}, `no place for the channel "places" of gne`},
		{[]parley.Place{events, events, places}, `two places for the channel "events"`},
		{[]parley.Place{events, {Channel: "plaices"}}, `gne has no channel "plaices"`},
	} {
		_, err := parley.DialChannels(t.Context(), x.places, gne.NewClientRunner(), nil, parley.Options{})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %s", x.places, err, x.want)
		}
	}
	_, err := parley.DialChannels(t.Context(), nil, confirm.NewPeerRunner(), nil, parley.Options{})
	if err == nil || !strings.Contains(err.Error(), "confirm has one channel") {
		t.Error(err)
	}
	_, err = parley.Dial(t.Context(), "udp", "127.0.0.1:1", gne.NewClientRunner(), nil, parley.Options{})
	if err == nil || !strings.Contains(err.Error(), "call DialChannels") {
		t.Error(err)
	}
	_, err = parley.ListenChannels([]parley.Place{{Channel: "events", Network: "spx"}}, parley.Options{})
	if err == nil || !strings.Contains(err.Error(), "channel events: play: there is no network") {
		t.Error(err)
	}
}

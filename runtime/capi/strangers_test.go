package capi

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

func dial(t *testing.T, at string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func says(t *testing.T, c net.Conn) {
	t.Helper()
	said, err := ready.AppendMessage(nil, &ready.Message{Kind: ready.MessageReady})
	must(t, err)
	_, err = c.Write(said)
	must(t, err)
}

// TestSilentByDefault: a server that was given no limits lets nobody stay who says nothing.
func TestSilentByDefault(t *testing.T) {
	defer func(was time.Duration) { handshakeLimit = was }(handshakeLimit)
	handshakeLimit = 50 * time.Millisecond
	s, each, err := OpenServer("ready.peer", "", 2, "tcp:127.0.0.1:0")
	must(t, err)
	defer s.Close()
	m := mustOpen(t, "masterserver.master", "")
	many, err := m.Serve(1, 2, "tcp:127.0.0.1:0")
	must(t, err)
	knock := func(at string) {
		if c, err := net.Dial("tcp", at); err == nil { // else its time is over already
			t.Cleanup(func() { c.Close() })
		}
	}
	knock(each)
	event(t, s, LinkUp, 0)
	gone := event(t, s, LinkLost, 0)
	knock(many)
	event(t, m, LinkUp, 1)
	for _, e := range []Event{gone, event(t, m, LinkLost, 1)} {
		if e.Text != transport.ErrYielded.Error() {
			t.Errorf("%+v", e)
		}
	}

	inside, _ := mem.Pair(mem.Config{})
	own := mustOpen(t, "ready.peer", ".handshake: 0")
	if h := hold(own, inside, func() {}, nil); h.limit != nil {
		t.Error("a limit that was turned off")
	}
}

// TestListenToStrangers: who connects first to a machine that waits for one peer and says nothing gives
// way; when a peer has spoken nobody is waited for any more.
func TestListenToStrangers(t *testing.T) {
	m := mustOpen(t, "ready.peer", ".handshake: 0")
	at, err := m.Listen(0, "tcp:127.0.0.1:0")
	must(t, err)
	dial(t, at)
	event(t, m, LinkUp, 0)
	friend := dial(t, at)
	event(t, m, LinkLost, 0)
	event(t, m, LinkUp, 0)
	says(t, friend)
	event(t, m, State, fsm.Broadcast)
	for { // the address is free as soon as nobody waits there
		again, err := net.Listen("tcp", at)
		if err == nil {
			again.Close()
			break
		}
	}
	if text, err := m.Text(); err != nil || !strings.HasPrefix(text, "remoteReady") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestOpening: with the option a machine hears of no connection that has not sent a frame.
func TestOpening(t *testing.T) {
	m := mustOpen(t, "ready.peer", ".handshake: 0")
	at, err := m.Listen(0, "tcp:127.0.0.1:0 {opening: true}")
	must(t, err)
	says(t, dial(t, at)) // it has a place before the machine has heard of it
	up := event(t, m, LinkUp, 0)
	event(t, m, State, fsm.Broadcast)
	if up.Text == "" {
		t.Error("no address")
	}

	m = mustOpen(t, "ready.peer", ".handshake: 0")
	at, err = m.Listen(0, "tcp:127.0.0.1:0 {opening: true}")
	must(t, err)
	dial(t, at)
	friend := dial(t, at)
	says(t, friend)
	want := map[Kind]string{Refused: transport.ErrYielded.Error(), LinkUp: friend.LocalAddr().String()}
	for len(want) > 0 { // in either order, and a state after them
		e, err := m.Poll(time.Minute, 1000)
		must(t, err)
		if e.Kind == State {
			continue
		}
		if e.Text != want[e.Kind] {
			t.Errorf("%+v", e)
		}
		delete(want, e.Kind)
	}
	_, err = m.Listen(0, "tcp:127.0.0.1:0 {opening: 3}")
	if err == nil || !strings.Contains(err.Error(), "the parameter opening is 3") {
		t.Error(err)
	}
}

// TestTurnedAwayIsTold: strangers do not fill the queue of events.
func TestTurnedAwayIsTold(t *testing.T) {
	told := []string{}
	for a := new(acceptor); a.told.Load() < 100; {
		a.turnedAway(transport.ErrUnopened, func(err error) { told = append(told, err.Error()) })
	}
	if len(told) != mostTold || !strings.HasSuffix(told[len(told)-1], "untold") {
		t.Errorf("%q", told)
	}
}

package capi

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/runtime/fsm"
)

func init() {
	Register("faulty.peer", func(*Params) (fsm.Commander, error) { return faulty{ready.NewPeerRunner()}, nil })
}

// faulty is a machine with a bug.
type faulty struct{ *ready.PeerRunner }

func (f faulty) Command(string) (fsm.Result, error) { panic("planted") }

// TestFault: a panic in a machine ends that machine with a reason, and nothing else.
func TestFault(t *testing.T) {
	m := mustOpen(t, "faulty.peer", "")
	at, err := m.Listen(0, "tcp:127.0.0.1:0")
	must(t, err)
	conn, err := net.Dial("tcp", at)
	must(t, err)
	defer conn.Close()
	event(t, m, LinkUp, 0)
	if err := m.Step("ready"); err == nil {
		t.Error("the command was carried out")
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the link is still there")
	}
	if e := next(t, m); e != "stopped a fault inside the library, please report it: planted" {
		t.Error(e)
	}
	if _, err := m.Poll(-1, 100); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

// TestSecondLink: a link is not replaced by another one, and a number is free when its link has gone.
func TestSecondLink(t *testing.T) {
	m := mustOpen(t, "ready.peer", "")
	must(t, m.Connect(0, "own"))
	expect(t, m, "up")
	for _, link := range []string{"own", "own"} {
		if err := m.Connect(0, link); err == nil || !strings.Contains(err.Error(), "has a link already") {
			t.Errorf("a second link %s: %v", link, err)
		}
	}
	must(t, m.Step("ready"))
	seen := map[Kind]bool{}
	for range 2 { // the frame is brought by another goroutine than the state
		e, err := m.Poll(time.Minute, 100)
		must(t, err)
		seen[e.Kind] = true
	}
	if !seen[Frame] || !seen[State] {
		t.Errorf("%v", seen)
	}
	for range 100 {
		must(t, m.Disconnect(0))
		expect(t, m, "lost disconnected")
		must(t, m.Connect(0, "own"))
		for next(t, m) != "up" { // a state may come before
		}
	}
	if err := m.Disconnect(4); err == nil || !strings.Contains(err.Error(), "peer 4 has no link") {
		t.Error(err)
	}
	for _, peer := range []fsm.Peer{-1, 62} {
		if err := m.Connect(peer, "own"); err == nil || !strings.Contains(err.Error(), "there is no peer") {
			t.Errorf("peer %d: %v", peer, err)
		}
		if _, err := m.Listen(peer, "tcp:127.0.0.1:0"); err == nil ||
			!strings.Contains(err.Error(), "there is no peer") {
			t.Errorf("peer %d: %v", peer, err)
		}
	}
}

// TestClosedWhileWaiting: whoever waits for a machine that is closed wakes, in whatever call.
func TestClosedWhileWaiting(t *testing.T) {
	m, err := Open("ready.peer", "")
	must(t, err)
	const waiting = 5
	ended := make(chan error, waiting)
	for range waiting {
		go func() {
			for {
				if e, err := m.Poll(-1, 1<<16); err != nil || e.Kind == Stopped {
					ended <- err
					return
				}
			}
		}()
	}
	must(t, m.Connect(0, "own"))
	m.Close()
	last := 0
	for range waiting {
		switch err := <-ended; {
		case err == nil:
			last++
		case !errors.Is(err, ErrEnded):
			t.Error(err)
		}
	}
	if last != 1 {
		t.Errorf("%d of them got the last event", last)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	for what, err := range map[string]error{
		"step": m.Step("ready"), "own": m.Connect(1, "own"), "disconnect": m.Disconnect(0),
		"tcp": m.Connect(1, "tcp:"+silent.Addr().String()),
	} {
		if err == nil {
			t.Errorf("%s after the end", what)
		}
	}
	m.Close()
}

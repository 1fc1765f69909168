package capi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/masterserver"
	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

func init() {
	Register("masterserver.master", func(*Params) (fsm.Commander, error) { return masterserver.NewMasterRunner(), nil })
	Register("ready.datagrams", func(*Params) (fsm.Commander, error) { return datagrams{ready.NewPeerRunner()}, nil })
}

// poller is a machine or a server.
type poller interface {
	Poll(wait time.Duration, most int) (Event, error)
}

// event waits for an event of a kind.
func event(t *testing.T, m poller, want Kind, peer fsm.Peer) Event {
	t.Helper()
	e, err := m.Poll(time.Minute, 1000)
	if err != nil || e.Kind != want || e.Peer != peer {
		t.Fatalf("%+v, %v; want kind %d of %d", e, err, want, peer)
	}
	return e
}

// asks says something to a masterserver, and is answered.
func asks(t *testing.T, c net.Conn) {
	t.Helper()
	fmt.Fprint(c, "remove me\n")
	if line, err := bufio.NewReader(c).ReadString('\n'); line != "you're not even joined\n" {
		t.Fatalf("%q, %v", line, err)
	}
}

// TestServe: one machine has many peers, each under the least number that is free.
func TestServe(t *testing.T) {
	m := mustOpen(t, "masterserver.master", "")
	at, err := m.Serve(1, 2, "tcp:127.0.0.1:0")
	must(t, err)
	var conns [2]net.Conn
	for i := range conns {
		if conns[i], err = net.Dial("tcp", at); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
		if e := event(t, m, LinkUp, fsm.Peer(i+1)); e.Text != conns[i].LocalAddr().String() {
			t.Errorf("peer %d has the address %s", e.Peer, e.Text)
		}
		asks(t, conns[i]) // who says nothing would give way
	}
	if late, err := net.Dial("tcp", at); err == nil { // one too many is closed at once
		if n, err := late.Read(make([]byte, 1)); err == nil {
			t.Errorf("%d bytes for a third", n)
		}
		late.Close()
	}
	conns[0].Close()
	event(t, m, LinkLost, 1)
	for { // the listener counts a connection until it is closed on both sides
		c, err := net.Dial("tcp", at)
		if errors.Is(err, syscall.ECONNRESET) { // it was turned away before it knew that it was there
			continue
		}
		must(t, err)
		defer c.Close()
		fmt.Fprint(c, "remove me\n")
		if line, _ := bufio.NewReader(c).ReadString('\n'); line == "you're not even joined\n" {
			break
		}
	}
	event(t, m, LinkUp, 1)
	if _, err := m.Serve(5, 4, "tcp:127.0.0.1:0"); err == nil {
		t.Error("from 5 to 4")
	}
	_, err = m.Serve(1, 300, "tcp:127.0.0.1:0")
	if err == nil || !strings.Contains(err.Error(), "there is no peer 300") {
		t.Error(err)
	}
	m.Close()
	if _, err := m.Serve(1, 2, "tcp:127.0.0.1:0"); !errors.Is(err, driver.ErrStopped) {
		t.Error("a machine that has ended serves:", err)
	}
}

// TestServer: each connection has a machine of its own, and one queue has the events of all.
func TestServer(t *testing.T) {
	_, _, err := OpenServer("update.peer", "wins: 3", 2, "tcp:127.0.0.1:0")
	if err == nil || !strings.Contains(err.Error(), "true or false") {
		t.Error(err)
	}
	if _, _, err := OpenServer("ready.peer", "", 0, "tcp:127.0.0.1:0"); err == nil {
		t.Error("for nobody")
	}
	s, at, err := OpenServer("ready.peer", ".handshake: 0", 2, "tcp:127.0.0.1:0")
	must(t, err)
	var clients [2]*Machine
	for i := range clients {
		clients[i] = mustOpen(t, "ready.peer", "")
		must(t, clients[i].Connect(0, "tcp:"+at))
		event(t, s, LinkUp, fsm.Peer(i))
	}
	must(t, clients[1].Step("ready"))
	if e := event(t, s, State, 1); e.Text != "remoteReady" {
		t.Error(e)
	}
	second, err := s.of(1)
	must(t, err)
	must(t, second.Step("ready"))
	event(t, s, Report, 1)
	event(t, s, State, 1)
	clients[0].Close()
	event(t, s, LinkLost, 0)
	event(t, s, Stopped, 0)
	if _, err := s.of(0); err == nil {
		t.Error("connection 0 has gone")
	}
	const waiting = 3
	ended := make(chan error, waiting)
	for range waiting {
		go func() {
			for {
				if _, err := s.Poll(-1, 1000); err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	s.Close()
	for range waiting {
		if err := <-ended; !errors.Is(err, ErrEnded) {
			t.Error(err)
		}
	}
	s.Close()
	if err := listens(t, s.from); !errors.Is(err, transport.ErrClosed) {
		t.Error("a closed server still listens:", err)
	}
}

// listens says why a listener takes nobody: it is closed, or it is asked by who does not wait. Who dials its address
// may meet somebody else there.
func listens(t *testing.T, from arrivals) error {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := from.(*acceptor).ln.Accept(ctx)
	return err
}

// TestSilentConnectionsGiveWay: connections that say nothing keep nobody out, neither of a machine
// with many peers nor of a server of machines, and have no place when their time is over.
func TestSilentConnectionsGiveWay(t *testing.T) {
	const places = 3
	m := mustOpen(t, "masterserver.master", ".handshake: 0")
	many, err := m.Serve(1, places, "tcp:127.0.0.1:0")
	must(t, err)
	s, each, err := OpenServer("ready.peer", ".handshake: 0", places, "tcp:127.0.0.1:0")
	must(t, err)
	defer s.Close()
	hold := func(p poller, at string) (closed func()) {
		var conns []net.Conn
		for range places {
			c, err := net.Dial("tcp", at)
			must(t, err)
			conns = append(conns, c)
			if e, err := p.Poll(time.Minute, 1000); err != nil || e.Kind != LinkUp {
				t.Fatalf("%+v, %v", e, err)
			}
		}
		return func() {
			for _, c := range conns {
				c.Close()
			}
		}
	}
	defer hold(m, many)()
	c, err := net.Dial("tcp", many)
	must(t, err)
	defer c.Close()
	asks(t, c)
	defer hold(s, each)()
	honest := mustOpen(t, "ready.peer", "")
	defer honest.Close()
	must(t, honest.Connect(0, "tcp:"+each))
	must(t, honest.Step("ready"))
	for {
		e, err := s.Poll(time.Minute, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == State && e.Text == "remoteReady" {
			break
		}
	}

	s, each, err = OpenServer("ready.peer", ".handshake: 50", places, "tcp:127.0.0.1:0")
	must(t, err)
	defer s.Close()
	defer hold(s, each)()
	for gone := 0; gone < places; {
		e, err := s.Poll(time.Minute, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == Stopped {
			gone++
		}
	}
	for n := range places {
		if _, err := s.of(fsm.Peer(n)); err == nil {
			t.Errorf("connection %d has its place after its time", n)
		}
	}
}

// TestAmplification: unless it is told otherwise a server over datagrams sends an address that may be
// forged no more than came from there, and says so.
func TestAmplification(t *testing.T) {
	for options, even := range map[string]bool{"": true, " {even: true}": true, " {even: false}": false} {
		s, at, err := OpenServer("ready.datagrams", "", 2, "udp:127.0.0.1:0"+options)
		must(t, err)
		defer s.Close()
		c, err := net.Dial("udp", at)
		must(t, err)
		defer c.Close()
		said, err := ready.AppendMessage(nil, &ready.Message{Kind: ready.MessageReady})
		must(t, err)
		_, err = c.Write(said)
		must(t, err)
		event(t, s, LinkUp, 0)
		event(t, s, State, 0)
		one, err := s.of(0)
		must(t, err)
		must(t, one.Step("ready"))
		must(t, one.Step("ready")) // a second message for one
		got, most, buf := 0, 2, make([]byte, 1000)
		if even {
			most = 1
			for { // when this has come, the second one has been held back
				e, err := s.Poll(time.Minute, 1000)
				must(t, err)
				if e.Kind == Refused {
					if !strings.Contains(e.Text, "{cookie: true} at both ends, or {even: false}") {
						t.Error(e.Text)
					}
					break
				}
			}
		}
		must(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		for got < most*len(said) {
			n, err := c.Read(buf)
			must(t, err)
			got += n
		}
		must(t, c.SetReadDeadline(time.Now().Add(10*time.Millisecond))) // what was sent is there
		n, _ := c.Read(buf)
		got += n
		if got != most*len(said) {
			t.Errorf("%q: %d bytes for %d", options, got, len(said))
		}
	}
}

// datagrams is a machine that was checked for a network that promises nothing.
type datagrams struct{ *ready.PeerRunner }

func (d datagrams) Info() *fsm.Info {
	info := *d.PeerRunner.Info()
	info.Ordered, info.Reliable, info.Duplicates = false, false, true
	return &info
}

// TestServerOfDatagrams: each address has a machine of its own, from its first message on.
func TestServerOfDatagrams(t *testing.T) {
	for link, want := range map[string]string{
		"udp:127.0.0.1:0>127.0.0.1:9":    "come by themselves",
		"udp:127.0.0.1:0 {peers: 5000}":  "not a number in 1..1024",
		"udp:127.0.0.1:0 {certain: yes}": "certain",
	} {
		if _, _, err := OpenServer("ready.datagrams", "", 2, link); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", link, err)
		}
	}
	if _, _, err := OpenServer("ready.datagrams", "", 2000, "udp:127.0.0.1:0"); err == nil {
		t.Error("2000 peers of a socket")
	}
	s, at, err := OpenServer("ready.datagrams", "", 2, "udp:127.0.0.1:0")
	must(t, err)
	defer s.Close()
	stranger, err := net.Dial("udp", at)
	must(t, err)
	defer stranger.Close()
	_, err = stranger.Write([]byte("what is this?"))
	must(t, err)
	var clients [2]*Machine
	for i := range clients {
		clients[i] = mustOpen(t, "ready.datagrams", "")
		must(t, clients[i].Connect(0, "udp:127.0.0.1:0>"+at))
		event(t, clients[i], LinkUp, 0)
		must(t, clients[i].Step("ready"))
		event(t, clients[i], State, fsm.Broadcast)
		event(t, s, LinkUp, fsm.Peer(i)) // the stranger has no machine
		if e := event(t, s, State, fsm.Peer(i)); e.Text != "remoteReady" {
			t.Error(e)
		}
	}
	second, err := s.of(1)
	must(t, err)
	must(t, second.Step("ready"))
	event(t, s, Report, 1)
	event(t, s, State, 1)
	event(t, clients[1], Report, fsm.Broadcast) // the answer has come to the right one
	event(t, clients[1], State, fsm.Broadcast)
	must(t, second.d.Detach(0))
	event(t, s, LinkLost, 1)
	event(t, s, Stopped, 1)
}

// TestServerDisconnects: the machine of a connection ends with it, and a call that closes the connection
// succeeds whether the machine is still there when it asks or not. A call that comes too late hears that
// there is no such connection.
func TestServerDisconnects(t *testing.T) {
	s, at, err := OpenServer("ready.peer", "", 2, "tcp:127.0.0.1:0")
	must(t, err)
	defer s.Close()
	for n := range 40 {
		client := mustOpen(t, "ready.peer", "")
		must(t, client.Connect(0, "tcp:"+at))
		event(t, s, LinkUp, 0)
		second := make(chan error, 1)
		if n%2 == 1 {
			go func() { second <- s.Disconnect(0) }()
		}
		late := func(err error) bool { return n%2 == 1 && strings.Contains(err.Error(), "there is no connection 0") }
		if err := s.Disconnect(0); err != nil && !late(err) {
			t.Fatalf("%d: %v", n, err)
		}
		if n%2 == 1 {
			if err := <-second; err != nil && !late(err) {
				t.Fatalf("%d: of two: %v", n, err)
			}
		}
		if e := event(t, s, LinkLost, 0); e.Text != "disconnected" {
			t.Error(e)
		}
		event(t, s, Stopped, 0)
		client.Close()
	}
	if err := s.Disconnect(1); err == nil || err.Error() != "there is no connection 1" {
		t.Error(err)
	}
	client := mustOpen(t, "ready.peer", "")
	defer client.Close()
	must(t, client.Connect(0, "tcp:"+at))
	event(t, s, LinkUp, 0)
	m, err := s.of(0)
	must(t, err)
	must(t, s.Disconnect(0))
	<-m.ended // whoever has found the machine before
	if err := m.Step("ready"); err == nil || err.Error() != "there is no connection 0" {
		t.Error(err)
	}
	if _, err := m.Text(); err == nil || err.Error() != "there is no connection 0" {
		t.Error(err)
	}
}

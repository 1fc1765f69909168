package driver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// tcpSide runs a driver on one end of a TCP connection. What its handlers see
// comes through a channel, so that a test can wait for it.
func tcpSide(t *testing.T, conn *net.TCPConn, cfg tcp.Config) (*driver.Driver[runner], <-chan string) {
	seen := make(chan string, 1000)
	d := driver.New(pingpong.New(), driver.Options[runner]{
		OnReport: func(r runner, i int) { seen <- strings.TrimPrefix(string(r.AppendEffect(nil, i)), "report ") },
		OnLink: func(_ runner, _ fsm.Peer, up bool, why error) {
			switch {
			case up:
			case why == io.EOF, errors.Is(why, transport.ErrReset), errors.Is(why, transport.ErrQueueFull):
				text, _, _ := strings.Cut(why.Error(), "\n")
				text, _, _ = strings.Cut(text, " (") // what the system says of it, where it is the system that noticed
				seen <- "lost: " + text
			default:
				seen <- "lost: other"
			}
		},
	})
	must(t, d.Attach(0, tcp.New(conn, cfg)))
	go d.Run(context.Background())
	t.Cleanup(func() { d.Stop(); <-d.Done() })
	return d, seen
}

func expect(t *testing.T, seen <-chan string, want ...string) {
	t.Helper()
	for _, w := range want {
		select {
		case got := <-seen:
			if got != w {
				t.Fatalf("got %q, want %q", got, w)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no %q", w)
		}
	}
}

func TestTCPMatch(t *testing.T) {
	x, y := socketPair(t)
	cfg := tcp.Config{Linger: 200 * time.Millisecond}
	a, seenA := tcpSide(t, x, cfg)
	b, seenB := tcpSide(t, y, cfg)
	for n := range uint32(20) {
		must(t, a.Post(ping(n)))
		must(t, b.Post(ping(n)))
	}
	for range 20 {
		for _, seen := range []<-chan string{seenA, seenB} {
			if got := <-seen; !strings.HasPrefix(got, "ponged") {
				t.Fatal(got)
			}
		}
	}
	must(t, a.Post(barrier))
	must(t, b.Post(barrier))
	expect(t, seenA, "passed(1)")
	expect(t, seenB, "passed(1)")
	must(t, a.Post(runner.Quit))
	expect(t, seenB, "lost: EOF")
}

func TestTCPPeerVanishes(t *testing.T) {
	x, y := socketPair(t)
	a, seen := tcpSide(t, x, tcp.Config{})
	must(t, a.Post(ping(1)))
	y.SetLinger(0)
	y.Close()
	expect(t, seen, "parted(0)", "lost: link reset by peer")
}

// A peer that sends without ever reading is held back, and loses the link if the machine has much
// to say.
func TestTCPPeerNeverReads(t *testing.T) {
	x, y := socketPair(t)
	defer y.Close()
	a, seen := tcpSide(t, x, tcp.Config{SendQueue: 16 << 10})
	long := strings.Repeat("x", pingpong.MaxNote)
	flood := func(r runner) fsm.Result { return r.Say(long) }
	for {
		if _, err := a.Do(t.Context(), flood); err != nil {
			break // refused: the link is lost and the machine off
		}
	}
	expect(t, seen, "parted(0)", "lost: send queue full: the peer does not keep up")
}

// What the peer sent before it closed is not lost, though our sending fails.
func TestTCPLastWords(t *testing.T) {
	x, y := socketPair(t)
	if _, err := y.Write(append(note("farewell"), note("friend")...)); err != nil {
		t.Fatal(err)
	}
	y.Close()
	_, seen := tcpSide(t, x, tcp.Config{})
	expect(t, seen, "noted(8)", "noted(6)", "parted(0)", "lost: EOF")
}

// A driver cannot tell apart the streams of several peers.
func TestDriverRefusesServer(t *testing.T) {
	l, err := tcp.Serve("tcp4", "127.0.0.1:0", tcp.ServeConfig{})
	must(t, err)
	d := driver.New(pingpong.New(), driver.Options[runner]{})
	if err := d.Attach(0, l); err == nil || !strings.Contains(err.Error(), "Host") {
		t.Errorf("attached: %v", err)
	}
	if _, err := l.Receive(nil); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("the link is left open: %v", err)
	}
}

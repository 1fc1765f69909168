package frames_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// frame is a message as bytes.
func frame(t *testing.T, m lockstep.Message) []byte {
	t.Helper()
	b, err := lockstep.AppendMessage(nil, &m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestStrangers: two play over TCP while others send garbage, half frames, frames that are too long, messages that are
// not theirs to send, and far too many; the server ends those connections, and the game goes on as if they were not
// there.
func TestStrangers(t *testing.T) {
	came, went := make(chan int, 1024), make(chan int, 8)
	tb := newTable(t, frames.ServerConfig{Seed: 7, Spacing: 1, Length: 10 * time.Millisecond,
		OnCame: func(_ string, slot int) { came <- slot },
		OnWent: func(slot int, _ lockstep.Reason) { went <- slot },
	})
	l, err := tcp.Listen("tcp4", "127.0.0.1:0", tcp.Config{MaxLinks: 32, PerAddress: -1, AddressRate: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(tb.ctx)
	served := make(chan error, 1)
	go func() { served <- tb.server.Serve(ctx, l) }()
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	var players []*guest
	turns := make(chan int, 2)
	for slot := range 2 {
		g := tb.invite(frames.ClientConfig{Slot: slot, Key: uint64(slot)})
		each := g.each
		g.each = func(w *world) { // it is called once the game has begun
			each(w)
			select {
			case turns <- slot:
			default:
			}
		}
		players = append(players, g)
		<-came
	}
	if err := tb.server.Begin(tb.ctx); err != nil {
		t.Fatal(err)
	}
	<-turns

	join := frame(t, lockstep.Message{Kind: lockstep.MessageJoin, Join: lockstep.JoinMessage{
		Slot: lockstep.Some(lockstep.Slot(0)), Key: 99}})
	none := frame(t, lockstep.Message{Kind: lockstep.MessageGamecommands})
	part := frame(t, lockstep.Message{Kind: lockstep.MessageSnapshot, Snapshot: lockstep.SnapshotMessage{Last: true}})
	odd := bytes.Clone(none)
	odd[6] = 200 // there is no such slot
	garbage := make([]byte, 300)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range garbage {
		garbage[i] = byte(r.Uint32())
	}
	for name, sent := range map[string][]byte{
		"garbage":      garbage,
		"zeros":        make([]byte, 300),
		"half a frame": join[:len(join)-1], // and then the end
		"too long":     append(bytes.Clone(join[:2]), 0xff, 0xff, 0xff, 0xff),
		"longest":      append(append(bytes.Clone(none[:2]), 0xf0, 0xff, 0, 0), make([]byte, 0xfff0)...),
		"commands":     none,
		"malformed":    odd,
		"a snapshot":   part,
		"twice":        append(bytes.Clone(join), join...),
		"many":         bytes.Repeat(part, 5000),
	} {
		conn, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
		conn.Write(sent)                              // fails where the server has ended it already
		if name == "half a frame" {
			conn.(*net.TCPConn).CloseWrite()
		}
		if _, err := io.Copy(io.Discard, conn); err != nil && !reset(err) {
			t.Errorf("%s: the connection has no end: %v", name, err)
		}
		conn.Close()
	}
	for range 20 {
		<-turns
	}
	for _, p := range players {
		if err := p.Leave(tb.ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-p.done; err != nil {
			t.Errorf("a player was disturbed: %v", err)
		}
	}
	<-went
	if same(t, 5, players[0].world, players[1].world); players[0].went > 1 {
		t.Errorf("%d have left", players[0].went)
	}
}

// reset reports whether the other end has ended a connection without reading all.
func reset(err error) bool {
	ne, ok := err.(net.Error)
	return !ok || !ne.Timeout()
}

// TestClosed: where slots have keys who has lost the link gets the slot again, and nobody else gets one, whoever comes
// first: neither one that is a player's, nor one that nobody is to have, nor one that somebody has left.
func TestClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		came, left := make(chan int, 8), make(chan int, 8)
		tb := newTable(t, frames.ServerConfig{Seed: 7, Keys: map[int]uint64{0: 0, 1: 1, 2: 2},
			OnCame: func(_ string, slot int) { came <- slot },
			OnWent: func(slot int, _ lockstep.Reason) { left <- slot },
		})
		players := tb.meet(came, 0, 1, 2)
		time.Sleep(time.Second)
		if err := players[2].Leave(tb.ctx); err != nil {
			t.Fatal(err)
		}
		tb.links[1].Abort()
		<-left
		<-left
		for _, x := range []struct {
			slot int
			key  uint64
			want frames.EventKind
		}{{2, 99, frames.Refused}, {2, 2, frames.Refused}, {5, 99, frames.Refused}, {1, 99, frames.Refused},
			{1, 1, frames.Seated}} {
			told := make(chan frames.EventKind, 8)
			tb.invite(frames.ClientConfig{Slot: x.slot, Key: x.key, OnEvent: func(e frames.Event) {
				if e.Kind == frames.Seated || e.Kind == frames.Refused {
					told <- e.Kind
				}
			}})
			<-came
			if got := <-told; got != x.want {
				t.Errorf("slot %d with key %d: %v", x.slot, x.key, got)
			}
		}
	})
}

package frames_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// BenchmarkFrames plays command frames over TCP as fast as they go, with one command of each player in each frame. The
// server is the one here or a bare relay, which passes on the same bytes in the same order and looks at nothing; so are
// the players those here or bare ones, which count messages. What an iteration takes is one command frame for all of
// them together; x-bare is how much longer than with a bare relay and bare players in the same run.
func BenchmarkFrames(b *testing.B) {
	for _, n := range []int{2, frames.Slots} {
		bare := 0.0
		for _, mode := range []struct {
			name         string
			server, play bool
		}{{"bare", false, false}, {"server", true, false}, {"players", false, true}, {"both", true, true}} {
			b.Run(fmt.Sprintf("%d/%s", n, mode.name), func(b *testing.B) {
				party(b, n, mode.server, mode.play)
				each := float64(b.Elapsed()) / float64(b.N)
				if mode.name == "bare" {
					bare = each
				}
				up, down := weight(b, n)
				b.ReportMetric(1e9/each, "frames/s")
				b.ReportMetric(up, "B/frame-up")
				b.ReportMetric(down, "B/frame-down")
				if bare > 0 { // it may not have been asked for
					b.ReportMetric(each/bare, "x-bare")
				}
			})
		}
	}
}

// said is a message as bytes.
func said(m lockstep.Message) []byte {
	b, err := lockstep.AppendMessage(nil, &m)
	if err != nil {
		panic(err)
	}
	return b
}

// keysDown is a player's message with one command, and none is that without.
func keysDown(slot, frame int, some bool) []byte {
	m := lockstep.GamecommandsMessage{Slot: lockstep.Slot(slot), Frame: lockstep.Frame(frame)}
	if some {
		m.Commands.Len = 1
		m.Commands.Items[0] = frames.Keys(uint16(frame))
	}
	return said(lockstep.Message{Kind: lockstep.MessageGamecommands, Gamecommands: m})
}

func due(frame int) []byte {
	return said(lockstep.Message{Kind: lockstep.MessageNwfDone, NwfDone: lockstep.NwfDoneMessage{
		Frame: lockstep.Frame(frame), Due: lockstep.GameFrame(frame), Next: lockstep.GameFrame(frame + 1), Length: 10}})
}

// weight returns how many bytes a frame costs each player, up and down.
func weight(b *testing.B, players int) (up, down float64) {
	b.Helper()
	one := float64(len(keysDown(0, 0, true)))
	return one, one*float64(players) + float64(len(due(0)))
}

// party has so many players play b.N frames.
func party(b *testing.B, n int, server, play bool) {
	ctx, cancel := context.WithCancel(b.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	address := serveBare
	if server {
		address = serveReal
	}
	at := address(b, ctx, &all, n)
	done := make(chan struct{}, n)
	b.ReportAllocs()
	b.ResetTimer()
	for slot := range n {
		if play {
			link, err := tcp.Dial(ctx, "tcp4", at, tcp.Config{})
			if err != nil {
				b.Fatal(err)
			}
			g := &runner{rest: b.N, done: done}
			g.c = frames.NewClient(frames.ClientConfig{Slot: slot, Game: g, Unpaced: true})
			all.Go(func() { g.c.Run(ctx, link) })
			continue
		}
		conn, err := net.Dial("tcp4", at)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		all.Go(func() {
			count(conn, slot, n, b.N)
			done <- struct{}{}
		})
	}
	for range n {
		<-done
	}
	b.StopTimer()
}

// runner is a game that gives a command in each turn.
type runner struct {
	quiet
	c    *frames.Client
	rest int
	done chan struct{}
}

func (r *runner) Turn(t *frames.Turn) {
	if r.rest--; r.rest == 0 {
		r.done <- struct{}{}
	}
	r.c.Submit(frames.Keys(uint16(t.Frame)))
}

// count is a bare player.
func count(conn net.Conn, slot, players, rest int) {
	in, out := bufio.NewReader(conn), bufio.NewWriter(conn)
	out.Write(said(lockstep.Message{Kind: lockstep.MessageJoin, Join: lockstep.JoinMessage{
		Slot: lockstep.Some(lockstep.Slot(slot))}}))
	id := binary.LittleEndian.Uint16
	start := id(said(lockstep.Message{Kind: lockstep.MessageServerStart}))
	orders, told := id(keysDown(0, 0, true)), id(due(0))
	have, nTold := make([]int, players), 0
	for frame := 0; frame < rest; {
		if in.Buffered() == 0 {
			out.Flush()
		}
		b, err := next(in)
		if err != nil {
			return
		}
		switch id(b) {
		case orders:
			have[b[6]]++
		case told:
			nTold++
		case start:
			out.Write(keysDown(slot, 0, false))
		}
		for ; nTold > frame && slices.Min(have) > frame && frame < rest; frame++ {
			out.Write(keysDown(slot, frame+lockstep.M, true))
		}
	}
	out.Flush()
}

// next reads a message.
func next(in *bufio.Reader) ([]byte, error) {
	for n := 6; ; {
		b, err := in.Peek(n)
		if err != nil {
			return nil, err
		}
		size, err := lockstep.FrameSize(b)
		if err != nil {
			return nil, err
		}
		if size > 0 && size <= n {
			in.Discard(size)
			return b[:size], nil
		}
		n = max(size, n+1)
	}
}

// serveReal is the server that is here.
func serveReal(b *testing.B, ctx context.Context, all *sync.WaitGroup, n int) (address string) {
	came := make(chan struct{}, n)
	s, err := frames.NewServer(frames.ServerConfig{Length: 10 * time.Millisecond, Spacing: 1, Unpaced: true,
		OnCame: func(string, int) { came <- struct{}{} }})
	if err != nil {
		b.Fatal(err)
	}
	l, err := tcp.Listen("tcp4", "127.0.0.1:0", tcp.Config{PerAddress: -1, AddressRate: -1})
	if err != nil {
		b.Fatal(err)
	}
	all.Go(func() { s.Run(ctx) })
	all.Go(func() { s.Serve(ctx, l) })
	all.Go(func() {
		for range n {
			select {
			case <-came:
			case <-ctx.Done():
				return
			}
		}
		if err := s.Begin(ctx); err != nil && ctx.Err() == nil {
			b.Error(err)
		}
	})
	return l.Addr().String()
}

// serveBare is a relay that passes on what comes, and announces frames.
func serveBare(b *testing.B, ctx context.Context, all *sync.WaitGroup, n int) (address string) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	all.Go(func() {
		<-ctx.Done()
		l.Close()
	})
	all.Go(func() {
		r := &relay{sent: make([]int, n)}
		var from []*bufio.Reader
		for range n {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				<-ctx.Done()
				conn.Close()
			})
			r.out = append(r.out, bufio.NewWriterSize(conn, 64<<10))
			in := bufio.NewReader(conn)
			if _, err := next(in); err != nil { // JOIN
				return
			}
			from = append(from, in)
		}
		r.say(said(lockstep.Message{Kind: lockstep.MessageServerStart, ServerStart: lockstep.ServerStartMessage{
			Players: lockstep.Slots(1<<n - 1)}}))
		r.flush()
		for player, in := range from {
			all.Go(func() { r.pass(player, in) })
		}
	})
	return l.Addr().String()
}

// relay is what the connections of a bare relay share.
type relay struct {
	mu   sync.Mutex
	out  []*bufio.Writer
	sent []int // messages of each player
	now  int   // the next frame of which not everybody's are here
}

func (r *relay) say(b []byte) {
	for _, w := range r.out {
		w.Write(b)
	}
}

func (r *relay) flush() {
	for _, w := range r.out {
		w.Flush()
	}
}

// pass passes on what a player says.
func (r *relay) pass(player int, in *bufio.Reader) {
	for {
		b, err := next(in)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.say(b)
		if r.sent[player]++; r.sent[player] == 1 {
			for frame := 1; frame < lockstep.M; frame++ {
				r.say(keysDown(player, frame, false))
				r.sent[player]++
			}
		}
		for r.complete() {
			if r.now == 0 {
				for frame := range lockstep.M {
					r.say(due(frame))
				}
			}
			r.say(due(r.now + lockstep.M))
			r.now++
		}
		if in.Buffered() == 0 {
			r.flush()
		}
		r.mu.Unlock()
	}
}

func (r *relay) complete() bool {
	return slices.Min(r.sent) > r.now
}

package player_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/netplay/internal/refgame"
	"github.com/parley-go/parley/examples/netplay/player"
	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/transport"
)

// stream is a link whose peer says pieces of bytes, one whenever this side has
// nothing more to do, and then closes. A piece is its length in one byte and
// the bytes. What is sent to the peer is counted and dropped.
type stream struct {
	in     []byte
	pause  time.Duration // how long a side that gives no command is taken to wait for its peer
	sent   int
	wake   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newStream(in []byte, pause time.Duration) *stream {
	return &stream{in: in, pause: pause, wake: make(chan struct{}, 1), closed: make(chan struct{})}
}

func (s *stream) Properties() transport.Properties {
	return transport.Properties{Ordered: true, Reliable: true, Stream: true}
}

func (s *stream) Receive(buf []byte) (transport.Arrival, error) {
	if s.pause > 0 {
		t := time.NewTimer(s.pause)
		defer t.Stop()
		select {
		case <-s.closed:
			return transport.Arrival{}, transport.ErrClosed
		case <-s.wake:
			return transport.Arrival{}, transport.ErrInterrupted
		case <-t.C:
		}
	}
	if len(s.in) < 2 {
		return transport.Arrival{}, io.EOF
	}
	n := min(max(1, int(s.in[0])), len(s.in)-1, len(buf))
	copy(buf, s.in[1:1+n])
	s.in = s.in[1+n:]
	return transport.Arrival{N: n}, nil
}

func (s *stream) Interrupt(at time.Time) {
	if !at.IsZero() && time.Until(at) <= 0 {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

func (s *stream) Send(_ int, frame []byte) error { s.sent += len(frame); return nil }
func (s *stream) Flush() error                   { return nil }
func (s *stream) Close() error                   { s.once.Do(func() { close(s.closed) }); return nil }
func (s *stream) Abort() error                   { return s.Close() }
func (s *stream) LocalAddr() net.Addr            { return nil }
func (s *stream) RemoteAddr(int) net.Addr        { return nil }

// fuzzPeer plays against a stream: this comes to an end, and all is well only
// if a match was played.
func fuzzPeer(t *testing.T, server bool, in []byte, pause time.Duration) player.Result {
	if len(in) > 1<<13 {
		t.Skip("long enough")
	}
	s := newStream(in, pause)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cfg := player.Config{Link: s, Server: server, Matches: 1, Calm: time.Nanosecond, Doubt: time.Millisecond,
		Checksums: player.Echo,
		Fleet:     []netplay.Ship{netplay.ShipOrz}}
	res, err := player.Play(ctx, cfg)
	if ctx.Err() != nil {
		t.Fatalf("it does not come to an end: %v", err)
	}
	if err == nil && res.Matches() == 0 {
		t.Errorf("all was well, says a player that has played nothing: %+v", res)
	}
	// The own team, and for every frame at most an answer for each of its slots.
	if s.sent > 600+40*len(in) {
		t.Errorf("%d bytes in, %d out", len(in), s.sent)
	}
	return res
}

// recorder keeps the pieces that are written to a connection.
type recorder struct {
	net.Conn
	pieces []byte
}

func (r *recorder) Write(b []byte) (int, error) {
	r.pieces = append(append(r.pieces, byte(len(b))), b...)
	return r.Conn.Write(b)
}

// game records what the reference game says when it plays a plan.
func game(tb testing.TB, plan refgame.Plan) []byte {
	tb.Helper()
	addr := make(chan net.Addr, 1)
	done := make(chan error, 1)
	cfg := player.Config{Listen: "127.0.0.1:0", OnListen: func(a net.Addr) { addr <- a }, Matches: 1,
		Calm:      time.Millisecond,
		Checksums: player.Echo, Doubt: time.Millisecond, Fleet: []netplay.Ship{netplay.ShipOrz}}
	go func() { _, err := player.Play(tb.Context(), cfg); done <- err }()
	conn, err := net.Dial("tcp", (<-addr).String())
	if err != nil {
		tb.Fatal(err)
	}
	r := &recorder{Conn: conn}
	_, err = refgame.Play(tb.Context(), r, plan)
	if played := <-done; err != nil || played != nil {
		tb.Fatal(err, played)
	}
	return r.pieces
}

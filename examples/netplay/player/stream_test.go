package player_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/netplay/player"
	"github.com/parley-go/parley/runtime/transport"
)

// stream is a link whose peer says these bytes, then closes. What is sent is
// counted and dropped.
type stream struct {
	mu     sync.Mutex
	in     []byte
	sent   int
	closed chan struct{}
	once   sync.Once
}

func (s *stream) Properties() transport.Properties {
	return transport.Properties{Ordered: true, Reliable: true, Stream: true}
}

// Receive brings a few bytes at a time.
func (s *stream) Receive(buf []byte) (transport.Arrival, error) {
	select {
	case <-s.closed:
		return transport.Arrival{}, transport.ErrClosed
	default:
	}
	n := copy(buf[:min(len(buf), 7)], s.in)
	if s.in = s.in[n:]; n == 0 {
		return transport.Arrival{}, io.EOF
	}
	return transport.Arrival{N: n}, nil
}

func (s *stream) Interrupt(time.Time) {}
func (s *stream) Send(_ int, frame []byte) error {
	s.mu.Lock()
	s.sent += len(frame)
	s.mu.Unlock()
	return nil
}
func (s *stream) Flush() error            { return nil }
func (s *stream) Close() error            { s.once.Do(func() { close(s.closed) }); return nil }
func (s *stream) Abort() error            { return s.Close() }
func (s *stream) LocalAddr() net.Addr     { return nil }
func (s *stream) RemoteAddr(int) net.Addr { return nil }

func fuzzPeer(t *testing.T, in []byte) {
	if len(in) > 1<<16 {
		return
	}
	s := &stream{in: in, closed: make(chan struct{})}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	res, err := player.Play(ctx, player.Config{Link: s, Server: len(in)%2 == 0, Name: "Parley", Matches: 1, Calm: time.Nanosecond, Checksums: player.Echo})
	if ctx.Err() != nil {
		t.Fatalf("it does not come to an end: %v", err)
	}
	if err == nil && res.Matches() == 0 {
		t.Errorf("all was well, says a player that has played nothing: %+v", res)
	}
	// Every frame is answered by at most one for each of its slots.
	if s.sent > 600+32*len(in) {
		t.Errorf("%d bytes in, %d out", len(in), s.sent)
	}
}

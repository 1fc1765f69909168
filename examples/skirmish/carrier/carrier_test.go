package carrier_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/skirmish/carrier"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// tunnel serves an IPX network until the test ends.
func tunnel(t testing.TB) string {
	s, err := ipx.Listen("udp", "127.0.0.1:0", ipx.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { s.Serve(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return s.Addr().String()
}

// pair is a door, somebody who calls, and who is let in.
func pair(t testing.TB, network string, cfg carrier.Config) (a, b transport.Link) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	at := "127.0.0.1:0"
	if network == carrier.IPX {
		at, cfg.Tunnel = "5358", tunnel(t)
	}
	d, err := carrier.Listen(ctx, network, at, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	a, err = carrier.Dial(ctx, network, d.Addr().String(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err = d.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Abort(); b.Abort() })
	return a, b
}

// A stream over datagrams is a link like any other. It allocates: a frame crosses three goroutines.
func TestLink(t *testing.T) {
	linktest.Run(t, func(t *testing.T) (a, b transport.Link) { return pair(t, carrier.UDP, carrier.Config{}) },
		"no allocation")
}

// bad makes every link lose, double and reorder datagrams.
func bad(seed *uint64) func(transport.Link) (transport.Link, error) {
	return func(l transport.Link) (transport.Link, error) {
		*seed++
		return impair.New(l, impair.Config{Seed: *seed, Faults: impair.Faults{Loss: 0.2, Duplicate: 0.1, Reorder: 0.2,
			Late: 20 * time.Millisecond}})
	}
}

// Over a network that loses, doubles and reorders, everything arrives in order, to the end, both ways.
func TestLossy(t *testing.T) {
	for _, network := range []string{carrier.UDP, carrier.IPX} {
		t.Run(network, func(t *testing.T) {
			seed := uint64(1)
			a, b := pair(t, network, carrier.Config{Impair: bad(&seed)})
			const size = 20000
			done := make(chan error, 2)
			for _, l := range []transport.Link{a, b} {
				go func() {
					r := rand.New(rand.NewPCG(7, 7))
					for n := 0; n < size; {
						part := make([]byte, min(size-n, 1+r.IntN(400)))
						for i := range part {
							part[i] = byte((n + i) * 7)
						}
						n += len(part)
						l.Send(0, part)
						l.Flush()
					}
				}()
				go func() {
					buf := make([]byte, 1000)
					n := 0
					for n < size {
						got, err := l.Receive(buf)
						if err != nil {
							done <- err
							return
						}
						for i, c := range buf[:got.N] {
							if c != byte((n+i)*7) {
								t.Errorf("byte %d is another one", n+i)
								done <- nil
								return
							}
						}
						n += got.N
					}
					done <- nil
				}()
			}
			for range 2 {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			go a.Close()
			if got, err := b.Receive(make([]byte, 10)); err != io.EOF {
				t.Errorf("%d bytes, %v, and not the end", got.N, err)
			}
		})
	}
}

// A door is found by a broadcast, and can be called where it was found.
func TestFind(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cfg := carrier.Config{Tunnel: tunnel(t)}
	d, err := carrier.Listen(ctx, carrier.IPX, "5358", cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	found, err := carrier.Find(ctx, "5358", cfg)
	if err != nil || found != d.Addr().String() {
		t.Fatalf("found %q, %v; it is at %v", found, err, d.Addr())
	}
	l, err := carrier.DialPart(ctx, carrier.IPX, found, cfg, 7)
	if err != nil {
		t.Fatal(err)
	}
	l.Abort()
}

// hall is a door in memory.
type hall chan transport.Link

func (h hall) Accept(ctx context.Context) (transport.Link, error) {
	select {
	case l := <-h:
		return l, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (h hall) Addr() net.Addr { return nil }
func (h hall) Close() error   { return nil }

// Who connects and says nothing keeps nobody from the door, not even with more connections than an address may have.
func TestHalfOpen(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h := make(hall)
	parts := carrier.Split(ctx, h, 2)
	for range 100 {
		_, silent := mem.Pair(mem.Config{Stream: true})
		h <- silent
	}
	near, far := mem.Pair(mem.Config{Stream: true})
	h <- far
	if err := errors.Join(near.Send(0, []byte{1}), near.Flush()); err != nil {
		t.Fatalf("nobody is let in: %v", err)
	}
	soon, stop := context.WithTimeout(ctx, 5*time.Second) // ends a test that would hang
	defer stop()
	if _, err := parts[1].Accept(soon); err != nil {
		t.Fatalf("nobody is let in: %v", err)
	}
	cancel()
	parts[0].Accept(context.Background()) // until the door is closed
}

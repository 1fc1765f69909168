package tcp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

func listen(t *testing.T, network, address string, cfg tcp.Config) *tcp.Listener {
	t.Helper()
	ln, err := tcp.Listen(network, address, cfg)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", address, err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

func TestLink(t *testing.T) {
	for network, address := range map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0"} {
		t.Run(network, func(t *testing.T) {
			linktest.Run(t, func(t *testing.T) (transport.Link, transport.Link) {
				cfg := tcp.Config{SendQueue: linktest.Queue, Linger: 500 * time.Millisecond}
				ln := listen(t, network, address, cfg)
				a, err := tcp.Dial(t.Context(), network, ln.Addr().String(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				b, err := ln.AcceptOne(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return a, b
			})
		})
	}
}

// free returns an address on which nobody listens.
func free(t *testing.T) string {
	ln := listen(t, "tcp4", "127.0.0.1:0", tcp.Config{})
	ln.Close()
	return ln.Addr().String()
}

func TestDialRetries(t *testing.T) {
	address := free(t)
	var ln *tcp.Listener
	cfg := tcp.Config{Attempts: -1, Pause: time.Millisecond}
	cfg.OnRetry = func(attempt int, err error) {
		if attempt == 3 {
			ln = listen(t, "tcp4", address, tcp.Config{})
		}
	}
	link, err := tcp.Dial(t.Context(), "tcp", address, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Abort()
	other, err := ln.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other.Abort()
}

func TestDialErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tests := map[string]struct {
		network, address string
		cfg              tcp.Config
		want             string
	}{
		"refused":   {"tcp", free(t), tcp.Config{Attempts: 2, Pause: time.Millisecond}, "refused"},
		"no port":   {"tcp", "127.0.0.1", tcp.Config{Attempts: -1}, "missing port"},
		"bad port":  {"tcp", "127.0.0.1:70000", tcp.Config{Attempts: -1}, "0 to 65535"},
		"network":   {"udp", "127.0.0.1:1", tcp.Config{Attempts: -1}, "unknown network"},
		"cancelled": {"tcp", free(t), tcp.Config{Attempts: -1, OnRetry: func(int, error) { cancel() }}, "canceled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tcp.Dial(ctx, tt.network, tt.address, tt.cfg)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
		if name == "cancelled" {
			ctx, cancel = context.WithCancel(t.Context())
		}
	}
	cancel()
}

func TestListener(t *testing.T) {
	ln := listen(t, "tcp4", "127.0.0.1:0", tcp.Config{MaxLinks: 1})
	ctx, cancel := context.WithCancel(t.Context())
	dial := func() net.Conn {
		c, err := net.Dial("tcp4", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := dial()
	defer c.Close()
	first, err := ln.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	extra := dial()
	defer extra.Close()
	go func() {
		extra.Read(make([]byte, 1)) // returns when the listener has closed it
		cancel()
	}()
	if _, err := ln.Accept(ctx); !errors.Is(err, context.Canceled) || ln.Rejected() != 1 {
		t.Errorf("one link too many: %v, %d rejected", err, ln.Rejected())
	}
	first.Abort()
	again := dial()
	defer again.Close()
	second, err := ln.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second.Abort()
	ln.Close()
	if _, err := ln.Accept(t.Context()); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A peer that asks without reading the answers is not read from until it does.
func TestBackPressure(t *testing.T) {
	cfg := tcp.Config{SendQueue: 1 << 20, Stall: 100 * time.Millisecond}
	ln := listen(t, "tcp4", "127.0.0.1:0", cfg)
	conn, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	link, err := ln.AcceptOne(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer link.Abort()
	answer, sent := make([]byte, 1<<16), 0
	for crowded := false; !crowded; {
		if err := link.Send(0, answer); errors.Is(err, transport.ErrQueueFull) {
			crowded = true
			continue
		}
		sent += len(answer)
		if err := link.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Write([]byte("more")); err != nil {
		t.Fatal(err)
	}
	link.Interrupt(time.Now().Add(20 * time.Millisecond))
	if _, err := link.Receive(make([]byte, 10)); !errors.Is(err, transport.ErrInterrupted) {
		t.Fatalf("received from a peer that does not read: %v", err)
	}
	link.Interrupt(time.Time{})
	read := make(chan error, 1)
	go func() {
		_, err := io.CopyN(io.Discard, conn, int64(sent))
		read <- err
	}()
	if got, err := link.Receive(make([]byte, 10)); err != nil || got.N != 4 {
		t.Errorf("after it has read: %v, %v", got, err)
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	// The limit on stalling was for that backlog; later sends have nothing to do with it.
	link.Interrupt(time.Now().Add(2 * cfg.Stall))
	link.Receive(make([]byte, 10))
	if link.Send(0, answer[:1]) != nil || link.Flush() != nil {
		t.Errorf("sending after the backlog has gone: %v", link.Flush())
	}
}

// A peer that takes nothing for too long is given up.
func TestStall(t *testing.T) {
	cfg := tcp.Config{SendQueue: 64 << 20, Stall: 20 * time.Millisecond}
	ln := listen(t, "tcp4", "127.0.0.1:0", cfg)
	conn, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	link, err := ln.AcceptOne(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer link.Abort()
	for range 512 {
		if link.Send(0, make([]byte, 1<<16)) != nil {
			break
		}
	}
	link.Flush()
	if _, err := link.Receive(make([]byte, 10)); !errors.Is(err, transport.ErrStalled) {
		t.Errorf("got %v", err)
	}
}

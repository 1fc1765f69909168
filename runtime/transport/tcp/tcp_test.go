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
				b, err := ln.AcceptOne(t.Context(), tcp.Anyone)
				if err != nil {
					t.Fatal(err)
				}
				return a, b
			})
		})
	}
}

// free returns an address on which nobody listens, and nobody will while the test runs: its port is
// that of a connection, and no other program is given it.
func free(t *testing.T) string {
	ln := listen(t, "tcp4", "127.0.0.1:0", tcp.Config{})
	c, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().String()
}

func TestDialRetries(t *testing.T) {
	for !dialRetries(t) {
		t.Log("another program has taken the port meanwhile")
	}
}

// dialRetries reports whether nobody else has taken the port on which nobody listens at first.
func dialRetries(t *testing.T) bool {
	before, err := tcp.Listen("tcp4", "127.0.0.1:0", tcp.Config{})
	if err != nil {
		t.Skip(err)
	}
	address := before.Addr().String()
	before.Close()
	var ln *tcp.Listener
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg := tcp.Config{Attempts: -1, Pause: time.Millisecond}
	cfg.OnRetry = func(attempt int, _ error) {
		if attempt == 3 {
			if ln, err = tcp.Listen("tcp4", address, tcp.Config{}); err != nil {
				cancel()
			}
		}
	}
	link, dialled := tcp.Dial(ctx, "tcp", address, cfg)
	if dialled == nil {
		defer link.Abort()
	}
	if err != nil || ln == nil && dialled == nil {
		return false
	}
	if dialled != nil {
		t.Fatal(dialled)
	}
	defer ln.Close()
	other, err := ln.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other.Abort()
	return true
}

func TestDialErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tests := map[string]struct {
		network, address string
		cfg              tcp.Config
		want             string
	}{
		"refused": {"tcp", free(t), tcp.Config{Attempts: 2, Pause: time.Millisecond},
			"no program listens on the port; start the other side first"},
		"no port":   {"tcp", "127.0.0.1", tcp.Config{Attempts: -1}, "write HOST:PORT, such as 127.0.0.1:6502"},
		"port 0":    {"tcp", "127.0.0.1:0", tcp.Config{Attempts: -1}, "nobody can be reached on port 0"},
		"nowhere":   {"tcp", "nosuch..name:1", tcp.Config{}, `no address is found for the name "nosuch..name"`},
		"empty":     {"tcp", "", tcp.Config{Attempts: -1}, "it is empty"},
		"bad port":  {"tcp", "127.0.0.1:70000", tcp.Config{Attempts: -1}, "0 to 65535"},
		"network":   {"udp", "127.0.0.1:1", tcp.Config{Attempts: -1}, "it is tcp or udp"},
		"cancelled": {"tcp", free(t), tcp.Config{Attempts: -1, OnRetry: func(int, error) { cancel() }}, "canceled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tcp.Dial(ctx, tt.network, tt.address, tt.cfg)
			if err == nil || !strings.Contains(err.Error(), tt.want) ||
				!strings.HasPrefix(err.Error(), "connecting to ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
		if name == "cancelled" {
			ctx, cancel = context.WithCancel(t.Context())
		}
	}
	cancel()
}

// The words tell what is wrong; the error of the system is in the chain.
func TestListenErrors(t *testing.T) {
	there := listen(t, "tcp4", "127.0.0.1:0", tcp.Config{}).Addr().String()
	for address, want := range map[string]string{
		there:             "another program of this computer has port",
		"203.0.113.77:0":  "does not have the address 203.0.113.77; it has 127.0.0.1",
		"127.0.0.1:99999": `"99999" is no port; it is a number from 0 to 65535`,
		"127.0.0.1":       "there is no port; write HOST:PORT, such as 127.0.0.1:6502",
		"":                "",
	} {
		ln, err := tcp.Listen("tcp4", address, tcp.Config{})
		if want == "" { // all addresses, a free port
			if err != nil {
				t.Error(err)
			} else {
				ln.Close()
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), "listening on "+address+" (TCP): ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
		var op *net.OpError
		if !errors.As(err, &op) {
			t.Errorf("%q: the error of the system is lost: %#v", address, err)
		}
		if _, second := tcp.Serve("tcp4", address, tcp.ServeConfig{}); second == nil ||
			!strings.Contains(second.Error(), want) {
			t.Errorf("Serve, %q: %v", address, second)
		}
	}
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
	stall := 100 * time.Millisecond
	for !backPressure(t, stall) {
		if stall *= 2; stall > time.Minute {
			t.Fatal("every peer is given up for taking nothing")
		}
	}
}

// backPressure reports whether the test took less than the limit on stalling, which gives up the
// peer else, and rightly.
func backPressure(t *testing.T, stall time.Duration) bool {
	ln := listen(t, "tcp4", "127.0.0.1:0", tcp.Config{SendQueue: 1 << 20, Stall: stall})
	conn, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	link, err := ln.AcceptOne(t.Context(), tcp.Anyone)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Abort()
	answer := make([]byte, 1<<16)
	sent, full := fill(t, link.(*tcp.Link), answer)
	if !full {
		return false
	}
	if _, err := conn.Write([]byte("more")); err != nil {
		return false // the link was closed
	}
	link.Interrupt(time.Now().Add(20 * time.Millisecond))
	switch _, err := link.Receive(make([]byte, 10)); {
	case errors.Is(err, transport.ErrStalled):
		return false
	case !errors.Is(err, transport.ErrInterrupted):
		t.Fatalf("received from a peer that does not read: %v", err)
	}
	link.Interrupt(time.Time{})
	read := make(chan error, 1)
	go func() {
		_, err := io.CopyN(io.Discard, conn, int64(sent))
		read <- err
	}()
	switch got, err := link.Receive(make([]byte, 10)); {
	case errors.Is(err, transport.ErrStalled):
		return false
	case err != nil || got.N != 4:
		t.Errorf("after it has read: %v, %v", got, err)
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	// The limit on stalling was for that backlog; later sends have nothing to do with it.
	link.Interrupt(time.Now().Add(2 * stall))
	link.Receive(make([]byte, 10))
	if link.Send(0, answer[:1]) != nil || link.Flush() != nil {
		t.Errorf("sending after the backlog has gone: %v", link.Flush())
	}
	return true
}

// fill sends answers until no more of them wait, and counts the bytes; full is false if the peer
// was given up before.
func fill(t *testing.T, link *tcp.Link, answer []byte) (sent int, full bool) {
	t.Helper()
	for {
		err := link.Send(0, answer)
		if err == nil {
			sent += len(answer)
			err = link.Flush()
		}
		switch {
		case errors.Is(err, transport.ErrQueueFull):
			return sent, true
		case errors.Is(err, transport.ErrStalled):
			return sent, false
		case err != nil:
			t.Fatal(err)
		}
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
	link, err := ln.AcceptOne(t.Context(), tcp.Anyone)
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

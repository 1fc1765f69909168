package doors

import (
	"context"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/ssr"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// TestNumbers: there are two numbers, and more players come one after another: some hang up, and some say goodbye,
// whose connections the machine closes. Each gets a number.
func TestNumbers(t *testing.T) {
	r, err := ssr.NewServerRunner(0)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tcp.Listen("tcp", "127.0.0.1:0", tcp.Config{AddressRate: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- Serve(ctx, listener, New(2), driver.New(r, driver.Options[*ssr.ServerRunner]{}), nil)
	}()
	for n := range 9 {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
		conn.Write([]byte{0, 3, 2})                   // GAME_INFO
		if _, err := io.ReadFull(conn, make([]byte, 4)); err != nil {
			t.Fatalf("player %d gets no answer: %v", n, err)
		}
		if n%3 > 0 {
			conn.Write([]byte{0, 3, 5}) // DISCONNECT
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Fatalf("player %d is not let go: %v", n, err)
			}
		}
		conn.Close()
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestCustomer: an IPv4 address is one customer however it is written, and so is an IPv6 network of 64 bits.
func TestCustomer(t *testing.T) {
	for address, want := range map[string]string{"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1",
		"2001:db8:0:1:2:3:4:5": "2001:db8:0:1::", "fe80::1%eth0": "fe80::"} {
		if got := Customer(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("%s counts as %s, not %s", address, got, want)
		}
	}
}

package ipx_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/linktest"
)

const socket = 0x869B

// serve runs a server until the test ends.
func serve(t testing.TB, network, address string, cfg ipx.ServerConfig) *ipx.Server {
	t.Helper()
	s, err := ipx.Listen(network, address, cfg)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", address, err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background()) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

func dial(t testing.TB, s *ipx.Server, cfg ipx.Config) *ipx.Link {
	t.Helper()
	if cfg.Socket == 0 {
		cfg.Socket = socket
	}
	l, err := ipx.Dial(t.Context(), "udp", s.Addr().String(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	watch := time.AfterFunc(time.Minute, func() { l.Abort() })
	t.Cleanup(func() { watch.Stop(); l.Abort() })
	return l
}

// known makes sure that the server knows a link: it has spoken, and been answered.
func known(t testing.TB, l *ipx.Link, s *ipx.Server, clients int) {
	t.Helper()
	for s.Clients() < clients {
		if err := l.Ping(); err != nil {
			t.Fatal(err)
		}
		l.Interrupt(time.Now().Add(time.Millisecond))
		if _, err := l.Receive(make([]byte, 10)); !errors.Is(err, transport.ErrInterrupted) {
			t.Fatal(err)
		}
	}
	l.Interrupt(time.Time{})
}

func TestLink(t *testing.T) {
	for network, address := range map[string]string{"udp4": "127.0.0.1:0", "udp6": "[::1]:0"} {
		for _, plain := range []bool{true, false} {
			name := network
			if plain {
				name += ", nodes as DOSBox gives them"
			}
			t.Run(name, func(t *testing.T) {
				linktest.Run(t, func(t *testing.T) (transport.Link, transport.Link) {
					s := serve(t, network, address, ipx.ServerConfig{PlainNodes: plain, FrameRate: -1})
					a, b := dial(t, s, ipx.Config{}), dial(t, s, ipx.Config{})
					known(t, a, s, 1)
					known(t, b, s, 2)
					for l, other := range map[*ipx.Link]*ipx.Link{a: b, b: a} {
						if _, err := l.Add(other.Address()); err != nil {
							t.Fatal(err)
						}
					}
					return a, b
				})
			})
		}
	}
}

func TestHeader(t *testing.T) {
	const text = "ffff" + "0023" + "01" + "04" + "00000001" + "0200aabbccdd" + "869b" + "00000002" +
		"020000000001" + "4003" + "68656c6c6f"
	packet, err := hex.DecodeString(text + "000000") // with padding
	if err != nil {
		t.Fatal(err)
	}
	h, payload, err := ipx.Parse(packet)
	if err != nil || string(payload) != "hello" {
		t.Fatalf("%q, %v", payload, err)
	}
	if got := h.Dst.String() + " " + h.Src.String(); got != "00000001.0200AABBCCDD.869B 00000002.020000000001.4003" {
		t.Error(got)
	}
	if h.Length != 35 || h.Control != 1 || h.Type != 4 {
		t.Errorf("%+v", h)
	}
	if got := append(h.Append(nil), payload...); !bytes.Equal(got, packet[:35]) {
		t.Errorf("encoded as % x", got)
	}
	a, err := ipx.ParseAddress(h.Dst.String())
	if err != nil || a != h.Dst {
		t.Error(a, err)
	}
	for _, bad := range []string{"", "1.2", "1.020304050607.869C.1", "x.020304050607.1", "1.0203.1",
		"1.020304050607.12345"} {
		if _, err := ipx.ParseAddress(bad); err == nil || !strings.Contains(err.Error(), "IPX address") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestDialFails(t *testing.T) {
	silent, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	cfg := ipx.Config{Socket: socket, Retry: time.Millisecond, Attempts: 3}
	if _, err := ipx.Dial(t.Context(), "udp4", silent.LocalAddr().String(), cfg); err == nil ||
		!strings.Contains(err.Error(), "no answer to 3 requests") {
		t.Errorf("nobody answers: %v", err)
	}
	buf := make([]byte, 100)
	for range 3 {
		if n, _, err := silent.ReadFrom(buf); err != nil || n != ipx.HeaderSize {
			t.Fatal(n, err)
		}
	}
	want := "ffff001e0000" + strings.Repeat("00", 10) + "0002" + strings.Repeat("00", 10) + "0002"
	if got := hex.EncodeToString(buf[:30]); got != want {
		t.Errorf("asked with %s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg.Attempts = -1
	if _, err := ipx.Dial(ctx, "udp4", silent.LocalAddr().String(), cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	cfg.Socket = 2
	if _, err := ipx.Dial(ctx, "udp4", silent.LocalAddr().String(), cfg); err == nil ||
		!strings.Contains(err.Error(), "socket 0002") {
		t.Errorf("the echo socket: %v", err)
	}
}

// Registration is asked for again when the first request is lost.
func TestDialRetries(t *testing.T) {
	server, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		buf := make([]byte, 100)
		server.ReadFrom(buf)
		_, from, err := server.ReadFrom(buf)
		if err != nil {
			return
		}
		reply, _ := hex.DecodeString("ffff001e002a" + "00000000" + "7f0000011234" + "0002" + "00000001" +
			"7f0000010001" + "0002")
		server.WriteTo(reply, from)
	}()
	l, err := ipx.Dial(t.Context(), "udp4", server.LocalAddr().String(),
		ipx.Config{Socket: socket, Retry: 5 * time.Millisecond, Attempts: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Abort()
	if got := l.Address().String(); got != "00000000.7F0000011234.869B" {
		t.Errorf("registered as %s", got)
	}
}

func TestBroadcastAndPing(t *testing.T) {
	s := serve(t, "udp4", "127.0.0.1:0", ipx.ServerConfig{})
	echoes := make(chan ipx.Address, 10)
	a := dial(t, s, ipx.Config{OnEcho: func(from ipx.Address) { echoes <- from }})
	b, c, deaf := dial(t, s, ipx.Config{}), dial(t, s, ipx.Config{}), dial(t, s, ipx.Config{Socket: 0x5000})
	for i, l := range []*ipx.Link{a, b, c, deaf} {
		known(t, l, s, i+1)
	}
	if err := errors.Join(a.Send(transport.All, []byte("all")), a.Flush()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(deaf.Send(transport.All, []byte("another socket")), deaf.Flush()); err != nil {
		t.Fatal(err)
	}
	if err := a.Ping(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	for _, l := range []*ipx.Link{b, c} {
		if got, err := l.Receive(buf); err != nil || got.Kind != transport.PeerUp {
			t.Fatal(got, err)
		}
		if got, err := l.Receive(buf); err != nil || string(buf[:got.N]) != "all" {
			t.Fatalf("%q, %v", buf[:got.N], err)
		}
		if got := l.RemoteAddr(0).String(); got != a.Address().String() {
			t.Errorf("from %s, not %v", got, a.Address())
		}
	}
	from := map[ipx.Node]bool{}
	for len(from) < 2 {
		for _, l := range []*ipx.Link{b, c, a} {
			l.Interrupt(time.Now().Add(time.Millisecond))
			if _, err := l.Receive(buf); !errors.Is(err, transport.ErrInterrupted) {
				t.Fatal(err)
			}
		}
		for len(echoes) > 0 {
			from[(<-echoes).Node] = true
		}
	}
	if !from[b.Address().Node] || !from[c.Address().Node] {
		t.Errorf("answers from %v", from)
	}
}

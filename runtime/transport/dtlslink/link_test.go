package dtlslink_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/dtlslink"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/transport/tlslink"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// person is somebody with a certificate of its own.
type person struct {
	cert tls.Certificate
	key  tlslink.Fingerprint
}

func newPerson(t testing.TB, name string) person {
	t.Helper()
	cert, key, err := tlslink.SelfSigned(name)
	if err != nil {
		t.Fatal(err)
	}
	return person{cert, key}
}

// client and server are configurations that accept only these others.
func (p person) client(keys ...tlslink.Fingerprint) dtlslink.Config {
	return dtlslink.Config{Certificate: p.cert, Keys: keys}
}

func (p person) server(keys ...tlslink.Fingerprint) dtlslink.Config {
	return dtlslink.Config{Server: true, Certificate: p.cert, Keys: keys}
}

func wrap(t testing.TB, inner transport.Link, cfg dtlslink.Config) *dtlslink.Link {
	t.Helper()
	l, err := dtlslink.Wrap(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	watch := time.AfterFunc(time.Minute, func() { l.Abort() })
	t.Cleanup(func() { watch.Stop(); l.Abort() })
	return l
}

func open(t testing.TB, peers ...string) *udp.Link {
	t.Helper()
	l, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Peers: peers})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// carriers are the kinds of links that are wrapped; b is the server's, and does not know a yet
// where it need not.
var carriers = map[string]func(t testing.TB) (a, b transport.Link){
	"memory": func(testing.TB) (a, b transport.Link) {
		x, y := mem.Pair(mem.Config{MaxFrame: 1400})
		return x, y
	},
	"UDP": func(t testing.TB) (a, b transport.Link) {
		y := open(t)
		return open(t, y.LocalAddr().String()), y
	},
}

func TestLink(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	for name, carrier := range carriers {
		t.Run(name, func(t *testing.T) {
			linktest.Run(t, func(t *testing.T) (transport.Link, transport.Link) {
				a, b := carrier(t)
				return wrap(t, a, alice.client(bob.key)), wrap(t, b, bob.server(alice.key))
			}, "no allocation") // pion/dtls allocates for each record
		})
	}
}

// expect takes arrivals until one says what is wanted.
func expect(t testing.TB, l transport.Link, want transport.Kind, text string) {
	t.Helper()
	buf := make([]byte, 2000)
	got, err := l.Receive(buf)
	if err != nil || got.Kind != want || string(buf[:got.N]) != text {
		t.Fatalf("received %v %q, %v; want %v %q", got, buf[:got.N], err, want, text)
	}
}

func say(t testing.TB, l transport.Link, text string) {
	t.Helper()
	if err := errors.Join(l.Send(0, []byte(text)), l.Flush()); err != nil {
		t.Fatal(err)
	}
}

func TestIdentity(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	roots := x509.NewCertPool()
	roots.AddCert(alice.cert.Leaf)
	roots.AddCert(bob.cert.Leaf)
	tests := []struct {
		name           string
		client, server dtlslink.Config
		seenByServer   tlslink.Identity
		seenByClient   tlslink.Identity
	}{
		{"keys", alice.client(bob.key), bob.server(alice.key),
			tlslink.Identity{Name: "alice", Key: alice.key}, tlslink.Identity{Name: "bob", Key: bob.key}},
		{"authorities", dtlslink.Config{Certificate: alice.cert, Roots: roots, ServerName: "bob"},
			dtlslink.Config{Server: true, Certificate: bob.cert, Roots: roots},
			tlslink.Identity{Name: "alice", Key: alice.key, Verified: true},
			tlslink.Identity{Name: "bob", Key: bob.key, Verified: true}},
		{"nobody asked", dtlslink.Config{Keys: []tlslink.Fingerprint{bob.key}}, bob.server(),
			tlslink.Identity{}, tlslink.Identity{Name: "bob", Key: bob.key}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := carriers["UDP"](t)
			x, y := wrap(t, a, tt.client), wrap(t, b, tt.server)
			if _, ok := x.Identity(0); ok {
				t.Error("an identity before the handshake")
			}
			expect(t, x, transport.PeerUp, "")
			expect(t, y, transport.PeerUp, "")
			atClient, _ := x.Identity(0)
			atServer, ok := y.Identity(0)
			if !ok || atClient != tt.seenByClient || atServer != tt.seenByServer {
				t.Errorf("client sees %+v, server sees %+v", atClient, atServer)
			}
		})
	}
}

// failed waits until a handshake has failed and returns why.
func failed(t *testing.T, l *dtlslink.Link) error {
	for {
		if s, err := l.Stats(); s.Failed > 0 {
			return err
		}
		l.Interrupt(time.Now().Add(5 * time.Millisecond))
		if got, err := l.Receive(make([]byte, 2000)); !errors.Is(err, transport.ErrInterrupted) {
			t.Fatalf("received %v, %v before a handshake has failed", got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	alice, bob, eve := newPerson(t, "alice"), newPerson(t, "bob"), newPerson(t, "bob")
	tests := []struct {
		name           string
		client, server dtlslink.Config
		byClient       bool
		want           error
		text           string
	}{
		{"another key under the same name", alice.client(bob.key), eve.server(alice.key), true,
			tlslink.ErrUnknownKey, eve.key.String()},
		{"a client that is not known", eve.client(bob.key), bob.server(alice.key), false, tlslink.ErrUnknownKey,
			eve.key.String()},
		{"a client without a key", dtlslink.Config{Keys: []tlslink.Fingerprint{bob.key}}, bob.server(alice.key),
			false, nil, "required client verification"},
		{"an authority that is not trusted", dtlslink.Config{ServerName: "bob"}, bob.server(), true, nil,
			"unknown authority"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := carriers["UDP"](t)
			x, y := wrap(t, a, tt.client), wrap(t, b, tt.server)
			side := y
			if tt.byClient {
				side = x
			}
			if err := failed(t, side); tt.want != nil && !errors.Is(err, tt.want) ||
				!strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v; want %v with %q", err, tt.want, tt.text)
			}
			if err := x.Send(0, []byte("x")); !errors.Is(err, transport.ErrNoPeer) {
				t.Errorf("sending to a peer that was refused: %v", err)
			}
		})
	}
	inner, _ := mem.Pair(mem.Config{Stream: true})
	if _, err := dtlslink.Wrap(inner, dtlslink.Config{}); err == nil || !strings.Contains(err.Error(), "tlslink") {
		t.Error(err)
	}
	inner, _ = mem.Pair(mem.Config{})
	if _, err := dtlslink.Wrap(inner, dtlslink.Config{Server: true}); err == nil ||
		!strings.Contains(err.Error(), "certificate") {
		t.Error(err)
	}
}

// TestLossyHandshake: the handshake repeats what was lost.
func TestLossyHandshake(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	a, b := carriers["UDP"](t)
	bad, err := impair.New(a, impair.Config{Seed: 3, Faults: impair.Faults{Loss: 0.3, Duplicate: 0.2}})
	if err != nil {
		t.Fatal(err)
	}
	x, y := wrap(t, bad, alice.client(bob.key)), wrap(t, b, bob.server(alice.key))
	expect(t, x, transport.PeerUp, "")
	expect(t, y, transport.PeerUp, "")
}

// TestClientBeginsAnew: a client that has crashed comes back from the same address; nobody else can
// take its place.
func TestClientBeginsAnew(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	server := open(t)
	y := wrap(t, server, bob.server(alice.key))
	first := open(t, server.LocalAddr().String())
	x := wrap(t, first, alice.client(bob.key))
	expect(t, x, transport.PeerUp, "")
	expect(t, y, transport.PeerUp, "")
	say(t, x, "one")
	expect(t, y, transport.Data, "one")

	// A forged beginning, as from the client's address.
	hello := append([]byte{22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 1}, bytes.Repeat([]byte{0}, 19)...)
	if err := errors.Join(first.Send(0, hello), first.Flush()); err != nil {
		t.Fatal(err)
	}
	say(t, x, "two")
	expect(t, y, transport.Data, "two")

	address := first.LocalAddr().String()
	first.Abort() // without a word
	again, err := udp.Open("udp4", address, udp.Config{Peers: []string{server.LocalAddr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	x = wrap(t, again, alice.client(bob.key))
	expect(t, x, transport.PeerUp, "")
	expect(t, y, transport.PeerLost, "")
	expect(t, y, transport.PeerUp, "")
	say(t, x, "three")
	expect(t, y, transport.Data, "three")
	say(t, y, "four")
	expect(t, x, transport.Data, "four")

	x.Close()
	expect(t, y, transport.PeerLost, "")
}

// TestHandshakesAreLimited: strangers that only begin cost no more than the limit.
func TestHandshakesAreLimited(t *testing.T) {
	bob := newPerson(t, "bob")
	server := open(t)
	cfg := bob.server()
	log, logger := linktest.NewLog()
	cfg.Logger = logger
	cfg.Handshakes, cfg.Handshake = 3, time.Hour // none of them comes to its end meanwhile
	y := wrap(t, server, cfg)
	for range 10 {
		stranger := open(t, server.LocalAddr().String())
		if err := errors.Join(stranger.Send(0, hello), stranger.Flush()); err != nil {
			t.Fatal(err)
		}
		defer stranger.Abort()
	}
	for {
		s, failed := y.Stats()
		if s.Shaking > 3 {
			t.Fatalf("%+v", s)
		}
		if s.Evicted == 7 && s.Shaking == 3 {
			log.Once(t, "Handshakes, oldest")
			return
		}
		y.Interrupt(time.Now().Add(5 * time.Millisecond))
		if got, err := y.Receive(make([]byte, 2000)); !errors.Is(err, transport.ErrInterrupted) {
			t.Fatalf("received %v, %v; %+v, %v; want 7 evicted", got, err, s, failed)
		}
	}
}

// TestHandshakesOfOneAddress: an address that begins handshakes without end leaves room for others.
func TestHandshakesOfOneAddress(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	server, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Limits: udp.Limits{PerAddress: -1, AddressRate: -1}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := bob.server(alice.key)
	cfg.Handshakes, cfg.PerAddress, cfg.Handshake = 8, 3, time.Hour // none of those that come first ends meanwhile
	y := wrap(t, server, cfg)
	away, err := udp.Open("udp4", "127.0.0.2:0", udp.Config{Peers: []string{server.LocalAddr().String()}})
	if err != nil {
		t.Skipf("this computer has no address 127.0.0.2: %v", err)
	}
	for range 20 {
		stranger := open(t, server.LocalAddr().String())
		if err := errors.Join(stranger.Send(0, hello), stranger.Flush()); err != nil {
			t.Fatal(err)
		}
		defer stranger.Abort()
	}
	for s, _ := y.Stats(); s.Crowded < 17; s, _ = y.Stats() {
		y.Interrupt(time.Now().Add(5 * time.Millisecond))
		if got, err := y.Receive(make([]byte, 2000)); !errors.Is(err, transport.ErrInterrupted) {
			t.Fatalf("received %v, %v; %+v", got, err, s)
		}
	}
	y.Interrupt(time.Time{})
	x := wrap(t, away, alice.client(bob.key))
	expect(t, x, transport.PeerUp, "")
	expect(t, y, transport.PeerUp, "")
	if s, err := y.Stats(); s.Crowded != 17 || s.Refused > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestHandshakePlaces: a handshake that has ended, well or not, leaves its place to the next one.
func TestHandshakePlaces(t *testing.T) {
	alice, bob, eve := newPerson(t, "alice"), newPerson(t, "bob"), newPerson(t, "eve")
	server := open(t)
	cfg := bob.server(alice.key)
	cfg.Handshakes, cfg.PerAddress = 1, 1
	y := wrap(t, server, cfg)
	for range 3 {
		failed, _ := y.Stats()
		z := wrap(t, open(t, server.LocalAddr().String()), eve.client(bob.key))
		for s := failed; s.Failed == failed.Failed; s, _ = y.Stats() {
			y.Interrupt(time.Now().Add(5 * time.Millisecond))
			if got, err := y.Receive(make([]byte, 2000)); !errors.Is(err, transport.ErrInterrupted) {
				t.Fatalf("received %v, %v; %+v", got, err, s)
			}
		}
		z.Abort()
		y.Interrupt(time.Time{})
		x := wrap(t, open(t, server.LocalAddr().String()), alice.client(bob.key))
		expect(t, x, transport.PeerUp, "")
		expect(t, y, transport.PeerUp, "")
	}
}

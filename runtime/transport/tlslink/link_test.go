package tlslink_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/tlslink"
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

func (p person) config() *tls.Config { return &tls.Config{Certificates: []tls.Certificate{p.cert}} }

// shake makes both ends of a TLS link; the errors are those of client and server.
func shake(t testing.TB, a, b transport.Link, client, server *tls.Config) (x, y *tlslink.Link, ex, ey error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		y, ey = tlslink.Server(ctx, b, server)
	}()
	x, ex = tlslink.Client(ctx, a, client)
	<-done
	return x, y, ex, ey
}

// carriers are the kinds of links that are wrapped.
var carriers = map[string]func(t testing.TB) (a, b transport.Link){
	"memory": func(t testing.TB) (a, b transport.Link) {
		x, y := mem.Pair(mem.Config{Stream: true})
		return x, y
	},
	"TCP": func(t testing.TB) (a, b transport.Link) {
		listener, err := tcp.Listen("tcp4", "127.0.0.1:0", tcp.Config{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := tcp.Dial(t.Context(), "tcp4", listener.Addr().String(), tcp.Config{})
		if err != nil {
			t.Fatal(err)
		}
		y, err := listener.AcceptOne(t.Context(), tcp.Anyone)
		if err != nil {
			t.Fatal(err)
		}
		return x, y
	},
}

func TestLink(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	for name, carrier := range carriers {
		t.Run(name, func(t *testing.T) {
			linktest.Run(t, func(t *testing.T) (transport.Link, transport.Link) {
				a, b := carrier(t)
				x, y, ex, ey := shake(t, a, b, tlslink.Pin(alice.config(), bob.key),
					tlslink.Pin(bob.config(), alice.key))
				if err := errors.Join(ex, ey); err != nil {
					t.Fatal(err)
				}
				return x, y
			}, "no allocation") // crypto/tls allocates once for each record that it reads
		})
	}
}

func TestIdentity(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob of the hills")
	pool := x509.NewCertPool()
	pool.AddCert(alice.cert.Leaf)
	verifying := bob.config()
	verifying.ClientAuth, verifying.ClientCAs = tls.RequireAndVerifyClientCert, pool
	tests := []struct {
		name           string
		client, server *tls.Config
		seenByServer   tlslink.Identity
		seenByClient   tlslink.Identity
	}{
		{"pinned", tlslink.Pin(alice.config(), bob.key), tlslink.Pin(bob.config(), alice.key),
			tlslink.Identity{Name: "alice", Key: alice.key}, tlslink.Identity{Name: "bob of the hills", Key: bob.key}},
		{"authority", tlslink.Pin(alice.config(), bob.key), verifying,
			tlslink.Identity{Name: "alice", Key: alice.key, Verified: true},
			tlslink.Identity{Name: "bob of the hills", Key: bob.key}},
		{"nobody asked", tlslink.Pin(&tls.Config{}, bob.key), bob.config(),
			tlslink.Identity{}, tlslink.Identity{Name: "bob of the hills", Key: bob.key}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := mem.Pair(mem.Config{Stream: true})
			x, y, ex, ey := shake(t, a, b, tt.client, tt.server)
			if err := errors.Join(ex, ey); err != nil {
				t.Fatal(err)
			}
			if x.Identity() != tt.seenByClient || y.Identity() != tt.seenByServer {
				t.Errorf("client sees %+v, server sees %+v", x.Identity(), y.Identity())
			}
			if v := x.State().Version; v != tls.VersionTLS13 {
				t.Errorf("version %x", v)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	alice, bob, eve := newPerson(t, "alice"), newPerson(t, "bob"), newPerson(t, "bob")
	old := alice.config()
	old.MaxVersion = tls.VersionTLS12
	tests := []struct {
		name           string
		client, server *tls.Config
		want           error
		text           string
	}{
		{"another key under the same name", tlslink.Pin(alice.config(), bob.key),
			tlslink.Pin(eve.config(), alice.key), tlslink.ErrUnknownKey, eve.key.String()},
		{"a client without a key", tlslink.Pin(&tls.Config{}, bob.key), tlslink.Pin(bob.config(), alice.key),
			nil, "certificate"},
		{"an authority that is not trusted", &tls.Config{ServerName: "bob"}, bob.config(), nil, "unknown authority"},
		{"TLS 1.2 only", old, bob.config(), nil, "TLS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := mem.Pair(mem.Config{Stream: true})
			x, _, ex, ey := shake(t, a, b, tt.client, tt.server)
			if ex == nil && ey != nil { // in TLS 1.3 a client may be through before the server has looked at it
				_, ex = x.Receive(make([]byte, 10))
			}
			err := errors.Join(ex, ey)
			if ex == nil || ey == nil || tt.want != nil && !errors.Is(err, tt.want) ||
				!strings.Contains(err.Error(), tt.text) {
				t.Errorf("client: %v\nserver: %v\nwant %v with %q on both sides", ex, ey, tt.want, tt.text)
			}
		})
	}
	if _, err := tlslink.ParseFingerprint(alice.key.String()[2:]); err == nil {
		t.Error("a short fingerprint is taken")
	}
	if f, err := tlslink.ParseFingerprint(alice.key.String()); err != nil || f != alice.key {
		t.Errorf("%v, %v", f, err)
	}
}

// TestCutOff: the end of the carrier is not the end of the stream.
func TestCutOff(t *testing.T) {
	bob := newPerson(t, "bob")
	for _, orderly := range []bool{true, false} {
		a, b := mem.Pair(mem.Config{Stream: true})
		x, y, ex, ey := shake(t, a, b, tlslink.Pin(&tls.Config{}, bob.key), bob.config())
		if err := errors.Join(ex, ey); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(x.Send(0, []byte("hello")), x.Flush()); err != nil {
			t.Fatal(err)
		}
		want := io.EOF
		if orderly {
			go x.Close()
		} else {
			go a.Close() // below TLS, as an attacker would
			want = transport.ErrReset
		}
		buf := make([]byte, 100)
		if got, err := y.Receive(buf); err != nil || string(buf[:got.N]) != "hello" {
			t.Errorf("%q, %v", buf[:got.N], err)
		}
		if _, err := y.Receive(buf); !errors.Is(err, want) {
			t.Errorf("orderly %t: %v, want %v", orderly, err, want)
		}
		y.Abort()
	}
}

func TestOnlyStreams(t *testing.T) {
	a, _ := mem.Pair(mem.Config{})
	if _, err := tlslink.Client(t.Context(), a, &tls.Config{}); err == nil ||
		!strings.Contains(err.Error(), "dtlslink") {
		t.Error(err)
	}
}

// TestHandshakeEnds: a peer that says nothing does not hold the handshake for ever.
func TestHandshakeEnds(t *testing.T) {
	a, _ := mem.Pair(mem.Config{Stream: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tlslink.Client(ctx, a, &tls.Config{ServerName: "x"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := a.Send(0, []byte("x")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("the link is still open: %v", err)
	}
}

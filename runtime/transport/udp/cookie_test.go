package udp_test

import (
	"net"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// pump receives from a link in the background, so that it answers the other's
// gate, until something is to be heard.
func pump(l transport.Link) chan transport.Arrival {
	c := make(chan transport.Arrival, 10)
	go func() {
		defer close(c)
		for {
			got, err := l.Receive(make([]byte, 100))
			if err != nil {
				return
			}
			c <- got
		}
	}()
	return c
}

func TestCookie(t *testing.T) {
	cfg := udp.Config{Cookie: true, Retry: 10 * time.Millisecond, Limits: udp.Limits{Silence: time.Hour}}
	a := open(t, "127.0.0.1:0", cfg)
	cfg.Peers = []string{a.LocalAddr().String()}
	b := open(t, "127.0.0.1:0", cfg)
	ca, cb := pump(a), pump(b)
	if up := <-ca; up.Kind != transport.PeerUp {
		t.Fatalf("%+v", up)
	}
	if up := <-cb; up.Kind != transport.PeerUp {
		t.Fatalf("%+v", up)
	}
	say(t, a, 0, "hello")
	if got := <-cb; got.N != 5 {
		t.Errorf("%+v", got)
	}
}

// A sender that does not answer is sent no more than it sent itself, however
// often it asks, and never becomes a peer; nor does one that plays back what
// another one was sent.
func TestAmplification(t *testing.T) {
	a := open(t, "127.0.0.1:0", udp.Config{Cookie: true})
	forger, err := net.Dial("udp", a.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer forger.Close()
	b := open(t, "127.0.0.1:0", udp.Config{Cookie: true, Peers: []string{a.LocalAddr().String()}})
	ca, cb := pump(a), pump(b)
	<-ca
	<-cb
	ask := append([]byte("PLY?12345678"), make([]byte, 16)...)
	var sent, received int
	var challenge []byte
	for _, frame := range [][]byte{ask, []byte("short"), ask, append(ask, 0), make([]byte, 1000), ask} {
		n, err := forger.Write(frame)
		if err != nil {
			t.Fatal(err)
		}
		sent += n
		if string(frame) != string(ask) {
			continue
		}
		buf := make([]byte, 2000)
		if n, err = forger.Read(buf); err != nil {
			t.Fatal(err)
		}
		challenge = buf[:n]
		received += n
	}
	if received != 3*len(ask) || received > sent || string(challenge[:12]) != "PLY!12345678" {
		t.Errorf("%d bytes for %d; %q", received, sent, challenge)
	}
	if s := a.Stats(); s.Strangers != 3 {
		t.Errorf("%+v", s)
	}
	// Another address with this one's cookie.
	other, err := net.Dial("udp", a.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	echo := append([]byte("PLY="), challenge[4:]...)
	other.Write(echo)
	other.Write(ask)
	if n, err := other.Read(make([]byte, 100)); err != nil || n != len(ask) {
		t.Fatal(n, err)
	}
	if len(ca) != 0 {
		t.Errorf("a peer was admitted with another one's cookie: %+v", <-ca)
	}
	forger.Write(echo)
	if up := <-ca; up.Kind != transport.PeerUp || up.Peer != 1 {
		t.Errorf("with its own cookie: %+v", up)
	}
}

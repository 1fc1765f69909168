package udp

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/dgram"
)

// The four datagrams in their order, and a cookie that has grown too old.
func TestGate(t *testing.T) {
	a, b := newGate(0), newGate(0)
	addrA, addrB := netip.MustParseAddrPort("10.0.0.1:1"), netip.MustParseAddrPort("[fe80::1%eth0]:2")
	now := time.Unix(1e9, 0)
	ask := a.Ask(nil, addrB)
	challenge, v := b.Judge(nil, ask, addrA, now)
	if v != dgram.Done {
		t.Fatal("an ask admits nobody")
	}
	if stray, _ := a.Judge(nil, challenge, addrA, now); len(stray) > 0 {
		t.Error("a challenge from somebody who was not asked was answered")
	}
	echo, v := a.Judge(nil, challenge, addrB, now)
	if v != dgram.Done {
		t.Fatal("a challenge admits nobody")
	}
	if _, v := b.Judge(nil, echo, addrA, now.Add(2*cookieLife)); v != dgram.Done {
		t.Error("an old cookie was accepted")
	}
	if _, v := b.Judge(nil, echo, addrB, now); v != dgram.Done {
		t.Error("a cookie was accepted from another address")
	}
	welcome, v := b.Judge(nil, echo, addrA, now.Add(cookieLife))
	if v != dgram.Admit {
		t.Error("a good cookie was refused")
	}
	if _, v := a.Judge(nil, welcome, addrA, now); v != dgram.Done {
		t.Error("a welcome from somebody who was not asked admits")
	}
	if _, v := a.Judge(nil, welcome, addrB, now); v != dgram.Admit {
		t.Error("the welcome does not admit")
	}
}

// When the computer's clock is set, cookies given before are worth nothing, and the next request
// gets a good one.
func TestGateClockJump(t *testing.T) {
	a, b := newGate(0), newGate(0)
	addrA, addrB := netip.MustParseAddrPort("10.0.0.1:1"), netip.MustParseAddrPort("10.0.0.2:2")
	now := time.Unix(2e9, 0)
	for _, jump := range []time.Duration{0, time.Hour, -20 * 365 * 24 * time.Hour, 80 * 365 * 24 * time.Hour} {
		challenge, _ := b.Judge(nil, a.Ask(nil, addrB), addrA, now)
		echo, _ := a.Judge(nil, challenge, addrB, now)
		now = now.Add(jump)
		if _, v := b.Judge(nil, echo, addrA, now); (v == dgram.Admit) != (jump == 0) {
			t.Errorf("after %v: verdict %d", jump, v)
		}
		challenge, _ = b.Judge(nil, a.Ask(nil, addrB), addrA, now)
		echo, _ = a.Judge(nil, challenge, addrB, now)
		if _, v := b.Judge(nil, echo, addrA, now); v != dgram.Admit {
			t.Errorf("after %v a new request is not admitted: verdict %d", jump, v)
		}
	}
}

// No datagram admits a stranger, or is answered with more than it holds.
func FuzzGate(f *testing.F) {
	g := newGate(0)
	from := netip.MustParseAddrPort("10.0.0.1:1")
	f.Add(g.Ask(nil, from))
	f.Add([]byte("PLY"))
	f.Fuzz(func(t *testing.T, b []byte) {
		reply, v := g.Judge(nil, b, from, time.Unix(1e9, 0))
		if v == dgram.Admit || len(reply) > len(b) {
			t.Errorf("%q: verdict %d, reply %q", b, v, reply)
		}
		if c, ok := decode(b); ok && !bytes.Equal(c.append(nil), b) {
			t.Errorf("% x is decoded differently", b)
		}
	})
}

package udp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/dgram"
)

// The gate's datagrams are all of one size, so that no answer is larger than
// what it answers:
//
//	"PLY" kind · nonce of the asking side, 8 bytes · cookie, 16 bytes
//
// ask (cookie 0) → challenge (the cookie) → echo (the cookie again) → welcome
// (cookie 0). The cookie is a keyed hash of the asker's address, its nonce and
// the time, so that the asked side remembers nothing until the echo shows that the
// asker receives under its address. The nonce is a keyed hash of the asked
// side's address: challenges and welcomes cannot be made by who has not seen the ask.
const (
	gateSize  = 28
	nonceSize = 8

	kindAsk       = '?'
	kindChallenge = '!'
	kindEcho      = '='
	kindWelcome   = '.'
)

// cookieLife is how long a cookie is good for, at least; at most twice as long.
const cookieLife = 15 * time.Second

// control is a decoded datagram of the gate.
type control struct {
	kind   byte
	nonce  [nonceSize]byte
	cookie [gateSize - 4 - nonceSize]byte
}

// decode reports whether b is a datagram of the gate. A frame of a protocol
// that has this size and these first bytes would be taken for one.
func decode(b []byte) (c control, ok bool) {
	if len(b) != gateSize || b[0] != 'P' || b[1] != 'L' || b[2] != 'Y' {
		return c, false
	}
	c.kind = b[3]
	switch c.kind {
	case kindAsk, kindChallenge, kindEcho, kindWelcome:
	default:
		return c, false
	}
	copy(c.nonce[:], b[4:])
	copy(c.cookie[:], b[4+nonceSize:])
	return c, true
}

func (c *control) append(dst []byte) []byte {
	dst = append(dst, 'P', 'L', 'Y', c.kind)
	return append(append(dst, c.nonce[:]...), c.cookie[:]...)
}

// gate is a dgram.Gate that asks for cookies.
type gate struct {
	secret [32]byte
	retry  time.Duration
}

func newGate(retry time.Duration) *gate {
	g := &gate{retry: retry}
	if g.retry <= 0 {
		g.retry = 250 * time.Millisecond
	}
	rand.Read(g.secret[:]) // never fails
	return g
}

// Retry implements [dgram.Gate].
func (g *gate) Retry() time.Duration { return g.retry }

// Ask implements [dgram.Gate].
func (g *gate) Ask(dst []byte, to netip.AddrPort) []byte {
	c := control{kind: kindAsk, nonce: g.nonce(to)}
	return c.append(dst)
}

// Judge implements [dgram.Gate].
func (g *gate) Judge(reply, frame []byte, from netip.AddrPort, now time.Time) ([]byte, dgram.Verdict) {
	c, ok := decode(frame)
	if !ok {
		return reply, dgram.Pass
	}
	epoch := now.UnixNano() / int64(cookieLife)
	switch c.kind {
	case kindAsk:
		c.kind, c.cookie = kindChallenge, g.cookie(from, c.nonce, epoch)
		return c.append(reply), dgram.Done
	case kindChallenge:
		if c.nonce == g.nonce(from) {
			c.kind = kindEcho
			return c.append(reply), dgram.Done
		}
	case kindEcho:
		if g.valid(&c, from, epoch) || g.valid(&c, from, epoch-1) {
			w := control{kind: kindWelcome, nonce: c.nonce}
			return w.append(reply), dgram.Admit
		}
	case kindWelcome:
		if c.nonce == g.nonce(from) {
			return reply, dgram.Admit
		}
	}
	return reply, dgram.Done
}

func (g *gate) nonce(to netip.AddrPort) (n [nonceSize]byte) {
	copy(n[:], g.hash('n', to, n, 0))
	return n
}

func (g *gate) cookie(from netip.AddrPort, nonce [nonceSize]byte, epoch int64) (c [gateSize - 4 - nonceSize]byte) {
	copy(c[:], g.hash('c', from, nonce, epoch))
	return c
}

func (g *gate) valid(c *control, from netip.AddrPort, epoch int64) bool {
	want := g.cookie(from, c.nonce, epoch)
	return hmac.Equal(c.cookie[:], want[:])
}

func (g *gate) hash(use byte, a netip.AddrPort, nonce [nonceSize]byte, epoch int64) []byte {
	h := hmac.New(sha256.New, g.secret[:])
	ip := a.Addr().As16()
	b := append(make([]byte, 0, 64), use)
	b = append(append(b, ip[:]...), nonce[:]...)
	b = binary.BigEndian.AppendUint16(b, a.Port())
	h.Write(binary.BigEndian.AppendUint64(b, uint64(epoch)))
	return h.Sum(nil)
}

// Package book keeps the table from addresses to numbers. A machine knows the
// parties by number and compares the numbers; a network knows them by address. A [Link]
// wraps a link over datagrams, numbers its peers in the order of their addresses, and in each
// frame puts addresses for numbers and back, where the protocol's wire.Shape says
// that there are some. It counts the sequence numbers and makes the checksum anew.
//
// The two ends need not number alike: what travels are addresses, and what
// a machine compares is their order, which is the same everywhere. The number of a peer that has
// deserved its place is given to no other address while the peer is up. New addresses come between
// those known, so there have to be many more numbers than peers: of 62, twelve fit in the worst of
// the usual orders (each address higher than all before), of 254 seventeen, and when no number is
// left between two neighbours, the numbers of lost peers are given up, and then those of peers that
// have deserved none yet, the oldest first; else the newcomer is not heard.
//
// With Config.Prove peers prove their addresses to each other, so that nobody can turn them against
// an address that is not its own; see proof.go.
//
// It knows no protocol and no machine. Start from [New].
package book

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/wire"
)

// Inner is a link over datagrams whose peers have addresses: that of package udp, ipx or raw.
type Inner[A comparable] interface {
	transport.Link
	transport.Guarded
	// Meet makes an address a peer, or finds it, as if something valid had come from there, and returns
	// the inner link's number of it; false if there is no place.
	Meet(A) (int, bool)
	// Drop ends a peer.
	Drop(peer int)
	// PeerAddr returns the address of a peer.
	PeerAddr(peer int) (A, bool)
}

// Form is the form of addresses in frames. Their order is that of these bytes.
type Form[A comparable] struct {
	// Size is the bytes of an address, at most 32.
	Size int
	// Put writes an address into Size bytes; Get reads one, false if it is none.
	Put func(dst []byte, a A)
	Get func(src []byte) (A, bool)
}

// IPv4 is the form of Parsec's UDP nodes: the four bytes of the address and the port, high byte first.
var IPv4 = Form[netip.AddrPort]{
	Size: 6,
	Put: func(dst []byte, a netip.AddrPort) {
		clear(dst)
		if ip := a.Addr().Unmap(); ip.Is4() { // others have no form
			four := ip.As4()
			copy(dst, four[:])
			dst[4], dst[5] = byte(a.Port()>>8), byte(a.Port())
		}
	},
	Get: func(src []byte) (netip.AddrPort, bool) {
		a := netip.AddrPortFrom(netip.AddrFrom4([4]byte(src[:4])), uint16(src[4])<<8|uint16(src[5]))
		return a, a.Port() != 0 && !a.Addr().IsUnspecified() && !a.Addr().IsMulticast()
	},
}

// IPX is the form of nodes in the network and on the socket of an own address.
func IPX(own ipx.Address) Form[ipx.Address] {
	return Form[ipx.Address]{
		Size: 6,
		Put:  func(dst []byte, a ipx.Address) { copy(dst, a.Node[:]) },
		Get: func(src []byte) (ipx.Address, bool) {
			a := own
			copy(a.Node[:], src)
			return a, a.Node != (ipx.Node{}) && a.Node != ipx.Broadcast
		},
	}
}

// Config describes a book.
type Config struct {
	// Shape is that of the generated package.
	Shape wire.Shape
	// Parties is how many numbers there are, the protocol's `parties`; 2 to 254.
	Parties int
	// Constants replace constants of the specification in all frames, by name: peers hear only those
	// whose links have the same.
	Constants map[string]uint64
	// Complete gives a received frame of an older form, which lacks something, that of the specification:
	// it returns the frame itself or a new one, whose checksum need not be right. May be nil.
	Complete func(frame []byte) []byte
	// Prove has peers prove their addresses to each other. Without a proof, a peer that began with a
	// greeting is not heard for a second, and nobody is sent more than twice the bytes that came from it.
	Prove bool
	// Logger is told of each limit that bites, once. May be nil.
	Logger *slog.Logger
}

// Stats count what a book has dropped.
type Stats struct {
	Foreign   uint64 // frames with another value of one of Config.Constants
	Unproved  uint64 // frames of peers that began with a greeting and had still to prove their addresses
	Withheld  uint64 // frames for addresses without a proof, beyond what came from there
	Evicted   uint64 // peers without a proof whose number was given to somebody else
	Greetings uint64 // datagrams of the proof that came
	Damaged   uint64 // frames whose checksum is wrong or that are too short for one
	Unplaced  uint64 // addresses for which no number was left
}

// Link is a link with numbers in the order of addresses. It is a [transport.Link].
type Link[A comparable] struct {
	inner Inner[A]
	form  Form[A]
	shape wire.Shape
	self  int

	mu       sync.Mutex // guards what follows
	entries  []entry[A] // in the order of addresses
	parties  int
	sequence uint64
	out      []byte
	stats    Stats
	flush    bool // something was sent that nobody flushes

	complete func([]byte) []byte

	prove  bool
	secret [32]byte
	set    []constant
	notes  door.Notes

	// The receiving goroutine's: news and a frame that wait behind it.
	news     []transport.Arrival
	held     []byte
	heldPeer int
}

type entry[A comparable] struct {
	addr   A
	key    [32]byte
	number int
	peer   int  // the inner link's number, or one of the following
	up     bool // announced

	since time.Time // when it got its number, or came up again
	standing
}

// standing is what a peer has shown since it is up.
type standing struct {
	greets  bool      // it began with a greeting, so it should be able to prove its address
	greeted time.Time // when
	heard   bool      // frames of it were taken before any proof
	proved  bool      // it has proved its address
	kept    bool      // it has deserved its place
	asked   int       // greetings sent to it that it has not asked for
	credit  int       // bytes that came from there, as far as nothing was sent for them
}

// constant is a constant whose value in the network is another than in the specification.
type constant struct {
	wire.Constant
	value uint64
}

const (
	oneself = -1
	nobody  = -2 // no peer of the inner link at present
)

// New wraps inner, which belongs to the result from then on. own is this end's address, as the
// others see it.
func New[A comparable](inner Inner[A], own A, form Form[A], cfg Config) (*Link[A], error) {
	switch {
	case cfg.Parties < 2 || cfg.Parties > 254:
		return nil, errors.New("a book has 2 to 254 numbers")
	case form.Size < 1 || form.Size > 32:
		return nil, errors.New("an address has 1 to 32 bytes")
	}
	for _, list := range cfg.Shape.Addresses {
		for _, a := range list {
			if a.Size < form.Size {
				return nil, errors.New("the protocol has less room for an address than the link's have bytes")
			}
		}
	}
	probe := make([]byte, form.Size)
	if form.Put(probe, own); !bytes.ContainsFunc(probe, func(r rune) bool { return r != 0 }) {
		return nil, errors.New("one's own address has no form in the frames of this protocol")
	}
	l := &Link[A]{inner: inner, form: form, shape: cfg.Shape, parties: cfg.Parties, self: cfg.Parties / 2}
	l.entries = []entry[A]{{addr: own, key: l.key(own), number: l.self, peer: oneself}}
	l.prove, l.secret, l.complete = cfg.Prove, newSecret(), cfg.Complete
	l.notes.Logger, l.notes.Place = cfg.Logger, func() string { return fmt.Sprint(own) }
	for name, value := range cfg.Constants {
		c, ok := cfg.Shape.Constant(name)
		switch {
		case !ok:
			return nil, fmt.Errorf("the protocol has no constant %s at one place of all its frames", name)
		case c.Number.Bits < 64 && value>>c.Number.Bits != 0:
			return nil, fmt.Errorf("%s is %d, and has %d bits in a frame", name, value, c.Number.Bits)
		}
		l.set = append(l.set, constant{c, value})
	}
	return l, nil
}

// Self returns the number of this end, for the machine's parameter `self`.
func (l *Link[A]) Self() int { return l.self }

// Address returns the address of a number that is known.
func (l *Link[A]) Address(number int) (a A, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byNumber(number); e != nil {
		return e.addr, true
	}
	return a, false
}

// Stats returns the counters.
func (l *Link[A]) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

func (l *Link[A]) key(a A) (k [32]byte) {
	l.form.Put(k[:l.form.Size], a)
	return k
}

func (l *Link[A]) byNumber(n int) *entry[A] {
	for i := range l.entries {
		if l.entries[i].number == n {
			return &l.entries[i]
		}
	}
	return nil
}

func (l *Link[A]) byPeer(peer int) *entry[A] {
	for i := range l.entries {
		if l.entries[i].peer == peer {
			return &l.entries[i]
		}
	}
	return nil
}

// place returns the entry of an address, giving it a number if one is left, or if somebody gives way to
// one who was heard; mu is held.
func (l *Link[A]) place(a A, peer int, heard bool) *entry[A] {
	k := l.key(a)
	at, found := l.search(k)
	if found {
		return &l.entries[at]
	}
	n, ok := l.between(at, k)
	if !ok {
		l.forget()
		at, _ = l.search(k)
		for n, ok = l.between(at, k); !ok && heard && l.evict(); n, ok = l.between(at, k) {
			at, _ = l.search(k)
		}
		if !ok {
			l.stats.Unplaced++
			l.notes.Bite("Parties", "newcomers get no number and are not heard", func() string { return fmt.Sprint(a) })
			return nil
		}
	}
	l.entries = append(l.entries, entry[A]{})
	copy(l.entries[at+1:], l.entries[at:])
	l.entries[at] = entry[A]{addr: a, key: k, number: n, peer: peer, since: time.Now()}
	return &l.entries[at]
}

func (l *Link[A]) search(k [32]byte) (at int, found bool) {
	for at = 0; at < len(l.entries); at++ {
		if c := bytes.Compare(l.entries[at].key[:], k[:]); c >= 0 {
			return at, c == 0
		}
	}
	return at, false
}

// between chooses a number for a new entry at a place: between two neighbours halfway between the middle and
// where its address lies, and at the ends a third or a quarter of the way, so that twelve which rise fit.
// Numbers are in the order of addresses and never change, so there may be none left between two, however few
// are taken. Of nine random addresses and 254 numbers that happens once in some thousand times.
func (l *Link[A]) between(at int, k [32]byte) (int, bool) {
	low, high := -1, l.parties
	if at > 0 {
		low = l.entries[at-1].number
	}
	if at < len(l.entries) {
		high = l.entries[at].number
	}
	room, end := high-low, 4
	if l.parties >= 128 {
		end = 3
	}
	switch {
	case room < 2:
		return 0, false
	case at == len(l.entries):
		return low + max(room/end, 1), true
	case at == 0:
		return high - max(room/end, 1), true
	}
	share := (0.5 + fraction(l.entries[at-1].key, k, l.entries[at].key)) / 2
	return low + min(max(int(share*float64(room)+0.5), 1), room-1), true
}

// fraction tells where a key lies between two others: 0 at the lower, 1 at the higher one.
func fraction(low, k, high [32]byte) float64 {
	i := 0
	for i < len(k)-8 && low[i] == high[i] {
		i++
	}
	at := func(k [32]byte) float64 { return float64(binary.BigEndian.Uint64(k[i:])) }
	return (at(k) - at(low)) / max(at(high)-at(low), 1)
}

// forget gives up the numbers of peers that are lost.
func (l *Link[A]) forget() {
	kept := l.entries[:0]
	for _, e := range l.entries {
		if e.up || e.peer == oneself {
			kept = append(kept, e)
		}
	}
	l.entries = kept
}

// Properties implements [transport.Link].
func (l *Link[A]) Properties() transport.Properties {
	p := l.inner.Properties()
	p.Peers = l.parties
	return p
}

// LocalAddr implements [transport.Link].
func (l *Link[A]) LocalAddr() net.Addr { return l.inner.LocalAddr() }

// RemoteAddr implements [transport.Link].
func (l *Link[A]) RemoteAddr(number int) net.Addr {
	l.mu.Lock()
	e := l.byNumber(number)
	peer := -1
	if e != nil {
		peer = e.peer
	}
	l.mu.Unlock()
	return l.inner.RemoteAddr(peer)
}

// Interrupt implements [transport.Link].
func (l *Link[A]) Interrupt(at time.Time) { l.inner.Interrupt(at) }

// Flush implements [transport.Link].
func (l *Link[A]) Flush() error { return l.inner.Flush() }

// Close implements [transport.Link].
func (l *Link[A]) Close() error { return l.inner.Close() }

// Abort implements [transport.Link].
func (l *Link[A]) Abort() error { return l.inner.Abort() }

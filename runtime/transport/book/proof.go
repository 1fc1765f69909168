package book

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// A link with Config.Prove shows others that it receives at its address, and wants the same of them,
// by datagrams of its own:
//
//	7 bytes  greeting
//	1 byte   1: I have seen your proof
//	8 bytes  a number that only who receives at your address can know; zeros when sent to everybody
//	8 bytes  the number that I have got from you; zeros if none yet
//
// A greeting to everybody goes ahead of each frame to everybody. Whoever gets a greeting answers with
// one, until both have seen the other's proof. Nothing is remembered for that but who has proved its
// address. Programs without this rule, such as original peers, drop greetings like anything that is
// no frame.
//
// Anybody can forge a greeting. So one that lacks the number takes nothing away from who has been
// heard, and nobody else has to wait for longer than patience because of it.
const greeting = "parley\x01"

const (
	greetingSize = len(greeting) + 17
	numberAt     = len(greeting) + 1
	echoAt       = numberAt + 8
)

// What may be sent to somebody who has proved nothing.
const (
	// mostCredit is how many bytes of what came from there count.
	mostCredit = 1400
	// original is how many times as much as came may go to one who does not greet, or has kept its
	// place without a proof; any other who greets gets no more than came.
	original = 2
	// mostAsked is how many greetings go to one who answers none.
	mostAsked = 3
	// patience is for how long the frames of one who began with a greeting wait for its proof. Then it
	// is heard like one who cannot give it, as the greeting may be another's. Original peers try to
	// connect for 3.3 s, so it has to be much shorter.
	patience = time.Second
	// settled is after how long a peer that cannot prove its address has deserved its place, if it
	// still sends what the machine accepts.
	settled = 2 * time.Second
)

// IsGreeting reports whether a datagram is one by which links prove their addresses: no frame of a
// protocol.
func IsGreeting(frame []byte) bool {
	return len(frame) == greetingSize && string(frame[:len(greeting)]) == greeting
}

// secretOf is the number that only who receives at an address can know.
func (l *Link[A]) secretOf(e *entry[A]) []byte {
	h := sha256.New()
	h.Write(l.secret[:])
	h.Write(e.key[:])
	return h.Sum(nil)[:8]
}

func newSecret() (s [32]byte) {
	rand.Read(s[:])
	return s
}

// greet sends a greeting, to everybody if e is nil.
func (l *Link[A]) greet(e *entry[A], echo []byte) {
	var b [greetingSize]byte
	copy(b[:], greeting)
	to := transport.All
	if e != nil {
		if to = e.peer; to < 0 {
			return
		}
		if e.proved {
			b[len(greeting)] = 1
		}
		copy(b[numberAt:], l.secretOf(e))
		copy(b[echoAt:], echo)
	}
	l.inner.Send(to, b[:]) // lost like any other; the next frame brings the next one
	l.flush = true
}

// greeted handles a greeting.
func (l *Link[A]) greeted(e *entry[A], frame []byte) {
	l.stats.Greetings++
	if !e.heard && !e.greets {
		e.greets, e.greeted = true, time.Now()
	}
	if subtle.ConstantTimeCompare(frame[echoAt:], l.secretOf(e)) == 1 && !e.proved {
		e.proved = true
		l.inner.Confirm(e.peer)
	}
	if !e.proved || frame[len(greeting)] == 0 {
		l.greet(e, frame[numberAt:echoAt])
	}
}

// hear decides whether a frame of a peer is taken, and notes what it allows.
func (l *Link[A]) hear(e *entry[A], size int) bool {
	if !l.prove || e.proved {
		return true
	}
	e.credit = min(e.credit+size, mostCredit)
	if e.greets && !e.heard && time.Since(e.greeted) < patience {
		l.stats.Unproved++
		l.ask(e)
		return false
	}
	e.heard = true
	return true
}

// name notes that a frame of a peer names another. Nothing goes there for that, but for one greeting if
// the peer has proved that it is there itself: so players who have not heard of each other meet.
func (l *Link[A]) name(by, named *entry[A]) {
	if by.proved && !named.proved && named.peer >= 0 && named.asked == 0 {
		named.asked = 1
		l.greet(named, nil)
	}
}

// pay reports whether a frame of a size may go to a peer.
func (l *Link[A]) pay(e *entry[A], size int) bool {
	if !l.prove || e.proved {
		return true
	}
	times := original
	if e.greets && !e.kept {
		times = 1
	}
	if size > times*e.credit {
		l.stats.Withheld++
		l.bite("Prove", "frames to an address that has not proved itself are held back beyond what came from there", e)
		l.ask(e)
		return false
	}
	e.credit = max(e.credit-size, 0)
	l.ask(e)
	return true
}

// ask asks a peer for its proof, within what came from there.
func (l *Link[A]) ask(e *entry[A]) {
	if e.credit >= greetingSize && (e.greets && !e.heard || e.asked < mostAsked) {
		e.credit -= greetingSize
		e.asked++
		l.greet(e, nil)
	}
}

// Guard implements [transport.Guarded]: a stranger gets a place by a frame of the protocol with a right
// checksum, or by a greeting.
func (l *Link[A]) Guard(valid func(frame []byte) bool) {
	l.inner.Guard(func(frame []byte) bool {
		return l.prove && IsGreeting(frame) || l.whole(frame) && valid(l.completed(frame))
	})
}

// Confirm implements [transport.Guarded]. A peer that cannot prove its address keeps its place when it
// is still heard after a while.
func (l *Link[A]) Confirm(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.byNumber(number)
	if e == nil || e.peer < 0 || e.kept {
		return
	}
	if !l.prove || e.proved || time.Since(e.since) >= settled {
		e.kept = true
		l.inner.Confirm(e.peer)
	}
}

// evict ends the oldest peer that has not deserved its place, for a newcomer who needs its number; it
// reports whether there was one.
func (l *Link[A]) evict() bool {
	oldest := -1
	for i := range l.entries {
		e := &l.entries[i]
		if e.peer != oneself && !e.kept && !e.proved && (oldest < 0 || e.since.Before(l.entries[oldest].since)) {
			oldest = i
		}
	}
	if oldest < 0 {
		return false
	}
	e := l.entries[oldest]
	if e.up {
		l.news = append(l.news, transport.Arrival{Kind: transport.PeerLost, Peer: e.number, Why: transport.ErrYielded})
	}
	l.stats.Evicted++
	l.bite("Parties", "peers that have proved nothing give way to newcomers", &e)
	l.entries = append(l.entries[:oldest], l.entries[oldest+1:]...)
	if e.peer >= 0 {
		l.inner.Drop(e.peer)
	}
	return true
}

// bite tells the log of a limit, once.
func (l *Link[A]) bite(limit, effect string, e *entry[A]) {
	l.notes.Bite(limit, effect, func() string { return fmt.Sprint(e.addr) })
}

// constants puts what a frame of this network has into one of the machine's, or back; false if the
// frame is of another network.
func (l *Link[A]) constants(e *entry[A], frame []byte, in bool) bool {
	for _, c := range l.set {
		if c.Number.At+c.Number.Bits/8 > len(frame) {
			continue
		}
		if !in {
			c.Number.Put(frame, c.value)
			continue
		}
		if v := c.Number.Get(frame); v != c.value {
			l.stats.Foreign++
			l.notes.Bite(c.Name, fmt.Sprintf("frames with %s %d are not heard; here it is %d", c.Name, v, c.value),
				func() string { return fmt.Sprint(e.addr) })
			return false
		}
		c.Number.Put(frame, c.Value)
	}
	return true
}

// Counts implements [transport.Counted]: those of the book, and then those of the link inside.
func (l *Link[A]) Counts() []transport.Count {
	s := l.Stats()
	list := []transport.Count{
		{Name: "book_damaged", Help: "Frames with a wrong checksum", Value: s.Damaged},
		{Name: "book_unplaced", Help: "Addresses for which no number was left", Value: s.Unplaced},
		{Name: "book_foreign", Help: "Frames of another network, by a constant", Value: s.Foreign},
		{Name: "book_unproved", Help: "Frames of peers that had still to prove their addresses", Value: s.Unproved},
		{Name: "book_withheld", Help: "Frames held back because too little came from the address", Value: s.Withheld},
		{Name: "book_evicted", Help: "Peers without a proof whose number was given to somebody else", Value: s.Evicted},
		{Name: "book_greetings", Help: "Datagrams of the proof of addresses", Value: s.Greetings},
	}
	if c, ok := l.inner.(transport.Counted); ok {
		list = append(list, c.Counts()...)
	}
	return list
}

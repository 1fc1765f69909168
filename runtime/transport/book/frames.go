package book

import (
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/wire"
)

// Send implements [transport.Link]: the frame leaves with addresses for numbers, a sequence number
// and a new checksum. One that does not leave has its sequence number, too, so that others see that it
// is missing.
func (l *Link[A]) Send(number int, frame []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sequence++
	peer := number
	if number != transport.All {
		e := l.byNumber(number)
		if e == nil || !e.up {
			return transport.ErrNoPeer
		}
		if !l.pay(e, len(frame)) {
			return nil // lost like any other
		}
		peer = e.peer
	} else if l.prove {
		l.greet(nil, nil)
	}
	l.out = append(l.out[:0], frame...)
	for _, a := range l.addresses(l.out) {
		field := l.out[a.At : a.At+a.Size]
		e := l.byNumber(int(field[0]) - 1)
		clear(field)
		if e != nil {
			copy(field, e.key[:l.form.Size])
		}
	}
	l.constants(nil, l.out, false)
	if n := l.shape.Sequence; n.Bits > 0 && n.At+n.Bits/8 <= len(l.out) {
		n.Put(l.out, l.sequence)
	}
	l.sum(l.out)
	return l.inner.Send(peer, l.out)
}

// addresses lists the addresses of a frame that mean something.
func (l *Link[A]) addresses(frame []byte) []wire.Address {
	var out []wire.Address
	for _, a := range l.shape.Addresses[l.shape.Type.Get(frame)] {
		if a.Has(frame) {
			out = append(out, a)
		}
	}
	return out
}

// sum puts the checksum into a frame.
func (l *Link[A]) sum(frame []byte) {
	if n := l.shape.Checksum; n.Bits > 0 && n.At+4 <= len(frame) {
		n.Put(frame, uint64(wire.Checksum(frame, n.At)))
	}
}

// Receive implements [transport.Link]. Frames with a wrong checksum are dropped. Whom a frame names
// comes up before it, so that a machine may send to him at once.
func (l *Link[A]) Receive(buf []byte) (transport.Arrival, error) {
	for {
		if len(l.news) > 0 {
			a := l.news[0]
			l.news = l.news[1:]
			return a, nil
		}
		if l.held != nil {
			a := transport.Arrival{Peer: l.heldPeer, N: copy(buf, l.held)}
			l.held = nil
			return a, nil
		}
		a, err := l.inner.Receive(buf)
		if err != nil {
			return a, err
		}
		l.mu.Lock()
		a, ok := l.arrived(a, buf)
		flush := l.flush
		l.flush = false
		l.mu.Unlock()
		if flush {
			l.inner.Flush()
		}
		if ok && len(l.news) == 0 {
			return a, nil
		}
		if ok && a.Kind == transport.Data {
			l.held, l.heldPeer = append([]byte(nil), buf[:a.N]...), a.Peer
		}
	}
}

// arrived gives an arrival the book's numbers; false if it is none of the machine's business. mu is
// held.
func (l *Link[A]) arrived(a transport.Arrival, buf []byte) (transport.Arrival, bool) {
	if a.Kind == transport.PeerLost {
		e := l.byPeer(a.Peer)
		if e == nil || !e.up {
			return a, false
		}
		a.Peer = e.number
		e.up, e.peer = false, nobody
		e.standing = standing{}
		return a, true
	}
	e := l.sender(a.Peer)
	if e == nil {
		return a, false
	}
	a.Peer = e.number
	if a.Kind == transport.PeerUp {
		news := !e.up
		e.comeUp()
		return a, news
	}
	frame := buf[:a.N]
	switch {
	case l.prove && IsGreeting(frame):
		l.greeted(e, frame)
		return a, false
	case !l.whole(frame):
		l.stats.Damaged++
		return a, false
	case !l.constants(e, frame, true) || !l.hear(e, len(frame)):
		return a, false
	}
	if c := l.completed(frame); len(c) != len(frame) {
		if a.N = copy(buf, c); a.N < len(c) {
			l.stats.Damaged++
			return a, false
		}
		frame = buf[:a.N]
	}
	number := e.number
	if !e.up { // it is heard before the inner link could say so
		e.comeUp()
		l.news = append(l.news, transport.Arrival{Kind: transport.PeerUp, Peer: e.number})
	}
	list := l.addresses(frame)
	for _, at := range list {
		l.number(frame[at.At : at.At+at.Size])
	}
	if by := l.byNumber(number); by != nil && l.prove {
		for _, at := range list {
			if named := l.byNumber(int(frame[at.At]) - 1); named != nil {
				l.name(by, named)
			}
		}
	}
	l.sum(frame)
	return a, true
}

// comeUp notes that a peer is there. One that comes back has its place to deserve anew.
func (e *entry[A]) comeUp() {
	if !e.up {
		e.up, e.since = true, time.Now()
	}
}

// completed is a frame in the form of the specification, with its checksum. It may be called without
// mu.
func (l *Link[A]) completed(frame []byte) []byte {
	if l.complete == nil {
		return frame
	}
	c := l.complete(frame)
	if len(c) != len(frame) {
		l.sum(c)
	}
	return c
}

// whole reports whether a frame has its checksum. It may be called without mu.
func (l *Link[A]) whole(frame []byte) bool {
	n := l.shape.Checksum
	return n.Bits == 0 || n.At+4 <= len(frame) && n.Get(frame) == uint64(wire.Checksum(frame, n.At))
}

// sender returns the entry of a peer of the inner link, nil if it is lost already or there is no
// number for it.
func (l *Link[A]) sender(peer int) *entry[A] {
	addr, ok := l.inner.PeerAddr(peer)
	if !ok {
		return nil
	}
	if e := l.byPeer(peer); e != nil && e.addr == addr {
		return e
	} else if e != nil {
		e.peer = nobody // the inner link has given its number to another
	}
	e := l.place(addr, peer, true)
	if e != nil {
		e.peer = peer
	}
	return e
}

// number puts a number for the address in a field: that of a known peer, or of one who is made a
// peer now; 0 for none or one that cannot be reached.
func (l *Link[A]) number(field []byte) {
	addr, ok := l.form.Get(field[:l.form.Size])
	clear(field)
	if !ok {
		return
	}
	at, found := l.search(l.key(addr))
	if found && (l.entries[at].peer == oneself || l.entries[at].up) {
		field[0] = byte(l.entries[at].number + 1)
		return
	}
	e := l.place(addr, nobody, false)
	if e == nil {
		return
	}
	peer, ok := l.inner.Meet(addr)
	if !ok {
		return
	}
	e.peer = peer
	e.comeUp()
	field[0] = byte(e.number + 1)
	l.news = append(l.news, transport.Arrival{Kind: transport.PeerUp, Peer: e.number})
}

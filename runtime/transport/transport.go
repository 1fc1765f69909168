// Package transport says what a driver needs from whatever carries its frames:
// a TCP connection, a UDP socket, an IPX socket, a pair of queues in memory.
//
// It knows no protocol and no machine. A [Link] reaches one peer or several,
// numbered from 0 by the link itself, and declares what it promises in
// [Properties]; a driver refuses a link that promises less than the
// specification was checked for. A link that carries a stream is cut into
// frames by a [Splitter]. The type to start from is [Link]; package linktest
// has the conformance suite that every link passes.
package transport

import (
	"errors"
	"net"
	"time"
)

// All is the destination of a frame for every peer of a link.
const All = -1

var (
	// ErrInterrupted is returned by Receive when the time given to Interrupt has come.
	ErrInterrupted = errors.New("receive interrupted")
	// ErrClosed is returned by the methods of a link that this side has closed.
	ErrClosed = errors.New("link closed on this side")
	// ErrQueueFull is returned by Send and Flush when the peer takes frames
	// more slowly than they are sent and the send queue has reached its limit.
	// The frame that did not fit is dropped, so the link must be given up.
	ErrQueueFull = errors.New("send queue full: the peer does not keep up")
	// ErrStalled is the reason of a link whose peer took no byte for too long.
	ErrStalled = errors.New("peer takes no data")
	// ErrSilent is the reason of a peer that a link gave up because nothing came from it for too
	// long, and ErrYielded of one that had shown nothing acceptable when its place was needed for
	// somebody else, or when the time for that had passed.
	ErrSilent  = errors.New("nothing comes from the peer")
	ErrYielded = errors.New("the peer has sent nothing acceptable, and its place was taken away")
	// ErrReset is the reason of a link that the peer or the carrier broke off
	// without an orderly close; what it sent last may be lost.
	ErrReset = errors.New("link reset by peer")
	// ErrFrameTooLong is returned by Send for a frame larger than
	// Properties.MaxFrame, and by a Splitter for one larger than its limit.
	ErrFrameTooLong = errors.New("frame too long")
	// ErrUneven is returned by Send for a peer whose address is not proved, and that has sent fewer
	// bytes than it would get.
	ErrUneven = errors.New("the peer has sent less than this, and was not configured")
	// ErrNoPeer is returned by Send for a peer the link does not have.
	ErrNoPeer = errors.New("the link has no such peer")
)

// Properties is what a link promises about the frames it carries.
type Properties struct {
	// Ordered: what arrives, arrives in the order of sending.
	Ordered bool
	// Reliable: what was sent arrives, unless the link is lost.
	Reliable bool
	// Duplicating: a frame may arrive more than once.
	Duplicating bool
	// Stream: the link carries bytes without boundaries; see [Splitter].
	Stream bool
	// MaxFrame is the largest frame in bytes, 0 if the link sets no limit.
	MaxFrame int
	// Peers is the largest number of peers of a link with several, whose
	// coming and going Receive announces. 0 is a link with exactly one
	// peer, number 0, which is there until the link is lost.
	Peers int
}

// Kind says what Receive returned.
type Kind uint8

const (
	// Data: bytes of a stream, or one frame.
	Data Kind = iota
	// PeerUp: a peer of a link with several peers became reachable.
	PeerUp
	// PeerLost: a peer of a link with several peers is gone; the link goes on.
	PeerLost
)

// Arrival is the result of one Receive.
type Arrival struct {
	Kind Kind
	// Peer is the link's number of the sender, from 0.
	Peer int
	// N is the number of bytes written to the buffer.
	N int
	// Why is the reason of PeerLost, as an error of Receive is for a link of one peer; nil if the
	// link knows none.
	Why error
}

// Link carries frames to one peer or several. One goroutine receives and one
// (the same, or another) sends; Interrupt, Close and Abort may be called by
// any goroutine at any time.
type Link interface {
	// Properties is constant for the life of the link.
	Properties() Properties

	// Receive waits for bytes and puts them at the start of buf: some bytes of
	// a stream (1 <= N <= len(buf)), or one whole frame, for which buf must be
	// large enough (a longer one is dropped by the link). The error is io.EOF
	// after the peer's orderly close, when everything it sent has been
	// received; ErrInterrupted; ErrClosed; or the reason why the link is lost.
	Receive(buf []byte) (Arrival, error)

	// Interrupt makes Receive return ErrInterrupted, with no byte lost, from the time at on: at
	// once if at has passed, never if it is the zero time. Each call replaces the one before. A
	// Receive that starts after at may return ErrInterrupted although bytes are waiting. Frames
	// that came together with one that was received before at, a few dozen at most, may still be
	// returned after it unless at had passed when it was given.
	Interrupt(at time.Time)

	// Send queues a copy of frame for a peer, or for All. Nothing need leave
	// before Flush. It never blocks.
	Send(peer int, frame []byte) error

	// Flush hands everything queued to the carrier, in one piece where that
	// is possible. It never blocks: what the carrier does not take now stays
	// in the bounded queue and leaves later by itself.
	Flush() error

	// Close sends what is queued, tells the peer that nothing follows, waits
	// for its orderly close within the link's linger time, and releases the
	// link. It blocks for no longer than that time.
	Close() error

	// Abort releases the link at once; queued frames may be lost.
	Abort() error

	// LocalAddr is this end's address, RemoteAddr that of a peer; nil if there is none.
	LocalAddr() net.Addr
	RemoteAddr(peer int) net.Addr
}

// Batched is implemented by links whose carrier brings several frames at once.
type Batched interface {
	// Next is Receive for what is at hand already: ok is false if nothing is, or if Receive would
	// fail. It does not wait, so that the answers to all that came together can leave together.
	// Whoever receives calls it; another goroutine may while the one that called Receive waits for
	// it.
	Next(buf []byte) (got Arrival, ok bool)
}

// Polled is implemented by links that can look whether something has come.
type Polled interface {
	Batched
	// Poll is Next, and looks at the carrier, too, if nothing is at hand. It does not wait.
	Poll(buf []byte) (got Arrival, ok bool)
	// Polls reports whether Poll does so. Otherwise, as on some systems, it is Next.
	Polls() bool
}

// Guarded is implemented by links on which strangers become peers. Whoever can tell what is valid
// calls Guard once, before it receives. From then on a stranger gets a place only by a frame for
// which valid reports true (a stream is not looked at), and its place is half-open until Confirm
// has been called for it: it is the first to be given to somebody else, and over datagrams it ends
// after a while. Any goroutine may call both; valid is called by the one that receives.
type Guarded interface {
	Guard(valid func(frame []byte) bool)
	Confirm(peer int)
}

// Newsy is implemented by links of several peers that can tell at once who came up or went.
type Newsy interface {
	// News returns the next PeerUp or PeerLost that Receive would return before any frame, and does
	// not wait; false if there is none. The goroutine that receives calls it. A configured peer that
	// needs no handshake is up as soon as the link is there, so that what is sent to it leaves.
	News() (Arrival, bool)
}

// Count is one number of a link or listener, for metrics and logs.
type Count struct {
	// Name is in lower case with underscores, without prefix, unit or suffix.
	Name string
	// Help is one sentence without a full stop.
	Help string
	// Level: the value may fall; otherwise it is a total.
	Level bool
	Value uint64
}

// Counted is implemented by links and listeners that count whom they turn away and what they drop:
// always the same names in the same order. Any goroutine may call it.
type Counted interface{ Counts() []Count }

// Package dgram is what all links over datagrams share: peers that are
// numbered when they are first heard, limits for each, silence, broadcasts of
// one's own that come back, and interruption. A package for one carrier (UDP,
// IPX) adds a [Socket] and, if it wants, a [Gate].
//
// It knows addresses only as comparable values, and no protocol. Start from [Link].
package dgram

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// ErrSkip is returned by Socket.Read for a datagram that the socket has dealt
// with itself or that does not concern the link.
var ErrSkip = errors.New("nothing for the link")

// Socket sends and receives datagrams.
type Socket[A comparable] interface {
	// Read waits for a datagram and returns its frame, somewhere in buf, and
	// its sender. It fails with os.ErrDeadlineExceeded at the read deadline,
	// even if datagrams are waiting, with net.ErrClosed, or with ErrSkip.
	Read(buf []byte) (frame []byte, from A, err error)
	// Write sends a frame, or fails; it does not block. Any goroutine may call it.
	Write(frame []byte, to A) error
	SetReadDeadline(t time.Time) error
	Close() error
	// LocalAddr is this end's address; Addr is that of a peer.
	LocalAddr() net.Addr
	Addr(a A) net.Addr
}

// Batch is a [Socket] that reads and sends several datagrams at once. A frame that it has read is
// valid until the next Read, whose buffer it does not use.
type Batch[A comparable] interface {
	Socket[A]
	// Held reports whether Read returns at once, whatever the deadline, with what has come together with the frame before.
	Held() bool
	// Put keeps a copy of a frame for a peer, or with a negative number for an address that is none, until
	// Flush or until too much waits. Both return how many frames were lost. Any goroutine may call them.
	Put(peer int, frame []byte, to A) (lost int, err error)
	Flush() (lost int)
}

// Verdict is what a Gate says of a datagram.
type Verdict uint8

const (
	// Pass: it is no business of the gate's. A peer that is up may have sent it; from others it is dropped.
	Pass Verdict = iota
	// Done: the gate has dealt with it.
	Done
	// Admit: likewise, and its sender is a peer from now on.
	Admit
)

// Gate decides who becomes a peer. It is called by the goroutine that receives.
type Gate[A comparable] interface {
	// Judge looks at a datagram, and appends to reply what to send back at
	// once, which must not be longer than the datagram.
	Judge(reply, frame []byte, from A, now time.Time) ([]byte, Verdict)
	// Ask appends the datagram that asks a configured peer to admit us. It is
	// sent again and again until the gate admits that peer.
	Ask(dst []byte, to A) []byte
	// Retry is the time between two of them.
	Retry() time.Duration
}

// Config describes a link.
type Config[A comparable] struct {
	Limits
	// MaxFrame is the largest frame in bytes, and Overhead what the socket
	// needs in its buffer in addition.
	MaxFrame, Overhead int
	// All is where frames for everybody go; empty: to each peer that is up.
	All []A
	// Own reports whether an address is this end's. May be nil.
	Own func(A) bool
	// Gate is asked about everybody who is not yet a peer. May be nil.
	Gate Gate[A]
	// Gather is how long frames may wait after Flush, so that more of them leave at once. With a Batch only.
	Gather time.Duration
}

// Limits are what a user may set for any link over datagrams. The zero value is usable.
type Limits struct {
	// MaxPeers is the most peers at a time, 0 for 64. What comes from further
	// senders is dropped and counted.
	MaxPeers int
	// Closed admits configured peers only.
	Closed bool
	// Silence is after how long without a datagram a peer is lost (at most a
	// quarter later), 0 for never. A configured peer comes up again when it is heard.
	Silence time.Duration
	// FrameRate and ByteRate are the most frames and bytes a second that are
	// taken from one peer, 0 for no limit. A second's worth may come at once;
	// what exceeds it is dropped and counted.
	FrameRate, ByteRate int
	// Even lets no peer that was not configured be sent more bytes than it has sent itself, frames for everybody included
	// unless they are broadcast. It is for what answers strangers without a cookie, such as the search for games: a forged request then
	// brings its victim no more than the forger has sent. What exceeds it is dropped and counted, and Send fails.
	Even bool
}

// Stats count what a link has dropped.
type Stats struct {
	Own       uint64 // own broadcasts that came back
	Strangers uint64 // from senders that are no peers and could not become any
	Limited   uint64 // above FrameRate or ByteRate
	TooLong   uint64 // longer than MaxFrame or the receiver's buffer
	Overrun   uint64 // injected while too many waited
	Gate      uint64 // datagrams that the gate dealt with
	Unsent    uint64 // frames that the carrier did not take
	Withheld  uint64 // frames that Even has held back
	Skipped   uint64 // datagrams the socket dealt with or could not read
}

// Link is a [transport.Link] over a socket.
type Link[A comparable] struct {
	sock  Socket[A]
	batch Batch[A] // sock, if it is one
	cfg   Config[A]
	props transport.Properties

	in       []byte // the receiving goroutine's, like the next three
	held     []byte // a frame that came with the news of its sender
	heldPeer int
	reply    []byte

	mu     sync.Mutex // guards the table, the events and the counters
	table  table[A]
	stats  Stats
	queue  [][]byte // injected frames, and their senders
	queued []A
	busy   atomic.Int32 // events and injected frames that wait

	gathering atomic.Bool // leave is set
	past      atomic.Bool // until has come, as of the call of Interrupt

	dl     sync.Mutex // guards what follows and the socket's deadline
	until  time.Time  // given to Interrupt
	leave  time.Time  // when what was gathered has to leave; zero for never
	tick   time.Time  // when the table has to be looked at; zero for never
	every  time.Duration
	set    time.Time // what the socket was told
	closed atomic.Bool
	over   sync.Once
}

// DefaultPeers is the most peers of a link unless Limits.MaxPeers says otherwise.
const DefaultPeers = 64

// maxInjected is how many injected frames wait at most.
const maxInjected = 64

var longAgo = time.Unix(1, 0)

// New returns a link over sock, which belongs to it, with peers configured in
// the order of their numbers. It fails if they are more than MaxPeers.
func New[A comparable](sock Socket[A], cfg Config[A], peers []A) (*Link[A], error) {
	if cfg.MaxPeers <= 0 {
		cfg.MaxPeers = DefaultPeers
	}
	l := &Link[A]{sock: sock, cfg: cfg}
	if l.batch, _ = sock.(Batch[A]); l.batch == nil {
		l.in = make([]byte, cfg.Overhead+cfg.MaxFrame+1)
	}
	l.props = transport.Properties{Duplicating: true, MaxFrame: cfg.MaxFrame, Peers: cfg.MaxPeers}
	if cfg.Silence > 0 {
		l.every = max(cfg.Silence/4, time.Millisecond)
	}
	if g := cfg.Gate; g != nil && (l.every <= 0 || g.Retry() < l.every) {
		l.every = g.Retry()
	}
	if l.every > 0 {
		l.tick = time.Now().Add(l.every)
	}
	l.table.init(cfg.Limits, l.every)
	for _, a := range peers {
		if _, err := l.Add(a); err != nil {
			return nil, err
		}
	}
	l.Interrupt(time.Time{})
	return l, nil
}

// Properties implements [transport.Link].
func (l *Link[A]) Properties() transport.Properties { return l.props }

// LocalAddr implements [transport.Link].
func (l *Link[A]) LocalAddr() net.Addr { return l.sock.LocalAddr() }

// RemoteAddr implements [transport.Link].
func (l *Link[A]) RemoteAddr(peer int) net.Addr {
	a, ok := l.PeerAddr(peer)
	if !ok {
		return nil
	}
	return l.sock.Addr(a)
}

// PeerAddr returns the address of a peer that is up or configured.
func (l *Link[A]) PeerAddr(peer int) (a A, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if peer < 0 || peer >= len(l.table.peers) || l.table.peers[peer].state == free {
		return a, false
	}
	return l.table.peers[peer].addr, true
}

// Stats returns the counters.
func (l *Link[A]) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// Add configures a peer, or finds it, and returns its number. It comes up at
// once, or with a gate when it has admitted us or we it.
func (l *Link[A]) Add(a A) (int, error) {
	l.mu.Lock()
	i, err := l.table.configure(a, l.cfg.Gate == nil)
	l.announce()
	l.mu.Unlock()
	if err == nil && l.cfg.Gate != nil {
		l.writeNow(l.cfg.Gate.Ask(nil, a), a) // lost like any other; the next one follows
	}
	l.wake()
	return i, err
}

// Drop ends a peer; Receive announces its loss. If it is heard again it comes up again.
func (l *Link[A]) Drop(peer int) {
	l.mu.Lock()
	l.table.drop(peer)
	l.announce()
	l.mu.Unlock()
	l.wake()
}

// announce makes the receiver look at the events; mu is held.
func (l *Link[A]) announce() { l.busy.Store(int32(len(l.table.events) + len(l.queue))) }

// Inject gives the link a frame that came another way. It is copied.
func (l *Link[A]) Inject(frame []byte, from A) {
	l.mu.Lock()
	if len(l.queue) < maxInjected {
		l.queue = append(l.queue, append([]byte(nil), frame...))
		l.queued = append(l.queued, from)
		l.announce()
	} else {
		l.stats.Overrun++
	}
	l.mu.Unlock()
	l.wake()
}

// Send implements [transport.Link]. A socket that is no Batch takes the frame at once.
func (l *Link[A]) Send(peer int, frame []byte) error {
	switch {
	case l.closed.Load():
		return transport.ErrClosed
	case peer < transport.All || peer >= l.cfg.MaxPeers:
		return transport.ErrNoPeer
	case len(frame) > l.cfg.MaxFrame:
		return transport.ErrFrameTooLong
	case peer == transport.All:
		return l.sendAll(frame)
	}
	l.mu.Lock()
	p := &l.table.peers[peer]
	to, ok := p.addr, p.state == up
	even := !l.cfg.Even || p.pay(len(frame))
	if ok && !even {
		l.stats.Withheld++
	}
	l.mu.Unlock()
	if !ok {
		return transport.ErrNoPeer
	}
	if !even {
		return errUneven
	}
	return l.write(peer, frame, to)
}

var errUneven = errors.New("the peer has sent less than this, and was not configured")

func (l *Link[A]) sendAll(frame []byte) (err error) {
	for _, to := range l.cfg.All {
		if e := l.write(-1, frame, to); e != nil {
			err = e
		}
	}
	if len(l.cfg.All) > 0 {
		return err
	}
	for i := range l.cfg.MaxPeers {
		e := l.Send(i, frame)
		if e != nil && e != transport.ErrNoPeer && e != errUneven {
			err = e
		}
	}
	return err
}

func (l *Link[A]) write(peer int, frame []byte, to A) error {
	lost, err := 0, error(nil)
	if l.batch != nil {
		lost, err = l.batch.Put(peer, frame, to)
	} else if err = l.sock.Write(frame, to); err != nil {
		lost = 1
	}
	if lost == 0 {
		return nil
	}
	if l.closed.Load() {
		return transport.ErrClosed
	}
	l.unsent(lost)
	return err
}

// writeNow sends what is not a user's frame.
func (l *Link[A]) writeNow(frame []byte, to A) {
	l.sock.Write(frame, to)
	if l.batch != nil {
		l.unsent(l.batch.Flush())
	}
}

func (l *Link[A]) unsent(n int) {
	if n > 0 {
		l.mu.Lock()
		l.stats.Unsent += uint64(n)
		l.mu.Unlock()
	}
}

func (l *Link[A]) count(n *uint64) {
	l.mu.Lock()
	*n++
	l.mu.Unlock()
}

// Flush implements [transport.Link]. With Config.Gather, what waits leaves when its time has come.
func (l *Link[A]) Flush() error {
	switch {
	case l.closed.Load():
		return transport.ErrClosed
	case l.batch == nil:
	case l.cfg.Gather <= 0:
		l.unsent(l.batch.Flush())
	case !l.gathering.Swap(true):
		l.dl.Lock()
		l.leave = time.Now().Add(l.cfg.Gather)
		l.arm()
		l.dl.Unlock()
	}
	return nil
}

// Close implements [transport.Link]. A datagram link has nobody to tell.
func (l *Link[A]) Close() error {
	if !l.closed.Swap(true) && l.batch != nil {
		l.unsent(l.batch.Flush())
	}
	l.over.Do(func() { l.sock.Close() })
	return nil
}

// Abort implements [transport.Link].
func (l *Link[A]) Abort() error { return l.Close() }

// Interrupt implements [transport.Link].
func (l *Link[A]) Interrupt(at time.Time) {
	l.dl.Lock()
	l.until = at
	l.past.Store(!at.IsZero() && !time.Now().Before(at))
	l.arm()
	l.dl.Unlock()
}

// wake makes a waiting Receive look around.
func (l *Link[A]) wake() {
	l.dl.Lock()
	l.set = longAgo
	l.sock.SetReadDeadline(longAgo)
	l.dl.Unlock()
}

// arm tells the socket the earliest of the three times; dl is held.
func (l *Link[A]) arm() {
	at := l.until
	for _, other := range [...]time.Time{l.tick, l.leave} {
		if at.IsZero() || !other.IsZero() && other.Before(at) {
			at = other
		}
	}
	if at != l.set {
		l.set = at
		l.sock.SetReadDeadline(at)
	}
}

// late handles a deadline that has passed.
func (l *Link[A]) late() error {
	l.dl.Lock()
	now := time.Now()
	interrupted := !l.until.IsZero() && !now.Before(l.until)
	due := !interrupted && !l.tick.IsZero() && !now.Before(l.tick)
	if due {
		l.tick = now.Add(l.every)
	}
	leave := !l.leave.IsZero() && !now.Before(l.leave)
	if leave {
		l.leave = time.Time{}
		l.gathering.Store(false) // before the flush: what comes too late for it sets a new time
	}
	l.arm()
	l.dl.Unlock()
	if leave {
		l.unsent(l.batch.Flush())
	}
	if interrupted {
		return transport.ErrInterrupted
	}
	if due {
		l.sweep()
	}
	return nil
}

// sweep looks for silent peers, and asks configured ones.
func (l *Link[A]) sweep() {
	l.mu.Lock()
	l.table.sweep(l.cfg.Silence)
	l.announce()
	l.mu.Unlock()
	if l.cfg.Gate == nil {
		return
	}
	for i := range l.cfg.MaxPeers {
		l.mu.Lock()
		p := &l.table.peers[i]
		to, ask := p.addr, p.state == known
		l.mu.Unlock()
		if ask {
			l.reply = l.cfg.Gate.Ask(l.reply[:0], to)
			l.writeNow(l.reply, to)
		}
	}
}

func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

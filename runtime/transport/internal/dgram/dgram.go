// Package dgram is what all links over datagrams share: peers that are
// numbered when they are first heard, limits for each, silence, broadcasts of
// one's own that come back, and interruption. A package for one carrier (UDP,
// IPX) adds a [Socket] and, if it wants, a [Gate].
//
// It knows addresses only as comparable values, and no protocol. Start from [Link].
package dgram

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
)

// Link is a [transport.Link] over a socket.
type Link[A comparable] struct {
	sock  Socket[A]
	batch Batch[A] // sock, if it is one
	cfg   Config[A]
	props transport.Properties

	in       []byte // the receiving goroutine's, like the next five
	held     []byte // a frame that came with the news of its sender
	heldPeer int
	reply    []byte
	ahead    *door.Queue[netip.Addr, sender] // what was read because more came than was taken
	served   int                             // frames taken from it since then

	epoch time.Time
	notes door.Notes

	mu    sync.Mutex // guards the table, the events and the counters
	table table[A]
	valid func(frame []byte) bool // of a stranger; nil: any is
	stats Stats
	queue *door.Queue[netip.Addr, A] // injected frames, and their senders
	busy  atomic.Int32               // events and injected frames that wait

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

// maxInjected is how many injected frames wait at most.
const maxInjected = 64

// New returns a link over sock, which belongs to it, with peers configured in
// the order of their numbers. It fails if they are more than MaxPeers.
func New[A comparable](sock Socket[A], cfg Config[A], peers []A) (*Link[A], error) {
	cfg.Limits = cfg.Limits.withDefaults()
	l := &Link[A]{sock: sock, cfg: cfg, epoch: time.Now(), ahead: door.NewQueue[netip.Addr, sender](cfg.Waiting),
		queue: door.NewQueue[netip.Addr, A](maxInjected)}
	l.notes.Logger, l.notes.Place = cfg.Logger, func() string { return fmt.Sprint(sock.LocalAddr()) }
	if l.batch, _ = sock.(Batch[A]); l.batch == nil {
		l.in = make([]byte, cfg.Overhead+cfg.MaxFrame+1)
	}
	l.props = transport.Properties{Duplicating: true, MaxFrame: cfg.MaxFrame, Peers: cfg.MaxPeers}
	often := func(d time.Duration) {
		if d > 0 && (l.every <= 0 || d < l.every) {
			l.every = max(d, time.Millisecond)
		}
	}
	often(cfg.HalfOpen / 4)
	if often(cfg.Silence / 4); cfg.Silence == 0 {
		often(defaultSilence / 4)
	}
	if cfg.Gate != nil {
		often(cfg.Gate.Retry())
	}
	if l.every > 0 {
		l.tick = time.Now().Add(l.every)
	}
	l.table.init(cfg, l.every, &l.stats)
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

// Meet makes an address a peer that is up, or finds it, as if something valid had come from there: the
// door has to let it in, and it is half-open. It fails if there is no place, and with a gate.
func (l *Link[A]) Meet(a A) (int, bool) {
	if l.cfg.Gate != nil || !l.open(a) {
		return 0, false
	}
	l.mu.Lock()
	i, ok := l.table.find(a)
	if !ok || l.table.peers[i].state != up {
		before := l.stats
		i, ok = l.table.admit(a, false, l.since())
		l.announce()
		l.tell(before, &a)
	}
	l.mu.Unlock()
	l.wake()
	return i, ok
}

// Drop ends a peer; Receive announces its loss. If it is heard again it comes up again.
func (l *Link[A]) Drop(peer int) {
	l.mu.Lock()
	l.table.drop(peer, transport.ErrClosed)
	l.announce()
	l.mu.Unlock()
	l.wake()
}

// announce makes the receiver look at the events; mu is held.
func (l *Link[A]) announce() { l.busy.Store(int32(len(l.table.events) + l.queue.Len())) }

// Inject gives the link a frame that came another way. It is copied.
func (l *Link[A]) Inject(frame []byte, from A) {
	l.mu.Lock()
	if !l.queue.Put(l.table.origin(from), from, frame) {
		l.stats.Overrun++
		l.bite("64 heard broadcasts", "those of the address that sends most are lost", from)
	}
	l.announce()
	l.mu.Unlock()
	l.wake()
}

func (l *Link[A]) count(n *uint64) {
	l.mu.Lock()
	*n++
	l.mu.Unlock()
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

// Stats returns the counters.
func (l *Link[A]) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Peers, s.HalfOpen = l.table.count, l.table.half.Len()
	return s
}

// Counts implements [transport.Counted].
func (l *Link[A]) Counts() []transport.Count { return l.Stats().Counts() }

// Guard implements [transport.Guarded].
func (l *Link[A]) Guard(valid func(frame []byte) bool) {
	l.mu.Lock()
	l.valid, l.table.guarded = valid, true
	l.mu.Unlock()
}

// Confirm implements [transport.Guarded].
func (l *Link[A]) Confirm(peer int) {
	l.mu.Lock()
	l.table.confirm(peer)
	l.mu.Unlock()
}

func (l *Link[A]) since() time.Duration { return time.Since(l.epoch) }

// Package impair makes a good link bad: loss, duplicates, reordering, delay,
// jitter, a limited rate and partitions, each by chance from a seed, so that
// the same seed and the same calls meet the same faults.
//
// [Medium] decides what becomes of a frame and knows neither links nor clocks;
// the simulator uses it too. [Link] wraps any [transport.Link] and applies the
// decisions to what this end sends; wrap both ends to impair both directions.
// It knows no protocol. Start from [New].
package impair

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Clock is where a link takes its time from.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in a goroutine of its own, or from whoever moves the
	// clock, when d has passed.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is the result of AfterFunc; a *time.Timer is one.
type Timer interface {
	Stop() bool
	Reset(d time.Duration) bool
}

type wallClock struct{}

func (wallClock) Now() time.Time                            { return time.Now() }
func (wallClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Config describes an impaired link.
type Config struct {
	// Seed decides every fault.
	Seed uint64
	// Faults are those at the beginning; SetFaults changes them.
	Faults Faults
	// Weak declares the link unordered, unreliable and duplicating from the
	// start, whatever Faults are, so that every fault may be set later. Without it a
	// link declares what Faults leave of the inner link's promises, and keeps that.
	Weak bool
	// Clock is the time; nil for the computer's (in a testing/synctest bubble, the bubble's).
	Clock Clock
	// Held is the most bytes that are held back at a time, 0 for 1 MiB. Beyond
	// it a reliable link says transport.ErrQueueFull, another loses the frame.
	Held int
	// Schedule is what happens to the link at given times of Clock.
	Schedule Schedule
	// Returned is called at each Return of Schedule, from a goroutine of its own or from whoever moves
	// the clock. The program makes a new link then.
	Returned func()
}

// Link is an impaired link.
type Link struct {
	inner  transport.Link
	props  transport.Properties
	strict bool // nothing may be lost, doubled or overtaken
	clock  Clock
	epoch  time.Time
	limit  int

	mu     sync.Mutex // guards what follows, and the sending half of inner
	medium Medium
	held   queue
	timer  Timer
	armed  time.Duration // when timer fires, noTime if it does not
	cut    map[int]bool  // peers behind a partition
	failed error         // a frame held back could not be sent later
	dirty  bool          // inner has frames to flush
	closed bool
	// schedule is what is still to come, alarm fires for its first. silent: it has broken the link.
	schedule Schedule
	alarm    Timer
	silent   bool
	returned func()
}

const noTime = time.Duration(1<<63 - 1)

// New wraps inner, which belongs to the result from then on. It fails, and
// leaves inner alone, if a stream were to lose, double or reorder its bytes, or if the schedule is none.
func New(inner transport.Link, cfg Config) (*Link, error) {
	if cfg.Clock == nil {
		cfg.Clock = wallClock{}
	}
	if cfg.Held <= 0 {
		cfg.Held = 1 << 20
	}
	l := &Link{inner: inner, clock: cfg.Clock, epoch: cfg.Clock.Now(), limit: cfg.Held, armed: noTime,
		cut: map[int]bool{}}
	l.props = inner.Properties()
	if l.props.Stream && (cfg.Weak || cfg.Faults.weakens()) {
		return nil, fmt.Errorf("a stream has no frames to lose, double or reorder: impair it by delay, " +
			"jitter, rate and partition")
	}
	if cfg.Weak || cfg.Faults.Loss > 0 {
		l.props.Reliable = false
	}
	if cfg.Weak || cfg.Faults.Reorder > 0 || cfg.Faults.Duplicate > 0 {
		l.props.Ordered = false
	}
	if cfg.Weak || cfg.Faults.Duplicate > 0 {
		l.props.Duplicating = true
	}
	l.strict = l.props.Stream || l.props.Reliable && l.props.Ordered && !l.props.Duplicating
	l.medium = NewMedium(cfg.Seed, cfg.Faults)
	var err error
	if l.schedule, err = cfg.Schedule.ordered(l.props.Peers, cfg.Returned != nil); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.returned = cfg.Returned
	l.plan()
	return l, nil
}

// SetFaults changes the faults for the frames sent from then on. It fails if
// the link has declared that such a fault does not happen.
func (l *Link) SetFaults(f Faults) error {
	switch {
	case f.Loss > 0 && l.props.Reliable:
		return fmt.Errorf("the link was declared reliable: set Loss or Weak when it is made")
	case (f.Reorder > 0 || f.Duplicate > 0) && l.props.Ordered:
		return fmt.Errorf("the link was declared ordered: set Reorder or Weak when it is made")
	case f.Duplicate > 0 && !l.props.Duplicating:
		return fmt.Errorf("the link was declared free of duplicates: set Duplicate or Weak when it is made")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.medium.SetFaults(f)
	return nil
}

// Partition cuts a peer, or all with transport.All, off or joins it again. An
// unreliable link loses what is sent to and comes from a peer that is cut off; a
// reliable one holds back what is sent to any peer until all are joined.
func (l *Link) Partition(peer int, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part(peer, cut)
}

func (l *Link) part(peer int, cut bool) {
	if cut {
		l.cut[peer] = true
	} else if delete(l.cut, peer); peer == transport.All {
		clear(l.cut)
	}
	if !l.closed {
		l.release()
	}
}

// Stats returns the faults so far.
func (l *Link) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.medium.Stats
}

// Properties implements [transport.Link].
func (l *Link) Properties() transport.Properties { return l.props }

// Receive implements [transport.Link].
func (l *Link) Receive(buf []byte) (transport.Arrival, error) {
	for {
		got, err := l.inner.Receive(buf)
		if err != nil && l.isSilent() {
			return got, transport.ErrSilent
		}
		if err != nil || got.Kind != transport.Data || l.props.Reliable || !l.isCut(got.Peer) {
			return got, err
		}
	}
}

func (l *Link) isSilent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.silent
}

func (l *Link) isCut(peer int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.cut) == 0 || !l.cut[peer] && !l.cut[transport.All] {
		return false
	}
	l.medium.Stats.Cut++
	return true
}

// Interrupt implements [transport.Link].
func (l *Link) Interrupt(at time.Time) { l.inner.Interrupt(at) }

// LocalAddr implements [transport.Link].
func (l *Link) LocalAddr() net.Addr { return l.inner.LocalAddr() }

// RemoteAddr implements [transport.Link].
func (l *Link) RemoteAddr(peer int) net.Addr { return l.inner.RemoteAddr(peer) }

// Guard implements [transport.Guarded], if the inner link does.
func (l *Link) Guard(valid func(frame []byte) bool) {
	if g, ok := l.inner.(transport.Guarded); ok {
		g.Guard(valid)
	}
}

// Confirm implements [transport.Guarded].
func (l *Link) Confirm(peer int) {
	if g, ok := l.inner.(transport.Guarded); ok {
		g.Confirm(peer)
	}
}

// News implements [transport.Newsy], if the inner link does.
func (l *Link) News() (transport.Arrival, bool) {
	if n, ok := l.inner.(transport.Newsy); ok {
		return n.News()
	}
	return transport.Arrival{}, false
}

// Drop ends a peer, if the inner link can.
func (l *Link) Drop(peer int) {
	if d, ok := l.inner.(interface{ Drop(peer int) }); ok {
		d.Drop(peer)
	}
}

// Counts implements [transport.Counted], if the inner link does.
func (l *Link) Counts() []transport.Count {
	if c, ok := l.inner.(transport.Counted); ok {
		return c.Counts()
	}
	return nil
}

package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
)

// Host runs many machines in one goroutine: one for each peer of a link with many peers, which may
// be a UDP socket or all connections that tcp.Serve accepts. A [Driver] for each would cost a
// goroutine and a runner; here all share one runner and one core, into which a machine's value is
// put for the time of a step, so that a machine at rest is little more than its value. M is the
// machine's type and R its runner.
//
// Every machine knows its peer by the number 0. A peer that comes up gets a new
// machine; that of a lost one is given up after the event lost. To use more
// processors, run several hosts on several sockets.
type Host[R fsm.Runner, M any] struct {
	core     *Core[R]
	r        R
	at       func(R) *M
	fresh    func(peer int) M
	o        Options[R]
	link     transport.Link
	batched  transport.Batched // link, if it brings several frames at once
	sessions []*session[R, M]
	due      agenda[R, M]
	current  *session[R, M]
	epoch    time.Time
	buf      []byte // what is received into
	confirm  func(peer int)
	inlet    *inlet // nil for a link that carries frames
	beside   besides
	gather   gathering
	reliable bool // what is sent arrives, or the peer is lost
	full     bool // a frame of the session in the core found the send queue full
	dirty    bool
	expiring bool // a session whose deadline has come is in the core
	mailbox  chan hosted[R]
	started  atomic.Bool
	stopping atomic.Bool
	done     chan struct{}
	open     atomic.Int64
	missed   atomic.Uint64 // commands that found the mailbox full
	stats    published
	sinks    func(peer int) []trace.Sink // nil: nothing is recorded
}

// session is one machine at rest.
type session[R fsm.Runner, M any] struct {
	machine  M
	peer     int
	place    int           // in the agenda, -1 if it is not there
	deadline time.Duration // when it has to be looked at
	peerState
	timers timers
	held   []heldMessage
	phase  uint8
	record *recorder
	intake intake
}

// hosted is a command for the machine of a peer, or what a link beside has brought.
type hosted[R fsm.Runner] struct {
	peer int
	cmd  func(R) fsm.Result
	brought
}

// NewHost returns a host for a link with several peers, which belongs to it
// from then on. The machine in r is the first state of each session unless
// fresh, which may be nil, makes another one; at returns where r keeps its machine, as in
//
//	func(r *ready.PeerRunner) *ready.Peer { return &r.Machine }
//
// Handlers in o are called as by a Driver; Peer says whose machine it is. Options.Trace is not
// used, see Record; StopAtFinal ends a session, not Run. It fails like Driver.Attach for a link
// that is too weak. Of a protocol with several channels the link is that of Info().Channels[Info().News], with which
// peers come and go; the others get theirs by Beside.
func NewHost[R fsm.Runner, M any](
	r R, at func(R) *M, fresh func(peer int) M, link transport.Link, o Options[R],
) (*Host[R, M], error) {
	o = o.withDefaults()
	o.Trace = nil
	p := link.Properties()
	one := p
	one.Peers = 0 // each machine has one, so their number is no matter
	err := tells(r)
	if err == nil {
		err = suits(r.Info(), 0, r.Info().News, one)
	}
	if err != nil {
		link.Abort()
		return nil, err
	}
	if p.Peers == 0 {
		link.Abort()
		return nil, errors.New("a host needs a link with several peers; give a link with one to a Driver")
	}
	in, err := newInlet(r, o, link)
	if err != nil {
		link.Abort()
		return nil, err
	}
	h := &Host[R, M]{r: r, at: at, fresh: fresh, o: o, link: link, sessions: make([]*session[R, M], p.Peers),
		buf: make([]byte, r.Info().MaxFrame+1), mailbox: make(chan hosted[R], o.Mailbox),
		done: make(chan struct{}), inlet: in, reliable: p.Reliable,
		confirm: guard(r.FrameSize, link)}
	if in != nil {
		h.buf = in.buf[in.max:]
	}
	h.gather = gathering{channels: needs(r.Info()), own: make([]*early, p.Peers)}
	h.batched, _ = link.(transport.Batched)
	if fresh == nil {
		first := *at(r)
		h.fresh = func(int) M { return first }
	}
	h.core = NewCore(r, o, (*hostCarrier[R, M])(h))
	return h, nil
}

// Peer returns the link's number of the peer whose machine is being stepped. Handlers may call it.
func (h *Host[R, M]) Peer() int { return h.current.peer }

// Sessions returns the number of machines. Any goroutine may call it.
func (h *Host[R, M]) Sessions() int { return int(h.open.Load()) }

// Post gives the machine of a peer a command, as Driver.Post does. If there is no such machine by
// then, nothing happens. Any goroutine may call it.
func (h *Host[R, M]) Post(peer int, f func(R) fsm.Result) error {
	select {
	case <-h.done:
		return ErrStopped
	default:
	}
	select {
	case h.mailbox <- hosted[R]{peer: peer, cmd: f}:
		h.link.Interrupt(longAgo)
		return nil
	default:
		h.core.mailboxFull(h.missed.Add(1))
		return ErrMailboxFull
	}
}

// Counters returns the totals of all machines as of the last arrivals. Any goroutine may call it.
func (h *Host[R, M]) Counters() Counters { return h.stats.get() }

// publish shows the counters. The number of items that ever waited is not counted.
func (h *Host[R, M]) publish() {
	c := h.core.Counters()
	c.MailboxFull = h.missed.Load()
	h.stats.put(c, h.o.Observer)
}

// Stop makes Run end. It does not wait.
func (h *Host[R, M]) Stop() {
	h.stopping.Store(true)
	h.link.Interrupt(longAgo)
}

// Run runs the machines until ctx ends (its cause is returned), Stop is called
// (nil) or the link is lost. Then it closes the link.
func (h *Host[R, M]) Run(ctx context.Context) error {
	if h.started.Swap(true) {
		return ErrRunning
	}
	defer context.AfterFunc(ctx, h.Stop)()
	defer h.endBeside()
	defer h.link.Close()
	defer close(h.done)
	defer h.publish()
	defer h.endRecords()
	if err := h.lacks(); err != nil {
		return err
	}
	h.epoch = time.Now()
	h.beginBeside()
	for armed, clear := noTime, false; !h.stopping.Load(); {
		now := time.Since(h.epoch)
		h.expire(now)
		for n := len(h.mailbox); n > 0; n-- {
			h.command(<-h.mailbox)
		}
		if h.beside.lost != nil {
			return h.beside.lost
		}
		h.flushBeside()
		if h.dirty {
			h.dirty = false
			h.link.Flush() // what a link without promises does not take is lost
		}
		h.publish()
		if next := min(h.due.next(), h.late()); !clear || next < armed {
			armed, clear = next, true
			h.arm(next)
			if len(h.mailbox) > 0 || h.stopping.Load() {
				clear = false // whoever woke us did so before we armed
				continue
			}
		}
		got, err := h.link.Receive(h.buf)
		switch {
		case errors.Is(err, transport.ErrInterrupted):
			clear = false
		case err != nil:
			return fmt.Errorf("the link is lost with all its peers: %w", err)
		default:
			h.arrivals(got)
		}
	}
	return context.Cause(ctx)
}

func (h *Host[R, M]) arm(next time.Duration) {
	if next == noTime {
		h.link.Interrupt(time.Time{})
		return
	}
	h.link.Interrupt(h.epoch.Add(next))
}

// Record has the steps of each machine recorded by the sinks that f returns for its peer, which may
// be none; the header's instance is Options.Instance and the peer's number. A sink that is an
// io.Closer is closed when its machine is given up or Run ends. One that fails is reported once,
// and counted, and the machines go on. Call it before Run.
func (h *Host[R, M]) Record(f func(peer int) []trace.Sink) { h.sinks = f }

func (h *Host[R, M]) beginRecord(s *session[R, M]) {
	if h.sinks != nil {
		s.record = newRecorder(h.sinks(s.peer))
		h.core.o.Instance = h.o.Instance + strconv.Itoa(s.peer)
	}
}

// endRecord ends the record of the session that the core holds, or held last.
func (h *Host[R, M]) endRecord(s *session[R, M], reason string) {
	if s.record == nil {
		return
	}
	h.core.End(time.Since(h.epoch), reason)
	for _, k := range s.record.sinks {
		if c, ok := k.(io.Closer); ok {
			c.Close()
		}
	}
	s.record = nil
}

func (h *Host[R, M]) endRecords() {
	for _, s := range h.sessions {
		if s != nil && s.record != nil {
			h.enter(s)
			h.endRecord(s, "stopped")
			h.leave()
		}
	}
}

// enter puts a session into the core, leave takes it out again.
func (h *Host[R, M]) enter(s *session[R, M]) {
	h.current, h.full = s, false
	*h.at(h.r) = s.machine
	h.core.timers, h.core.held.list = s.timers, s.held
	h.core.on = h.core.info.News
	h.core.setPhase(0, s.phase)
	h.core.recordWith(s.record)
}

func (h *Host[R, M]) leave() {
	s := h.current
	if h.full {
		h.core.LinkLost(time.Since(h.epoch), 0, transport.ErrQueueFull)
		h.drop(s.peer)
	}
	if h.o.StopAtFinal && h.core.Final() && s.up {
		s.up = false
		h.drop(s.peer)
	}
	s.machine = *h.at(h.r)
	s.timers, s.held, s.phase = h.core.timers, h.core.held.list, h.core.phase(0)
	h.core.timers, h.core.held.list = timers{}, nil
	if !s.up {
		h.endRecord(s, "lost")
		h.forget(s)
	} else {
		h.schedule(s)
	}
	h.current = nil
}

// schedule notes when a session has to be looked at next. Deadlines mostly move away while frames
// come; then the old one stands, and is corrected when it comes.
func (h *Host[R, M]) schedule(s *session[R, M]) {
	at, ok := s.timers.next()
	if !ok {
		at = noTime
	}
	if f, due := s.record.flushAt(); due {
		at = min(at, f)
	}
	if d := h.o.IdleLimit; d > 0 {
		at = min(at, s.heard+d)
	}
	if d := h.o.HandshakeLimit; d > 0 && !s.greeted {
		at = min(at, s.since+d)
	}
	if s.place < 0 || at < s.deadline || h.expiring {
		h.due.set(s, at)
	}
}

func (h *Host[R, M]) forget(s *session[R, M]) {
	h.due.set(s, noTime)
	h.forgetBeside(s.peer)
	if h.inlet != nil {
		h.inlet.release(&s.intake)
	}
	if h.sessions[s.peer] == s {
		h.sessions[s.peer] = nil
		h.open.Add(-1)
	}
}

// arrivals handles what a Receive returned and what came together with it.
func (h *Host[R, M]) arrivals(got transport.Arrival) {
	now := time.Since(h.epoch)
	h.arrived(now, got)
	for n, ok := 0, h.batched != nil; ok && n < maxTogether && !h.stopping.Load(); n++ {
		if got, ok = h.batched.Next(h.buf); ok {
			h.arrived(now, got)
		}
	}
}

// arrived handles one arrival.
func (h *Host[R, M]) arrived(now time.Duration, got transport.Arrival) {
	s := h.sessions[got.Peer]
	switch {
	case got.Kind == transport.PeerUp && s == nil && len(h.gather.channels) > 0:
		h.comes(now, got.Peer)
	case got.Kind == transport.PeerUp && s == nil:
		h.begin(now, got.Peer)
	case s == nil && h.waits(got.Peer) && got.Kind == transport.PeerLost:
		h.goes(got.Peer, true)
	case s == nil && h.waits(got.Peer) && got.Kind == transport.Data:
		if !h.gather.own[got.Peer].keep(h.buf[:got.N]) {
			h.core.bite("64 KiB before all links of a peer are there", "the peer is given up")
			h.goes(got.Peer, false)
		}
	case s == nil:
	case got.Kind == transport.PeerLost:
		h.enter(s)
		s.up = false
		h.core.LinkLost(now, 0, brokenOff(got.Why, len(s.intake.begun)))
		h.leave()
	case got.Kind == transport.Data:
		h.takes(now, s, got.N)
	}
}

// begin makes the machine of a peer, which hears that its link is there.
func (h *Host[R, M]) begin(now time.Duration, peer int) *session[R, M] {
	s := &session[R, M]{machine: h.fresh(peer), peer: peer, place: -1,
		peerState: peerState{up: true, heard: now, since: now}}
	h.sessions[peer] = s
	h.open.Add(1)
	h.beginRecord(s)
	h.enter(s)
	h.core.start(now, h.epoch)
	h.core.o.Instance = h.o.Instance
	h.core.LinkUp(now, 0, "")
	h.leave()
	return s
}

// takes gives a machine n bytes of the host's own link, which are in its buffer.
func (h *Host[R, M]) takes(now time.Duration, s *session[R, M], n int) {
	if h.inlet != nil {
		h.stream(now, s, n)
		return
	}
	s.heard = now
	h.enter(s)
	if h.core.Frame(now, 0, h.buf[:n]) && !s.greeted {
		s.greeted = true
		h.confirm(s.peer)
	}
	h.leave()
}

func (h *Host[R, M]) command(c hosted[R]) {
	if c.by != nil {
		h.arrivedBeside(c.brought)
		return
	}
	if c.peer < 0 || c.peer >= len(h.sessions) || h.sessions[c.peer] == nil {
		return
	}
	h.enter(h.sessions[c.peer])
	h.core.Command(time.Since(h.epoch), c.cmd, false)
	h.leave()
}

// expire looks at the sessions whose time has come.
func (h *Host[R, M]) expire(now time.Duration) {
	h.giveUp(now)
	h.expiring = true
	defer func() { h.expiring = false }()
	for n := len(h.due.list); n > 0 && h.due.next() <= now; n-- {
		s := h.due.list[0]
		h.enter(s)
		h.core.Expire(now)
		h.core.Flush(now)
		switch idle, greet := h.o.IdleLimit, h.o.HandshakeLimit; {
		case !s.up:
		case greet > 0 && !s.greeted && s.since+greet <= now:
			h.core.Fail(now, 0, NoHandshake, fmt.Errorf("limit %v", greet))
		case idle > 0 && s.heard+idle <= now:
			h.core.Fail(now, 0, Silent, fmt.Errorf("for %v", idle))
		}
		h.leave()
	}
}

// hostCarrier is a host as its core sees it.
type hostCarrier[R fsm.Runner, M any] Host[R, M]

// Send implements [Carrier].
func (k *hostCarrier[R, M]) Send(peer fsm.Peer, frame []byte) error {
	if peer > 0 {
		return ErrNoLink // each machine knows its one peer by the number 0
	}
	if !k.current.up {
		return transport.ErrNoPeer
	}
	k.dirty = true
	err := k.link.Send(k.current.peer, frame)
	if err != nil && k.reliable && errors.Is(err, transport.ErrQueueFull) {
		// For other errors, the link will say that the peer is lost, after what came before.
		k.full, k.current.up = true, false
	}
	return err
}

// Close implements [Carrier].
func (k *hostCarrier[R, M]) Close(fsm.Peer, *Error) error {
	k.current.up, k.full = false, false
	(*Host[R, M])(k).drop(k.current.peer)
	return nil
}

// drop has a link that can do so end a peer.
func (h *Host[R, M]) drop(peer int) {
	if l, ok := h.link.(interface{ Drop(peer int) }); ok {
		l.Drop(peer)
	}
}

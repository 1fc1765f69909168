package driver

import (
	"math"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// Carrier takes the frames of a [Core] to its peers.
type Carrier interface {
	// Send queues a copy of frame for a peer or fsm.Broadcast. An error means that it is dropped;
	// the loss of the link is told by LinkLost later. One that wraps ErrNoLink says that nobody has
	// given a link to the peer; the core reports it if the peer never had one.
	Send(peer fsm.Peer, frame []byte) error
	// Close closes the link to a peer, or with fsm.Broadcast all links, after
	// what was sent before. With why == nil the machine has asked for it and
	// gets no event; otherwise the core delivers the event lost itself. An error that wraps ErrNoLink
	// is as that of Send.
	Close(peer fsm.Peer, why *Error) error
}

// ChannelCarrier is a carrier for machines whose protocol has several channels.
type ChannelCarrier interface {
	Carrier
	// SendOn is Send over the channel at a place in fsm.Info.Channels. An error that wraps ErrNoChannel says
	// that nobody has given a link for it; the core reports it once for each channel.
	SendOn(peer fsm.Peer, channel int, frame []byte) error
}

// Core runs one machine to completion, event by event, without a clock, a
// goroutine or a socket: time is a parameter, frames go to a [Carrier]. It
// keeps the timers and deferred messages and makes the records. A [Driver] runs a core on
// real links; a simulator runs many in virtual time. All methods must be
// called by one goroutine at a time, none by a handler; now never goes back
// and counts from the moment of Start.
type Core[R fsm.Runner] struct {
	r        R
	m        fsm.Runner    // r too: calling through an interface is cheaper than through a type parameter
	streamer fsm.Streamer  // r, if it is one
	several  fsm.Channeled // r, if its protocol has several channels; then the next three have a meaning
	phased   fsm.Phased    // r, if the streams of its protocol have phases; then phases has a meaning
	phases   []uint8       // by peer: in which phase is what comes from it
	sized    fsm.Peer      // whose stream is being cut
	outs     ChannelCarrier
	on       int    // the channel of the frame being handled
	unfound  uint64 // channels for which it was reported that there is no link
	size     func([]byte) (int, error)
	info     *fsm.Info
	o        Options[R]
	out      Carrier
	timers   timers
	expired  timer // whose expiry is being handled, if expiring
	expiring bool
	links    links
	held     deferred
	counters Counters
	bitten   bool // the log was told of FrameRate
	record   *recorder
	message  event[R] // the frame being handled; kept here because clearing one for each frame costs more than the rest
	again    event[R] // the deferred message being offered
	scratch  []byte
	answers  []byte        // to frames of a stream that came together
	latest   time.Duration // of the last event
	reports  int           // reports of the step being carried out
	losing   []*Error      // links closed for an error whose event lost is still to be delivered
	changed  bool          // the control state has changed since the deferred messages were last offered
	logSteps bool
	plain    bool // steps are neither recorded nor logged
}

// NewCore returns a core that has not been started.
func NewCore[R fsm.Runner](r R, o Options[R], out Carrier) *Core[R] {
	o = o.withDefaults()
	c := &Core[R]{r: r, m: r, info: r.Info(), o: o, out: out}
	c.streamer, _ = c.m.(fsm.Streamer)
	if len(c.info.Channels) > 0 {
		c.several, _ = c.m.(fsm.Channeled)
		c.outs, _ = out.(ChannelCarrier)
		c.streamer = nil // it does not know which channel the bytes came over
	}
	if len(c.info.Phases) > 0 {
		c.phased, _ = c.m.(fsm.Phased)
		c.streamer = nil // it does not know the phase
	}
	switch c.size = c.m.FrameSize; {
	case c.phased != nil:
		c.size = func(b []byte) (int, error) { return c.phased.FrameSizeIn(c.phase(c.sized), b) }
	case c.several != nil:
		c.size = func(b []byte) (int, error) { return c.several.FrameSizeOn(c.on, b) }
	}
	c.held.max = c.info.Deferred
	if c.held.max == 0 {
		c.held.max = fsm.DefaultDeferred
	}
	c.message.kind = trace.Message
	c.logSteps = debugEnabled(o.Logger)
	c.recordWith(newRecorder(o.Trace))
	return c
}

// sizer returns what says how long the frames of a channel are.
func (c *Core[R]) sizer(channel int) func([]byte) (int, error) {
	if c.several == nil {
		return c.m.FrameSize
	}
	return func(b []byte) (int, error) { return c.several.FrameSizeOn(channel, b) }
}

func (c *Core[R]) recordWith(t *recorder) {
	c.record = t
	c.plain = !c.logSteps && !t.on()
}

// Runner returns the machine, for reading.
func (c *Core[R]) Runner() R { return c.r }

// Counters returns the totals so far.
func (c *Core[R]) Counters() *Counters { return &c.counters }

// Final reports whether the machine is in a final state.
func (c *Core[R]) Final() bool { return c.info.Final[c.r.State()] }

// Start gives the machine the event start. wall is the time at which now is 0, for the record.
func (c *Core[R]) Start(wall time.Time) { c.start(0, wall) }

func (c *Core[R]) start(now time.Duration, wall time.Time) {
	if c.record.on() {
		c.record.begin(trace.Header{Protocol: c.info.Protocol, Role: c.info.Role,
			Instance: c.o.Instance, Hash: c.info.Hash, Machine: string(c.r.AppendMachine(nil)),
			Channels: channelNames(c.info), Time: wall})
	}
	c.handle(now, &event[R]{kind: trace.Start, peer: fsm.Broadcast})
}

// channelNames are the names of several channels, nil if there is one.
func channelNames(info *fsm.Info) (names []string) {
	for _, ch := range info.Channels {
		names = append(names, ch.Name)
	}
	return names
}

// LinkUp gives the machine the event up. ends has the two addresses with trace.EndsSeparator
// between them, for the record.
func (c *Core[R]) LinkUp(now time.Duration, peer fsm.Peer, ends string) {
	c.counters.LinksUp++
	c.links.up(peer)
	c.setPhase(peer, 0)
	c.logLink("link up", peer, ends)
	c.handle(now, &event[R]{kind: trace.Up, peer: peer, on: c.info.News, note: ends})
	if c.o.OnLink != nil {
		c.o.OnLink(c.r, peer, true, nil)
	}
}

// LinkLost gives the machine the event lost.
func (c *Core[R]) LinkLost(now time.Duration, peer fsm.Peer, why error) {
	c.lost(now, peer, why)
	c.settle(now)
}

func (c *Core[R]) lost(now time.Duration, peer fsm.Peer, why error) {
	c.counters.LinksLost++
	c.forget(peer)
	note := "closed"
	if why != nil {
		note = why.Error()
	}
	c.logLink("link lost", peer, note)
	c.deliver(now, &event[R]{kind: trace.Lost, peer: peer, note: note})
	if c.o.OnLink != nil {
		c.o.OnLink(c.r, peer, false, why)
	}
}

// Frame gives the machine one frame. It reports whether the frame was a message that the machine
// did not refuse. It does not keep the frame.
func (c *Core[R]) Frame(now time.Duration, peer fsm.Peer, frame []byte) bool {
	before := c.m.State()
	if c.several != nil {
		res, err := c.several.FrameOn(peer, c.on, frame)
		return c.framed(now, peer, frame, before, res, err)
	}
	if c.phased != nil {
		c.message.phase = c.phase(peer)
		next, res, err := c.phased.FrameIn(peer, c.message.phase, frame)
		if err == nil {
			c.setPhase(peer, next) // before the effects: one of them may close the link
		}
		return c.framed(now, peer, frame, before, res, err)
	}
	res, err := c.m.Frame(peer, frame)
	return c.framed(now, peer, frame, before, res, err)
}

// FrameOn is Frame for a frame that came over the channel at a place in fsm.Info.Channels.
func (c *Core[R]) FrameOn(now time.Duration, peer fsm.Peer, channel int, frame []byte) bool {
	c.on = channel
	return c.Frame(now, peer, frame)
}

// framed does what the outcome of a frame asks for.
func (c *Core[R]) framed(now time.Duration, peer fsm.Peer, frame []byte, before uint16, res fsm.Result,
	err error) bool {
	c.counters.FramesIn++
	c.counters.BytesIn += uint64(len(frame))
	if err == nil && res.Code == fsm.Took && c.plain {
		// What nearly every frame is, by the shortest way; follow does the same.
		c.counters.Steps++
		for i, n := 0, c.m.Effects(); i < n; i++ {
			c.carryOut(now, i, res.Transition)
		}
		after := c.m.State()
		if after == before && c.reports == 0 && len(c.losing) == 0 {
			return true
		}
		c.changed = after != before
		c.tell(before, after)
		c.settle(now)
		return true
	}
	c.message.peer, c.message.frame, c.message.on = peer, frame, c.on
	res, err = c.follow(now, &c.message, before, res, err)
	if c.changed || len(c.losing) > 0 {
		c.settle(now)
	}
	return err == nil && res.Code != fsm.Refused
}

// Fail closes the link to a peer for a reason that only the owner of the links can know.
func (c *Core[R]) Fail(now time.Duration, peer fsm.Peer, kind ErrorKind, why error) {
	e := c.newError(kind, peer, fsm.NoTransition)
	e.Cause = why
	c.report(e)
	if kind == Silent || kind == NoHandshake {
		c.counters.Silent++
	}
	c.lose(e)
	c.settle(now)
}

// Command runs f, which must call exactly one command method of the runner
// and return its result. The error is an *Error if the command was refused; without
// wait, it goes to OnError too.
func (c *Core[R]) Command(now time.Duration, f func(R) fsm.Result, wait bool) (fsm.Result, error) {
	c.counters.Commands++
	return c.handle(now, &event[R]{kind: trace.Command, peer: fsm.Broadcast, cmd: f, call: wait})
}

// Expire gives the machine the timers that are due, in the order of their deadlines. Of equal
// deadlines the one armed first comes first.
func (c *Core[R]) Expire(now time.Duration) {
	// A timer that its own expiry starts again with no delay must not hold the core for ever.
	for range maxExpiries {
		t, ok := c.timers.due(now)
		if !ok {
			return
		}
		c.counters.Timeouts++
		c.expired, c.expiring = t, true
		c.handle(now, &event[R]{kind: trace.Timeout, peer: fsm.Broadcast, timer: t.id, key: t.key})
		c.expiring = false
	}
}

const maxExpiries = 1024

// Next returns when Expire or Flush must be called next.
func (c *Core[R]) Next() (time.Duration, bool) {
	at, ok := c.timers.next()
	if f, due := c.record.flushAt(); due && (!ok || f < at) {
		return f, true
	}
	return at, ok
}

// NextTimer returns when the next timer of the machine expires, and does not look at the records. A
// simulator uses it, so that recording changes nothing.
func (c *Core[R]) NextTimer() (time.Duration, bool) { return c.timers.next() }

// Flush writes the records if they are due.
func (c *Core[R]) Flush(now time.Duration) {
	if at, due := c.record.flushAt(); due && at <= now {
		c.traceErrors(c.record.flush(now))
	}
}

// End closes the records with a reason.
func (c *Core[R]) End(now time.Duration, reason string) {
	if !c.record.on() {
		return
	}
	s := c.record.begun(now, trace.Closed)
	s.Before = c.info.States[c.r.State()]
	s.After = s.Before
	s.Note = append(s.Note, reason...)
	c.record.write()
	c.traceErrors(c.record.flush(now))
}

// started returns from when a timer that is started counts.
func (c *Core[R]) started(now time.Duration, id uint16, key uint32) time.Duration {
	if t := &c.expired; c.o.Steady && c.expiring && t.id == id && t.key == key {
		return t.at
	}
	return now
}

// ticks converts a timer's length, holding on to the longest time there is.
func (c *Core[R]) ticks(now time.Duration, n uint32) time.Duration {
	if tick := c.info.TickNanos; tick > 0 && int64(n) > (math.MaxInt64-int64(now))/tick {
		return math.MaxInt64
	}
	return now + time.Duration(int64(n)*c.info.TickNanos)
}

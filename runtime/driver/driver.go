// Package driver runs generated machines: it is the first place with a clock,
// a goroutine and a socket.
//
// One goroutine owns a machine and handles one event at a time to its end;
// commands, timers, and whatever its links bring come to it through one
// bounded mailbox, and nobody's code runs under a lock. It knows machines by
// [fsm.Runner] alone and links by [transport.Link] alone. Start from [Driver];
// a simulator starts from [Core].
package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// Driver runs one machine on real links. Make it with New, give it links with Attach, and
// call Run; all other methods may be called by any goroutine, before, during
// and after Run.
type Driver[R fsm.Runner] struct {
	core  *Core[R]
	info  *fsm.Info
	o     Options[R]
	epoch time.Time
	slots []*slot

	mailbox  chan item[R]
	waiting  atomic.Pointer[slot] // the link in whose Receive the owner sleeps
	lead     lead                 // from which of several links the owner receives itself
	skipped  bool                 // the last turn did not look at the link
	timer    *time.Timer          // wakes the owner when it waits for several links
	restored bool                 // a snapshot takes the place of the event start
	started  atomic.Bool
	stopping atomic.Bool
	done     chan struct{}  // closed: nothing is taken from the mailbox any more
	ended    chan struct{}  // closed: Run returns
	broken   chan struct{}  // closed: Run ends with a panic, of a machine or of a handler
	leaving  sync.WaitGroup // links being closed, goroutines that receive

	handling atomic.Uint64 // number of the handler that runs, 0 for none
	handlers uint64        // how many have run
	nested   int           // calls of enter without leave
	full     atomic.Uint64
	high     atomic.Uint64
	calls    sync.Pool

	stats published
}

// item is one thing that waits in the mailbox.
type item[R fsm.Runner] struct {
	cmd  func(R) fsm.Result // a command
	call *call              // who waits for it, nil for Post
	do   func()             // something else to be done by the owner
	join *slot              // a link to be taken into use
	slot *slot              // or what a link has brought
	got  transport.Arrival
	err  error
}

// call is a command whose giver waits.
type call struct {
	state atomic.Int32 // of callPending, callTaken, callCancelled
	done  chan struct{}
	res   fsm.Result
	err   error
}

const (
	callPending = iota
	callTaken
	callCancelled
)

// New returns a driver for the machine r, which it owns from then on.
func New[R fsm.Runner](r R, o Options[R]) *Driver[R] {
	o = o.withDefaults()
	d := &Driver[R]{info: r.Info(), o: o, mailbox: make(chan item[R], o.Mailbox),
		done: make(chan struct{}), ended: make(chan struct{}), broken: make(chan struct{})}
	d.calls.New = func() any { return &call{done: make(chan struct{}, 1)} }
	inner := o
	inner.OnReport = guard2(d, o.OnReport)
	if f := o.OnState; f != nil {
		inner.OnState = func(r R, from, to uint16) { d.enter(); f(r, from, to); d.leave() }
	}
	if f := o.OnLink; f != nil {
		inner.OnLink = func(r R, p fsm.Peer, up bool, why error) { d.enter(); f(r, p, up, why); d.leave() }
	}
	inner.OnError = guard2(d, o.OnError)
	d.core = NewCore(r, inner, (*carrier[R])(d))
	return d
}

func guard2[R fsm.Runner, T any](d *Driver[R], f func(R, T)) func(R, T) {
	if f == nil {
		return nil
	}
	return func(r R, v T) { d.enter(); f(r, v); d.leave() }
}

// enter notes that code of the program is called, leave that it has returned.
func (d *Driver[R]) enter() {
	if d.nested++; d.nested == 1 {
		d.handlers++
		d.handling.Store(d.handlers)
	}
}

func (d *Driver[R]) leave() {
	if d.nested--; d.nested == 0 {
		d.handling.Store(0)
	}
}

// Run starts the machine and runs it until ctx ends (its cause is returned),
// Stop is called, or the machine is final and Options.StopAtFinal is set (nil). It
// finishes the step in progress, sends what was sent, closes all links in good
// order, and answers every waiting Do with ErrStopped. A panic of the machine or of a handler goes
// through; whoever recovers from it closes the links.
func (d *Driver[R]) Run(ctx context.Context) error {
	if d.started.Swap(true) {
		return ErrRunning
	}
	release := context.AfterFunc(ctx, d.Stop)
	defer release()
	whole := false
	defer func() {
		if !whole {
			close(d.broken)
		}
	}()
	d.epoch = time.Now()
	d.begin()
	now := time.Duration(0)
	for !d.stopping.Load() {
		d.core.Expire(now)
		d.drain(now)
		limit := d.checkLimits(now) // after a link may have been attached
		d.flush(now)
		d.core.Flush(now)
		d.publish()
		if d.stopping.Load() || d.o.StopAtFinal && d.core.Final() {
			break
		}
		now = d.wait(d.deadline(limit))
	}
	reason, err := "stopped", error(nil)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		reason = err.Error()
	} else if d.core.Final() {
		reason = "final state"
	}
	d.shutdown(now, reason)
	whole = true
	return err
}

// begin starts the machine. Links that were given before Run are there by then, so that what the
// machine sends at its start leaves; it hears of them (up) afterwards.
func (d *Driver[R]) begin() {
	early := make([]item[R], len(d.mailbox))
	for i := range early {
		early[i] = <-d.mailbox
		if s := early[i].join; s != nil {
			d.attach(s)
		}
	}
	if !d.restored {
		d.core.Start(d.epoch)
	}
	for _, it := range early {
		switch {
		case d.stopping.Load():
			return
		case it.join == nil:
			d.handle(it)
		case it.join.open:
			d.announce(it.join)
		}
	}
}

// Stop makes Run end as described there. It does not wait; Done does.
func (d *Driver[R]) Stop() {
	d.stopping.Store(true)
	d.wake()
}

// Done returns a channel that is closed when Run has ended and all links are released.
func (d *Driver[R]) Done() <-chan struct{} { return d.ended }

// Do has the owner run f, which must call exactly one command method of the runner and return its
// result, and waits for it. If ctx ends before f has begun, f is never run and the error wraps
// ctx's, and says so if Run was not called; once begun, the step is carried out to its end. A
// handler must not call Do, for it would wait for itself; after five seconds the error says so,
// ErrWouldDeadlock. A refused command is a Result of fsm.Refused and an *Error; one that was never
// run is fsm.NotRun and another error.
func (d *Driver[R]) Do(ctx context.Context, f func(R) fsm.Result) (fsm.Result, error) {
	c := d.calls.Get().(*call)
	c.state.Store(callPending)
	err := d.ask(ctx, item[R]{cmd: f, call: c}, c)
	if err != nil {
		return fsm.Result{Code: fsm.NotRun, Transition: fsm.NoTransition}, err
	}
	res, err := c.res, c.err
	d.calls.Put(c)
	return res, err
}

// Read has the owner run f between two steps and waits for it. f may read the runner, but must not
// step it.
func (d *Driver[R]) Read(ctx context.Context, f func(R)) error {
	c := &call{done: make(chan struct{}, 1)}
	return d.ask(ctx, item[R]{call: c, do: func() { f(d.core.r) }}, c)
}

func (d *Driver[R]) ask(ctx context.Context, it item[R], c *call) error {
	var stuck <-chan time.Time // a handler that calls Do would wait for itself
	handler := d.handling.Load()
	if handler != 0 {
		stuck = time.After(maxHandler)
	}
	select {
	case d.mailbox <- it:
	default:
		d.core.mailboxFull(d.full.Add(1))
		select {
		case d.mailbox <- it:
		case <-ctx.Done():
			return d.givenUp(ctx)
		case <-d.done:
			return ErrStopped
		case <-stuck:
			return ErrWouldDeadlock
		}
	}
	d.posted()
	for why := error(nil); ; {
		select {
		case <-c.done:
			return nil
		case <-ctx.Done():
			why = d.givenUp(ctx)
		case <-d.done:
			why = ErrStopped
		case <-d.broken:
			return ErrStopped
		case <-stuck:
			if stuck = nil; d.handling.Load() != handler {
				continue
			}
			why = ErrWouldDeadlock
		}
		if c.state.CompareAndSwap(callPending, callCancelled) {
			return why
		}
		select {
		case <-c.done: // it has begun, so it will end
			return nil
		case <-d.broken:
			return ErrStopped
		}
	}
}

// maxHandler is how long a handler may run before a Do that was called meanwhile is given up.
const maxHandler = 5 * time.Second

// givenUp is the error for one who has waited for the owner until ctx ended.
func (d *Driver[R]) givenUp(ctx context.Context) error {
	if d.started.Load() {
		return ctx.Err()
	}
	return fmt.Errorf("%w: the driver does not run yet, so nobody carries out what is asked of it "+
		"(call Run, in a goroutine of its own)", ctx.Err())
}

// Post queues f like Do and returns at once. Handlers use it to give commands: f
// runs after the present step and everything queued before it. An error of
// the command itself goes to OnError. The error is ErrMailboxFull or ErrStopped.
func (d *Driver[R]) Post(f func(R) fsm.Result) error { return d.post(item[R]{cmd: f}) }

func (d *Driver[R]) post(it item[R]) error {
	if d.stopped() {
		return ErrStopped
	}
	select {
	case d.mailbox <- it:
		d.posted()
		return nil
	default:
		d.core.mailboxFull(d.full.Add(1))
		return ErrMailboxFull
	}
}

func (d *Driver[R]) stopped() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// Attach gives the driver a connected link; the machine gets the event up for
// peer, or for peer+i when a link of several peers announces its peer i. The driver owns
// the link from then on and closes it, also when Attach fails. A link that
// promises less than the specification was checked for is refused with ErrLinkTooWeak.
// A machine that sends as soon as it starts needs its links before Run.
//
// Of a protocol with several channels this is the link of Info().Channels[Info().News], with which the peer comes
// and goes; see AttachOn.
func (d *Driver[R]) Attach(peer fsm.Peer, link transport.Link) error {
	return d.attachTo(peer, d.info.News, link)
}

// AttachOn is Attach for the link of one channel of several. The machine hears up when the peer has a link for
// each reliable channel, and lost when any link of one peer ends; then all its links are closed. A link for a
// channel that loses messages may come later, such as one whose port was agreed over another channel:
// until then what is sent over it is lost. What arrives there before up is lost, too.
func (d *Driver[R]) AttachOn(peer fsm.Peer, channel string, link transport.Link) error {
	k := slices.IndexFunc(d.info.Channels, func(c fsm.Channel) bool { return c.Name == channel })
	if k < 0 {
		link.Abort()
		return fmt.Errorf("%s.%s has no channel %q", d.info.Protocol, d.info.Role, channel)
	}
	return d.attachTo(peer, k, link)
}

func (d *Driver[R]) attachTo(peer fsm.Peer, channel int, link transport.Link) error {
	err := tells(d.core.m)
	if err == nil {
		err = suits(d.info, peer, channel, link.Properties())
	}
	var s *slot
	if err == nil {
		s = newSlot(d.core.sizer(channel), mostOn(d.info, channel), d.o.ReceiveBuffer, peer, channel, link)
		err = d.post(item[R]{join: s})
	}
	if err == nil && d.stopped() && !s.taken.Load() {
		err = ErrStopped // it came too late for the owner to see it
	}
	if err != nil {
		link.Abort()
	}
	return err
}

var errManyStreams = errors.New("the link carries a stream for each of several peers: give it to a Host")

// suits reports why a link cannot be used for a machine, nil if it can.
func suits(info *fsm.Info, peer fsm.Peer, channel int, p transport.Properties) error {
	want, how := fsm.Channel{Ordered: info.Ordered, Reliable: info.Reliable, Duplicates: info.Duplicates}, "channel: %s"
	if len(info.Channels) > 0 {
		want = info.Channels[channel]
		how = "channels: {" + want.Name + ": %s}"
	}
	if p.Stream && p.Peers > 0 {
		return errManyStreams
	}
	if peer < 0 || int(peer)+max(p.Peers, 1)-1 > math.MaxInt16 {
		return fmt.Errorf("peer number %d is out of range", peer)
	}
	if parties := cmp.Or(info.Parties, fsm.DefaultParties); int(peer) >= parties {
		return fmt.Errorf("there is no peer %d: the `parties` of %s have the numbers 0 to %d",
			peer, info.Protocol, parties-1)
	}
	var lacks []string
	if want.Ordered && !p.Ordered {
		lacks = append(lacks, "ordered delivery")
	}
	if want.Reliable && !p.Reliable {
		lacks = append(lacks, "reliable delivery")
	}
	if !want.Duplicates && p.Duplicating {
		lacks = append(lacks, "delivery without duplicates")
	}
	remedy := "take another link, or check the protocol with the channel that this one is, `" +
		fmt.Sprintf(how, "{order: any, lossy: true, duplicates: true}") + "` at worst"
	if most := mostOn(info, channel); p.MaxFrame > 0 && p.MaxFrame < most {
		lacks = append(lacks, fmt.Sprintf("frames of up to %d bytes (it carries %d)", most, p.MaxFrame))
		if len(lacks) == 1 {
			remedy = "let the link carry larger frames (MaxFrame in its Config), " +
				"or give the protocol smaller ones (`max` in its `wire`)"
		}
	}
	if lacks == nil {
		return nil
	}
	return fmt.Errorf("%w: %s.%s was checked with %s; %s",
		ErrLinkTooWeak, info.Protocol, info.Role, strings.Join(lacks, ", "), remedy)
}

// Detach closes the link to a peer after what was sent before; the machine gets the event lost.
func (d *Driver[R]) Detach(peer fsm.Peer) error {
	return d.post(item[R]{do: func() {
		if s, i := d.find(peer); s != nil && s.peers[i].up {
			d.closePeer(s, i)
			d.core.LinkLost(d.now(), peer, nil)
		}
	}})
}

// Counters returns the totals as of the last batch of steps.
func (d *Driver[R]) Counters() Counters {
	return d.stats.get()
}

func (d *Driver[R]) publish() {
	c := d.core.Counters()
	c.MailboxHigh, c.MailboxFull = d.high.Load(), d.full.Load()
	d.stats.put(c, d.o.Observer)
}

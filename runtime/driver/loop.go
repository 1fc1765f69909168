package driver

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

var errPeerTaken = errors.New("the peer has a link already")

func (d *Driver[R]) now() time.Duration { return time.Since(d.epoch) }

// posted wakes the owner after something was put into the mailbox. The order
// (put, then look whether it sleeps) and the owner's (say that it sleeps, then
// look into the mailbox) make sure that nothing is overlooked.
func (d *Driver[R]) posted() {
	if n := uint64(len(d.mailbox)); n > d.high.Load() {
		d.high.Store(n) // two at once may lose one of two nearly equal marks
	}
	if s := d.waiting.Swap(nil); s != nil {
		s.link.Interrupt(longAgo)
	}
}

var longAgo = time.Unix(1, 0)

// wake makes the owner look around.
func (d *Driver[R]) wake() {
	select {
	case d.mailbox <- item[R]{}:
	default: // the owner has plenty to wake up for
	}
	d.posted()
}

// deadline is when the owner has to wake up at the latest.
func (d *Driver[R]) deadline(limit time.Duration) time.Duration {
	if at, ok := d.core.Next(); ok && at < limit {
		return at
	}
	return limit
}

// wait sleeps until a link brings something, something is in the mailbox, or
// the time has come, and handles what a link brought. It returns the new time.
//
// With a single link the owner itself receives: no other goroutine comes
// between the socket and the machine. With several, each has a goroutine that receives, but the one that leads.
func (d *Driver[R]) wait(until time.Duration) time.Duration {
	d.tidy()
	if s := d.slots; len(s) == 1 && !s[0].pumped && !d.silent(s[0]) && !d.carried(s[0]) {
		d.lead.alone(s[0])
		return d.waitLink(s[0], until)
	}
	for _, s := range d.slots {
		if !s.pumped && s != d.lead.slot && !d.silent(s) && !d.carried(s) {
			d.pump(s)
		}
	}
	if s := d.lead.slot; s != nil {
		return d.waitLink(s, until)
	}
	if until == noTime {
		d.handle(<-d.mailbox)
		return d.now()
	}
	if d.timer == nil {
		d.timer = time.NewTimer(until - d.now())
	} else {
		d.timer.Reset(until - d.now())
	}
	select {
	case it := <-d.mailbox:
		d.handle(it)
	case <-d.timer.C:
	}
	return d.now()
}

// busyPoll is how long the link is waited for when commands come without end.
const busyPoll = 100 * time.Microsecond

func (d *Driver[R]) waitLink(s *slot, until time.Duration) time.Duration {
	if d.skipped && len(d.mailbox) > 0 && s.polled != nil {
		s.arm(d.epoch, until)
		d.skipped = false
		got, ok := s.polled.Poll(s.space())
		now := d.now()
		if ok {
			d.lead.brought()
			d.arrived(now, s, got, nil)
			d.rest(now, s)
		}
		return now
	}
	if d.skipped && len(d.mailbox) > 0 {
		// Commands come without end: nobody may wake us now, so that the link has its turn.
		s.arm(d.epoch, min(until, d.now()+busyPoll))
	} else {
		s.arm(d.epoch, until)
		d.waiting.Store(s)
		if len(d.mailbox) > 0 {
			d.skipped = true
			if d.waiting.Swap(nil) == nil {
				s.unclear = true
			}
			return d.now()
		}
	}
	d.skipped = false
	got, err := s.link.Receive(s.space())
	if d.waiting.Swap(nil) == nil {
		s.unclear = true // somebody has woken us, or is about to
	}
	now := d.now()
	d.arrived(now, s, got, err)
	if err == nil {
		d.lead.brought()
		d.rest(now, s)
	}
	return now
}

// rest handles what a link has brought together with a frame, so that all answers leave in one flush.
func (d *Driver[R]) rest(now time.Duration, s *slot) {
	for n := 0; n < maxTogether && s.batched != nil && s.open && !d.stopping.Load(); n++ {
		got, ok := s.batched.Next(s.space())
		if !ok {
			return
		}
		d.arrived(now, s, got, nil)
	}
}

// maxTogether is how many frames are handled without looking at commands and timers.
const maxTogether = 64

// pump gives a link a goroutine that receives and puts what comes into the
// mailbox, one piece at a time, so that a busy peer waits like everybody else. What
// came together with it the owner takes itself, see rest.
func (d *Driver[R]) pump(s *slot) {
	s.pumped = true
	s.resume = make(chan []byte, 1)
	buf := s.space()
	d.leaving.Go(func() {
		s.link.Interrupt(time.Time{})
		for {
			got, err := s.link.Receive(buf)
			if errors.Is(err, transport.ErrInterrupted) {
				s.link.Interrupt(time.Time{})
				continue
			}
			select {
			case d.mailbox <- item[R]{slot: s, got: got, err: err}:
				d.posted()
			case <-d.done:
				return
			}
			if err != nil {
				return
			}
			select {
			case buf = <-s.resume:
			case <-d.done:
				return
			}
			if buf == nil {
				return
			}
		}
	})
}

// drain handles what is in the mailbox now; what comes meanwhile has to wait
// until the links had their turn.
func (d *Driver[R]) drain(time.Duration) {
	for n := len(d.mailbox); n > 0 && !d.stopping.Load(); n-- {
		d.handle(<-d.mailbox)
	}
}

func (d *Driver[R]) handle(it item[R]) {
	switch {
	case it.slot != nil:
		now := d.now()
		d.arrived(now, it.slot, it.got, it.err)
		if it.err == nil {
			d.rest(now, it.slot) // the goroutine that receives waits for its buffer meanwhile
			var next []byte
			if it.slot.open && d.carried(it.slot) {
				return // nothing is received until the program has the connection
			}
			if d.lead.follow(it.slot) {
				it.slot.pumped, it.slot.unclear = false, true
			} else if it.slot.open {
				next = it.slot.space()
			}
			it.slot.resume <- next
		}
	case it.join != nil:
		d.attach(it.join)
		if it.join.open {
			d.announce(it.join)
		}
	case it.call != nil:
		d.answer(it)
	case it.cmd != nil:
		d.command(it.cmd, false)
	case it.do != nil:
		it.do()
	}
}

func (d *Driver[R]) answer(it item[R]) {
	c := it.call
	if !c.state.CompareAndSwap(callPending, callTaken) {
		return // nobody waits any more
	}
	if it.do != nil {
		d.enter()
		it.do()
		d.leave()
	} else {
		c.res, c.err = d.command(it.cmd, true)
	}
	c.done <- struct{}{}
}

func (d *Driver[R]) command(f func(R) fsm.Result, wait bool) (fsm.Result, error) {
	d.enter()
	defer d.leave()
	now := d.now()
	d.catchUp(now)
	return d.core.Command(now, f, wait)
}

// catchUp lets what is due expire before what has come meanwhile is handled.
func (d *Driver[R]) catchUp(now time.Duration) {
	if d.o.Steady {
		d.core.Expire(now)
	}
}

// arrived handles what a Receive returned.
func (d *Driver[R]) arrived(now time.Duration, s *slot, got transport.Arrival, err error) {
	if err == nil {
		d.catchUp(now)
	}
	switch {
	case !s.open:
	case errors.Is(err, transport.ErrInterrupted):
		s.unclear = true
	case err != nil:
		d.linkEnded(now, s, err)
	case got.Peer < 0 || got.Peer >= len(s.peers):
	case got.Kind == transport.PeerUp:
		if !s.peers[got.Peer].up {
			d.peerUp(now, s, got.Peer)
		}
	case got.Kind == transport.PeerLost:
		if s.peers[got.Peer].up {
			s.peers[got.Peer].up = false
			if len(d.info.Channels) > 0 {
				if s.channel != d.info.News {
					return // it is silent there, which loses messages
				}
				d.closeBeside(s, got.Peer)
			}
			d.core.LinkLost(now, s.first+fsm.Peer(got.Peer), got.Why)
		}
	case s.split != nil:
		d.stream(now, s, got.N)
	case s.peers[got.Peer].up:
		d.frame(now, s, got.Peer, s.frame[:got.N])
	}
}

func (d *Driver[R]) frame(now time.Duration, s *slot, i int, frame []byte) {
	p := &s.peers[i]
	p.heard = now
	if d.core.on = s.channel; s.channel != d.info.News && !d.heard(now, s.first+fsm.Peer(i)) {
		return
	}
	if d.core.Frame(now, s.first+fsm.Peer(i), frame) && !p.greeted {
		p.greeted = true
		s.confirm(i)
	}
}

func (d *Driver[R]) stream(now time.Duration, s *slot, n int) {
	s.split.Filled(n)
	in := s.split.Rest()
	greeted := s.peers[0].greeted
	if d.core.on = s.channel; s.channel != d.info.News {
		d.heard(now, s.first)
	}
	_, rest := d.core.stream(now, s.first, &s.peers[0], in)
	if s.peers[0].greeted && !greeted {
		s.confirm(0)
	}
	s.split.Skip(len(in) - len(rest))
}

// linkEnded handles the end of a link.
func (d *Driver[R]) linkEnded(now time.Duration, s *slot, err error) {
	orderly := errors.Is(err, io.EOF)
	if orderly && errors.Is(s.broken, transport.ErrReset) {
		orderly = false // a kernel tells of a reset once, and sending has heard it
	}
	switch {
	case orderly && s.split != nil:
		err = brokenOff(err, len(s.split.Rest()))
	case !orderly && s.broken != nil:
		err = s.broken
	}
	d.loseSlot(now, s, err, !orderly)
}

// lastWords is how long a link on which sending has failed may still bring
// what the peer sent before it went.
const lastWords = time.Second

// flush hands over what was sent, and gives up links that do not take it.
func (d *Driver[R]) flush(now time.Duration) {
	for again := true; again; {
		again = false
		for _, s := range d.slots {
			if !s.open || !s.dirty && s.failed == nil {
				continue
			}
			s.flush(now)
			if s.failed != nil {
				d.loseSlot(now, s, s.failed, true)
				again = true // the machine may have sent more when it learned of the loss
				break
			}
		}
	}
}

// checkLimits closes links whose peers are silent, and returns when to look again.
func (d *Driver[R]) checkLimits(now time.Duration) time.Duration {
	next := noTime
	for k := 0; k < len(d.slots); k++ {
		s := d.slots[k]
		if s.open && s.broken != nil {
			if s.brokenAt <= now {
				d.loseSlot(now, s, s.broken, true)
				continue
			}
			next = min(next, s.brokenAt)
		}
		if !s.open || s.channel != d.info.News || d.o.IdleLimit <= 0 && d.o.HandshakeLimit <= 0 {
			continue
		}
		for i := range s.peers {
			next = min(next, d.checkPeer(now, s, i))
		}
	}
	return next
}

func (d *Driver[R]) checkPeer(now time.Duration, s *slot, i int) time.Duration {
	p := &s.peers[i]
	if !p.up {
		return noTime
	}
	next := noTime
	if h := d.o.HandshakeLimit; h > 0 && !p.greeted {
		if p.since+h <= now {
			d.core.Fail(now, s.first+fsm.Peer(i), NoHandshake, fmt.Errorf("limit %v", h))
			return noTime
		}
		next = p.since + h
	}
	if idle := d.o.IdleLimit; idle > 0 {
		if p.heard+idle <= now {
			d.core.Fail(now, s.first+fsm.Peer(i), Silent, fmt.Errorf("for %v", idle))
			return noTime
		}
		next = min(next, p.heard+idle)
	}
	return next
}

// shutdown ends the run: see Run.
func (d *Driver[R]) shutdown(now time.Duration, reason string) {
	d.stopping.Store(true)
	d.flush(now)
	var theirs []*slot // the program's
	for _, s := range d.slots {
		switch {
		case s.open && d.o.HandOver != nil && d.core.Final() && d.carried(s):
			s.open, theirs = false, append(theirs, s)
		case s.open:
			d.closeSlot(s, false)
		}
	}
	d.core.End(d.now(), reason)
	d.publish()
	close(d.done)
	for len(d.mailbox) > 0 {
		if it := <-d.mailbox; it.join != nil {
			d.attach(it.join) // it came too late, and is closed
		}
	}
	d.leaving.Wait()
	d.handOver(theirs)
	close(d.ended)
}

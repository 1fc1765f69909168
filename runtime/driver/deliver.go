package driver

import (
	"errors"
	"fmt"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// handle delivers an event and everything that follows from it.
func (c *Core[R]) handle(now time.Duration, ev *event[R]) (fsm.Result, error) {
	// An owner that looks at its clock within a turn (for a link that came up, for a command) goes
	// on with the time of the turn's beginning; records must not go back.
	now = max(now, c.latest)
	c.latest = now
	res, err := c.deliver(now, ev)
	if c.changed || len(c.losing) > 0 {
		c.settle(now)
	}
	return res, err
}

// settle delivers the event lost for links that were closed for an error, and offers the deferred
// messages after each change of state, oldest first. An offer of what the state still defers is no
// step of the run: it is neither recorded nor counted. settle ends: every turn takes away a link or
// a deferred message, or is the last.
func (c *Core[R]) settle(now time.Duration) {
	for {
		if n := len(c.losing); n > 0 {
			e := c.losing[0]
			copy(c.losing, c.losing[1:])
			c.losing = c.losing[:n-1]
			c.lost(now, e.Peer, e)
			continue
		}
		if !c.changed {
			return
		}
		c.changed = false
		q := &c.held
		for q.next = 0; q.next < len(q.list) && !c.changed && len(c.losing) == 0; {
			// A step may close links and so shorten the list, see forget. Nothing makes it longer.
			h := &q.list[q.next]
			q.offered, c.again = true, event[R]{kind: trace.Message, again: true, peer: h.peer, on: h.on,
				phase: h.phase, frame: h.frame}
			res, _ := c.deliver(now, &c.again)
			q.offered = false
			if res.Code == fsm.Deferred {
				q.next++
				continue
			}
			q.remove(q.next)
		}
		if len(c.losing) > 0 {
			c.changed = true // go on with the rest afterwards
		}
	}
}

// deliver gives one event to the machine and carries out its effects.
func (c *Core[R]) deliver(now time.Duration, ev *event[R]) (fsm.Result, error) {
	before := c.m.State()
	res, err := c.step(ev)
	return c.follow(now, ev, before, res, err)
}

// follow does what the outcome of a step asks for.
func (c *Core[R]) follow(now time.Duration, ev *event[R], before uint16, res fsm.Result, err error) (fsm.Result,
	error) {
	if err != nil {
		keep := c.o.KeepMalformed || c.o.KeepMalformedBeside && c.several != nil && c.on != c.info.News
		return res, c.malformed(now, ev.peer, ev.frame, err, !keep)
	}
	if ev.again && res.Code == fsm.Deferred {
		return res, nil // it stays where it is, and nothing has happened
	}
	if ev.kind != trace.Message && res.Code == fsm.Deferred {
		res.Code = fsm.Refused // only messages can be deferred
	}
	c.counters.Steps++
	var refusal *Error
	switch res.Code {
	case fsm.Took:
		after := c.m.State()
		if after != before {
			c.changed = true
		}
		c.effects(now, ev, res, before)
		if c.logSteps {
			c.logStep(ev, res, before)
		}
		if c.reports > 0 || after != before {
			c.tell(before, after)
		}
		return res, nil
	case fsm.Ignored:
		c.counters.Ignored++
	case fsm.Deferred:
		refusal = c.hold(ev, res)
	case fsm.Refused:
		c.counters.Refused++
		refusal = c.newError(Refused, ev.peer, res.Transition)
	}
	c.recordStep(now, ev, res, before, refusal)
	if refusal == nil {
		return res, nil
	}
	c.refuse(ev, refusal)
	return res, refusal
}

func (c *Core[R]) step(ev *event[R]) (fsm.Result, error) {
	switch ev.kind {
	case trace.Start:
		return c.m.Start(), nil
	case trace.Up:
		return c.m.LinkUp(ev.peer), nil
	case trace.Lost:
		return c.m.LinkLost(ev.peer), nil
	case trace.Timeout:
		return c.m.Timeout(ev.timer, ev.key), nil
	case trace.Message:
		if c.several != nil {
			return c.several.FrameOn(ev.peer, ev.on, ev.frame)
		}
		if c.phased != nil {
			_, res, err := c.phased.FrameIn(ev.peer, ev.phase, ev.frame)
			return res, err
		}
		return c.m.Frame(ev.peer, ev.frame)
	default:
		return ev.cmd(c.r), nil
	}
}

// hold keeps a deferred message. The error says that there was no room.
func (c *Core[R]) hold(ev *event[R], res fsm.Result) *Error {
	c.counters.Deferred++
	if c.held.add(ev.peer, ev.on, ev.phase, ev.frame) {
		return nil
	}
	c.counters.DeferredDropped++
	e := c.newError(DeferredFull, ev.peer, res.Transition)
	e.Cause = fmt.Errorf("%d deferred messages are held, and the specification allows no more"+
		" (let the state handle it, or raise `deferred` of the role and check again)", c.held.max)
	return e
}

// forget drops the deferred messages of a peer whose link is gone.
func (c *Core[R]) forget(peer fsm.Peer) { c.counters.DeferredDropped += c.held.forget(peer) }

// refuse reports an event that was not accepted and closes the link it came
// from. A refused lost has no link any more, a command and a timeout never had.
func (c *Core[R]) refuse(ev *event[R], e *Error) {
	e.Frame = clip(ev.frame)
	if !ev.call {
		c.report(e)
	}
	switch ev.kind {
	case trace.Message:
		if c.o.KeepRefused {
			return
		}
		c.lose(e)
	case trace.Up:
		c.lose(e)
	}
}

func (c *Core[R]) malformed(now time.Duration, peer fsm.Peer, frame []byte, why error, lose bool) error {
	c.counters.Malformed++
	if c.several != nil {
		why = fmt.Errorf("over the channel %s: %w", c.info.Channels[c.on].Name, why)
	}
	e := c.newError(Malformed, peer, fsm.NoTransition)
	e.Event, e.Frame, e.Cause = "", clip(frame), why
	if c.record.on() {
		s := c.record.begun(now, trace.Malformed)
		s.Peer, s.Channel, s.Frame = peer, c.on, append(s.Frame, e.Frame...)
		s.Before, s.After = e.State, e.State
		s.Problem = append(s.Problem, why.Error()...)
		c.record.write()
	}
	c.report(e)
	if lose {
		c.lose(e)
	}
	return e
}

// lose closes the link of e.Peer; settle will deliver the event lost.
func (c *Core[R]) lose(e *Error) {
	for _, other := range c.losing {
		if other.Peer == e.Peer {
			return
		}
	}
	c.out.Close(e.Peer, e)
	c.losing = append(c.losing, e)
}

// effects carries out the effects of the last step in order, and records it.
func (c *Core[R]) effects(now time.Duration, ev *event[R], res fsm.Result, before uint16) {
	n := c.m.Effects()
	if !c.record.on() {
		for i := range n {
			c.carryOut(now, i, res.Transition)
		}
		return
	}
	rec := c.stepBegun(now, ev, res, before)
	for i := range n {
		e := c.m.Effect(i)
		frame := c.carryOut(now, i, res.Transition)
		t := rec.AddEffect()
		t.Kind, t.Peer, t.Text = e.Kind, e.Peer, c.m.AppendEffect(t.Text, i)
		if t.Frame = append(t.Frame, frame...); e.Kind == fsm.Send {
			t.Channel = c.channelOf(e.ID)
		}
	}
	c.record.write()
}

// carryOut carries out effect i. It returns the frame that was sent, valid
// until the next call.
func (c *Core[R]) carryOut(now time.Duration, i int, transition uint16) []byte {
	e := c.m.Effect(i)
	switch e.Kind {
	case fsm.Send:
		return c.send(i, e.Peer, transition)
	case fsm.Report:
		c.reports++
	case fsm.StartTimer:
		c.timers.start(e.ID, e.Key, c.ticks(c.started(now, e.ID, e.Key), e.Ticks))
	case fsm.StopTimer:
		c.timers.stop(e.ID, e.Key)
	case fsm.Close:
		if err := c.out.Close(e.Peer, nil); err != nil {
			c.unlinked(i, e.Peer, transition, err)
		} else {
			c.links.up(e.Peer) // it was there, even if nobody has said so yet
		}
		c.forget(e.Peer)
	}
	return nil
}

func (c *Core[R]) send(i int, peer fsm.Peer, transition uint16) []byte {
	frame, err := c.m.AppendFrame(c.scratch[:0], i)
	c.scratch = frame[:0]
	if err != nil {
		e := c.newError(Unsendable, peer, transition)
		e.Event, e.Legal, e.Cause = string(c.m.AppendEffect(nil, i)), "", err
		c.counters.SendsDropped++
		c.report(e)
		c.lose(e)
		return nil
	}
	if c.several != nil {
		err = c.sendOn(i, peer, frame, transition)
	} else {
		err = c.out.Send(peer, frame)
	}
	if err != nil {
		c.counters.SendsDropped++
		c.unlinked(i, peer, transition, err)
		return frame
	}
	c.counters.FramesOut++
	c.counters.BytesOut += uint64(len(frame))
	return frame
}

// sendOn sends the frame of effect i over the channel of its message.
func (c *Core[R]) sendOn(i int, peer fsm.Peer, frame []byte, transition uint16) error {
	channel := c.channelOf(c.m.Effect(i).ID)
	err := error(ErrNoChannel)
	if c.outs != nil {
		err = c.outs.SendOn(peer, channel, frame)
	}
	if errors.Is(err, ErrNoChannel) && c.unfound>>channel&1 == 0 {
		c.unfound |= 1 << channel
		e := c.newError(NoLink, peer, transition)
		e.Event = string(c.m.AppendEffect(nil, i))
		e.Cause = fmt.Errorf("%w %q", err, c.info.Channels[channel].Name)
		c.report(e)
	}
	return err
}

// tell calls the handlers for the step that was just carried out.
func (c *Core[R]) tell(before, after uint16) {
	if c.reports > 0 {
		c.counters.Reports += uint64(c.reports)
		c.reports = 0
		for i, n := 0, c.m.Effects(); i < n && c.o.OnReport != nil; i++ {
			if c.m.Effect(i).Kind == fsm.Report {
				c.o.OnReport(c.r, i)
			}
		}
	}
	if after != before && c.o.OnState != nil {
		c.o.OnState(c.r, before, after)
	}
}

package driver

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// flushInterval is how long a recorded step may stay in a buffer.
const flushInterval = 200 * time.Millisecond

// recorder passes steps to the sinks. A nil one has none.
type recorder struct {
	sinks   []trace.Sink
	failed  []bool
	step    trace.Step
	seq     uint64
	dirty   bool
	flushed time.Duration
}

func newRecorder(sinks []trace.Sink) *recorder {
	if len(sinks) == 0 {
		return nil
	}
	return &recorder{sinks: sinks}
}

func (t *recorder) on() bool { return t != nil }

func (t *recorder) begin(h trace.Header) {
	t.failed = make([]bool, len(t.sinks))
	for _, s := range t.sinks {
		s.Begin(h)
	}
}

// begun returns the step to be filled in, to be followed by write.
func (t *recorder) begun(now time.Duration, kind trace.Kind) *trace.Step {
	t.step.Reset()
	t.step.At, t.step.Kind = now, kind
	return &t.step
}

func (t *recorder) write() {
	t.seq++
	t.step.Seq = t.seq
	for _, s := range t.sinks {
		s.Step(&t.step)
	}
	t.dirty = true
}

func (t *recorder) flushAt() (time.Duration, bool) {
	if t == nil {
		return 0, false
	}
	return t.flushed + flushInterval, t.dirty
}

// flush returns the errors of the sinks that have failed since the last call.
func (t *recorder) flush(now time.Duration) (errs []error) {
	t.dirty, t.flushed = false, now
	for i, s := range t.sinks {
		if err := s.Flush(); err != nil && !t.failed[i] {
			t.failed[i] = true
			errs = append(errs, err)
		}
	}
	return errs
}

func (c *Core[R]) traceErrors(errs []error) {
	for _, err := range errs {
		c.counters.TraceFailures++
		e := c.newError(TraceFailed, fsm.Broadcast, fsm.NoTransition)
		e.Event, e.Legal, e.Cause = "", "", err
		c.report(e)
	}
}

// stepBegun returns the record of a step without its effects, nil if nobody records.
func (c *Core[R]) stepBegun(now time.Duration, ev *event[R], res fsm.Result, before uint16) *trace.Step {
	if !c.record.on() {
		return nil
	}
	s := c.record.begun(now, ev.kind)
	s.Again, s.Peer, s.Channel = ev.again, ev.peer, ev.on
	s.Event = c.r.AppendEvent(s.Event)
	s.Frame = append(s.Frame, ev.frame...)
	s.Code, s.Transition = res.Code, res.Transition
	if res.Transition != fsm.NoTransition {
		s.Name = c.info.Transitions[res.Transition].Name
	}
	s.Before, s.After = c.info.States[before], c.info.States[c.r.State()]
	s.Note = append(s.Note, ev.note...)
	return s
}

// recordStep records a step without effects.
func (c *Core[R]) recordStep(now time.Duration, ev *event[R], res fsm.Result, before uint16, e *Error) {
	if s := c.stepBegun(now, ev, res, before); s != nil {
		if e != nil {
			if e.Kind == DeferredFull {
				s.Problem = append(s.Problem, trace.TooManyDeferred...)
			}
			s.Problem = append(s.Problem, e.problem()...)
		}
		c.record.write()
	}
	if c.logSteps {
		c.logStep(ev, res, before)
	}
}

// newError describes the machine's present situation and last event.
func (c *Core[R]) newError(kind ErrorKind, peer fsm.Peer, transition uint16) *Error {
	e := &Error{Kind: kind, info: c.info, Protocol: c.info.Protocol, Role: c.info.Role,
		State: c.info.States[c.r.State()], Peer: peer}
	switch kind {
	case Refused, DeferredFull:
		e.Event = string(c.r.AppendEvent(nil))
		e.Legal = string(c.r.AppendLegal(nil))
	case Malformed:
		e.Legal = string(c.r.AppendLegal(nil))
	}
	if kind == Refused && transition == fsm.NoTransition {
		if e.Refusal = c.r.Refusal(); e.Refusal.Reason == fsm.Unguarded {
			transition = e.Refusal.Branch
		}
	}
	if transition != fsm.NoTransition {
		e.Transition = &c.info.Transitions[transition]
	}
	return e
}

func clip(frame []byte) []byte { return slices.Clone(frame[:min(len(frame), MaxErrorFrame)]) }

func (c *Core[R]) report(e *Error) {
	if l := c.o.Logger; l != nil {
		l.Warn("parley: "+e.Error(), "protocol", e.Protocol, "role", e.Role, "instance", c.o.Instance, "peer",
			int(e.Peer))
	}
	if c.o.OnError != nil {
		c.o.OnError(c.r, e)
	}
}

// bite tells the log of a limit that is only counted, once.
func (c *Core[R]) bite(limit, effect string) {
	if l := c.o.Logger; l != nil && !c.bitten {
		c.bitten = true
		c.tellLimit(limit, effect)
	}
}

// mailboxFull tells the log of a mailbox that was full for the first time. Any goroutine may call it.
func (c *Core[R]) mailboxFull(times uint64) {
	if times == 1 && c.o.Logger != nil {
		c.tellLimit("Mailbox", "commands have to wait, or fail with ErrMailboxFull")
	}
}

func (c *Core[R]) tellLimit(limit, effect string) {
	c.o.Logger.Warn("parley: a limit has been reached; further cases are only counted", "limit", limit,
		"effect", effect, "protocol", c.info.Protocol, "role", c.info.Role)
}

func (c *Core[R]) logLink(what string, peer fsm.Peer, note string) {
	if l := c.o.Logger; l != nil {
		l.Info("parley: "+what, "protocol", c.info.Protocol, "role", c.info.Role, "instance", c.o.Instance,
			"peer", int(peer), "note", note)
	}
}

func (c *Core[R]) logStep(ev *event[R], res fsm.Result, before uint16) {
	c.o.Logger.Debug("parley: step", "protocol", c.info.Protocol, "role", c.info.Role, "instance", c.o.Instance,
		"event", string(c.r.AppendEvent(nil)), "peer", int(ev.peer), "code", res.Code.String(),
		"before", c.info.States[before], "after", c.info.States[c.r.State()])
}

func debugEnabled(l *slog.Logger) bool {
	return l != nil && l.Enabled(context.Background(), slog.LevelDebug)
}

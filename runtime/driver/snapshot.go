package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// Snapshot is a machine between two steps, with its timers and what it has
// deferred. M is the machine's type. It is plain data, which encoding/json and
// the like can write and read; a file that may be damaged wants a checksum
// beside it, for the values within the machine cannot be checked here. Links
// are not in it: after the restoration tell the machine which are lost.
type Snapshot[M any] struct {
	// Protocol, Role and Hash say of which specification the machine is.
	Protocol, Role, Hash string
	Machine              M
	// Timers are those that are armed, the next to expire first.
	Timers []SavedTimer
	// Deferred are the messages that the machine has deferred, oldest first.
	Deferred []SavedMessage
}

// SavedTimer is an armed timer.
type SavedTimer struct {
	ID   uint16 // index into fsm.Info.Timers
	Key  uint32
	Left time.Duration // until it expires, 0 if it is overdue
}

// SavedMessage is a deferred message, whom it came from, and the places of its channel in fsm.Info.Channels and of
// its phase in fsm.Info.Phases.
type SavedMessage struct {
	Peer    fsm.Peer
	Channel int
	Phase   uint8
	Frame   []byte
}

// ErrSnapshot is wrapped by the errors of Save, Restore, SaveDriver and RestoreDriver.
var ErrSnapshot = errors.New("snapshot")

// Save takes a snapshot of a core between two steps; at returns where the
// runner keeps its machine.
func Save[R fsm.Runner, M any](c *Core[R], now time.Duration, at func(R) *M) *Snapshot[M] {
	s := &Snapshot[M]{Protocol: c.info.Protocol, Role: c.info.Role, Hash: c.info.Hash, Machine: *at(c.r)}
	for _, t := range c.timers.list {
		s.Timers = append(s.Timers, SavedTimer{ID: t.id, Key: t.key, Left: max(t.at-now, 0)})
	}
	for _, h := range c.held.list {
		s.Deferred = append(s.Deferred, SavedMessage{Peer: h.peer, Channel: h.on, Phase: h.phase,
			Frame: append([]byte(nil), h.frame...)})
	}
	return s
}

// Restore puts a snapshot into a core, instead of Start. A timer goes on with what was left of it.
// One that the specification declares as `deadline: absolute` has run on for elapsed, the time
// since the snapshot; what is overdue expires at once, in its order. A snapshot of another
// specification is refused.
func Restore[R fsm.Runner, M any](c *Core[R], now time.Duration, wall time.Time, s *Snapshot[M], at func(R) *M,
	elapsed time.Duration) error {
	if err := s.check(c.info, c.held.max); err != nil {
		return err
	}
	before := *at(c.r)
	*at(c.r) = s.Machine
	if state := c.r.State(); int(state) >= len(c.info.States) {
		*at(c.r) = before
		return fmt.Errorf("%w: the machine has no state %d", ErrSnapshot, state)
	}
	c.timers, c.held.list = timers{}, nil
	c.links.restored = true
	for _, t := range s.Timers {
		left := max(t.Left, 0)
		if int(t.ID) < len(c.info.Absolute) && c.info.Absolute[t.ID] {
			left = max(left-max(elapsed, 0), 0)
		}
		if left > noTime-now {
			left = noTime - now
		}
		c.timers.start(t.ID, t.Key, now+left)
	}
	for _, h := range s.Deferred {
		c.held.add(h.Peer, h.Channel, h.Phase, h.Frame)
	}
	if c.record.on() {
		c.record.begin(trace.Header{Protocol: c.info.Protocol, Role: c.info.Role, Instance: c.o.Instance,
			Hash:    c.info.Hash,
			Machine: string(c.r.AppendMachine(nil)), Channels: channelNames(c.info), Time: wall})
	}
	return nil
}

// maxSavedTimers is the most timers of one snapshot.
const maxSavedTimers = 1 << 16

// check refuses what cannot have come from a machine of this specification.
func (s *Snapshot[M]) check(info *fsm.Info, maxDeferred int) error {
	switch {
	case s.Protocol != info.Protocol || s.Role != info.Role:
		return fmt.Errorf("%w: it is of %s.%s, not of %s.%s", ErrSnapshot, s.Protocol, s.Role, info.Protocol, info.Role)
	case s.Hash != info.Hash:
		return fmt.Errorf("%w: the specification of %s has changed since (it was %.12s…, it is %.12s…)",
			ErrSnapshot, s.Protocol, s.Hash, info.Hash)
	case len(s.Deferred) > maxDeferred:
		return fmt.Errorf("%w: %d deferred messages, more than the %d that the specification allows",
			ErrSnapshot, len(s.Deferred), maxDeferred)
	case len(s.Timers) > maxSavedTimers:
		return fmt.Errorf("%w: %d timers", ErrSnapshot, len(s.Timers))
	}
	for _, t := range s.Timers {
		if int(t.ID) >= len(info.Timers) {
			return fmt.Errorf("%w: there is no timer %d", ErrSnapshot, t.ID)
		}
	}
	for _, h := range s.Deferred {
		if len(h.Frame) > info.MaxFrame {
			return fmt.Errorf("%w: a deferred message of %d bytes, at most %d allowed", ErrSnapshot,
				len(h.Frame), info.MaxFrame)
		}
		if h.Channel < 0 || h.Channel > 0 && h.Channel >= len(info.Channels) {
			return fmt.Errorf("%w: a deferred message of channel %d, and there are %d", ErrSnapshot, h.Channel,
				max(len(info.Channels), 1))
		}
	}
	return nil
}

// SaveDriver takes a snapshot of a driver's machine between two steps.
func SaveDriver[R fsm.Runner, M any](ctx context.Context, d *Driver[R], at func(R) *M) (s *Snapshot[M], err error) {
	err = d.Read(ctx, func(R) { s = Save(d.core, d.now(), at) })
	return s, err
}

// RestoreDriver has a driver begin with a snapshot instead of the event start.
// It must be called before Run.
func RestoreDriver[R fsm.Runner, M any](d *Driver[R], s *Snapshot[M], at func(R) *M, elapsed time.Duration) error {
	if d.started.Load() {
		return ErrRunning
	}
	if err := Restore(d.core, 0, time.Now(), s, at, elapsed); err != nil {
		return err
	}
	d.restored = true
	return nil
}

package sim

import (
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
)

// AddHostile puts somebody into the world who has no machine and sends what they like until the faults
// end: frames that forge makes, frames that others have sent in this world, such frames with a bit turned,
// cut short or made longer, and bytes at random. forge may be nil. It may also close links that keep order
// and lose nothing; where [Scenario].Breaks is above 0 these come back. After the faults it is silent, so a
// goal must not need it.
//
// A message of it that is refused, malformed or too much to defer is no failure. The driver closes the
// link, or drops the message, and the machine has to live with that.
func (w *World) AddHostile(name string, forge func(w *World) []byte) ID {
	m := &member{world: w, name: name, next: noTime, rate: 1, commands: 1}
	s := &stranger{m: m, forge: forge}
	m.core, m.state, m.hostile = s, func() string { return "hostile" }, true
	m.command = func(int) bool { s.act(); return false }
	w.members, w.hostile = append(w.members, m), true
	return ID(len(w.members) - 1)
}

// stranger stands where others have a machine and its driver. It hears all and is told nothing.
type stranger struct {
	m     *member
	forge func(w *World) []byte
}

func (*stranger) Start(time.Time)                                   {}
func (*stranger) LinkUp(time.Duration, fsm.Peer, string)            {}
func (*stranger) FrameOn(time.Duration, fsm.Peer, int, []byte) bool { return true }
func (*stranger) Expire(time.Duration)                              {}
func (*stranger) NextTimer() (at time.Duration, running bool)       { return 0, false }
func (*stranger) Final() bool                                       { return true }
func (*stranger) End(time.Duration, string)                         {}

// LinkLost has the link asked for again later, where links come back.
func (s *stranger) LinkLost(_ time.Duration, peer fsm.Peer, _ error) {
	if w := s.m.world; w.scenario.Breaks > 0 && !w.calm {
		for _, e := range s.m.peers {
			if e.peer == peer {
				w.queue.push(w.now+1+w.upTo(w.scenario.Chaos/4), kindReturn, e.path, nil)
			}
		}
	}
}

// act does one thing to one of those who can be reached.
func (s *stranger) act() {
	w := s.m.world
	var open []end
	for _, e := range s.m.peers {
		if e.path.open {
			open = append(open, e)
		}
	}
	if w.calm || len(open) == 0 {
		return
	}
	e := open[w.Rand(len(open))]
	w.result.Forged++
	if e.path.reliable && w.Rand(16) == 0 {
		_ = s.m.Close(e.peer, nil)
		s.LinkLost(w.now, e.peer, nil)
		return
	}
	info := w.members[e.path.to].info
	frame, channel := s.frame(info.MaxFrame, len(info.Channels))
	w.send(e.path.on(channel), frame)
}

// frame makes a frame of at most one byte more than a machine takes, and says over which of several channels it goes:
// mostly over that of the frame that it is made from.
func (s *stranger) frame(most, channels int) (frame []byte, channel int) {
	w := s.m.world
	kind := w.Rand(8)
	if channels > 0 {
		channel = w.Rand(channels)
	}
	if s.forge != nil && kind < 4 {
		if b := s.forge(w); b != nil {
			return b, channel
		}
	}
	if len(w.seen) == 0 || kind == 7 {
		b := make([]byte, w.Rand(most+2))
		for i := range b {
			b[i] = byte(w.draw())
		}
		return b, channel
	}
	x := &w.seen[w.Rand(len(w.seen))]
	b := append([]byte(nil), x.frame...)
	if channels > 0 && w.Rand(4) > 0 {
		channel = x.channel
	}
	switch at := w.Rand(len(b) + 1); {
	case kind < 5: // as it is
	case at == len(b):
		b = append(b, byte(w.draw()))
	case kind == 5:
		b[at] ^= 1 << w.Rand(8)
	default:
		b = b[:at]
	}
	return b, channel
}

// mostSeen is how many frames are kept for who is hostile.
const mostSeen = 64

// seen is such a frame, and the channel that it went over.
type seen struct {
	channel int
	frame   []byte
}

// see keeps some of the frames that are sent in this world.
func (w *World) see(channel int, frame []byte) {
	if len(w.seen) < mostSeen {
		w.seen = append(w.seen, seen{channel, append([]byte(nil), frame...)})
	} else if at := w.Rand(4 * mostSeen); at < mostSeen {
		w.seen[at] = seen{channel, append(w.seen[at].frame[:0], frame...)}
	}
}

// excused reports whether an error of an honest machine's driver is the doing of a hostile peer.
func (m *member) excused(err *driver.Error) bool {
	if err.Kind != driver.Refused && err.Kind != driver.Malformed && err.Kind != driver.DeferredFull {
		return false
	}
	for _, e := range m.peers {
		if e.peer == err.Peer {
			return m.world.members[e.path.to].hostile
		}
	}
	return false
}

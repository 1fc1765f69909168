package driver

import (
	"errors"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// inlet is where a host receives if each of its peers has a stream of its own. All are received
// into one buffer; a session keeps only the bytes of a frame that has begun, and gives them back
// when it is whole.
type inlet struct {
	max   int      // bytes of the largest frame: the room before in for a frame that has begun
	buf   []byte   // room and in
	spare [][]byte // for beginnings of frames
	rate  int      // frames a second from one peer
	pause func(peer int, d time.Duration)
}

// intake is the part of its stream that a session keeps.
type intake struct {
	begun []byte        // a frame that is not whole yet; nil at rest
	left  float32       // frames that may still come now
	at    time.Duration // as of when
}

const (
	spareBegun = 64                    // beginnings whose memory is kept
	leastPause = 20 * time.Millisecond // a peer is not paused for less
)

// errNoPause says that a limit cannot be kept.
var errNoPause = errors.New("Options.FrameRate needs a link that can stop reading from one peer, " +
	"as tcp.Serve gives; over datagrams the link has a limit of its own")

func newInlet[R fsm.Runner](r R, o Options[R], link transport.Link) (*inlet, error) {
	p, ok := link.(interface{ Pause(int, time.Duration) })
	if o.FrameRate > 0 && !ok {
		return nil, errNoPause
	}
	if !link.Properties().Stream {
		return nil, nil
	}
	buffer := o.ReceiveBuffer
	if buffer <= 0 {
		buffer = transport.DefaultReceiveBuffer
	}
	s := &inlet{max: max(r.Info().MaxFrame, 1), rate: o.FrameRate}
	s.buf = make([]byte, s.max+buffer)
	if ok {
		s.pause = p.Pause
	}
	return s, nil
}

// joined is what was begun before, and the n bytes that have come.
func (t *inlet) joined(s *intake, n int) []byte {
	all := t.buf[t.max-len(s.begun) : t.max+n]
	copy(all, s.begun)
	t.release(s)
	return all
}

// keep puts the beginning of a frame aside.
func (t *inlet) keep(s *intake, rest []byte) {
	if len(rest) == 0 {
		return
	}
	if n := len(t.spare); n > 0 {
		s.begun, t.spare = t.spare[n-1], t.spare[:n-1]
	}
	s.begun = append(s.begun[:0], rest...)
}

func (t *inlet) release(s *intake) {
	if s.begun != nil && len(t.spare) < spareBegun {
		t.spare = append(t.spare, s.begun[:0])
	}
	s.begun = nil
}

// took notes frames of a peer and returns for how long it has to pause.
func (t *inlet) took(s *intake, now time.Duration, frames int) time.Duration {
	rate := float32(t.rate)
	if s.at == 0 {
		s.left = rate
	} else {
		s.left = min(s.left+float32((now-s.at).Seconds())*rate, rate)
	}
	s.at = max(now, 1)
	if s.left -= float32(frames); s.left >= 0 {
		return 0
	}
	return max(leastPause, time.Duration(-s.left/rate*float32(time.Second)))
}

// stream handles n bytes that the stream of a session has brought.
func (h *Host[R, M]) stream(now time.Duration, s *session[R, M], n int) {
	t := h.inlet
	in := t.joined(&s.intake, n)
	h.enter(s)
	greeted := s.greeted
	frames, rest := h.core.stream(now, 0, &s.peerState, in)
	if s.greeted && !greeted {
		h.confirm(s.peer)
	}
	if s.up {
		t.keep(&s.intake, rest)
	}
	if t.rate > 0 && frames > 0 && s.up {
		if d := t.took(&s.intake, now, frames); d > 0 {
			h.core.counters.Throttled++
			h.core.bite("FrameRate", "a peer is not read from for a while")
			t.pause(s.peer, d)
		}
	}
	h.leave()
}

package driver

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// streams is what a host needs besides if each peer has a stream of its own.
// All are received into one buffer and cut there; a session keeps only the
// bytes of a frame that has begun, and gives them back when it is whole.
type streams struct {
	size  func([]byte) (int, error)
	max   int      // bytes of the largest frame: the room before in for a frame that has begun
	buf   []byte   // room and in
	spare [][]byte // for beginnings of frames
	out   []byte   // answers to frames that came together
	rate  int      // frames a second from one peer
	pause func(peer int, d time.Duration)
}

// stream is what a session keeps of its stream.
type stream struct {
	begun []byte        // a frame that is not whole yet; nil at rest
	left  float32       // frames that may still come now
	at    time.Duration // as of when
}

const (
	spareBegun = 64                    // beginnings whose memory is kept
	leastPause = 20 * time.Millisecond // a peer is not paused for less
)

// errNoPause says that a limit cannot be kept.
var errNoPause = errors.New("Options.FrameRate needs a link that can stop reading from one peer, as tcp.Serve gives; over datagrams the link has a limit of its own")

func newStreams[R fsm.Runner](r R, o Options[R], link transport.Link) (*streams, error) {
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
	s := &streams{size: r.FrameSize, max: r.Info().MaxFrame, rate: o.FrameRate}
	s.max = max(s.max, 1)
	s.buf = make([]byte, s.max+buffer)
	if ok {
		s.pause = p.Pause
	}
	return s, nil
}

// joined is what was begun before, and the n bytes that have come.
func (t *streams) joined(s *stream, n int) []byte {
	all := t.buf[t.max-len(s.begun) : t.max+n]
	copy(all, s.begun)
	t.release(s)
	return all
}

// keep puts the beginning of a frame aside.
func (t *streams) keep(s *stream, rest []byte) {
	if len(rest) == 0 {
		return
	}
	if n := len(t.spare); n > 0 {
		s.begun, t.spare = t.spare[n-1], t.spare[:n-1]
	}
	s.begun = append(s.begun[:0], rest...)
}

func (t *streams) release(s *stream) {
	if s.begun != nil && len(t.spare) < spareBegun {
		t.spare = append(t.spare, s.begun[:0])
	}
	s.begun = nil
}

// took notes frames of a peer and returns for how long it has to pause.
func (t *streams) took(s *stream, now time.Duration, frames int) time.Duration {
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
	t, frames := h.streams, 0
	rest := t.joined(&s.stream, n)
	h.enter(s)
	for len(rest) > 0 && !s.closed && !h.full {
		if h.core.streams() {
			run := h.together(now, s, rest)
			frames += run.Frames
			if rest = rest[run.Bytes+run.Next:]; run.Next > 0 {
				frames++
				continue
			}
		}
		size, err := transport.Cut(t.size, t.max, rest)
		if err != nil {
			h.core.Malformed(now, 0, rest[:min(len(rest), t.max)], err)
			break
		}
		if size == 0 {
			t.keep(&s.stream, rest)
			break
		}
		s.heard = now
		frames++
		if h.core.Frame(now, 0, rest[:size:size]) {
			s.greeted = true
		}
		rest = rest[size:]
	}
	if t.rate > 0 && frames > 0 && !s.closed {
		if d := t.took(&s.stream, now, frames); d > 0 {
			h.core.counters.Throttled++
			t.pause(s.peer, d)
		}
	}
	h.leave()
}

// together delivers the frames that a stream has brought together, as many as have a plain outcome, and the one after these.
func (h *Host[R, M]) together(now time.Duration, s *session[R, M], in []byte) fsm.Streamed {
	before := h.core.m.State()
	run := h.core.stream(0, in, h.streams.out[:0], maxOut)
	h.streams.out = run.Out[:0]
	if run.Sent > 0 {
		if (*hostCarrier[R, M])(h).Send(0, run.Out) != nil {
			c := &h.core.counters
			c.SendsDropped += uint64(run.Sent)
			c.FramesOut -= uint64(run.Sent)
			c.BytesOut -= uint64(len(run.Out))
		}
	}
	took := run.Frames > 0
	if run.Next > 0 {
		took = h.core.framed(now, 0, in[run.Bytes:run.Bytes+run.Next], before, run.Result, run.Err) || took
	}
	s.greeted = s.greeted || took
	if run.Frames+run.Next > 0 {
		s.heard = now
	}
	return run
}

// ended is why the stream of a session has ended, which is no good end within a frame.
func (s *stream) ended(why error) error {
	if why == io.EOF && len(s.begun) > 0 {
		return fmt.Errorf("closed in the middle of a frame (%d bytes of it): %w", len(s.begun), io.ErrUnexpectedEOF)
	}
	return why
}

package drive

import (
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// reading is one direction of a link as who reads it sees it: its format may change with what is read. It is of one
// goroutine.
type reading struct {
	p      *model.Protocol // as the channel has it
	strs   interp.Strings
	stream bool
	to     string // the role of the receiver
	phase  int
}

// reading is what instance j reads from its beginning of a link that carries a channel.
func (s *setting) reading(j, class int) *reading {
	return &reading{p: s.protocol.Over(class), stream: s.streams(class), to: s.Check.Instances[j].Role.Name}
}

// next returns the size of the frame that begins b, 0 if that cannot be told yet, and the phase in which it stands.
func (r *reading) next(b []byte) (size, phase int, err error) {
	view, phase := r.p.In(r.phase), r.phase
	n, e := interp.FrameSizeTo(view, b, r.to)
	if e.Problem != 0 {
		return 0, phase, e
	}
	if n > 0 && n <= len(b) {
		r.read(b[:n])
	}
	return n, phase, nil
}

// read takes a whole frame, and returns the phase in which it stands.
func (r *reading) read(frame []byte) (phase int) {
	phase = r.phase
	if r.p.Phased() {
		if m, _, e := interp.DecodeFrameTo(r.p.In(phase), &r.strs, frame, r.to); e.Problem == 0 {
			r.phase = m.After(phase)
		}
	}
	return phase
}

// sent is a frame, and the phase of its stream in which it stands.
type sent struct {
	bytes []byte
	phase int
}

// phased is a watched runner of a protocol whose streams have phases.
type phased struct {
	watched
	inner fsm.Phased
}

func (p phased) FrameIn(from fsm.Peer, phase uint8, frame []byte) (uint8, fsm.Result, error) {
	return p.inner.FrameIn(from, phase, frame)
}

func (p phased) FrameSizeIn(phase uint8, b []byte) (int, error) { return p.inner.FrameSizeIn(phase, b) }

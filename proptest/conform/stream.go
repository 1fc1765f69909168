package conform

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// asStream gives a message a few times more, as a stream: what Stream says and leaves behind must
// be what the other methods of the runner give frame by frame. Each message is tried in each
// control state a few times.
func (x *Pair) asStream(v interp.Value, ev interp.Event) error {
	if _, can := x.runner.(fsm.Streamer); !can || ev.Event.Kind != model.EventMessage {
		return nil
	}
	frame, problem := interp.AppendFrame(x.Protocol, x.Strings, nil, ev.Event.Message, ev.Args)
	x.x.setMachine(x.Role, x.machine, v)
	key := fmt.Sprint(x.runner.State(), ev.Event.Name)
	if problem.Problem != 0 || len(frame) == 0 || x.streamed[key] == 3 {
		return nil
	}
	if x.streamed == nil {
		x.streamed = map[string]int{}
	}
	x.streamed[key]++
	for _, in := range [][]byte{slices.Repeat(frame, 3), frame[:len(frame)-1],
		append(slices.Clone(frame), frame[:len(frame)/2]...)} {
		for _, limit := range []int{1 << 20, 3, 2 + len(frame)*3/2} {
			if err := x.sameStream(v, fsm.Peer(ev.Sender), in, limit); err != nil {
				return fmt.Errorf("stream % x of peer %d, at most %d bytes out: %w", in, ev.Sender, limit, err)
			}
		}
	}
	return nil
}

// inPhases gives a message once more, as a frame in each of its phases, where streams have phases.
func (x *Pair) inPhases(v, next interp.Value, ev interp.Event, res fsm.Result) error {
	r, phased := x.runner.(fsm.Phased)
	if !phased || !x.Protocol.Phased() || ev.Event.Kind != model.EventMessage {
		return nil
	}
	m := x.Protocol.Messages[ev.Event.Message.Index]
	frame, problem := interp.AppendFrame(x.Protocol, x.Strings, nil, m, ev.Args)
	for phase := range x.Protocol.PhaseCount() {
		if problem.Problem != 0 || !m.In(phase) {
			continue
		}
		x.x.setMachine(x.Role, x.machine, v)
		behind, got, err := r.FrameIn(fsm.Peer(ev.Sender), uint8(phase), frame)
		if err != nil || got != res || int(behind) != m.After(phase) {
			return fmt.Errorf("% x in the phase %s: %v, %v, and then the phase %d; not %v, %d", frame,
				x.Protocol.Wire.Phases[phase], got, err, behind, res, m.After(phase))
		}
		x.x.getMachine(x.Role, x.machine, x.slots)
		if !interp.Value(x.slots).Equal(next) {
			return fmt.Errorf("% x in the phase %s: next is %s, the interpreter says %s", frame,
				x.Protocol.Wire.Phases[phase], interp.AppendMachine(nil, x.Strings, x.Role, x.slots),
				interp.AppendMachine(nil, x.Strings, x.Role, next))
		}
	}
	return nil
}

// sameStream compares Stream with frameByFrame.
func (x *Pair) sameStream(v interp.Value, from fsm.Peer, in []byte, limit int) error {
	x.x.setMachine(x.Role, x.machine, v)
	want := frameByFrame(x.runner, from, in, []byte("ab"), limit)
	effects := effectTexts(x.runner)
	next := make(interp.Value, len(x.slots))
	x.x.getMachine(x.Role, x.machine, next)

	x.x.setMachine(x.Role, x.machine, v)
	got := x.runner.(fsm.Streamer).Stream(from, in, []byte("ab"), limit)
	if !bytes.Equal(got.Out, want.Out) || got.Frames != want.Frames || got.Bytes != want.Bytes ||
		got.Sent != want.Sent || got.Next != want.Next {
		return fmt.Errorf("%+v, frame by frame %+v", got, want)
	}
	x.x.getMachine(x.Role, x.machine, x.slots)
	if !interp.Value(x.slots).Equal(next) {
		return fmt.Errorf("next is %s, frame by frame %s",
			interp.AppendMachine(nil, x.Strings, x.Role, x.slots), interp.AppendMachine(nil, x.Strings, x.Role, next))
	}
	x.Answered += got.Sent
	if got.Next == 0 {
		return nil
	}
	if got.Result != want.Result || fmt.Sprint(got.Err) != fmt.Sprint(want.Err) {
		return fmt.Errorf("the last frame gives %v, %v, alone %v, %v", got.Result, got.Err, want.Result, want.Err)
	}
	if texts := effectTexts(x.runner); !slices.Equal(texts, effects) {
		return fmt.Errorf("the last frame has the effects %q, alone %q", texts, effects)
	}
	return nil
}

func effectTexts(r fsm.Runner) (out []string) {
	for i := range r.Effects() {
		out = append(out, fmt.Sprint(r.Effect(i), string(r.AppendEffect(nil, i))))
	}
	return out
}

// frameByFrame does what Stream has to do, by the other methods of a runner.
func frameByFrame(r fsm.Runner, from fsm.Peer, in, out []byte, limit int) (s fsm.Streamed) {
	s.Out = out
	for {
		n, err := r.FrameSize(in[s.Bytes:])
		if err != nil || n <= 0 || n > r.Info().MaxFrame || n > len(in)-s.Bytes {
			return s
		}
		before := r.State()
		s.Result, s.Err = r.Frame(from, in[s.Bytes:][:n])
		answers, plain := sends(r, from, s.Out)
		if s.Err != nil || s.Result.Code != fsm.Took || r.State() != before || !plain ||
			len(answers) > max(limit, len(s.Out)) {
			s.Next = n
			return s
		}
		s.Out, s.Bytes, s.Frames, s.Sent = answers, s.Bytes+n, s.Frames+1, s.Sent+r.Effects()
	}
}

// sends appends the frames of the last step's effects if all of them are messages to one peer.
func sends(r fsm.Runner, to fsm.Peer, out []byte) ([]byte, bool) {
	for i := range r.Effects() {
		e := r.Effect(i)
		if e.Kind != fsm.Send || e.Peer != to {
			return out, false
		}
		var err error
		if out, err = r.AppendFrame(out, i); err != nil {
			return out, false
		}
	}
	return out, true
}

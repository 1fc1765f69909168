package pingpong

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/wire"
)

// A frame is: length of the whole frame u16, type u8, body.

// FrameSize implements fsm.Runner.
func (r *Runner) FrameSize(b []byte) (int, error) {
	if len(b) < 3 {
		return 0, nil
	}
	n := int(binary.BigEndian.Uint16(b))
	switch {
	case b[2] > NOTE:
		return 0, wire.Error{Offset: 2, Problem: wire.UnknownType, Value: int64(b[2])}
	case n < 3:
		return 0, wire.Error{Message: info.Messages[b[2]], Problem: wire.Short, Value: int64(n), Limit: 3}
	case n > info.MaxFrame:
		return 0, wire.Error{Message: info.Messages[b[2]], Problem: wire.Long, Value: int64(n),
			Limit: int64(info.MaxFrame)}
	}
	return n, nil
}

// Frame implements fsm.Runner.
func (r *Runner) Frame(_ fsm.Peer, b []byte) (fsm.Result, error) {
	r.count = 0
	n, err := r.FrameSize(b)
	if err != nil {
		return fsm.Result{}, err
	}
	if n != len(b) {
		return fsm.Result{}, wire.Error{Problem: wire.Short, Value: int64(len(b)), Limit: int64(max(n, 3))}
	}
	e := &r.E
	e.Kind, e.ID, e.Value = Message, uint16(b[2]), 0
	body := b[3:]
	switch b[2] {
	case PING, PONG:
		if len(body) != 4 {
			return fsm.Result{}, wire.Error{Message: info.Messages[b[2]], Field: "n", Offset: 3,
				Problem: wire.Short, Value: int64(len(body)), Limit: 4}
		}
		e.Value = binary.BigEndian.Uint32(body)
	case NOTE:
		e.Length = uint8(copy(e.Note[:], body))
	default:
		if len(body) != 0 {
			return fsm.Result{}, wire.Error{Message: info.Messages[b[2]], Offset: 3, Problem: wire.Trailing,
				Value: int64(len(body))}
		}
	}
	return r.step(), nil
}

// Stream implements fsm.Streamer.
func (r *Runner) Stream(from fsm.Peer, in, out []byte, limit int) (s fsm.Streamed) {
	s.Out = out
	for before := r.M.State; ; s.Frames++ {
		n, err := r.FrameSize(in[s.Bytes:])
		if err != nil || n <= 0 || n > min(len(in)-s.Bytes, info.MaxFrame) {
			return s
		}
		s.Result, s.Err = r.Frame(from, in[s.Bytes:s.Bytes+n])
		if s.Err != nil || s.Result.Code != fsm.Took || r.M.State != before {
			s.Next = n
			return s
		}
		for i := range r.count {
			e := &r.effs[i]
			if e.Kind != fsm.Send || e.Peer != from {
				s.Next = n
				return s
			}
			if out, err = r.AppendFrame(out, i); err != nil || len(out) > limit {
				s.Next = n
				return s
			}
		}
		s.Out, s.Bytes, s.Sent = out, s.Bytes+n, s.Sent+r.count
	}
}

// AppendFrame implements fsm.Runner. A note of the single byte 0 has no
// encoding, so that tests can see a send fail.
func (r *Runner) AppendFrame(dst []byte, i int) ([]byte, error) {
	e := &r.effs[i]
	switch e.ID {
	case PING, PONG:
		return binary.BigEndian.AppendUint32(append(dst, 0, 7, byte(e.ID)), e.Value), nil
	case NOTE:
		if e.N == 1 && e.Note[0] == 0 {
			return dst, wire.Error{Message: "NOTE", Field: "text", Problem: wire.Range}
		}
		return append(append(dst, 0, 3+e.N, NOTE), e.Note[:e.N]...), nil
	}
	return append(dst, 0, 3, byte(e.ID)), nil
}

func appendBody(dst []byte, id uint16, value uint32, note []byte) []byte {
	switch id {
	case PING, PONG:
		dst = strconv.AppendUint(append(dst, "{n: "...), uint64(value), 10)
		return append(dst, '}')
	case NOTE:
		dst = strconv.AppendQuote(append(dst, "{text: "...), string(note))
		return append(dst, '}')
	}
	return dst
}

// AppendEvent implements fsm.Runner.
func (r *Runner) AppendEvent(dst []byte) []byte {
	switch e := &r.E; e.Kind {
	case Start:
		return append(dst, "start"...)
	case Up:
		return append(dst, "up"...)
	case Lost:
		return append(dst, "lost"...)
	case Timeout:
		return append(strconv.AppendUint(append(dst, "wait["...), uint64(e.Value), 10), ']')
	case Message:
		return appendBody(append(dst, info.Messages[e.ID]...), e.ID, e.Value, e.Note[:e.Length])
	default:
		dst = append(dst, info.Commands[e.ID]...)
		switch e.ID {
		case Ping:
			return appendBody(dst, PING, e.Value, nil)
		case Say:
			return appendBody(dst, NOTE, 0, e.Note[:e.Length])
		}
		return dst
	}
}

// AppendEffect implements fsm.Runner.
func (r *Runner) AppendEffect(dst []byte, i int) []byte {
	e := &r.effs[i]
	switch e.Kind {
	case fsm.Send:
		return appendBody(append(append(dst, "send "...), info.Messages[e.ID]...), e.ID, e.Value, e.Note[:e.N])
	case fsm.Report:
		dst = append(append(dst, "report "...), info.Reports[e.ID]...)
		return append(strconv.AppendUint(append(dst, '('), uint64(e.Value), 10), ')')
	case fsm.StartTimer, fsm.StopTimer:
		if e.Kind == fsm.StartTimer {
			dst = append(dst, "start wait["...)
		} else {
			dst = append(dst, "stop wait["...)
		}
		return append(strconv.AppendUint(dst, uint64(e.Key), 10), ']')
	}
	return append(dst, "close"...)
}

// AppendMachine implements fsm.Runner.
func (r *Runner) AppendMachine(dst []byte) []byte {
	return fmt.Appendf(dst, "%s{open: %d, passes: %d}", info.States[r.M.State], r.M.Open, r.M.Passes)
}

// AppendLegal implements fsm.Runner.
func (r *Runner) AppendLegal(dst []byte) []byte {
	return append(dst, [...]string{
		"start, up, ping", "ping, PING, PONG, wait, NOTE, say, barrier, READY, quit, BYE, lost",
		"ping, PING, PONG, wait, READY, barrier, quit, BYE, lost",
		"ping, PING, PONG, wait, NOTE, say, barrier, quit, BYE, lost", "lost",
	}[r.M.State]...)
}

// Refusal implements fsm.Runner. Every note that is too long was cut, so that no value is out of
// its range.
func (r *Runner) Refusal() fsm.Refusal {
	if r.E.Kind == Message && r.E.ID == PONG && r.M.State != Off && r.M.State != Gone {
		return fsm.Refusal{Reason: fsm.Unguarded, Branch: tPONG}
	}
	return fsm.Refusal{Branch: fsm.NoTransition}
}

// Replay gives the event that AppendEvent described, for tests that run a
// record again. A message is given by its frame.
func (r *Runner) Replay(text string, frame []byte) (fsm.Result, error) {
	var n uint32
	var s string
	switch {
	case len(frame) > 0:
		return r.Frame(0, frame)
	case text == "start":
		return r.Start(), nil
	case text == "up":
		return r.LinkUp(0), nil
	case text == "lost":
		return r.LinkLost(0), nil
	case text == "barrier":
		return r.Barrier(), nil
	case text == "quit":
		return r.Quit(), nil
	}
	if _, err := fmt.Sscanf(text, "wait[%d]", &n); err == nil {
		return r.Timeout(0, n), nil
	}
	if _, err := fmt.Sscanf(text, "ping{n: %d}", &n); err == nil {
		return r.Ping(n), nil
	}
	if _, err := fmt.Sscanf(text, "say{text: %q}", &s); err == nil {
		return r.Say(s), nil
	}
	return fsm.Result{}, fmt.Errorf("cannot read event %q", text)
}

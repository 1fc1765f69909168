package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// Trace is the result of running a record again.
type Trace struct {
	Header trace.Header
	// Steps counts the lines that agree with the specification, Frames the frames among them.
	Steps, Frames int
	// Refused and Malformed count what came from the peer and the machine did not take, or had no
	// room to defer, and rightly so: the record shows a peer that deviated, not this machine.
	// Unavailable counts commands that were not available.
	Refused, Malformed, Unavailable int
	// Cut: the record ends in the middle of a line.
	Cut bool
	// Unclosed: the record was read to its end, and its last whole line is no trace.Closed. The
	// program ended before its driver, so that steps may be missing behind it.
	Unclosed bool
	// Deviation is where the record is no run of the machine; nil if it is one.
	Deviation *Deviation
	// State and Machine are where the record ends (or deviates), with what is legal there.
	State, Machine string
	Legal          Legal
	// Taken counts transitions, by Transition.ID.
	Taken []int
}

// Deviation is the first line of a record that the specification does not explain.
type Deviation struct {
	Line   int
	Event  string
	Reason string
}

// ErrOther is the error for a record of another specification.
var ErrOther = errors.New("the record is of another specification")

// Check runs a record again in the interpreter and compares every step: the result, the transition, the
// effects, and the bytes of every frame. It returns an error if the record cannot be read or is of
// another protocol.
func Check(p *model.Protocol, r *trace.Reader) (*Trace, error) {
	c, err := begin(p, r.Header())
	if err != nil {
		return nil, err
	}
	var s trace.Step
	closed := false
	for {
		switch err := r.Next(&s); {
		case err == io.EOF:
			c.out.Cut, c.out.Unclosed = r.Truncated(), !closed
			return c.finish(), nil
		case err != nil:
			return c.finish(), err
		}
		if reason := c.next(&s); reason != "" {
			c.out.Deviation = &Deviation{Line: r.Line(), Event: string(s.Event), Reason: reason}
			return c.finish(), nil
		}
		closed = s.Kind == trace.Closed
	}
}

// begin makes the machine of a record that begins.
func begin(p *model.Protocol, h trace.Header) (*checker, error) {
	m, err := recorded(p, h)
	if err != nil {
		return nil, err
	}
	c := &checker{m: m, out: &Trace{Header: h, Taken: make([]int, len(m.Transitions))},
		phases: map[fsm.Peer]int{},
		around: around{closed: map[fsm.Peer]bool{}}}
	if err := c.load(p, h.Machine); err != nil {
		return nil, fmt.Errorf("line 1: the machine in the header: %w", err)
	}
	return c, nil
}

// load gives the machine the value of a text, in a new table of texts.
func (c *checker) load(p *model.Protocol, text string) error {
	strs := &interp.Strings{}
	v, err := interp.ParseMachine(c.m, strs, text)
	if err != nil {
		return err
	}
	c.strs, c.value = strs, slices.Clone(v)
	c.step, c.codec = interp.New(c.m, strs), newCodec(p, strs)
	return nil
}

// next runs the next line, and says how it deviates. It returns "" if it does not.
func (c *checker) next(s *trace.Step) string {
	if c.out.Steps == 0 {
		c.around.restored = s.Kind != trace.Start
	}
	reason := c.line(s)
	if reason == "" {
		c.out.Steps++
	}
	return reason
}

func recorded(p *model.Protocol, h trace.Header) (*model.Machine, error) {
	if h.Protocol != p.Name {
		return nil, fmt.Errorf("%w: it is of protocol %s, this is %s", ErrOther, h.Protocol, p.Name)
	}
	if h.Hash != p.Hash {
		return nil, fmt.Errorf("%w: %s has changed since (its hash is %.12s…, the record says %.12s…)",
			ErrOther, p.Name, p.Hash, h.Hash)
	}
	for _, m := range p.Roles {
		if m.Name == h.Role {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%w: %s has no role %s", ErrOther, p.Name, h.Role)
}

type checker struct {
	codec  codec
	m      *model.Machine
	strs   *interp.Strings
	step   *interp.Machine
	value  interp.Value
	around around
	last   time.Duration    // of the line before
	phases map[fsm.Peer]int // of what comes from each peer, where streams have phases
	out    *Trace
}

func (c *checker) finish() *Trace {
	c.out.State = interp.StatePath(c.m, c.value)
	c.out.Machine = string(interp.AppendMachine(nil, c.strs, c.m, c.value))
	c.out.Legal = legal(c.m, c.value)
	return c.out
}

// line runs one line and says how it deviates. It returns "" if it does not.
func (c *checker) line(s *trace.Step) string {
	if s.At < c.last {
		return fmt.Sprintf("the record goes back in time, from %v to %v", c.last, s.At)
	}
	c.last = s.At
	if state := c.m.States[c.value[0]].Name; s.Before != "" && s.Before != state {
		return fmt.Sprintf("the record says the machine was in state %s, it was in %s", s.Before, state)
	}
	if why := c.early(s); why != "" {
		return why
	}
	switch s.Kind {
	case trace.Closed:
		return ""
	case trace.Malformed:
		return c.malformed(s)
	case trace.Up:
		c.phases[s.Peer] = 0
	}
	ev, err := interp.ParseEvent(c.m, c.strs, string(s.Event))
	if err != nil && c.outside(s) {
		c.out.Unavailable++
		return ""
	}
	if err != nil {
		return "the event cannot be read: " + err.Error()
	}
	ev.Sender = int(max(s.Peer, 0))
	if s.Kind == trace.Message {
		if why := c.sameFrame(s, ev); why != "" {
			return why
		}
	}
	if why := c.unheard(s); why != "" {
		return why
	}
	place, why := c.offered(s, ev.Event)
	if why != "" {
		return why
	}
	if ev.Event.Kind == model.EventTimer && !armed(c.value, ev) {
		return "the record says the timer expired, but it is not armed"
	}
	next, effects, res, fault := c.step.Step(c.value, ev)
	if res.Code != s.Code {
		why := fmt.Sprintf("the record says the event was %s, the specification says %s", s.Code, res.Code)
		if fault != nil {
			why += ": " + fault.What()
		}
		return why
	}
	if res.Transition != s.Transition {
		return fmt.Sprintf("the record says transition %s (number %d) was taken, the specification takes %s",
			s.Name, s.Transition, c.name(res.Transition))
	}
	if why := c.sameEffects(s, effects); why != "" {
		return why
	}
	switch res.Code {
	case fsm.Took:
		for _, t := range c.step.Fired() {
			c.out.Taken[t.ID]++
		}
		c.value = slices.Clone(next)
	case fsm.Ignored:
		c.value = slices.Clone(next) // an expiry disarms the timer, whatever is done with it
	case fsm.Refused:
		if s.Kind == trace.Command {
			c.out.Unavailable++
		} else {
			c.out.Refused++
		}
	}
	if state := c.m.States[c.value[0]].Name; s.After != state {
		return fmt.Sprintf("the record says the machine went to state %s, it is in %s", s.After, state)
	}
	return c.settle(s, ev.Event, place)
}

// armed reports whether the timer of an expiry is armed.
func armed(v interp.Value, ev interp.Event) bool {
	for _, at := range ev.At {
		v = v[at.Part.Offset+at.Index*at.Part.Machine.Size:]
	}
	return v[ev.Event.Timer.Offset+interp.TimerIndex(ev.Event.Timer, ev.Args)] != 0
}

// outside reports whether a line is a command with a value outside its type that was refused and did
// nothing. No specification has such an event, and every machine refuses it.
func (c *checker) outside(s *trace.Step) bool {
	if s.Kind != trace.Command || s.Code != fsm.Refused || s.Transition != fsm.NoTransition ||
		len(s.Effects) > 0 || s.Before != s.After {
		return false
	}
	ev, err := interp.ParseRefused(c.m, string(s.Event))
	return err == nil && ev.Kind == model.EventCommand
}

func (c *checker) name(t uint16) string {
	if int(t) < len(c.m.Transitions) {
		return fmt.Sprintf("%s (number %d)", c.m.Transitions[t].Name, t)
	}
	return "none"
}

// malformed checks a line that says a frame is malformed. It returns what is wrong if the codec can read
// the frame.
func (c *checker) malformed(s *trace.Step) string {
	c.out.Malformed++
	if m, _, err := c.codec.decode(s.Channel, c.phases[s.Peer], s.Frame, c.m.Name); err == nil {
		return fmt.Sprintf("the record says the frame is malformed, it is a good %s", m.Name)
	}
	return ""
}

// sameFrame compares the bytes of a received frame with the event.
func (c *checker) sameFrame(s *trace.Step, ev interp.Event) string {
	if len(s.Frame) == 0 {
		return "the message has no frame"
	}
	c.out.Frames++
	phase := c.phases[s.Peer]
	if s.Again { // the stream may have gone on since
		phase = ev.Event.Message.FirstPhase()
	}
	m, slots, err := c.codec.decode(s.Channel, phase, s.Frame, c.m.Name)
	if err != nil {
		return "the frame cannot be decoded: " + err.Error()
	}
	if !s.Again {
		c.phases[s.Peer] = m.After(phase)
	}
	if m != ev.Event.Message || !slices.Equal(slots, ev.Args) {
		return fmt.Sprintf("the frame is %s, the event says %s", interp.AppendMessage(nil, c.strs, m, slots), s.Event)
	}
	return ""
}

func (c *checker) sameEffects(s *trace.Step, effects []interp.Effect) string {
	for i := range max(len(effects), len(s.Effects)) {
		switch {
		case i >= len(effects):
			return fmt.Sprintf("the record has effect %q, the specification has none there", s.Effects[i].Text)
		case i >= len(s.Effects):
			return fmt.Sprintf("the specification has effect %q, the record has none there",
				interp.AppendEffect(nil, c.strs, &effects[i]))
		}
		want := interp.AppendEffect(nil, c.strs, &effects[i])
		if got := s.Effects[i].Text; !bytes.Equal(got, want) {
			return fmt.Sprintf("the record has effect %q, the specification has %q", got, want)
		}
		if why := c.sameSent(&s.Effects[i], &effects[i]); why != "" {
			return why
		}
	}
	return ""
}

func (c *checker) sameSent(got *trace.Effect, want *interp.Effect) string {
	if want.Kind != fsm.Send || len(got.Frame) == 0 {
		return ""
	}
	c.out.Frames++
	if want.Dest != model.ToPeer && want.To >= 0 && got.Peer != fsm.Peer(want.To) {
		return fmt.Sprintf("%s went to peer %d, and the specification sends it to %d", got.Text, got.Peer, want.To)
	}
	if got.Channel != want.Message.Channel {
		return fmt.Sprintf("%s was sent over channel %d, and the specification has it in %d (from 0)", got.Text,
			got.Channel, want.Message.Channel)
	}
	b, err := c.codec.encode(want.Message, want.Slots)
	if err != nil {
		return err.Error()
	}
	if !bytes.Equal(b, got.Frame) {
		return fmt.Sprintf("%s was sent as % x, the specification says % x", got.Text, got.Frame, b)
	}
	return ""
}

package built

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/campaign"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/fsmtest/stepper"
)

// comparison compares an instance of a check with its generated machine.
type comparison struct {
	*Machines
	machine int
	party   *stage.Party
	strs    *interp.Strings
	p       *model.Protocol
	in      *interp.Machine
	// values are the numbers of the values that the generated machine has had, back the values to which
	// others come back when they begin again.
	values map[string]int
	back   map[string]int
}

// Compare compares the steps of an instance on a stage with those of the generated machine.
func (m *Machines) Compare(s *stage.Stage, i int) (campaign.Comparison, error) {
	first, ok := m.first[s.Check.Name]
	if !ok {
		return nil, fmt.Errorf("the check %s was not built", s.Check.Name)
	}
	x := s.Parties[i]
	c := &comparison{m, first + i, x, s.Strings, m.from[s.Check.Name], interp.New(x.Machine, s.Strings),
		map[string]int{key(x.Begin): 0}, map[string]int{}}
	return c.step, nil
}

// key tells values apart.
func key(v interp.Value) string {
	var b []byte
	for _, x := range v {
		b = binary.AppendVarint(b, x)
	}
	return string(b)
}

// step takes a step and says where it differs. Values of the machine come from its beginning, by steps
// that were compared, or by restarts.
func (c *comparison) step(v interp.Value, ev interp.Event) error {
	number, err := c.number(v)
	if err != nil {
		return err
	}
	next, effects, res, _ := c.in.Step(v, ev)
	q := stepper.Request{Machine: c.machine, Value: number, Peer: ev.Sender}
	if err := c.request(&q, ev); err != nil {
		return err
	}
	a, err := c.ask(&q)
	if err != nil {
		return err
	}
	if what := c.differs(&a, next, effects, res); what != "" {
		return fmt.Errorf("%s in %s: generated code: %s", interp.AppendEvent(nil, c.strs, ev),
			interp.AppendMachine(nil, c.strs, c.party.Machine, v), what)
	}
	return nil
}

// number is the number of a value of the generated machine.
func (c *comparison) number(v interp.Value) (int, error) {
	k := key(v)
	if n, ok := c.values[k]; ok {
		return n, nil
	}
	from, ok := c.back[k]
	if !ok {
		return 0, errors.New("nothing that was compared leads to this value; this is a bug of Parley")
	}
	a, err := c.ask(&stepper.Request{Machine: c.machine, Value: from, Kind: stepper.Restart})
	if err != nil {
		return 0, err
	}
	if want := c.text(v); a.Error != "" || a.Text != want {
		return 0, fmt.Errorf("begun anew the generated machine is %s%s, not %s", a.Text, a.Error, want)
	}
	return a.Value, c.known(v, a.Value)
}

// known notes the number of a value.
func (c *comparison) known(v interp.Value, number int) error {
	k := key(v)
	if old, ok := c.values[k]; ok && old != number {
		return fmt.Errorf("the generated machine has two values for %s", c.text(v))
	}
	c.values[k] = number
	again := key(c.party.Restarted(v))
	if _, ok := c.back[again]; !ok {
		c.back[again] = number
	}
	return nil
}

func (c *comparison) text(v interp.Value) string {
	return string(interp.AppendMachine(nil, c.strs, c.party.Machine, v))
}

// request says what happens.
func (c *comparison) request(q *stepper.Request, ev interp.Event) error {
	text := string(interp.AppendEvent(nil, c.strs, ev))
	switch ev.Event.Kind {
	case model.EventStart:
		q.Kind = stepper.Start
	case model.EventUp:
		q.Kind = stepper.Up
	case model.EventLost:
		q.Kind = stepper.Lost
	case model.EventCommand:
		q.Kind, q.Text = stepper.Command, text
	case model.EventTimer:
		i := slices.IndexFunc(c.party.Alarms, func(a stage.Alarm) bool {
			return string(interp.AppendEvent(nil, c.strs, a.Event)) == text
		})
		q.Kind, q.Timer, q.Key = stepper.Timer, c.party.Alarms[i].Name, c.party.Alarms[i].Key
	case model.EventMessage:
		q.Kind = stepper.Message
		frame, err := c.frame(ev.Event.Message, ev.Args)
		if err != nil {
			return err
		}
		q.Frame, q.Phase, q.Channel = frame, uint8(ev.Event.Message.FirstPhase()), ev.Event.Message.Channel
	default:
		return fmt.Errorf("%s comes from no driver; this is a bug of Parley", text)
	}
	return nil
}

// frame is a message as bytes.
func (c *comparison) frame(m *model.Message, slots []int64) ([]byte, error) {
	i := slices.IndexFunc(c.p.Messages, func(x *model.Message) bool { return x.Name == m.Name })
	frame, err := interp.AppendFrame(c.p, c.strs, nil, c.p.Messages[i], slots)
	if err.Problem != 0 {
		return nil, fmt.Errorf("%s has no frame: %w", m.Name, err)
	}
	return frame, nil
}

// differs says where an answer is not what the interpreter says; empty if it is.
func (c *comparison) differs(a *stepper.Answer, next interp.Value, effects []interp.Effect, res fsm.Result) string {
	switch want := c.text(next); {
	case a.Error != "":
		return a.Error
	case a.Result != res:
		return fmt.Sprintf("result %v, the interpreter says %v", a.Result, res)
	case a.Text != want:
		return fmt.Sprintf("next is %s, the interpreter says %s", a.Text, want)
	}
	for i := range max(len(effects), len(a.Effects)) {
		var got stepper.Effect
		var text string
		var frame []byte
		if i < len(a.Effects) {
			got = a.Effects[i]
		}
		if i < len(effects) {
			e := &effects[i]
			text = string(interp.AppendEffect(nil, c.strs, e))
			if e.Kind == fsm.Send {
				frame, _ = c.frame(e.Message, e.Slots) // what has no frame has an empty one
			}
		}
		switch {
		case got.Text != text:
			return fmt.Sprintf("effect %d is %q, the interpreter has %q", i+1, got.Text, text)
		case !bytes.Equal(got.Frame, frame):
			return fmt.Sprintf("%s is % x, the interpreter has % x", got.Text, got.Frame, frame)
		}
	}
	if err := c.known(next, a.Value); err != nil {
		return err.Error()
	}
	return ""
}

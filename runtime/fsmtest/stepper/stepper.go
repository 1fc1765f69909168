// Package stepper lets another process take single steps with generated machines: the process says
// which value a machine has and what happens to it. `fsmgen simulate --generated` builds a program
// from the machines of a specification and this package. Start from [Serve].
package stepper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-go/parley/runtime/fsm"
)

// Machine is a machine that takes steps.
type Machine struct {
	Runner fsm.Commander
	// Value points to the machine inside the runner, a comparable struct.
	Value any
	// Keep names its fields that survive a restart, as [Keep] takes them.
	Keep []string
}

// Request asks for a step.
type Request struct {
	// Machine is the number of the machine, Value that of the value with which it begins: 0 is its first
	// one, others are those of answers.
	Machine int `json:"machine"`
	Value   int `json:"value,omitempty"`
	// Kind is what happens; the others say it closer.
	Kind Kind `json:"kind"`
	// Peer is whose message or link it is.
	Peer int `json:"peer,omitempty"`
	// Timer is the timer's name in fsm.Info, Key which of its instances.
	Timer string `json:"timer,omitempty"`
	Key   uint32 `json:"key,omitempty"`
	// Text is a command, Frame a message, and Phase one in which its stream may have it. Channel is the place in
	// fsm.Info.Channels of the one that brings it.
	Text    string `json:"text,omitempty"`
	Frame   []byte `json:"frame,omitempty"`
	Phase   uint8  `json:"phase,omitempty"`
	Channel int    `json:"channel,omitempty"`
}

// Kind is what happens to a machine.
type Kind string

// The kinds of step. Restart: the machine begins again after a crash.
const (
	Start   Kind = "start"
	Up      Kind = "up"
	Lost    Kind = "lost"
	Timer   Kind = "timer"
	Message Kind = "message"
	Command Kind = "command"
	Restart Kind = "restart"
)

// Answer is what comes of a step.
type Answer struct {
	Result fsm.Result `json:"result"`
	// Value is the number of the value behind the step, Text that value in words. Equal values have one
	// number.
	Value int    `json:"value"`
	Text  string `json:"text"`
	// Effects are those of the step.
	Effects []Effect `json:"effects,omitempty"`
	// Error says that the step was not possible: a frame that is malformed, a text that is no command,
	// a panic.
	Error string `json:"error,omitempty"`
}

// Effect is an effect in words. Frame are the bytes of a message that is sent.
type Effect struct {
	Text  string `json:"text"`
	Frame []byte `json:"frame,omitempty"`
	Error string `json:"error,omitempty"`
}

// Serve reads requests as JSON until in ends, and writes an answer to each.
func Serve(in io.Reader, out io.Writer, machines ...Machine) error {
	var list []*stepped
	for _, m := range machines {
		s := &stepped{Machine: m, value: reflect.ValueOf(m.Value).Elem(), numbers: map[any]int{}}
		s.number(s.value.Interface())
		list = append(list, s)
	}
	r, w := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q Request
		if err := r.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("a request that is none: %w", err)
		}
		a := Answer{Error: fmt.Sprintf("there is no machine %d with a value %d", q.Machine, q.Value)}
		if q.Machine >= 0 && q.Machine < len(list) && q.Value >= 0 && q.Value < len(list[q.Machine].values) {
			a = list[q.Machine].answer(&q)
		}
		if err := w.Encode(&a); err != nil {
			return err
		}
	}
}

// stepped is a machine with the values that it has had.
type stepped struct {
	Machine
	value   reflect.Value
	values  []any
	numbers map[any]int
}

// number is the number of a value.
func (s *stepped) number(v any) int {
	n, ok := s.numbers[v]
	if !ok {
		n = len(s.values)
		s.values, s.numbers[v] = append(s.values, v), n
	}
	return n
}

// answer takes a step.
func (s *stepped) answer(q *Request) (a Answer) {
	defer func() {
		if x := recover(); x != nil {
			a = Answer{Error: fmt.Sprint("it panics: ", x)}
		}
	}()
	s.value.Set(reflect.ValueOf(s.values[q.Value]))
	if q.Kind == Restart {
		s.restart(q.Value)
	} else if err := s.step(q, &a); err != nil {
		return Answer{Error: err.Error()}
	}
	a.Value, a.Text = s.number(s.value.Interface()), string(s.Runner.AppendMachine(nil))
	return a
}

// Keep copies fields of a machine from another of its type; both are pointers. A field of a part has the part's
// before it, as in "Way.At"; of a keyed part all instances are meant.
func Keep(to, from any, fields ...string) {
	for _, f := range fields {
		keep(reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem(), strings.Split(f, "."))
	}
}

func keep(to, from reflect.Value, path []string) {
	switch {
	case len(path) == 0:
		to.Set(from)
	case to.Kind() == reflect.Array:
		for i := range to.Len() {
			keep(to.Index(i), from.Index(i), path)
		}
	default:
		keep(to.FieldByName(path[0]), from.FieldByName(path[0]), path[1:])
	}
}

// restart makes the machine that of the beginning, but for what it keeps of a value.
func (s *stepped) restart(from int) {
	old := reflect.New(s.value.Type())
	old.Elem().Set(reflect.ValueOf(s.values[from]))
	s.value.Set(reflect.ValueOf(s.values[0]))
	Keep(s.value.Addr().Interface(), old.Interface(), s.Keep...)
}

// step gives the machine the event.
func (s *stepped) step(q *Request, a *Answer) (err error) {
	r, peer := s.Runner, fsm.Peer(q.Peer)
	switch q.Kind {
	case Start:
		a.Result = r.Start()
	case Up:
		a.Result = r.LinkUp(peer)
	case Lost:
		a.Result = r.LinkLost(peer)
	case Timer:
		id := slices.Index(r.Info().Timers, q.Timer)
		if id < 0 {
			return fmt.Errorf("it has no timer %s", q.Timer)
		}
		a.Result = r.Timeout(uint16(id), q.Key)
	case Message:
		a.Result, err = frame(r, peer, q)
	case Command:
		a.Result, err = r.Command(q.Text)
	default:
		err = fmt.Errorf("%q is no kind of step", q.Kind)
	}
	if err != nil {
		return err
	}
	for i := range r.Effects() {
		e := Effect{Text: string(r.AppendEffect(nil, i))}
		if r.Effect(i).Kind == fsm.Send {
			if e.Frame, err = r.AppendFrame(nil, i); err != nil {
				e.Error = err.Error()
			}
		}
		a.Effects = append(a.Effects, e)
	}
	return nil
}

// frame gives the machine a message, over its channel where there are several and in its phase where there are these.
func frame(r fsm.Runner, peer fsm.Peer, q *Request) (res fsm.Result, err error) {
	info := r.Info()
	if c, ok := r.(fsm.Channeled); ok && len(info.Channels) > 0 {
		if q.Channel < 0 || q.Channel >= len(info.Channels) {
			return res, fmt.Errorf("it has no channel %d", q.Channel)
		}
		return c.FrameOn(peer, q.Channel, q.Frame)
	}
	if p, ok := r.(fsm.Phased); ok && len(info.Phases) > 0 {
		_, res, err = p.FrameIn(peer, q.Phase, q.Frame)
		return res, err
	}
	return r.Frame(peer, q.Frame)
}

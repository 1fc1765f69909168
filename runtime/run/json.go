package run

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The JSON form. Its names are stable. Instances stand in it by name.
type (
	jsonRun struct {
		Title     string     `json:"title,omitempty"`
		Protocol  string     `json:"protocol,omitempty"`
		Check     string     `json:"check,omitempty"`
		Hash      string     `json:"hash,omitempty"`
		Instances []Instance `json:"instances"`
		Steps     []jsonStep `json:"steps"`
		Loop      []jsonStep `json:"loop,omitempty"`
		Problem   string     `json:"problem,omitempty"`
		End       []string   `json:"end"`
		False     []string   `json:"false,omitempty"`
		Reads     []Reading  `json:"reads,omitempty"`
	}
	jsonStep struct {
		// Instance is the machine that moves, empty if none does.
		Instance string `json:"instance,omitempty"`
		Kind     Kind   `json:"kind"`
		Event    string `json:"event"`
		// From is the sender, if there are more than two instances; `a -> b` if something happens
		// between two.
		From       string        `json:"from,omitempty"`
		Channel    string        `json:"channel,omitempty"`
		State      string        `json:"state,omitempty"`
		Effects    []string      `json:"effects,omitempty"`
		Changes    []Change      `json:"changes,omitempty"`
		Transition string        `json:"transition,omitempty"`
		Where      string        `json:"where,omitempty"`
		Fault      string        `json:"fault,omitempty"`
		Torn       int           `json:"torn,omitempty"`
		After      string        `json:"after,omitempty"`
		Message    int           `json:"message,omitempty"`
		At         int           `json:"at,omitempty"`
		Sent       []jsonSent    `json:"sent,omitempty"`
		Note       string        `json:"note,omitempty"`
		Time       time.Duration `json:"time,omitempty"`
		Frame      string        `json:"frame,omitempty"`
	}
	jsonSent struct {
		ID      int    `json:"id,omitempty"`
		To      string `json:"to"`
		Text    string `json:"text"`
		Channel string `json:"channel,omitempty"`
	}
)

// MarshalJSON implements [json.Marshaler].
func (r *Run) MarshalJSON() ([]byte, error) {
	out := jsonRun{Title: r.Title, Protocol: r.Protocol, Check: r.Check, Hash: r.Hash, Instances: r.Instances,
		Problem: r.Problem, End: r.End, False: r.False, Reads: r.Reads}
	for i := range r.Steps {
		s := r.stepOut(&r.Steps[i])
		if i < len(r.Steps)-r.Loop {
			out.Steps = append(out.Steps, s)
		} else {
			out.Loop = append(out.Loop, s)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // whoever asked escapes, or does not
	err := e.Encode(out)
	return b.Bytes(), err
}

func (r *Run) stepOut(s *Step) jsonStep {
	out := jsonStep{
		Kind: s.Kind, Event: s.Event, From: r.from(s), Channel: s.Channel, State: s.State, Effects: s.Effects,
		Changes: s.Changes, Transition: s.Transition,
		Where: s.Where, Fault: s.Fault, Torn: s.Torn, After: s.After, Message: s.Message, At: s.At, Note: s.Note,
		Time: s.Time, Frame: hex.EncodeToString(s.Frame),
	}
	if i := s.Mover(); i >= 0 {
		out.Instance = r.Instances[i].Name
	}
	for _, m := range s.Sent {
		out.Sent = append(out.Sent, jsonSent{m.ID, r.Instances[m.To].Name, m.Text, m.Channel})
	}
	return out
}

// from says from whom a message or news of a link comes, if there are more than two instances, and
// between whom something happens.
func (r *Run) from(s *Step) string {
	switch {
	case s.From < 0:
		return ""
	case s.Mover() < 0:
		return r.Instances[s.From].Name + channel + r.Instances[s.Who].Name
	case len(r.Instances) > 2:
		return r.Instances[s.From].Name
	}
	return ""
}

// channel stands between sender and receiver.
const channel = " -> "

// UnmarshalJSON implements [json.Unmarshaler]. It does not report whether the run is well formed;
// [Run.Validate] does.
func (r *Run) UnmarshalJSON(data []byte) error {
	var in jsonRun
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*r = Run{Title: in.Title, Protocol: in.Protocol, Check: in.Check, Hash: in.Hash, Instances: in.Instances,
		Loop: len(in.Loop), Problem: in.Problem, End: in.End, False: in.False, Reads: in.Reads}
	senders := map[int]int{} // of messages
	for i, x := range slices.Concat(in.Steps, in.Loop) {
		s, err := r.stepIn(&x, senders)
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		for _, m := range s.Sent {
			senders[m.ID] = s.Who
		}
		r.Steps = append(r.Steps, s)
	}
	return nil
}

func (r *Run) stepIn(x *jsonStep, senders map[int]int) (Step, error) {
	s := Step{
		Kind: x.Kind, Who: Nobody, From: Nobody, Channel: x.Channel, Message: x.Message, At: x.At, Event: x.Event,
		State: x.State, After: x.After,
		Effects: x.Effects, Changes: x.Changes, Transition: x.Transition, Where: x.Where, Note: x.Note,
		Fault: x.Fault, Torn: x.Torn, Time: x.Time,
	}
	var err error
	if s.Frame, err = hex.DecodeString(x.Frame); err != nil {
		return s, fmt.Errorf("the frame is not hexadecimal")
	}
	if len(s.Frame) == 0 {
		s.Frame = nil
	}
	if s.Who, err = r.instance(x.Instance); err != nil {
		return s, err
	}
	from := x.From
	if a, b, two := strings.Cut(x.From, channel); two {
		from = a
		if s.Who, err = r.instance(b); err != nil {
			return s, err
		}
	}
	if s.From, err = r.instance(from); err != nil {
		return s, err
	}
	if sender, ok := senders[s.Message]; ok && s.Message != 0 {
		s.From = sender
	} else if len(r.Instances) == 2 && s.Who >= 0 && (s.Kind == Malformed && r.Instances[1-s.Who].Hostile ||
		slices.Contains([]Kind{Message, Copy, Offer, Drop, LinkUp, LinkLost}, s.Kind)) {
		s.From = 1 - s.Who
	}
	for _, m := range x.Sent {
		to, err := r.instance(m.To)
		if err != nil {
			return s, err
		}
		s.Sent = append(s.Sent, Sent{m.ID, to, m.Text, m.Channel})
	}
	return s, nil
}

func (r *Run) instance(name string) (int, error) {
	if name == "" {
		return Nobody, nil
	}
	i := slices.IndexFunc(r.Instances, func(x Instance) bool { return x.Name == name })
	if i < 0 {
		return i, fmt.Errorf("there is no instance %q", name)
	}
	return i, nil
}

// Parse reads a run from its JSON and checks it.
func Parse(data []byte) (*Run, error) {
	r := new(Run)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("not a run: %w", err)
	}
	return r, r.Validate()
}

// Limits of a run that is drawn: what is longer nobody reads, and drawings must not grow without bound.
const (
	maxInstances = 32
	maxSteps     = 2000
)

// Validate says what is wrong with r: instances that do not exist, messages received before they
// were sent or by somebody else, too many instances or steps. A run that passes can be drawn.
func (r *Run) Validate() error {
	if n := len(r.Instances); n == 0 || n > maxInstances {
		return fmt.Errorf("run: %d instances; 1 to %d can be drawn", n, maxInstances)
	}
	if len(r.Steps) > maxSteps {
		return fmt.Errorf("run: %d steps; at most %d can be drawn: cut it", len(r.Steps), maxSteps)
	}
	to := map[int]int{} // receiver by message
	for i := range r.Steps {
		if err := r.checkStep(&r.Steps[i], to); err != nil {
			return fmt.Errorf("run: step %d: %w", i+1, err)
		}
	}
	return nil
}

func (r *Run) checkStep(s *Step, to map[int]int) error {
	n := len(r.Instances)
	if s.Who < Nobody || s.Who >= n || s.From < Nobody || s.From >= n {
		return fmt.Errorf("instance %d or %d does not exist", s.Who, s.From)
	}
	if s.Who < 0 && s.Kind != Clock && s.Kind != Partition {
		return fmt.Errorf("nobody moves (kind %q)", s.Kind)
	}
	if receiver, ok := to[s.Message]; s.Message != 0 && !ok {
		return fmt.Errorf("message %d is received or lost before it was sent", s.Message)
	} else if ok && receiver != s.Who {
		return fmt.Errorf("message %d was sent to %s", s.Message, r.Instances[receiver].Name)
	}
	if s.Mover() < 0 && len(s.Sent) > 0 {
		return fmt.Errorf("only machines send")
	}
	for _, m := range s.Sent {
		if m.ID < 0 || m.To < 0 || m.To >= n {
			return fmt.Errorf("message %d to instance %d: ids are positive, receivers exist", m.ID, m.To)
		}
		if _, again := to[m.ID]; again && m.ID > 0 {
			return fmt.Errorf("message %d is sent twice", m.ID)
		}
		if m.ID > 0 {
			to[m.ID] = m.To
		}
	}
	return nil
}

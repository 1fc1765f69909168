package graph

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Chart is a run of a protocol, as a sequence of steps: a counterexample, a
// witness, a recorded trace. Whoever has one translates it into this neutral
// form, which is also the JSON that `fsmviz --seq` reads.
type Chart struct {
	Title string `json:"title,omitempty"`
	// Instances name the columns, in order.
	Instances []string `json:"instances"`
	// Start has the state of each instance before the first step; may be nil.
	Start []string    `json:"start,omitempty"`
	Steps []ChartStep `json:"steps"`
	// End is a remark below the last step, for example what is wrong there.
	End string `json:"end,omitempty"`
}

// ChartStep is one step. Time runs from step to step.
type ChartStep struct {
	// Who is the index of the instance that moves; -1 if the channel does
	// (Lost is then the message it loses).
	Who int `json:"who"`
	// Event is what the instance was given, in words: `confirm`, `CHANGE{item: 3}`.
	Event string `json:"event,omitempty"`
	// Receives is the ID of the message that is the event, 0 if it is none.
	Receives int `json:"receives,omitempty"`
	// Lost is the ID of a message that never arrives, 0 if none is lost here.
	Lost int `json:"lost,omitempty"`
	// Sends are the messages sent, in order.
	Sends []ChartMessage `json:"sends,omitempty"`
	// Notes are what else the step did, in words: reports, timers.
	Notes []string `json:"notes,omitempty"`
	// State is the instance's state afterwards, empty if it is not known.
	State string `json:"state,omitempty"`
	// Where is the line of the specification, file:line.
	Where string `json:"where,omitempty"`
	// Fault is why the step was refused, empty if it was not.
	Fault string `json:"fault,omitempty"`
}

// ChartMessage is a message under way. ID is positive and unique in the chart,
// except that a duplicated message may be received more than once.
type ChartMessage struct {
	ID   int    `json:"id"`
	To   int    `json:"to"`
	Text string `json:"text"`
}

// Limits of a chart: what is longer nobody reads, and drawings must not grow without bound.
const (
	maxInstances = 32
	maxSteps     = 2000
)

// ParseChart reads a chart from JSON and checks it.
func ParseChart(data []byte) (*Chart, error) {
	c := new(Chart)
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("not a chart: %w", err)
	}
	return c, c.Check()
}

// Check says what is wrong with c: indices outside the chart, messages received
// before they were sent or by somebody else, too many instances or steps. A chart
// that passes can be drawn.
func (c *Chart) Check() error {
	if n := len(c.Instances); n == 0 || n > maxInstances {
		return fmt.Errorf("chart: %d instances; 1 to %d can be drawn", n, maxInstances)
	}
	if len(c.Steps) > maxSteps {
		return fmt.Errorf("chart: %d steps; at most %d can be drawn: cut the trace", len(c.Steps), maxSteps)
	}
	if len(c.Start) > len(c.Instances) {
		return fmt.Errorf("chart: %d start states for %d instances", len(c.Start), len(c.Instances))
	}
	to := map[int]int{} // receiver by message
	for i, s := range c.Steps {
		if err := c.checkStep(s, to); err != nil {
			return fmt.Errorf("chart: step %d: %w", i+1, err)
		}
	}
	return nil
}

func (c *Chart) checkStep(s ChartStep, to map[int]int) error {
	if s.Who < -1 || s.Who >= len(c.Instances) {
		return fmt.Errorf("instance %d does not exist", s.Who)
	}
	if s.Receives != 0 {
		if r, ok := to[s.Receives]; !ok {
			return fmt.Errorf("message %d is received before it was sent", s.Receives)
		} else if r != s.Who {
			return fmt.Errorf("message %d was sent to %s", s.Receives, c.Instances[r])
		}
	}
	if _, ok := to[s.Lost]; s.Lost != 0 && !ok {
		return fmt.Errorf("message %d is lost before it was sent", s.Lost)
	}
	if s.Who < 0 && (s.Receives != 0 || len(s.Sends) > 0) {
		return fmt.Errorf("the channel neither sends nor receives")
	}
	for _, m := range s.Sends {
		if m.ID <= 0 || m.To < 0 || m.To >= len(c.Instances) {
			return fmt.Errorf("message %d to instance %d: ids are positive, receivers exist", m.ID, m.To)
		}
		if _, again := to[m.ID]; again {
			return fmt.Errorf("message %d is sent twice", m.ID)
		}
		to[m.ID] = m.To
	}
	return nil
}

// flight is a message's way through the chart.
type flight struct {
	ChartMessage
	from      int
	sent      int   // step
	nth       int   // among the messages of that step
	received  []int // steps; more than one if duplicated
	lost      int   // step, or -1
	underWay  bool  // neither received nor lost
	crossings bool  // the message crosses another one going the other way
}

// flights follows every message. The order is that of sending.
func (c *Chart) flights() []*flight {
	byID := map[int]*flight{}
	var list []*flight
	for i, s := range c.Steps {
		if f := byID[s.Receives]; f != nil {
			f.received = append(f.received, i)
		}
		if f := byID[s.Lost]; f != nil {
			f.lost = i
		}
		for n, m := range s.Sends {
			f := &flight{ChartMessage: m, from: s.Who, sent: i, nth: n, lost: -1}
			byID[m.ID] = f
			list = append(list, f)
		}
	}
	for _, f := range list {
		f.underWay = len(f.received) == 0 && f.lost < 0
		f.crossings = slices.ContainsFunc(list, f.crosses)
	}
	return list
}

// crosses reports whether f and g are under way between the same two
// instances, in opposite directions, at the same time.
func (f *flight) crosses(g *flight) bool {
	return f.from == g.To && f.To == g.from && f.from != f.To && f.sent < g.end() && g.sent < f.end()
}

// end is the step at which f is no longer under way.
func (f *flight) end() int {
	switch {
	case len(f.received) > 0:
		return f.received[len(f.received)-1]
	case f.lost >= 0:
		return f.lost
	}
	return 1 << 30
}

package graph

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// FromTrace makes a chart of the lines first to last (from 1, inclusive) of a
// record. A record knows one side: the others are drawn with messages only,
// sent just before they arrive and received just after they were sent.
func FromTrace(r *trace.Reader, first, last int) (*Chart, error) {
	h := r.Header()
	t := &tracer{c: &Chart{Title: h.Protocol + "." + h.Role}, peers: map[fsm.Peer]int{}}
	name := h.Role
	if h.Instance != "" {
		name = h.Instance
		t.c.Title += ", recorded by " + h.Instance
	}
	t.c.Instances = []string{name}
	var s trace.Step
	for n := 1; n <= last; n++ {
		if err := r.Next(&s); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if n < first {
			continue
		}
		if len(t.c.Start) == 0 && s.Before != "" {
			t.c.Start = []string{s.Before}
		}
		t.step(&s)
		if len(t.c.Steps) > maxSteps {
			return nil, fmt.Errorf("the chart would have more than %d steps; choose a shorter stretch of the record", maxSteps)
		}
	}
	return t.c, t.c.Check()
}

type tracer struct {
	c     *Chart
	peers map[fsm.Peer]int
	ids   int
}

// column is the peer's; a peer gets one when it is first mentioned.
func (t *tracer) column(p fsm.Peer) int {
	if i, ok := t.peers[p]; ok {
		return i
	}
	i := len(t.c.Instances)
	t.peers[p] = i
	t.c.Instances = append(t.c.Instances, fmt.Sprintf("peer %d", p))
	return i
}

func (t *tracer) step(s *trace.Step) {
	step := ChartStep{Event: string(s.Event), State: s.After, Where: s.Name}
	switch s.Kind {
	case trace.Message, trace.Malformed:
		if s.Kind == trace.Malformed {
			step.Event = fmt.Sprintf("malformed frame, %d bytes", len(s.Frame))
		}
		if !s.Again {
			step.Receives = t.fromPeer(t.column(s.Peer), step.Event)
		}
	case trace.Closed:
		step.Event = "closed"
	}
	if len(s.Note) > 0 {
		step.Notes = append(step.Notes, string(s.Note))
	}
	switch {
	case len(s.Problem) > 0:
		step.Fault = string(s.Problem)
	case s.Code == fsm.Refused && s.Kind != trace.Closed && s.Kind != trace.Malformed:
		step.Fault = "refused"
	case s.Code != fsm.Took:
		step.Notes = append(step.Notes, s.Code.String())
	}
	var answers []ChartStep
	for _, e := range s.Effects {
		text := string(e.Text)
		if e.Kind != fsm.Send {
			step.Notes = append(step.Notes, text)
			continue
		}
		t.ids++
		to := t.column(e.Peer)
		step.Sends = append(step.Sends, ChartMessage{ID: t.ids, To: to, Text: strings.TrimPrefix(text, "send ")})
		answers = append(answers, ChartStep{Who: to, Receives: t.ids})
	}
	t.c.Steps = slices.Concat(t.c.Steps, []ChartStep{step}, answers)
}

// fromPeer adds the step in which the peer sends what is received next.
func (t *tracer) fromPeer(who int, text string) int {
	t.ids++
	t.c.Steps = append(t.c.Steps, ChartStep{Who: who, Sends: []ChartMessage{{ID: t.ids, To: 0, Text: text}}})
	return t.ids
}

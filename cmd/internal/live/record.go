package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/trace"
)

// What is kept of a record, and shown.
const (
	mostSteps  = 60      // the last ones
	mostBytes  = 1 << 20 // of their texts and frames
	mostValues = 300     // variables, parts and timers
	mostText   = 400     // characters of one text
)

// State is what the page shows of one record.
type State struct {
	File string `json:"file"`
	// Name and Role are from the record's first line, empty before it has come.
	Name string `json:"name"`
	Role string `json:"role"`
	// Drawing counts the pictures of the machine: another number, another picture; 0 if there is none.
	Drawing int `json:"drawing"`
	// Control is the place of the control state in the machine's states, -1 if it is unknown. Path is its name with
	// the states of parts.
	Control int    `json:"control"`
	Path    string `json:"path"`
	// Taken are the places of the transitions that stand where the last step's one stands in the specification.
	Taken  []int    `json:"taken"`
	Values []Value  `json:"values"`
	Timers []string `json:"timers"` // those that run
	Steps  []Line   `json:"steps"`  // the newest last
	Total  uint64   `json:"total"`
	// Problem is why the record or its machine cannot be followed. Note is what there is to say beside.
	Problem string `json:"problem"`
	Note    string `json:"note"`
	Half    bool   `json:"half"` // the last line is not whole yet
	Closed  string `json:"closed"`
}

// Value is a variable, a parameter, or the state of a part.
type Value struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Line is a step.
type Line struct {
	Seq     uint64   `json:"seq"`
	Time    string   `json:"time"` // seconds since the record began
	Kind    string   `json:"kind"`
	Event   string   `json:"event"`
	Move    string   `json:"move"` // from state to state, empty if it stays
	Effects []string `json:"effects"`
	Bad     bool     `json:"bad"`
	Problem string   `json:"problem"`
}

// record follows one record.
type record struct {
	protocol *model.Protocol
	options  graph.Options
	path     string
	stdin    io.Reader // where path is "-"
	changed  func()

	mu sync.Mutex // follow alone changes what is below, so it reads that without the lock
	// state is without what now makes of follower and steps.
	state   State
	version uint64 // from 1 on
	picture string
	header  trace.Header
	steps   []kept // the last ones
	size    int    // bytes of steps
	// follower is nil when the machine is not known.
	follower *replay.Follower
	drawn    string // what the last picture shows
	drawings int    // how many there were
}

// update changes the state and tells that it has.
func (r *record) update(change func(s *State)) {
	r.mu.Lock()
	change(&r.state)
	r.version++
	r.mu.Unlock()
	r.changed()
}

// follow reads the record until ctx is done.
func (r *record) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if r.stdin != nil {
			r.begin("")
			err := r.read(r.stdin)
			r.update(func(s *State) {
				s.Note = "standard input has ended"
				if err != io.EOF {
					s.Problem = err.Error()
				}
			})
			return
		}
		t, err := newTail(ctx, r.path, r.waits)
		if err != nil {
			return
		}
		r.tail(t)
		t.file.Close()
		rest(ctx, pause) // a file that fails at once is not tried without end
	}
}

// waits tells that the file cannot be read yet.
func (r *record) waits(err error) {
	if note := "waiting for the file: " + clean(err.Error()); r.state.Note != note {
		r.update(func(s *State) { s.Note = note })
	}
}

// tail reads a file until it is another one.
func (r *record) tail(t *tail) {
	note := ""
	if r.header.Protocol != "" {
		note = "the file was begun anew; this is the new record"
	}
	r.begin(note)
	t.idle = func(half bool) {
		if r.state.Half != half {
			r.update(func(s *State) { s.Half = half })
		}
	}
	err := r.read(t)
	if errors.Is(err, errAnew) || t.ctx.Err() != nil {
		return
	}
	r.update(func(s *State) {
		s.Problem = "the record cannot be followed any further: " + clean(err.Error()) +
			"; a new record in this file will be"
	})
	t.idle = nil
	io.Copy(io.Discard, t) // until there is a new one
}

// begin forgets the record before.
func (r *record) begin(note string) {
	r.update(func(s *State) {
		r.follower = nil
		*s = State{File: s.File, Drawing: s.Drawing, Control: -1, Note: note}
		r.steps, r.size = nil, 0
	})
}

// read follows the lines of a record. Its error is never nil.
func (r *record) read(from io.Reader) error {
	reader, err := trace.NewReader(from)
	if err != nil {
		return err
	}
	r.head(reader.Header())
	for {
		var s trace.Step // one for each line, since they are kept
		if err := reader.Next(&s); err != nil {
			return err
		}
		r.step(&s, reader.Line())
	}
}

// head takes the first line.
func (r *record) head(h trace.Header) {
	f, err := replay.Follow(r.protocol, h)
	r.update(func(s *State) {
		r.header, r.follower = h, f
		s.Name, s.Role, s.Half = clean(h.Instance), clean(h.Protocol+"."+h.Role), false
		if err != nil {
			s.Problem = "without diagram and variables: " + clean(err.Error())
			s.Drawing = 0
			return
		}
		if r.drawn != h.Role || s.Drawing == 0 {
			r.drawn, r.picture = h.Role, graph.SVG(f.Machine(), r.options)
			r.drawings++
			s.Drawing = r.drawings
		}
	})
}

// step takes one line. Nothing is made for the page here, since a record may have a million.
func (r *record) step(x *trace.Step, at int) {
	r.update(func(s *State) {
		why := ""
		if r.follower != nil {
			why = r.follower.Step(x)
		}
		s.Half, s.Total = false, x.Seq
		if x.Kind == trace.Closed {
			s.Closed = "the record is closed"
			if len(x.Note) > 0 {
				s.Closed += ": " + clean(string(x.Note))
			}
		}
		switch {
		case why != "":
			s.Problem = fmt.Sprintf("line %d is no step of the specification: %s; from there on the record says the "+
				"state, and nobody knows variables and timers", at, clean(why))
			r.follower = nil
			fallthrough
		case r.follower == nil && x.After != "":
			s.Path, s.Control = clean(x.After), r.place(x.After)
		}
		r.keep(kept{*x, why})
	})
}

// kept is a step, and how it deviates from the specification.
type kept struct {
	trace.Step
	why string
}

// keep keeps a step, and forgets the oldest if there are too many.
func (r *record) keep(x kept) {
	for _, text := range []*[]byte{&x.Event, &x.Problem, &x.Note} {
		*text = []byte(clean(string(*text)))
	}
	for i := range x.Effects {
		x.Effects[i].Text = []byte(clean(string(x.Effects[i].Text)))
	}
	r.steps, r.size = append(r.steps, x), r.size+weight(&x.Step)
	gone := 0
	for len(r.steps)-gone > mostSteps || r.size > mostBytes && gone < len(r.steps)-1 {
		r.size -= weight(&r.steps[gone].Step)
		gone++
	}
	r.steps = slices.Delete(r.steps, 0, gone)
}

func weight(x *trace.Step) int {
	n := len(x.Event) + len(x.Frame) + len(x.Problem) + len(x.Note)
	for i := range x.Effects {
		n += 64 + len(x.Effects[i].Text) + len(x.Effects[i].Frame)
	}
	return n
}

// place is the place of a control state by its name, -1 if it is unknown.
func (r *record) place(state string) int {
	for _, m := range replay.Ours(r.protocol) {
		if m.Name != r.header.Role {
			continue
		}
		for i, s := range m.States {
			if s.Name == state {
				return i
			}
		}
	}
	return -1
}

// looker lists what is in a machine.
type looker struct {
	strs   *interp.Strings
	values []Value
	timers []string
}

func (l *looker) add(name, text string) {
	if len(l.values) < mostValues {
		l.values = append(l.values, Value{name, clean(text)})
	}
}

func (l *looker) machine(m *model.Machine, v interp.Value, prefix string) {
	for _, list := range [][]*model.Var{m.Params, m.Vars} {
		for _, x := range list {
			l.add(prefix+x.Name, string(interp.AppendValue(nil, l.strs, x.Type, v[x.Offset:x.Offset+x.Type.Slots()])))
		}
	}
	for _, t := range m.Timers {
		for i := range t.Count {
			if v[t.Offset+i] != 0 && len(l.timers) < mostValues {
				l.timers = append(l.timers, prefix+interp.TimerName(t, i))
			}
		}
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			at, name := p.Offset+i*p.Machine.Size, prefix+interp.PartName(interp.At{Part: p, Index: i})
			part := v[at : at+p.Machine.Size]
			l.add(name, "in "+p.Machine.States[part[0]].Name)
			l.machine(p.Machine, part, name+".")
		}
	}
}

// line is a step as the page has it. Its texts are clean already, as keep has them.
func line(x *kept) Line {
	l := Line{Seq: x.Seq, Time: fmt.Sprintf("%.3f", x.At.Seconds()), Kind: x.Kind.String(),
		Event: string(x.Event), Effects: []string{}, Problem: string(x.Problem)}
	if x.Before != x.After {
		l.Move = clean(x.Before + " → " + x.After)
	}
	for i := range x.Effects {
		l.Effects = append(l.Effects, string(x.Effects[i].Text))
	}
	note := string(x.Note)
	switch {
	case x.Kind == trace.Malformed:
		l.Bad, l.Event = true, fmt.Sprintf("% x", x.Frame[:min(len(x.Frame), 32)])
	case x.Kind == trace.Closed:
		l.Event = note
	case x.Code == fsm.Refused:
		l.Bad = true
		if l.Problem == "" {
			l.Problem = "refused"
		}
	case x.Code != fsm.Took:
		l.Move = x.Code.String()
	}
	if x.why != "" {
		l.Problem = clean(x.why)
	}
	if l.Problem != "" {
		l.Bad = true
	}
	if note != "" && x.Kind != trace.Closed {
		l.Effects = append(l.Effects, note)
	}
	return l
}

// stretch is what is kept for a chart. dropped says that steps before it were forgotten.
func (r *record) stretch() (s run.Stretch, dropped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Header = r.header
	for i := range r.steps {
		s.Steps = append(s.Steps, r.steps[i].Step)
	}
	return s, uint64(len(r.steps)) < r.state.Total
}

// now is the state with its version. It reports false, and makes none, if that is the version that is known.
func (r *record) now(known uint64) (s State, version uint64, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version == known {
		return s, known, false
	}
	s = r.state
	for i := range r.steps {
		s.Steps = append(s.Steps, line(&r.steps[i]))
	}
	if r.follower != nil {
		v, strs := r.follower.Value()
		m := r.follower.Machine()
		s.Control, s.Path = int(v[0]), interp.StatePath(m, v)
		l := looker{strs: strs}
		l.machine(m, v, "")
		s.Values, s.Timers = l.values, l.timers
		if n := len(r.steps); n > 0 {
			s.Taken = r.follower.Twins(r.steps[n-1].Transition)
		}
	}
	return s, r.version, true
}

// drawing is the picture of the machine.
func (r *record) drawing() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Drawing == 0 {
		return ""
	}
	return r.picture
}

// clean makes a text of a record one to show: not too long, and with nothing in it that hides or turns text.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(c rune) rune {
		if diag.Hidden(c) || c == '\n' {
			return '\uFFFD'
		}
		return c
	}, text)
	if len(text) <= mostText {
		return text
	}
	list := []rune(text[:min(len(text), 4*mostText)])
	return string(list[:min(len(list), mostText)]) + "…"
}

package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
)

// run tells a trace of the explorer in words. The events come from the notes;
// everything else is found by giving them to the machines again.
func (s *System) run(trace, loop []explore.TraceStep, end explore.Configuration, problem string) *Run {
	t := teller{sys: s, chart: &graph.Chart{End: problem}, flying: make([][]flying, len(s.System.Channels))}
	for _, p := range s.procs {
		t.chart.Instances = append(t.chart.Instances, p.inst.Name)
		t.chart.Start = append(t.chart.Start, shortState(p.role, p.init))
	}
	r := &Run{Problem: problem, chart: t.chart}
	for i := range trace {
		r.Steps = append(r.Steps, t.tell(&trace[i], r))
	}
	for i := range loop {
		r.Loop = append(r.Loop, t.tell(&loop[i], r))
	}
	r.End = s.configuration(end)
	return r
}

// teller follows a run, to know which message is which.
type teller struct {
	sys    *System
	chart  *graph.Chart
	flying [][]flying // by channel, oldest first
	ids    int
}

type flying struct {
	id  int
	msg string
}

// tell tells a step and notes it for programs.
func (t *teller) tell(x *explore.TraceStep, r *Run) Step {
	m := Move{Who: x.Proc, From: -1}
	if x.Kind != explore.LocalStep {
		c := &t.sys.System.Channels[x.Channel]
		m.From, m.Who = c.From, c.To
		m.At = slices.IndexFunc(t.flying[x.Channel], func(f flying) bool { return f.msg == string(x.Msg) })
	}
	s := t.step(x)
	m.Kind, m.Event = s.Kind, s.Event
	r.moves = append(r.moves, m)
	return s
}

func (t *teller) step(x *explore.TraceStep) Step {
	s := t.sys
	switch x.Kind {
	case explore.LoseStep:
		c := s.System.Channels[x.Channel]
		id := t.remove(x.Channel, string(x.Msg))
		t.chart.Steps = append(t.chart.Steps, graph.ChartStep{Who: -1, Lost: id})
		return Step{Kind: "lost", Event: s.messageText(x.Msg), From: c.Name}
	case explore.SwapStep:
		f := t.flying[x.Channel]
		if len(f) > 1 {
			f[0], f[1] = f[1], f[0]
		}
		return Step{Kind: "swapped", Event: "the first two messages change places", From: s.System.Channels[x.Channel].Name}
	}
	if x.Proc >= len(s.procs) {
		return t.outside(x)
	}
	if kind, ok := specialNote(x.Note); ok {
		return t.special(x, kind)
	}
	p := s.procs[x.Proc]
	l := p.unpack(x.Before)
	before := append(interp.Value(nil), l.value...)
	ev := unpackNote(p.role, x.Note)
	step := Step{Instance: p.inst.Name, Kind: eventKinds[ev.Event.Kind], Changes: t.changes(p, x)}
	if ev.Event.Kind == model.EventUp || ev.Event.Kind == model.EventLost {
		if x.Kind != explore.LocalStep {
			t.remove(x.Channel, string(x.Msg))
		}
		if len(s.procs) > 2 {
			step.From = s.procs[ev.Sender].inst.Name
		}
	}
	cs := graph.ChartStep{Who: x.Proc}
	if x.Kind != explore.LocalStep && ev.Event.Kind == model.EventMessage {
		from := s.System.Channels[x.Channel].From
		ev.Sender = from
		if len(s.procs) > 2 {
			step.From = s.procs[from].inst.Name
		}
		if x.Kind == explore.DupStep {
			step.Kind = "copy"
			cs.Receives = t.find(x.Channel, string(x.Msg))
		} else {
			cs.Receives = t.remove(x.Channel, string(x.Msg))
		}
	}
	step.Event = string(interp.AppendEvent(nil, s.strs, ev))
	cs.Event = step.Event
	t.replay(p, before, ev, x, &step, &cs)
	if x.Fault != nil {
		step.Fault = x.Fault.Text
		cs.Fault = x.Fault.Text
	}
	t.chart.Steps = append(t.chart.Steps, cs)
	return step
}

// found takes a message out of those that were sent.
func found(list *[]explore.Send, ch int, msg string) bool {
	i := slices.IndexFunc(*list, func(x explore.Send) bool { return x.Channel == ch && string(x.Msg) == msg })
	if i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	return i >= 0
}

// outside tells a step of the machine that breaks links, or of the clock.
func (t *teller) outside(x *explore.TraceStep) Step {
	s := t.sys
	if s.System.ProcNames[x.Proc] == "clock" {
		text := fmt.Sprintf("%d ticks pass", s.Check.Time.Beat)
		t.chart.Steps = append(t.chart.Steps, graph.ChartStep{Notes: []string{"(" + text + ")"}})
		return Step{Kind: "clock", Event: text}
	}
	ends := make([]int64, 2)
	readSlots(x.Note, ends)
	text := "the link " + s.procs[ends[0]].inst.Name + " - " + s.procs[ends[1]].inst.Name + " breaks"
	t.chart.Steps = append(t.chart.Steps, graph.ChartStep{Who: int(ends[0]), Notes: []string{text}})
	return Step{Kind: "break", Event: text}
}

// special tells a step of an instance that is no event of its machine.
func (t *teller) special(x *explore.TraceStep, kind int) Step {
	s := t.sys
	p := s.procs[x.Proc]
	before := shortState(p.role, p.unpack(x.Before).value)
	after := before
	if x.Fault == nil { // a step that ends in an error leads nowhere
		after = shortState(p.role, p.unpack(x.After).value)
	}
	step := Step{Instance: p.inst.Name, Kind: specialNames[kind], State: before, Changes: t.changes(p, x)}
	cs := graph.ChartStep{Who: x.Proc, State: after}
	switch kind {
	case noteCrash:
		step.Event = "crashes"
	case noteRestart:
		step.Event = "begins again"
		if step.State != after {
			step.State += " → " + after
		}
	case noteBeat:
		step.Event = "feels the beat"
	case noteDrop:
		step.Event = s.messageText(x.Msg)
		step.Effects = []string{"drops it"}
		if len(s.procs) > 2 {
			step.From = s.procs[s.System.Channels[x.Channel].From].inst.Name
		}
		cs.Receives = t.remove(x.Channel, string(x.Msg))
	}
	if kind != noteDrop {
		cs.Notes = []string{step.Event}
	}
	t.chart.Steps = append(t.chart.Steps, cs)
	return step
}

// changes are those of the configuration: what a reduction forgets does not change in it. A step that is an error
// changes nothing.
func (t *teller) changes(p *process, x *explore.TraceStep) []interp.Change {
	if x.After == nil {
		return nil
	}
	before := slices.Clone(p.unpack(x.Before).value) // both are unpacked into the same place
	return interp.Changes(t.sys.strs, p.role, before, p.unpack(x.After).value)
}

var eventKinds = map[model.EventKind]string{
	model.EventStart: "start", model.EventMessage: "message", model.EventCommand: "command", model.EventTimer: "timer",
	model.EventUp: "up", model.EventLost: "link",
}

// replay gives the event to the machine again and fills in what it did.
func (t *teller) replay(p *process, before interp.Value, ev interp.Event, x *explore.TraceStep, step *Step, cs *graph.ChartStep) {
	s := t.sys
	next, effects, res, fault := p.m.Step(before, ev)
	if x.Fault != nil || fault != nil { // a step happens as a whole or not at all
		next, effects = before, nil
	}
	step.State = stateChange(p.role, before, next)
	cs.State = shortState(p.role, next)
	if res.Transition != fsm.NoTransition {
		tr := p.role.Transitions[res.Transition]
		step.Transition, step.Where = tr.Name, place(tr.Span)
	}
	if fault != nil && !fault.Span.IsZero() {
		step.Where = place(fault.Span)
	}
	if res.Code == fsm.Ignored {
		step.Effects = append(step.Effects, "ignores it")
	}
	cs.Where = step.Where
	room := slices.Clone(x.Sends)
	for i := range effects {
		e := &effects[i]
		text := s.effectText(p, e)
		step.Effects = append(step.Effects, text)
		if e.Kind != fsm.Send {
			cs.Notes = append(cs.Notes, text)
			continue
		}
		to, _ := s.receivers(p.inst.Index, e)
		for _, k := range to {
			t.ids++
			msg := string(packMessage(e.Message, e.Slots))
			ch := s.channel(p.inst.Index, k)
			if s.Check.Channel.Full == model.FullLose && x.Fault == nil && !found(&room, ch, msg) {
				step.Effects = append(step.Effects, "which is lost: "+s.System.Channels[ch].Name+" is full")
				t.ids--
				cs.Notes = append(cs.Notes, "✗ "+s.messageText([]byte(msg))+" is lost: "+s.System.Channels[ch].Name+" is full")
				continue
			}
			t.flying[ch] = append(t.flying[ch], flying{t.ids, msg})
			cs.Sends = append(cs.Sends, graph.ChartMessage{ID: t.ids, To: k, Text: s.messageText([]byte(msg))})
		}
	}
}

func (t *teller) find(ch int, msg string) int {
	for _, f := range t.flying[ch] {
		if f.msg == msg {
			return f.id
		}
	}
	return 0
}

func (t *teller) remove(ch int, msg string) int {
	for i, f := range t.flying[ch] {
		if f.msg == msg {
			t.flying[ch] = append(t.flying[ch][:i], t.flying[ch][i+1:]...)
			return f.id
		}
	}
	return 0
}

// effectText says what an effect does: `sends CANCEL`, `reports changed{value: 2}`.
func (s *System) effectText(p *process, e *interp.Effect) string {
	words := strings.SplitN(string(interp.AppendEffect(nil, s.strs, e)), " ", 2)
	verb := words[0] + "s"
	switch {
	case e.Kind == fsm.Close:
		return "closes the link"
	case e.Kind != fsm.Send:
		return verb + " " + words[1]
	}
	text := "sends " + string(interp.AppendMessage(nil, s.strs, e.Message, e.Slots))
	if len(s.procs) == 2 {
		return text
	}
	to, why := s.receivers(p.inst.Index, e)
	if why != "" {
		return text
	}
	if len(to) > 1 {
		return text + " to all"
	}
	for _, k := range to {
		text += " to " + s.procs[k].inst.Name
	}
	return text
}

// stateChange renders the state, and those of parts that change: `localOk → done`,
// `setup (confirm localOk → done, update[1] settled → open)`.
func stateChange(m *model.Machine, a, b interp.Value) string {
	own := m.States[a[0]].Name
	if a[0] != b[0] {
		own += " → " + m.States[b[0]].Name
	}
	if parts := partChanges(m, a, b); len(parts) > 0 {
		own += " (" + strings.Join(parts, ", ") + ")"
	}
	return own
}

func partChanges(m *model.Machine, a, b interp.Value) []string {
	var out []string
	for _, p := range m.Parts {
		for i := range p.Count {
			at := p.Offset + i*p.Machine.Size
			x, y := a[at:at+p.Machine.Size], b[at:at+p.Machine.Size]
			name := interp.PartName(interp.At{Part: p, Index: i})
			if x[0] != y[0] {
				out = append(out, name+" "+p.Machine.States[x[0]].Name+" → "+p.Machine.States[y[0]].Name)
			}
			for _, c := range partChanges(p.Machine, x, y) {
				out = append(out, name+"."+c)
			}
		}
	}
	return out
}

// place is the base name of the file and the line, so that texts do not depend
// on where the reader stands.
func place(sp diag.Span) string {
	if sp.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(sp.File), sp.Start.Line)
}

// configuration tells a configuration: the machines, then the channels.
func (s *System) configuration(c explore.Configuration) []string {
	var out []string
	for i, v := range c.Locals[:len(s.procs)] {
		l := s.procs[i].unpack(v)
		down := ""
		if l.get(s.procs[i].atDown) != 0 {
			down = "crashed in "
		}
		out = append(out, s.procs[i].inst.Name+": "+down+s.machineText(s.procs[i], l.value))
	}
	return append(out, s.channelLines(c.Channels[:s.own])...)
}

// channelLines tells what is under way. Of many channels most are empty: those are told together.
func (s *System) channelLines(channels []explore.Word) []string {
	var all, full []string
	for k, w := range channels {
		text := "empty"
		if len(w) > 0 {
			texts := make([]string, len(w))
			for i, msg := range w {
				texts[i] = s.messageText(msg)
			}
			text = strings.Join(texts, ", ")
		}
		all = append(all, s.System.Channels[k].Name+": "+text)
		if len(w) > 0 {
			full = append(full, all[k])
		}
	}
	switch {
	case len(all)-len(full) <= 1:
		return all
	case len(full) == 0:
		return []string{"all channels are empty"}
	}
	return append(full, "all other channels are empty")
}

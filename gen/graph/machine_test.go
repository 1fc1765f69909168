package graph

import (
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// sketch builds models by hand, so that drawing is tested without the compiler.
type sketch struct {
	m      *model.Machine
	states map[string]*model.State
	events map[string]*model.Event
	line   int
}

// newSketch declares states, the first of them initial, a trailing * marking final ones.
func newSketch(name string, states ...string) *sketch {
	k := &sketch{m: &model.Machine{Name: "peer", Protocol: name, Doc: "A sketch for tests."},
		states: map[string]*model.State{}, events: map[string]*model.Event{}}
	for i, n := range states {
		s := &model.State{Name: strings.TrimSuffix(n, "*"), Index: i, Final: strings.HasSuffix(n, "*")}
		k.m.States = append(k.m.States, s)
		k.states[s.Name] = s
	}
	k.m.Initial = k.m.States[0]
	return k
}

// event finds or declares an event: UPPERCASE is a message, a.b a part's report, else a command.
func (k *sketch) event(name string) *model.Event {
	if e := k.events[name]; e != nil {
		return e
	}
	e := &model.Event{Name: name, Index: len(k.m.Events), Kind: model.EventCommand}
	switch {
	case strings.Contains(name, "."):
		e.Kind = model.EventReport
	case strings.ToUpper(name) == name:
		e.Kind, e.Message = model.EventMessage, &model.Message{Name: name}
	case name == "retry":
		e.Kind = model.EventTimer
	case name == "lost":
		e.Kind = model.EventLost
	}
	k.events[name] = e
	k.m.Events = append(k.m.Events, e)
	for _, s := range k.m.States {
		s.Handlers = append(s.Handlers, nil)
	}
	return e
}

// on adds a branch: in state from, event, guard ("" for none), statements, target ("" for none).
func (k *sketch) on(from, event, when, body, to string) {
	k.line++
	k.branch(from, event, when, body, to, k.line)
}

// common adds the same branch, from one line, to several states.
func (k *sketch) common(states []string, event, body, to string) {
	k.line++
	for _, s := range states {
		k.branch(s, event, "", body, to, k.line)
	}
}

func (k *sketch) branch(from, event, when, body, to string, lineNo int) {
	s, e := k.states[from], k.event(event)
	span := diag.Span{File: "sketch.yaml", Start: diag.Pos{Line: lineNo, Col: 1}}
	t := &model.Transition{ID: len(k.m.Transitions), Name: from + " " + event, From: s, Event: e,
		Body: k.body(body), To: k.states[to], Span: span}
	if when != "" {
		t.When = &model.LocalRef{Local: &model.Local{Name: when}}
	}
	k.m.Transitions = append(k.m.Transitions, t)
	if s.Handlers[e.Index] == nil {
		s.Handlers[e.Index] = &model.Handler{Event: e, Span: span}
	}
	h := s.Handlers[e.Index]
	h.Branches = append(h.Branches, t)
	switch body {
	case "ignore":
		h.Mode, t.Mode = model.Ignore, model.Ignore
	case "defer":
		h.Mode, t.Mode = model.Defer, model.Defer
	}
}

// body reads `send A, report b`.
func (k *sketch) body(text string) []model.Stmt {
	var list []model.Stmt
	for _, part := range strings.Split(text, ", ") {
		word, arg, _ := strings.Cut(part, " ")
		switch word {
		case "send":
			list = append(list, &model.Send{Message: &model.Message{Name: arg}})
		case "report":
			list = append(list, &model.ReportStmt{Report: &model.Report{Name: arg}})
		case "close":
			list = append(list, &model.Close{})
		}
	}
	return list
}

// confirmSketch is a machine of five states in which everything occurs.
func confirmSketch() *model.Machine {
	k := newSketch("confirm", "editing", "localOk", "remoteOk", "cancelWaiting", "committed*")
	k.on("editing", "confirm", "", "send CONFIRM1", "localOk")
	k.on("editing", "CONFIRM1", "", "", "remoteOk")
	k.on("editing", "change", "allowed", "send CHANGE", "")
	k.on("editing", "CHANGE", "", "report changed", "")
	k.on("localOk", "cancel", "", "send CANCEL", "cancelWaiting")
	k.on("localOk", "CONFIRM1", "", "send CONFIRM2", "committed")
	k.on("localOk", "CONFIRM2", "", "", "committed")
	k.on("localOk", "CHANGE", "stale", "report changed", "")
	k.on("localOk", "CHANGE", "", "send CANCEL, report changed", "cancelWaiting")
	k.on("remoteOk", "confirm", "", "send CONFIRM2, report a report with a long name, report done", "committed")
	k.on("remoteOk", "CANCEL", "", "send CANCELACK", "editing")
	k.on("remoteOk", "retry", "", "", "editing")
	k.on("cancelWaiting", "CANCELACK", "", "", "editing")
	k.on("cancelWaiting", "CONFIRM1", "", "ignore", "")
	k.on("cancelWaiting", "CHANGE", "", "defer", "")
	k.common([]string{"editing", "localOk", "remoteOk", "cancelWaiting"}, "PING", "send ACK", "")
	k.common([]string{"editing", "localOk", "remoteOk", "cancelWaiting"}, "lost", "close", "committed")
	return k.m
}

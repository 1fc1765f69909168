// Package lint finds what the language allows and the author hardly means: cases that guards leave
// out or cover twice, branches that are never taken, assignments that can leave their range,
// timers and messages that come to nothing, variables that begin below 0 though nobody said so, and
// what all checks together leave out. It is a function of the model alone and judges by trying
// values: for every warning it has an
// example, and where there are too many values it gives none. Start from [Protocol].
package lint

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Limits of one protocol.
const (
	maxValues  = 1 << 12 // values of one variable, and combinations tried for one handler
	maxSteps   = 1 << 9  // steps tried for one handler
	maxTrials  = 1 << 18 // evaluations for the whole protocol, turns of loops counted
	runCost    = 1 << 10 // what a part may do in a step, in evaluations
	maxSamples = 6       // values of a variable that has too many
)

// Protocol returns the warnings about a protocol's own roles, unsorted. Those of imports belong to
// the imported files. Their Line is empty.
func Protocol(p *model.Protocol) diag.List {
	l := newLinter(p)
	for _, m := range p.Roles {
		if !m.External { // who knows what else it does
			l.machine(m)
		}
	}
	l.deferringParts()
	l.neverSent()
	return l.List()
}

// Whole returns the warnings of [Protocol], and those about what all checks together leave out. A
// specification that is being written has few checks yet, so only who asks for all is told.
func Whole(p *model.Protocol) diag.List {
	l := newLinter(p)
	l.coverage()
	return append(Protocol(p), l.List()...)
}

func newLinter(p *model.Protocol) *linter {
	l := &linter{p: p, trials: maxTrials, said: map[said]bool{},
		codes: map[*model.Machine]*core.Machine{}}
	for _, m := range core.Machines(p.Roles...) {
		l.codes[m.Model] = m
	}
	return l
}

type linter struct {
	diag.Collector
	p      *model.Protocol
	trials int64 // left
	said   map[said]bool
	codes  map[*model.Machine]*core.Machine
}

// said is a finding. There is one for each place, since common handlers stand for several states.
type said struct {
	code string
	at   diag.Span
}

func (l *linter) warn(code string, at diag.Span, format string, args ...any) *diag.Diagnostic {
	if l.said[said{code, at}] {
		return &diag.Diagnostic{}
	}
	l.said[said{code, at}] = true
	return l.Warnf(code, at, format, args...)
}

func (l *linter) machine(m *model.Machine) {
	l.beginnings(m)
	strs := &interp.Strings{}
	args := make([][]int64, len(m.Params))
	for i, p := range m.Params {
		args[i] = make([]int64, p.Type.Slots())
		interp.Zero(p.Type, args[i])
	}
	v, err := interp.NewValue(m, strs, args...)
	if err != nil {
		return // a part cannot be created with these parameters
	}
	code := l.codes[m]
	for _, st := range m.States {
		for k, h := range st.Handlers {
			if h == nil || h.Mode != model.Handle || len(h.Branches) == 0 {
				continue
			}
			value := append(interp.Value(nil), v...)
			value[0] = int64(st.Index)
			t := &trial{l: l, code: code, st: st, h: h, guarded: code.States[st.Index].Handlers[k].Branches,
				strs: strs, v: value}
			t.guards()
			t.assignments()
		}
	}
	l.timers(code)
	l.deaf(code)
}

package system

import (
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/runtime/fsm"
)

// labelOf is the label of a step that was ignored or refused.
func (p *Process) labelOf(l codec.Local, res fsm.Result, ev interp.Event) uint32 {
	n := len(p.Role.Transitions)
	if res.Transition != fsm.NoTransition {
		return uint32(p.label + int(res.Transition))
	}
	if len(ev.At) > 0 {
		return uint32(p.label + n)
	}
	if res.Code == fsm.Refused {
		return uint32(p.label + n + len(p.Role.Events)*(1+int(l.Value[0])) + ev.Event.Index)
	}
	return uint32(p.label + n + ev.Event.Index)
}

// labelTaken is the label of the step just taken: that of its transition, or
// one for all transitions of the role that it took.
func (p *Process) labelTaken(ev interp.Event) uint32 {
	fired := p.Machine.Fired()
	switch {
	case len(fired) == 0 && len(ev.At) > 0:
		return uint32(p.label + len(p.Role.Transitions))
	case len(fired) == 0:
		return uint32(p.label + len(p.Role.Transitions) + ev.Event.Index)
	case len(fired) == 1:
		return uint32(p.label + fired[0].ID)
	}
	ids := make([]int, 0, 8)
	for _, t := range fired {
		ids = append(ids, t.ID)
	}
	return p.labelOfAll(ids)
}

// labelOfAll is the label of a step that takes several transitions.
func (p *Process) labelOfAll(ids []int) uint32 {
	key := append(make([]byte, 0, 16), byte(p.Inst.Index))
	for _, id := range ids {
		key = append(key, byte(id), byte(id>>8))
	}
	s := p.sys
	if l, ok := s.labels[string(key)]; ok {
		return l
	}
	if len(s.labels) == spareLabels {
		return uint32(p.label + ids[0])
	}
	l := uint32(s.spare + len(s.labels))
	s.labels[string(key)] = l
	s.Taken[l] = slices.Clone(ids)
	s.System.Labels[l].Name, s.System.Labels[l].Proc = p.Role.Transitions[ids[0]].Name, p.Inst.Index
	return l
}

// Meant is what a label of the process stands for: transitions of its role, or, where there are none, another
// place behind those. It says the same in another system of the check whose role has other transitions; see
// [Process.Meaning].
type Meant struct {
	Taken []int
	Other int
}

// Meant returns what a label stands for.
func (p *Process) Meant(label uint32) Meant {
	if taken := p.sys.Taken[label]; len(taken) > 0 {
		return Meant{Taken: taken}
	}
	return Meant{Other: int(label) - p.label - len(p.Role.Transitions)}
}

// Meaning returns the label that stands for something.
func (p *Process) Meaning(m Meant) uint32 {
	switch len(m.Taken) {
	case 0:
		return uint32(p.label + len(p.Role.Transitions) + m.Other)
	case 1:
		return uint32(p.label + m.Taken[0])
	}
	return p.labelOfAll(m.Taken)
}

package system

import (
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
	key := append(make([]byte, 0, 16), byte(p.Inst.Index))
	var ids []int
	for _, t := range fired {
		key = append(key, byte(t.ID), byte(t.ID>>8))
		ids = append(ids, t.ID)
	}
	s := p.sys
	if l, ok := s.labels[string(key)]; ok {
		return l
	}
	if len(s.labels) == spareLabels {
		return uint32(p.label + fired[0].ID)
	}
	l := uint32(s.spare + len(s.labels))
	s.labels[string(key)] = l
	s.Taken[l] = ids
	s.System.Labels[l].Name, s.System.Labels[l].Proc = fired[0].Name, p.Inst.Index
	return l
}

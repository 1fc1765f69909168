package system

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/cond"
)

// What the explorer may know for the reductions that leave out orders of steps.

// Deaf reports whether the machine takes no message at a local value: before its start.
func (p *Process) Deaf(b []byte) bool {
	return p.sys.Check.Faults == nil && !p.Inst.Comes() && p.sys.Check.Time == nil && !p.Unpack(b).Started
}

// private marks the channels into which only one machine sends and at whose length no step looks.
func (s *Machines) private() {
	if s.Check.Faults != nil || s.Check.Time != nil || s.Check.HasComers() ||
		slices.ContainsFunc(s.Check.Channels(), func(c model.Channel) bool { return c.Full == model.FullLose }) {
		return
	}
	for k := range s.System.Channels[:s.Own] {
		s.System.Channels[k].Private = true
	}
	looks := func(r *cond.Rule) {
		if r != nil {
			for _, k := range r.Watches() {
				s.System.Channels[k].Private = false
			}
		}
	}
	for _, p := range s.Procs {
		for i := range p.Commands {
			looks(p.Commands[i].Rule)
		}
		for i := range p.Timers {
			looks(p.Timers[i].Rule)
		}
	}
}

package check

import "github.com/parley-go/parley/gen/model"

// What the explorer may know for the reductions that leave out orders of steps.

// Deaf says whether the machine takes no message at a local value: before its start.
func (p *process) Deaf(b []byte) bool {
	return p.sys.Check.Faults == nil && p.sys.Check.Time == nil && !p.unpack(b).started
}

// private marks the channels into which only one machine sends and at whose length no step looks.
func (s *System) private() {
	if s.Check.Faults != nil || s.Check.Time != nil || s.Check.Channel.Full == model.FullLose {
		return
	}
	for k := range s.System.Channels[:s.own] {
		s.System.Channels[k].Private = true
	}
	looks := func(r *rule) {
		if r != nil {
			for _, d := range r.dims {
				s.System.Channels[d.channel].Private = false
			}
		}
	}
	for _, p := range s.procs {
		for i := range p.commands {
			looks(p.commands[i].rule)
		}
		for i := range p.timers {
			looks(p.timers[i].rule)
		}
	}
}

package system

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// special is the label of such a step.
func (p *Process) special(kind int) uint32 { return uint32(p.specials + kind) }

// Holds reports whether some role defers messages.
func (s *Machines) Holds() bool {
	return slices.ContainsFunc(s.Check.Instances, func(i *model.Instance) bool { return i.Role.Defers() })
}

// heldMessages lists what an instance holds at a local value.
func (s *Machines) heldMessages(i int, b []byte) [][]byte {
	if i >= len(s.Procs) {
		return nil
	}
	var out [][]byte
	for _, h := range s.Procs[i].Unpack(b).Held {
		out = append(out, []byte(h.Message))
	}
	return out
}

// isSpecial reports whether a label is of such a step, or of a machine that is no instance.
func (s *Machines) isSpecial(label uint32) bool {
	proc := s.System.Labels[label].Proc
	if proc < 0 {
		return false
	}
	if proc >= len(s.Procs) {
		return true
	}
	first := s.Procs[proc].specials
	return int(label) >= first && int(label) < first+NoteKinds
}

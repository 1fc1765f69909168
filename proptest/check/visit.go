package check

import (
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
)

// ForEachStep visits every local value of every instance that the search behind
// space reached, with every event that was looked at there: what the machine did by itself
// and the messages that could be delivered. Value and event hold only during the
// call. It stops when visit returns false.
func (s *System) ForEachStep(space explore.Space,
	visit func(inst *model.Instance, v interp.Value, ev interp.Event) bool) {
	space.ForEachLocal(func(use explore.LocalUse) bool {
		if use.Proc >= len(s.Procs) {
			return true
		}
		p := s.Procs[use.Proc]
		for _, step := range use.Steps {
			_, _, _, note := codec.Attacked(step.Note)
			if _, special := codec.SpecialNote(note); special {
				continue
			}
			if len(note) > 0 && !visit(p.Inst, p.Unpack(use.Value).Value, codec.UnpackNote(p.Role, note)) {
				return false
			}
		}
		for _, r := range use.Receptions {
			if _, news := codec.NewsOf(s.Protocol, r.Msg); news {
				continue
			}
			m, slots := codec.UnpackMessage(s.Protocol, r.Msg)
			ev := interp.Event{Event: p.Reception(m), Args: slots, Sender: s.System.Channels[r.Channel].From}
			if ev.Event != nil && !visit(p.Inst, p.Unpack(use.Value).Value, ev) {
				return false
			}
		}
		return true
	})
}

// Strings returns the table of the texts that occur in values and messages.
func (s *System) Strings() *interp.Strings { return s.Texts }

package check

import (
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
)

// ForEachStep visits every local value of every instance that the search behind
// space reached, with every event that the machine took or refused there: what it did by itself
// and the messages that were delivered, but for those that nobody hears because their link is closed.
// Value and event hold only during the call. It stops when visit returns false.
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
			if ev.Event != nil && hears(p, use.Value, r) && !visit(p.Inst, p.Unpack(use.Value).Value, ev) {
				return false
			}
		}
		return true
	})
}

// hears reports whether a process with a value is given a message that can be delivered to it.
func hears(p *system.Process, value []byte, r explore.Reception) (heard bool) {
	p.Receive(value, r.Channel, r.Msg, func(s explore.Step) {
		_, _, _, note := codec.Attacked(s.Note)
		_, special := codec.SpecialNote(note)
		heard = heard || len(note) > 0 && !special
	})
	return heard
}

// Strings returns the table of the texts that occur in values and messages.
func (s *System) Strings() *interp.Strings { return s.Texts }

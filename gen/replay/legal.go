package replay

import (
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Legal are the events that a machine takes at a place, by name.
type Legal struct {
	Messages []string // that it may receive
	Commands []string // that its program may give
	Others   []string // timers, and news of links
}

func legal(m *model.Machine, v interp.Value) (l Legal) {
	for _, ev := range interp.Legal(m, v) {
		switch ev.Kind {
		case model.EventMessage:
			l.Messages = append(l.Messages, ev.Name)
		case model.EventCommand:
			l.Commands = append(l.Commands, ev.Name)
		default:
			l.Others = append(l.Others, ev.Name)
		}
	}
	return l
}

// All returns the names of all events.
func (l Legal) All() []string { return slices.Concat(l.Messages, l.Commands, l.Others) }

// defers reports whether the control state of a machine's value defers an event.
func defers(m *model.Machine, v interp.Value, ev *model.Event) bool {
	h := m.States[v[0]].Handlers
	return ev != nil && ev.Index < len(h) && h[ev.Index] != nil && h[ev.Index].Mode == model.Defer
}

// ended reports whether a machine is in a final state that does nothing any more. Other final states still answer.
func ended(m *model.Machine, v interp.Value) bool {
	st := m.States[v[0]]
	answers := func(h *model.Handler) bool { return h != nil && h.Mode == model.Handle }
	return st.Final && !slices.ContainsFunc(st.Handlers, answers)
}

package stage

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// Monitor is a monitor of several instances, as runs of a check step it.
type Monitor struct {
	*model.Monitor
	// Begin is its value before it has heard anything.
	Begin   interp.Value
	machine *interp.Machine
}

// NewMonitor makes a monitor ready to run. Its texts are in a table that others use, too.
func NewMonitor(m *model.Monitor, strs *interp.Strings) (*Monitor, error) {
	code := core.Lower(m.Inst.Role)
	begin, err := interp.Begin(code, strs)
	if err != nil {
		return nil, err
	}
	return &Monitor{m, begin, interp.Run(code, strs)}, nil
}

// Hears lists what the monitor hears of a step that an instance has taken, in the order in which it happens: the
// command, and then the reports.
func (m *Monitor) Hears(who int, ev interp.Event, effects []interp.Effect) (list []interp.Event) {
	hear := func(args []int64, is func(*model.Hearing) bool) {
		for i := range m.Monitor.Hears {
			if h := &m.Monitor.Hears[i]; h.Instance == who && is(h) {
				list = append(list, interp.Event{Event: h.Event, Args: slices.Clone(args), Sender: who})
			}
		}
	}
	if ev.Event.Kind == model.EventCommand {
		hear(ev.Args, func(h *model.Hearing) bool { return h.Command == ev.Event })
	}
	for i := range effects {
		if e := &effects[i]; e.Kind == fsm.Report {
			hear(e.Slots, func(h *model.Hearing) bool { return h.Report == e.Report })
		}
	}
	return list
}

// After is the value of the monitor when it has heard all that, one after the other.
func (m *Monitor) After(v interp.Value, heard []interp.Event) interp.Value {
	v = slices.Clone(v)
	for _, ev := range heard {
		if next, _, res, _ := m.machine.Step(v, ev); res.Code == fsm.Took {
			v = slices.Clone(next)
		}
	}
	return v
}

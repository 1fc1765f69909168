package system

import (
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
)

// A monitor of several instances is a machine that takes no steps: a watch. What it hears of a step of an
// instance stands in the instance's local value until the watches have seen it, as a number of a list, and is
// then forgotten ([explore.System.Settle]). So nothing is told apart but what monitors remember.

// hearsay numbers what monitors hear of single steps.
type hearsay struct {
	lists [][]interp.Event // by number, of one monitor each; the first is empty
	ids   map[string]int64
}

// number gives a list its number, 0 for none.
func (h *hearsay) number(list []interp.Event) int64 {
	if len(list) == 0 {
		return 0
	}
	var key []byte
	for _, ev := range list {
		note := codec.PackNote(ev)
		key = append(codec.AppendSlots(key, []int64{int64(len(note))}), note...)
	}
	id, ok := h.ids[string(key)]
	if !ok {
		if h.ids == nil {
			h.ids, h.lists = map[string]int64{}, [][]interp.Event{nil}
		}
		id = int64(len(h.lists))
		h.ids[string(key)] = id
		h.lists = append(h.lists, list)
	}
	return id
}

// joint is a monitor as a machine of the explorer.
type joint struct {
	*stage.Monitor
	heard *hearsay
}

func (j *joint) Init() []byte                                    { return PackMonitor(j.Begin) }
func (j *joint) Final([]byte) bool                               { return true }
func (j *joint) Local([]byte, func(explore.Step))                {}
func (j *joint) Receive([]byte, int, []byte, func(explore.Step)) {}

// PackMonitor makes the local value of a monitor.
func PackMonitor(v interp.Value) []byte {
	l := codec.Local{Started: true, Value: v}
	return l.Pack()
}

// monitors prepares the monitors of the check, before its instances are laid out.
func (s *Machines) monitors() error {
	for _, m := range s.Check.Monitors {
		x, err := stage.NewMonitor(m, s.Texts)
		if err != nil {
			return err
		}
		s.Joint = append(s.Joint, x)
		s.heard = append(s.heard, &hearsay{})
	}
	return nil
}

// layMonitors makes room in an instance's local value for what monitors hear of its steps.
func (p *Process) layMonitors() {
	for _, m := range p.sys.Joint {
		at := -1
		if slices.ContainsFunc(m.Monitor.Hears, func(h model.Hearing) bool { return h.Instance == p.Inst.Index }) {
			at = p.bounded
			p.bounded++
		}
		p.atHearsay = append(p.atHearsay, at)
	}
}

// say puts what monitors hear of the last step of the machine into its local value.
func (p *Process) say(l *codec.Local) {
	for k, at := range p.atHearsay {
		if at >= 0 {
			l.Set(at, p.sys.heard[k].number(p.last.heard[k]))
		}
	}
}

// hear notes what monitors hear of a step of the machine.
func (p *Process) hear(effects []interp.Effect) {
	p.last.heard = p.last.heard[:0]
	for _, m := range p.sys.Joint {
		p.last.heard = append(p.last.heard, m.Hears(p.Inst.Index, p.last.ev, effects))
	}
}

// Settle is a local value of which monitors have heard what they hear of it.
func (s *Machines) Settle(proc int, b []byte) []byte {
	if proc >= len(s.Procs) {
		return b
	}
	p := s.Procs[proc]
	l := p.Unpack(b)
	for _, at := range p.atHearsay {
		l.Set(at, 0)
	}
	return l.Pack()
}

// addMonitors adds the machines of the monitors of several instances, behind the clock.
func (s *Machines) addMonitors() {
	s.Parts.MonitorsAt = len(s.System.Procs)
	for k, m := range s.Joint {
		j := &joint{m, s.heard[k]}
		w := explore.Watch{Proc: len(s.System.Procs)}
		for i, p := range s.Procs {
			var class func([]byte) uint32
			if at := p.atHearsay[k]; at >= 0 {
				class = func(b []byte) uint32 { return uint32(s.Procs[i].Unpack(b).Used[at]) }
			}
			w.Procs = append(w.Procs, class)
		}
		w.Next = func(b []byte, procs, _ []uint32) []byte {
			for _, said := range procs[:len(s.Procs)] { // one instance at most has taken the step
				if said != 0 {
					return PackMonitor(j.After(s.Monitored(k, b), j.heard.lists[said]))
				}
			}
			return b
		}
		s.System.Procs = append(s.System.Procs, j)
		s.System.ProcNames = append(s.System.ProcNames, m.Inst.Name)
		s.System.Watches = append(s.System.Watches, w)
		s.Parts.Layouts = append(s.Parts.Layouts, codec.NewLayout(0, m.Inst.Role.Size, -1))
	}
	if len(s.Joint) > 0 {
		s.System.Settle = s.Settle
	}
}

// Monitored is the value of a monitor at a local value of its machine. It lasts until the next call.
func (s *Machines) Monitored(k int, b []byte) interp.Value {
	return s.Parts.Layouts[len(s.Procs)+k].Unpack(b).Value
}

// Hearing brings the values of the monitors from what they were before a step of an instance, which led to a
// local value that is not settled, to what they are.
func (s *Machines) Hearing(values []interp.Value, proc int, after []byte) {
	if proc < 0 || proc >= len(s.Procs) || after == nil {
		return
	}
	p := s.Procs[proc]
	l := p.Unpack(after)
	for k, at := range p.atHearsay {
		if said := l.Get(at); said != 0 {
			values[k] = s.Joint[k].After(values[k], s.heard[k].lists[said])
		}
	}
}

// Beginnings are the values with which the monitors begin.
func (s *Machines) Beginnings() (list []interp.Value) {
	for _, m := range s.Joint {
		list = append(list, m.Begin)
	}
	return list
}

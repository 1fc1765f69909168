package check

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/system"
)

// maxFull is how long the text of a machine may be, in bytes, to be shown whole.
const maxFull = 120

// machineText renders a machine; if that is long, only what differs from its
// beginning, and … for the rest.
func (s *System) machineText(p *system.Process, v interp.Value) string {
	full := string(interp.AppendMachine(nil, s.Texts, p.Role, v))
	if len(full) <= maxFull {
		return full
	}
	return s.difference(p.Role, v, p.Initial)
}

// difference renders a machine's state and what differs from init.
func (s *System) difference(m *model.Machine, v, init interp.Value) string {
	var members []string
	for _, d := range m.Vars {
		end := d.Offset + d.Type.Slots()
		if !slices.Equal(v[d.Offset:end], init[d.Offset:end]) {
			members = append(members, d.Name+": "+string(interp.AppendValue(nil, s.Texts, d.Type, v[d.Offset:end])))
		}
	}
	for _, t := range m.Timers {
		for i := range t.Count {
			if v[t.Offset+i] != 0 {
				members = append(members, interp.TimerName(t, i)+": true")
			}
		}
	}
	for _, part := range m.Parts {
		for i := range part.Count {
			at := part.Offset + i*part.Machine.Size
			a, b := v[at:at+part.Machine.Size], init[at:at+part.Machine.Size]
			if !slices.Equal(a, b) {
				members = append(members, interp.PartName(interp.At{Part: part, Index: i})+": "+
					s.difference(part.Machine, a, b))
			}
		}
	}
	if len(m.Params)+len(m.Vars)+len(m.Timers)+len(m.Parts) == 0 {
		return m.States[v[0]].Name
	}
	return m.States[v[0]].Name + "{" + strings.Join(append(members, "…"), ", ") + "}"
}

// shortState is the control state with those of parts that are not in their initial state.
func shortState(m *model.Machine, v interp.Value) string {
	text := m.States[v[0]].Name
	if parts := partStates(m, v, ""); len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

func partStates(m *model.Machine, v interp.Value, prefix string) []string {
	var out []string
	for _, p := range m.Parts {
		for i := range p.Count {
			at := p.Offset + i*p.Machine.Size
			sub := v[at : at+p.Machine.Size]
			name := prefix + interp.PartName(interp.At{Part: p, Index: i})
			if st := p.Machine.States[sub[0]]; st != p.Machine.Initial {
				out = append(out, name+" "+st.Name)
			}
			out = append(out, partStates(p.Machine, sub, name+".")...)
		}
	}
	return out
}

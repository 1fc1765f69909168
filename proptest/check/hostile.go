package check

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/world"
)

// hostileWords say what hostile instances do, and what of it was left out.
func (s *System) hostileWords() (out []string) {
	linked := false
	for i, inst := range s.Check.Instances {
		if !inst.IsHostile() {
			continue
		}
		text := inst.Name + " is hostile: it sends any message of the protocol at any moment, or none"
		if inst.Hostile == model.Malformed {
			text += ", and what is no message"
		}
		if s.Rules.Peers(i) != 0 {
			linked = true
			if !slices.ContainsFunc(s.Rules.Links, func(l world.Link) bool { return l.Datagrams }) {
				text += "; it closes its links at any moment"
			}
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return nil
	}
	after := "is dropped"
	if linked {
		after = "closes the link between them"
	}
	out = append(out, "what a hostile instance sends and the other refuses "+after)
	for _, p := range s.Procs {
		for _, a := range p.Attacks {
			for _, left := range a.Left {
				text := "of all values, " + s.Procs[a.From].Inst.Name + " sends " + left
				if !slices.Contains(out, text) {
					out = append(out, text)
				}
			}
		}
	}
	return out
}

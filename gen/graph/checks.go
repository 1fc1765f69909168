package graph

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// Meets is what may happen to the instances of a role in some checks, or to those that they talk to.
type Meets struct {
	What   string // in words
	Checks []string
}

// ChecksOf says what the checks of a protocol have happen to a role beside what its states say: faults, parties
// that come and go, somebody hostile in its place or opposite, and monitors.
func ChecksOf(p *model.Protocol, m *model.Machine) (list []Meets) {
	add := func(what string, c *model.Check) {
		i := slices.IndexFunc(list, func(x Meets) bool { return x.What == what })
		if i < 0 {
			list = append(list, Meets{What: what})
			i = len(list) - 1
		}
		if !slices.Contains(list[i].Checks, c.Name) {
			list[i].Checks = append(list[i].Checks, c.Name)
		}
	}
	for _, c := range p.Checks {
		played := slices.ContainsFunc(c.Instances, func(i *model.Instance) bool {
			return plays(i, m) && !i.IsHostile()
		})
		for n, i := range c.Instances {
			switch {
			case !plays(i, m):
				if i.IsHostile() && played {
					add("a hostile "+i.Role.Name, c)
				}
				continue
			case i.IsHostile():
				add("somebody hostile in its place", c)
				continue
			case i.Comes():
				add("comes and goes", c)
			}
			for _, part := range i.Role.Parts {
				if part.Monitor {
					add("watched by "+part.Name, c)
				}
			}
			f := c.Faults
			if f == nil {
				continue
			}
			for _, x := range []struct {
				times int
				what  string
			}{{some(f.Crash, n), "crashes"}, {some(f.Restart, n), "begins again"}, {f.Break, "takes a link for dead"},
				{f.Partition, "is cut off"}} {
				if x.times > 0 {
					add(x.what, c)
				}
			}
		}
		for _, w := range c.Monitors {
			if slices.ContainsFunc(w.Hears, func(h model.Hearing) bool { return plays(c.Instances[h.Instance], m) }) {
				add("watched by "+w.Inst.Name, c)
			}
		}
	}
	return list
}

func some(list []int, n int) int {
	if n < len(list) {
		return list[n]
	}
	return 0
}

// plays reports whether an instance has a role. That of a check has monitors beside, so it is another machine.
func plays(i *model.Instance, m *model.Machine) bool {
	return i.Role.Name == m.Name && i.Role.Protocol == m.Protocol
}

// checksNote lists what checks have happen to a machine.
func checksNote(o Options) note {
	n := note{head: "in checks"}
	for _, x := range o.Checks {
		n.rows = append(n.rows, namesLines(x.What+":", x.Checks, o)...)
	}
	return n
}

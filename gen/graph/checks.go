package graph

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// meets is what may happen to the instances of a role in some checks, or to those that they talk to.
type meets struct {
	what   string // in words
	checks []string
}

// checksOf says what the checks of a protocol have happen to a role beside what its states say: faults, parties
// that come and go, somebody hostile in its place or opposite.
func checksOf(p *model.Protocol, m *model.Machine) (list []meets) {
	add := func(what string, c *model.Check) {
		i := slices.IndexFunc(list, func(x meets) bool { return x.what == what })
		if i < 0 {
			list = append(list, meets{what: what})
			i = len(list) - 1
		}
		if !slices.Contains(list[i].checks, c.Name) {
			list[i].checks = append(list[i].checks, c.Name)
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
func checksNote(p *model.Protocol, m *model.Machine, o Options) note {
	n := note{head: "in checks"}
	for _, x := range checksOf(p, m) {
		n.rows = append(n.rows, namesLines(x.what+":", x.checks, o)...)
	}
	return n
}

package system

import (
	"slices"

	"github.com/parley-go/parley/proptest/explore"
)

// reaching are the guards of those channels that do not come from a set of instances, or in which a partition
// holds nothing up: it holds up what is in a link, and time goes on.
func (s *Machines) reaching(guards []explore.LenRange, away uint64) []explore.LenRange {
	if away == 0 {
		return guards
	}
	from := func(g explore.LenRange) bool {
		ch := &s.Rules.Channels[g.Channel]
		return away>>ch.From&1 != 0 && s.Rules.HoldsUp(ch)
	}
	return slices.DeleteFunc(slices.Clone(guards), from)
}

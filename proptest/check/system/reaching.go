package system

import (
	"slices"

	"github.com/parley-go/parley/proptest/explore"
)

// reaching are the guards of those channels that do not come from a set of instances: a partition holds
// up what is in a link, and time goes on.
func reaching(guards []explore.LenRange, channels []explore.Channel, away uint64) []explore.LenRange {
	if away == 0 {
		return guards
	}
	from := func(g explore.LenRange) bool { return away>>channels[g.Channel].From&1 != 0 }
	return slices.DeleteFunc(slices.Clone(guards), from)
}

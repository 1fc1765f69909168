package tables

import "github.com/parley-go/parley/proptest/explore/internal/api"

// tallyKey is a label with a step's tally.
type tallyKey struct{ Label, Tally uint32 }

// tallies number what steps are counted under besides their labels.
type tallies struct {
	ids  map[tallyKey]uint32
	Keys []tallyKey
}

// counted is where a step is counted: by its label, or behind all labels if it has a tally.
func (e *Engine) counted(label, tally uint32) uint32 {
	if tally == 0 {
		return label
	}
	key := tallyKey{label, tally}
	id, ok := e.Tallies.ids[key]
	if !ok {
		if e.Tallies.ids == nil {
			e.Tallies.ids = map[tallyKey]uint32{}
		}
		id = uint32(len(e.Sys.Labels) + MoreCounts + len(e.Tallies.Keys))
		if id > api.MaxLabel {
			return label
		}
		e.Tallies.ids[key] = id
		e.Tallies.Keys = append(e.Tallies.Keys, key)
	}
	return id
}

// LabelOf is the label of what is counted at count.
func (e *Engine) LabelOf(count uint32) int {
	if i := int(count) - len(e.Sys.Labels) - MoreCounts; i >= 0 {
		return int(e.Tallies.Keys[i].Label)
	}
	return int(count)
}

// Room makes counts long enough for all tallies there are.
func (e *Engine) Room(counts []uint64) []uint64 {
	if n := len(e.Sys.Labels) + MoreCounts + len(e.Tallies.Keys); len(counts) < n {
		counts = append(counts, make([]uint64, n-len(counts))...)
	}
	return counts
}

// What counts has after the labels.
const (
	LostCount = iota
	SwapCount
	DupCount
	MoreCounts
)

package replay

import (
	"slices"

	"github.com/parley-go/parley/runtime/world"
)

// maxRepeat is the number of steps that are run again to find out whether a step before them was needed.
const maxRepeat = 1000

// shorten leaves out steps that nobody sees and that no later step needs. The search tries commands that
// send nothing, in case something depends on them, and keeps the first run that it finds. The result is
// a run with the same frames. free says that it may end with other values.
func (s *search) shorten(way []node, free bool) []node {
	for i := len(way) - 1; i > 0; i-- {
		if a, b := &way[i-1], &way[i]; a.read != b.read || a.sent != b.sent || a.end.Up != b.end.Up ||
			b.move.kind == world.MoveOffer {
			continue
		}
		if rest, ok := s.without(way, i, free); ok {
			way = rest
		}
	}
	return way
}

// without returns the way without step i, if the later steps do the same without it: until the machine has
// a value that it had before, or to the end.
func (s *search) without(way []node, i int, free bool) ([]node, bool) {
	at := way[i-1]
	var redone []node
	for j := i + 1; j < len(way) && j-i < maxRepeat; j++ {
		n, ok := s.take(&at, way[j].move)
		if !ok || n.sent != way[j].sent {
			return nil, false
		}
		n.value = slices.Clone(n.value)
		redone = append(redone, n)
		if n.value.Equal(way[j].value) && slices.Equal(n.end.Held, way[j].end.Held) || free && j == len(way)-1 {
			return slices.Concat(way[:i], redone, way[j+1:]), true
		}
		at = n
	}
	return way[:i], free && i == len(way)-1
}

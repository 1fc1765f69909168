package after

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// ranksOf orders the nodes by what they hold, so that reports do not depend on
// the order of the search. What a field can hold is put in order once; a node is
// then some words of places in those orders.
func ranksOf(s *search.Search, g *liveGraph) []int32 {
	e := s.Engine
	places := make([][]uint32, e.Fields())
	width := make([]int, e.Fields())
	words, room := 0, 0
	for at, n := range e.Counts() {
		places[at] = placesOf(e, at, n)
		width[at] = bits.Len(uint(n))
		if room -= width[at]; room < 0 {
			words, room = words+1, 64-width[at]
		}
	}
	keys := make([]uint64, 0, g.n*words)
	ids := make([]uint32, e.Fields())
	for v := range int32(g.n) {
		e.Lay.Unpack(g.conf(v), ids)
		room = 0
		for at, id := range ids {
			if room -= width[at]; room < 0 {
				keys, room = append(keys, 0), 64-width[at]
			}
			keys[len(keys)-1] |= uint64(places[at][id]) << room
		}
	}
	order := make([]int32, g.n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if words == 1 {
			return cmp.Compare(keys[a], keys[b])
		}
		return slices.Compare(keys[int(a)*words:][:words], keys[int(b)*words:][:words])
	})
	ranks := make([]int32, g.n)
	for r, v := range order {
		ranks[v] = int32(r)
	}
	return ranks
}

// placesOf gives the n numbers of a field their places in the order of what they stand for.
func placesOf(e *tables.Engine, at, n int) []uint32 {
	order := make([]uint32, n)
	for id := range order {
		order[id] = uint32(id)
	}
	slices.SortFunc(order, func(a, b uint32) int { return e.CompareField(at, a, b) })
	out := make([]uint32, n)
	for place, id := range order {
		out[id] = uint32(place)
	}
	return out
}

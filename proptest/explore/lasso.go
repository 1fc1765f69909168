package explore

import (
	"fmt"
	"slices"
)

// lasso reports how claim i fails: the nearest trigger from which a run can
// come to a bad component, the way there, and a loop in it that is fair.
func (s *search) lasso(i int, g *liveGraph, bad []int32, components [][]int32) {
	e := s.e
	ranks := s.ranks(g)
	reach := g.backward(bad)
	best := int32(-1)
	for v := range g.nodes {
		if g.source[v] < 0 || !reach[v] {
			continue
		}
		if best < 0 || g.source[v] < g.source[best] || g.source[v] == g.source[best] && ranks[v] < ranks[best] {
			best = int32(v)
		}
	}
	if best < 0 {
		return
	}
	stem := g.path(best, ranks, nil, func(v int32) bool { return bad[v] != 0 })
	end := stem[len(stem)-1]
	f := finding{key: findKey{what: foundClaim, claim: i}, c: g.nodes[best], depth: int(g.source[best])}
	for k := 1; k < len(stem); k++ {
		f.stem = append(f.stem, e.stepBetween(g.nodes[stem[k-1]], g.nodes[stem[k]]))
	}
	name := e.sys.Claims[i].Name
	f.text = fmt.Sprintf("nothing more has to happen here, and %q never holds", name)
	if !g.stopped[end] {
		f.text = fmt.Sprintf("the loop can go on for ever, and %q never holds", name)
		f.loop = s.loop(g, end, components[bad[end]], ranks, e.sys.Claims[i].Fair)
	}
	f.end = g.nodes[end]
	s.finds = append(s.finds, f)
}

// ranks orders the nodes by what they hold, so that reports do not depend on
// the order of the search.
func (s *search) ranks(g *liveGraph) []int32 {
	order := make([]int32, len(g.nodes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return s.e.compare(g.nodes[a], g.nodes[b]) })
	ranks := make([]int32, len(order))
	for r, v := range order {
		ranks[v] = int32(r)
	}
	return ranks
}

// backward marks the nodes from which a bad one can be reached.
func (g *liveGraph) backward(bad []int32) []bool {
	reach := make([]bool, len(g.nodes))
	for v := range reach {
		reach[v] = bad[v] != 0
	}
	for changed := true; changed; {
		changed = false
		for v := len(g.nodes) - 1; v >= 0; v-- {
			if reach[v] {
				continue
			}
			for _, e := range g.edges[g.first[v]:g.first[v+1]] {
				if e.to >= 0 && reach[e.to] {
					reach[v], changed = true, true
					break
				}
			}
		}
	}
	return reach
}

// path gives a shortest way from one node to another that is wanted, inside
// the nodes of within (nil: all), the least by rank among equally short ones.
func (g *liveGraph) path(from int32, ranks []int32, within map[int32]bool, want func(int32) bool) []int32 {
	if want(from) {
		return []int32{from}
	}
	before := map[int32]int32{from: -1}
	layer := []int32{from}
	for len(layer) > 0 {
		var next []int32
		for _, v := range layer {
			for _, e := range g.edges[g.first[v]:g.first[v+1]] {
				if _, ok := before[e.to]; e.to < 0 || ok || within != nil && !within[e.to] {
					continue
				}
				before[e.to] = v
				next = append(next, e.to)
			}
		}
		slices.SortFunc(next, func(a, b int32) int { return int(ranks[a] - ranks[b]) })
		for _, v := range next {
			if want(v) {
				return g.way(before, v)
			}
		}
		layer = next
	}
	return []int32{from}
}

func (g *liveGraph) way(before map[int32]int32, v int32) []int32 {
	var out []int32
	for ; v >= 0; v = before[v] {
		out = append(out, v)
	}
	slices.Reverse(out)
	return out
}

// loop goes from a node of a component through a step of every unit taken in
// it and a configuration where each other unit is not possible, and back.
func (s *search) loop(g *liveGraph, from int32, c []int32, ranks []int32, fair Fairness) []TraceStep {
	within := map[int32]bool{}
	for _, v := range c {
		within[v] = true
	}
	nodes := slices.Clone(c)
	slices.SortFunc(nodes, func(a, b int32) int { return int(ranks[a] - ranks[b]) })
	way := []int32{from}
	visit := func(v int32) {
		p := g.path(way[len(way)-1], ranks, within, func(x int32) bool { return x == v })
		way = append(way, p[1:]...)
	}
	for u := range int32(g.units) {
		if fair == Unfair || g.covers(way, u) {
			continue
		}
		if v, to := g.where(nodes, within, u); to >= 0 {
			visit(v)
			way = append(way, to)
		} else if v >= 0 {
			visit(v)
		}
	}
	if len(way) == 1 { // no unit matters: any step inside will do
		for _, e := range g.edges[g.first[from]:g.first[from+1]] {
			if within[e.to] && (len(way) == 1 || ranks[e.to] < ranks[way[1]]) {
				way = append(way[:1], e.to)
			}
		}
	}
	visit(from)
	var steps []TraceStep
	for k := 1; k < len(way); k++ {
		steps = append(steps, s.e.stepBetween(g.nodes[way[k-1]], g.nodes[way[k]]))
	}
	return steps
}

// covers says whether a way takes a step of unit u or passes a node where none
// is possible.
func (g *liveGraph) covers(way []int32, u int32) bool {
	for i, v := range way {
		possible := false
		for _, e := range g.edges[g.first[v]:g.first[v+1]] {
			possible = possible || e.unit == u
			if e.unit == u && i+1 < len(way) && e.to == way[i+1] {
				return true
			}
		}
		if !possible {
			return true
		}
	}
	return false
}

// where gives the first of nodes with a step of unit u that stays within, and
// where that leads; else the first without any such step, and -1.
func (g *liveGraph) where(nodes []int32, within map[int32]bool, u int32) (v, to int32) {
	without := int32(-1)
	for _, v := range nodes {
		possible := false
		for _, e := range g.edges[g.first[v]:g.first[v+1]] {
			possible = possible || e.unit == u
			if e.unit == u && within[e.to] {
				return v, e.to
			}
		}
		if !possible && without < 0 {
			without = v
		}
	}
	return without, -1
}

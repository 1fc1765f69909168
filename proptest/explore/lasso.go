package explore

import (
	"fmt"
	"slices"
)

// lasso reports how claim i fails: the nearest trigger from which a run can
// come to a bad component, the way there, and a loop in it that is fair.
func (s *search) lasso(i int, g *liveGraph, bad []int32, components [][]int32) {
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
	f.stem = s.steps(g, g.hops(stem))
	name := s.e.sys.Claims[i].Name
	f.text = fmt.Sprintf("nothing more has to happen here, and %q never holds", name)
	if !g.stopped[end] {
		f.text = fmt.Sprintf("the loop can go on for ever, and %q never holds", name)
		f.loop = s.loop(g, end, components[bad[end]], ranks, s.e.sys.Claims[i].Fair)
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

// hop is one step of a way: where it leads, and what it is for fairness. The first of a
// way is where it begins.
type hop struct{ to, unit int32 }

// hops gives a way from node to node the first step to each.
func (g *liveGraph) hops(nodes []int32) []hop {
	way := []hop{{nodes[0], -1}}
	for k, v := range nodes[1:] {
		edges := g.edges[g.first[nodes[k]]:g.first[nodes[k]+1]]
		at := slices.IndexFunc(edges, func(e liveEdge) bool { return e.to == v })
		way = append(way, hop{v, edges[at].unit})
	}
	return way
}

// steps renders a way.
func (s *search) steps(g *liveGraph, way []hop) []TraceStep {
	var out []TraceStep
	for k := 1; k < len(way); k++ {
		to := s.e.unpack(g.nodes[way[k].to])
		out = append(out, s.e.stepWhere(s.e.unpack(g.nodes[way[k-1].to]), func(m *move) bool {
			return g.counts(m) && s.e.unit(m) == way[k].unit && slices.Equal(m.next, to)
		}))
	}
	return out
}

// loop goes from a node of a component around in it and back, until it is fair to every unit.
func (s *search) loop(g *liveGraph, from int32, c []int32, ranks []int32, fair Fairness) []TraceStep {
	within := map[int32]bool{}
	for _, v := range c {
		within[v] = true
	}
	nodes := slices.Clone(c)
	slices.SortFunc(nodes, func(a, b int32) int { return int(ranks[a] - ranks[b]) })
	way := []hop{{from, -1}}
	visit := func(v int32) {
		p := g.path(way[len(way)-1].to, ranks, within, func(x int32) bool { return x == v })
		way = append(way, g.hops(p)[1:]...)
	}
	for again := true; again; {
		again = false
		for u := range int32(g.units) {
			if g.fairTo(way, u, fair) {
				continue
			}
			again = true
			v, to := g.where(nodes, within, u)
			visit(v)
			if to >= 0 {
				way = append(way, hop{to, u})
			}
		}
		if len(way) == 1 { // no unit matters: any step inside will do
			best := int32(-1)
			for _, e := range g.edges[g.first[from]:g.first[from+1]] {
				if within[e.to] && (best < 0 || ranks[e.to] < ranks[best]) {
					best = e.to
				}
			}
			way = append(way, g.hops([]int32{from, best})[1:]...)
			again = true
		}
		visit(from)
	}
	return s.steps(g, way)
}

// fairTo says whether going round a way for ever is fair to unit u: it is taken, or,
// if fairness is strong, nowhere possible, or, if it is weak, somewhere not possible.
func (g *liveGraph) fairTo(way []hop, u int32, fair Fairness) bool {
	if fair == Unfair {
		return true
	}
	possible := 0
	for i, h := range way {
		if i > 0 && h.unit == u {
			return true
		}
		if slices.ContainsFunc(g.edges[g.first[h.to]:g.first[h.to+1]], func(e liveEdge) bool { return e.unit == u }) {
			possible++
		}
	}
	return possible == 0 || fair == Weak && possible < len(way)
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

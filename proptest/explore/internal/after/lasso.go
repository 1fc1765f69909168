package after

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// lasso reports how claim i fails, as a lasso: the nearest trigger from which a run can
// come to a bad component, the way there, and a loop in it that is fair.
// It reports whether there is a way.
func lasso(s *search.Search, i int, g *liveGraph, bad []int32, components [][]int32, cut bool) bool {
	r := &route{g: g, ranks: ranksOf(s, g), before: make([]int32, g.n)}
	reach := g.backward(bad)
	best := int32(-1)
	for v := range int32(g.n) {
		if g.source[v] < 0 || !reach[v] {
			continue
		}
		if best < 0 || g.source[v] < g.source[best] || g.source[v] == g.source[best] && r.ranks[v] < r.ranks[best] {
			best = v
		}
	}
	if best < 0 {
		return false
	}
	stem := r.path(best, func(v int32) bool { return bad[v] != 0 })
	end := stem[len(stem)-1]
	f := search.Finding{Key: search.FindKey{What: search.FoundClaim, Claim: i}, Conf: g.conf(best),
		Depth: int(g.source[best]), Cut: cut}
	f.Stem = stepsOf(s, g, g.hops(stem))
	name := s.Engine.Sys.Claims[i].Name
	f.Text = fmt.Sprintf("nothing more has to happen here, and %q never holds", name)
	if !g.stopped[end] {
		f.Text = fmt.Sprintf("the loop can go on for ever, and %q never holds", name)
		f.Loop = fairLoop(s, r, end, components[bad[end]], s.Engine.Sys.Claims[i].Fair)
	}
	f.End = g.conf(end)
	s.Finds = append(s.Finds, f)
	return true
}

// backward marks the nodes from which a bad one can be reached.
func (g *liveGraph) backward(bad []int32) []bool {
	reach := make([]bool, g.n)
	for v := range reach {
		reach[v] = bad[v] != 0
	}
	for changed := true; changed; {
		changed = false
		for v := int32(g.n) - 1; v >= 0; v-- {
			if reach[v] {
				continue
			}
			for _, e := range g.out(v) {
				if e.to >= 0 && reach[e.to] {
					reach[v], changed = true, true
					break
				}
			}
		}
	}
	return reach
}

// route finds shortest ways in a graph.
type route struct {
	g     *liveGraph
	ranks []int32
	// inside: only nodes that memory.in says are in the loop
	inside bool
	before []int32 // by node: the one before it plus 2, 1 for the first, 0 if not met; all 0 between two ways
}

// inLoop marks the nodes of the loop in memory.in.
const inLoop = -1

// path gives a shortest way from a node to one that is wanted, the least by rank among equally
// short ones; nil if there is none.
func (r *route) path(from int32, want func(int32) bool) (way []int32) {
	met := []int32{from}
	r.before[from] = 1
	end := int32(-1)
	if want(from) {
		end = from
	}
	for done := 0; end < 0 && done < len(met); {
		layer := met[done:]
		done = len(met)
		for _, v := range layer {
			for _, e := range r.g.out(v) {
				if e.to >= 0 && r.before[e.to] == 0 && (!r.inside || r.g.memory.in[e.to] == inLoop) {
					r.before[e.to] = v + 2
					met = append(met, e.to)
				}
			}
		}
		next := met[done:]
		slices.SortFunc(next, func(a, b int32) int { return int(r.ranks[a] - r.ranks[b]) })
		if k := slices.IndexFunc(next, want); k >= 0 {
			end = next[k]
		}
	}
	for v := end; v >= 0; v = r.before[v] - 2 {
		way = append(way, v)
	}
	slices.Reverse(way)
	for _, v := range met {
		r.before[v] = 0
	}
	return way
}

// hop is one step of a way: where it leads, and what it is for fairness. The first of a
// way is where it begins.
type hop struct{ to, unit int32 }

// hops gives a way from node to node the first step to each.
func (g *liveGraph) hops(nodes []int32) []hop {
	way := []hop{{nodes[0], -1}}
	for k, v := range nodes[1:] {
		edges := g.out(nodes[k])
		at := slices.IndexFunc(edges, func(e liveEdge) bool { return e.to == v })
		way = append(way, hop{v, edges[at].unit})
	}
	return way
}

// stepsOf renders a way.
func stepsOf(s *search.Search, g *liveGraph, way []hop) []api.TraceStep {
	var out []api.TraceStep
	for k := 1; k < len(way); k++ {
		to := s.Engine.Unpack(g.conf(way[k].to))
		out = append(out, s.Engine.StepWhere(s.Engine.Unpack(g.conf(way[k-1].to)), func(m *tables.Move) bool {
			return g.counts(m) && g.treated(s.Engine, m, way[k].unit) && slices.Equal(m.Next, to)
		}))
	}
	return out
}

// fairLoop goes from a node of component c around in it and back, until it is fair to every unit.
func fairLoop(s *search.Search, r *route, from int32, c []int32, fair api.Fairness) []api.TraceStep {
	g := r.g
	var units []int32
	for _, v := range c {
		g.memory.in[v] = inLoop
		for _, e := range g.out(v) {
			if e.unit >= 0 {
				units = append(units, e.unit)
			}
		}
	}
	slices.Sort(units)
	units = slices.Compact(units)
	r.inside = true
	way := []hop{{from, -1}}
	visit := func(want func(int32) bool) bool {
		p := r.path(way[len(way)-1].to, want)
		if p == nil {
			return false
		}
		way = append(way, g.hops(p)[1:]...)
		return true
	}
	for again := true; again; {
		again = false
		for _, u := range units {
			if g.fairTo(way, u, fair) {
				continue
			}
			again = true
			if visit(func(v int32) bool { return g.stays(v, u) >= 0 }) {
				way = append(way, hop{g.stays(way[len(way)-1].to, u), u})
			} else {
				visit(func(v int32) bool { return !g.possible(v, u) })
			}
		}
		if len(way) == 1 { // no unit matters: any step inside will do
			best := int32(-1)
			for _, e := range g.out(from) {
				if e.to >= 0 && g.memory.in[e.to] == inLoop && (best < 0 || r.ranks[e.to] < r.ranks[best]) {
					best = e.to
				}
			}
			way = append(way, g.hops([]int32{from, best})[1:]...)
			again = true
		}
		visit(func(v int32) bool { return v == from })
	}
	return stepsOf(s, g, way)
}

// fairTo reports whether going round a way for ever is fair to unit u: it is taken, or,
// if fairness is strong, nowhere possible, or, if it is weak, somewhere not possible.
func (g *liveGraph) fairTo(way []hop, u int32, fair api.Fairness) bool {
	if fair = g.fairness(int(u), fair); fair == api.Unfair {
		return true
	}
	possible := 0
	for i, h := range way {
		if i > 0 && h.unit == u {
			return true
		}
		if g.possible(h.to, u) {
			possible++
		}
	}
	return possible == 0 || fair == api.Weak && possible < len(way)
}

// stays gives where the first step of unit u from v leads that stays in the loop, -1 if there is none.
func (g *liveGraph) stays(v, u int32) int32 {
	for _, e := range g.out(v) {
		if e.unit == u && e.to >= 0 && g.memory.in[e.to] == inLoop {
			return e.to
		}
	}
	return -1
}

// possible reports whether v has a step of unit u.
func (g *liveGraph) possible(v, u int32) bool {
	return slices.ContainsFunc(g.out(v), func(e liveEdge) bool { return e.unit == u })
}

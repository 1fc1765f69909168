package explore

import (
	"fmt"
	"slices"
)

// liveGraph is the part of the reached set where a liveness claim could fail:
// the configurations without Eval that can be reached, without passing one
// with Eval, from where the claim is triggered.
type liveGraph struct {
	nodes   [][]uint64
	number  map[uint64]int32 // by slot of the visited set
	source  []int32          // depth of the trigger, -1 if not one
	edges   []liveEdge
	first   []int32 // by node: its first edge
	stopped []bool  // no step has to happen any more
	units   int
	// memory of components, by node
	index, low []int32
	onStack    []bool
	calm       bool
}

// liveEdge is one step. To is -1 if it leaves the graph, unit -1 if nothing is
// treated fairly by it.
type liveEdge struct{ to, unit int32 }

// leadsTo decides claim i.
func (s *search) leadsTo(i int) {
	g := s.liveGraph(i)
	if g == nil {
		s.halt(fmt.Sprintf("no memory to decide %q: it needs a graph of more than the memory limit", s.e.sys.Claims[i].Name))
		return
	}
	fair := s.e.sys.Claims[i].Fair
	bad := make([]int32, len(g.nodes)) // the component a run may stay in for ever, 0 if none
	components := [][]int32{nil}
	for v, stop := range g.stopped {
		if stop {
			components = append(components, []int32{int32(v)})
			bad[v] = int32(len(components) - 1)
		}
	}
	for _, c := range g.fairComponents(fair) {
		components = append(components, c)
		for _, v := range c {
			if bad[v] == 0 {
				bad[v] = int32(len(components) - 1)
			}
		}
	}
	if len(components) > 1 {
		s.lasso(i, g, bad, components)
	}
}

// liveGraph builds the graph of claim i; nil if it would be too large.
func (s *search) liveGraph(i int) *liveGraph {
	e := s.e
	claim := &e.sys.Claims[i]
	g := &liveGraph{number: map[uint64]int32{}, units: len(e.sys.Labels) + len(e.chans), calm: claim.Calm}
	ids := make([]uint32, e.fields())
	s.forEach(func(depth int, c []uint64) bool {
		if claim.Kind == Eventually && depth > 0 {
			return false
		}
		e.lay.unpack(c, ids)
		v := e.claimBits(i, ids)
		if v&heldBit == 0 && (claim.Relevant == nil || v&relevantBit != 0 || claim.Kind == Eventually) {
			slot, _ := e.visited.find(c)
			g.number[slot] = int32(len(g.nodes))
			g.nodes = append(g.nodes, c)
			g.source = append(g.source, int32(depth))
		}
		return true
	})
	next := make([]uint64, e.lay.stride)
	for v := 0; v < len(g.nodes); v++ {
		if most := e.opt.MaxBytes; most > 0 && v&1023 == 0 && e.bytes(s.total)+uint64(len(g.nodes))*80+uint64(len(g.edges))*8 > most || s.stop.Load() {
			return nil
		}
		g.first = append(g.first, int32(len(g.edges)))
		e.lay.unpack(g.nodes[v], ids)
		stopped := true
		e.moves(ids, func(m *move) bool {
			if !g.counts(m) {
				return true
			}
			unit := e.unit(m)
			stopped = stopped && unit < 0
			e.lay.pack(m.next, next)
			g.edges = append(g.edges, liveEdge{s.liveNode(g, i, next, m.next), unit})
			return true
		})
		g.stopped = append(g.stopped, stopped)
	}
	g.first = append(g.first, int32(len(g.edges)))
	return g
}

// liveNode gives the number of a configuration in g, -1 if Eval holds in it.
func (s *search) liveNode(g *liveGraph, i int, c []uint64, ids []uint32) int32 {
	e := s.e
	slot, ok := e.visited.find(c)
	if !ok {
		return -1
	}
	if n, ok := g.number[slot]; ok {
		return n
	}
	n := int32(-1)
	if e.claimBits(i, ids)&heldBit == 0 {
		n = int32(len(g.nodes))
		g.nodes = append(g.nodes, slices.Clone(c))
		g.source = append(g.source, -1)
	}
	g.number[slot] = n
	return n
}

// counts says whether a move is an edge of the graph.
func (g *liveGraph) counts(m *move) bool {
	return m.fault == nil && !(g.calm && m.kind == LocalStep && m.rule.flags&spontaneousFlag != 0)
}

// unit says what a move is for fairness: a label, a channel, or, if it need never happen, nothing.
func (e *engine) unit(m *move) int32 {
	switch {
	case m.rule == nil || m.kind == DupStep || m.kind == LocalStep && m.rule.flags&spontaneousFlag != 0:
		return -1
	case m.kind == LocalStep:
		return int32(m.rule.label)
	}
	return int32(len(e.sys.Labels) + m.ch)
}

// fairComponents gives the sets of nodes in which a fair run can stay for ever.
func (g *liveGraph) fairComponents(fair Fairness) [][]int32 {
	in := make([]int32, len(g.nodes)) // 0: in no set; else the set a node is in
	all := make([]int32, len(g.nodes))
	for i := range all {
		all[i], in[i] = int32(i), 1
	}
	set := int32(1)
	var out [][]int32
	work := [][]int32{all}
	for len(work) > 0 {
		nodes := work[len(work)-1]
		work = work[:len(work)-1]
		set++
		for _, v := range nodes {
			in[v] = set
		}
		for _, c := range g.components(nodes, in, set) {
			set++
			for _, v := range c {
				in[v] = set
			}
			if rest, ok := g.runFair(c, in, set, fair); ok {
				out = append(out, c)
			} else if len(rest) > 0 {
				work = append(work, rest)
			}
		}
	}
	return out
}

// runFair says whether a fair run can stay in component c (the nodes with in =
// set). If not, rest are the nodes to look at once more without the others.
func (g *liveGraph) runFair(c, in []int32, set int32, fair Fairness) (rest []int32, ok bool) {
	enabled, taken, last := make([]int, g.units), make([]bool, g.units), make([]int32, g.units)
	inner := false
	for n, v := range c {
		for _, e := range g.edges[g.first[v]:g.first[v+1]] {
			stays := e.to >= 0 && in[e.to] == set
			inner = inner || stays
			if e.unit < 0 {
				continue
			}
			if last[e.unit] != int32(n+1) {
				last[e.unit] = int32(n + 1)
				enabled[e.unit]++
			}
			taken[e.unit] = taken[e.unit] || stays
		}
	}
	if !inner || fair == Unfair {
		return nil, inner
	}
	starved := make([]bool, g.units)
	bad := false
	for u := range g.units {
		starved[u] = !taken[u] && (fair == Strong && enabled[u] > 0 || fair == Weak && enabled[u] == len(c))
		bad = bad || starved[u]
	}
	if !bad {
		return nil, true
	}
	if fair == Weak {
		return nil, false
	}
	for _, v := range c {
		if !slices.ContainsFunc(g.edges[g.first[v]:g.first[v+1]], func(e liveEdge) bool { return e.unit >= 0 && starved[e.unit] }) {
			rest = append(rest, v)
		}
	}
	return rest, false
}

// components gives the strongly connected components of the nodes with in =
// set, by Tarjan's algorithm without recursion.
func (g *liveGraph) components(nodes, in []int32, set int32) [][]int32 {
	var out [][]int32
	if g.index == nil {
		g.index, g.low, g.onStack = make([]int32, len(g.nodes)), make([]int32, len(g.nodes)), make([]bool, len(g.nodes))
	}
	index, low, onStack := g.index, g.low, g.onStack
	for _, v := range nodes {
		index[v] = 0
	}
	met := int32(0)
	var stack []int32
	type frame struct{ v, edge int32 }
	for _, root := range nodes {
		if index[root] != 0 {
			continue
		}
		calls := []frame{{root, g.first[root]}}
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			v := f.v
			if index[v] == 0 {
				met++
				index[v] = met
				low[v] = index[v]
				stack = append(stack, v)
				onStack[v] = true
			}
			if f.edge < g.first[v+1] {
				to := g.edges[f.edge].to
				f.edge++
				switch {
				case to < 0 || in[to] != set:
				case index[to] == 0:
					calls = append(calls, frame{to, g.first[to]})
				case onStack[to]:
					low[v] = min(low[v], index[to])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				u := calls[len(calls)-1].v
				low[u] = min(low[u], low[v])
			}
			if low[v] == index[v] {
				at := len(stack) - 1
				for stack[at] != v {
					at--
				}
				c := slices.Clone(stack[at:])
				for _, x := range c {
					onStack[x] = false
				}
				stack = stack[:at]
				out = append(out, c)
			}
		}
	}
	return out
}

package explore

import (
	"fmt"
	"slices"
)

// liveGraph is the part of the reached set where a liveness claim could fail:
// the configurations without Eval that can be reached, without passing one
// with Eval, from where the claim is triggered. Everything lies in few large
// pieces without pointers: there may be as many nodes as configurations.
type liveGraph struct {
	stride int
	n      int        // number of nodes
	confs  [][]uint64 // of the nodes, nodesInBlock in each block
	number []int32    // by slot of the visited set: node plus 1, 0 if not met yet, or outside
	source []int32    // depth of the trigger, -1 if not one
	edges  [][]liveEdge
	first  []uint32 // by node: where its edges begin in those of its block
	count  uint64   // of edges
	// stopped: no step has to happen any more
	stopped []bool
	units   int
	// fair says how each duty is treated; they are the last of the units
	fair   []Fairness
	calm   bool
	faults bool // are steps that leave the graph; otherwise none
	memory components
}

// liveEdge is one step. To is -1 if it leaves the graph, unit -1 if nothing is
// treated fairly by it.
type liveEdge struct{ to, unit int32 }

// outside marks a configuration in which Eval holds.
const outside = -1

// conf is the configuration of a node.
func (g *liveGraph) conf(v int32) []uint64 {
	at := int(v%nodesInBlock) * g.stride
	return g.confs[v/nodesInBlock][at : at+g.stride]
}

// out gives the steps from a node.
func (g *liveGraph) out(v int32) []liveEdge {
	b := g.edges[v/nodesInBlock]
	if v++; int(v) == g.n || v%nodesInBlock == 0 {
		return b[g.first[v-1]:]
	}
	return b[g.first[v-1]:g.first[v]]
}

// bytes is the memory of the graph, with what looking for components takes.
func (g *liveGraph) bytes() uint64 {
	return uint64(len(g.number))*4 + uint64(g.n)*uint64(8*g.stride+4+4+1+componentBytes) + g.count*8
}

// leadsTo decides claim i.
func (s *search) leadsTo(i int) {
	passes := s.passes()
	for _, faults := range passes {
		if s.leadsAstray(i, faults, len(passes) > 1 && !faults) || s.stop.Load() {
			return
		}
	}
}

// leadsAstray looks for a violation of claim i; with faults, these are steps out of the graph, which a run may have to take. cut is noted of what is found.
func (s *search) leadsAstray(i int, faults, cut bool) bool {
	g := s.liveGraph(i, faults)
	if g == nil {
		s.halt(fmt.Sprintf("no memory to decide %q: it needs a graph of more than the memory limit", s.e.sys.Claims[i].Name))
		return false
	}
	bad := make([]int32, g.n) // the component a run may stay in for ever, 0 if none
	components := [][]int32{nil}
	for v, stop := range g.stopped {
		if stop {
			components = append(components, []int32{int32(v)})
			bad[v] = int32(len(components) - 1)
		}
	}
	for _, c := range s.fairComponents(g, s.e.sys.Claims[i].Fair) {
		components = append(components, c)
		for _, v := range c {
			if bad[v] == 0 {
				bad[v] = int32(len(components) - 1)
			}
		}
	}
	return len(components) > 1 && !s.stop.Load() && s.lasso(i, g, bad, components, cut)
}

// liveGraph builds the graph of claim i; nil if it would be too large, or the search is to stop.
func (s *search) liveGraph(i int, faults bool) *liveGraph {
	e := s.e
	claim := &e.sys.Claims[i]
	g := &liveGraph{stride: e.lay.stride, units: len(e.sys.Labels) + len(e.chans) + len(e.sys.Duties), calm: claim.Calm, faults: faults}
	for i := range e.sys.Duties {
		g.fair = append(g.fair, e.sys.Duties[i].Fair)
	}
	if most := e.opt.MaxBytes; most > 0 && e.bytes(s.total)+e.visited.n*4 > most {
		return nil
	}
	g.number = make([]int32, e.visited.n)
	ids := make([]uint32, e.fields())
	s.forEach(func(depth int, c []uint64) bool {
		if claim.Kind == Eventually && depth > 0 {
			return false
		}
		e.lay.unpack(c, ids)
		v := e.claimBits(i, ids)
		if v&heldBit == 0 && (claim.Relevant == nil || v&relevantBit != 0 || claim.Kind == Eventually) {
			slot, _ := e.visited.find(c)
			g.number[slot] = g.add(c, int32(depth)) + 1
		}
		return true
	})
	b := liveBuilder{s: s, g: g, claim: i, ids: ids}
	for at := 0; at < g.n; {
		at = b.expand(at, min(g.n, at+liveBatch, (at/nodesInBlock+1)*nodesInBlock))
		size := e.bytes(s.total) + g.bytes() + uint64(cap(b.block))*8
		if most := e.opt.MaxBytes; most > 0 && size > most || s.stop.Load() {
			return nil
		}
		e.peak = max(e.peak, size)
	}
	return g
}

// add makes a node of c.
func (g *liveGraph) add(c []uint64, source int32) int32 {
	g.confs = appendBlock(g.confs, c)
	g.source = append(g.source, source)
	g.n++
	return int32(g.n - 1)
}

// liveBatch is how many nodes are expanded before where they lead is looked up: then many
// look-ups in memory are under way at once.
const liveBatch = 256

// liveBuilder follows the steps of nodes.
type liveBuilder struct {
	s     *search
	g     *liveGraph
	claim int
	ids   []uint32
	block []liveEdge // of the last block of nodes
	keys  []uint64   // by step: where it leads, then the slot of that
	units []int32    // by step
	gone  []bool     // by step: it is a fault, and leads nowhere
	ends  []int      // by node: its first step
	slots []uint64
	touch uint64 // keeps loads ahead of their use alive
}

// expand gives the nodes from at to end their edges.
func (b *liveBuilder) expand(at, end int) int {
	e, g := b.s.e, b.g
	b.keys, b.units, b.gone, b.ends = b.keys[:0], b.units[:0], b.gone[:0], b.ends[:0]
	for v := at; v < end; v++ {
		e.lay.unpack(g.conf(int32(v)), b.ids)
		stopped := true
		e.moves(b.ids, func(m *move) bool {
			if !g.counts(m) {
				return true
			}
			unit, more := e.unit(m)
			stopped = stopped && unit < 0
			b.step(m, unit)
			for _, u := range more { // one step, and an edge for each thing that it is
				b.step(m, u)
			}
			return true
		})
		b.ends = append(b.ends, len(b.units))
		g.stopped = append(g.stopped, stopped)
	}
	b.find()
	step := 0
	for _, stop := range b.ends {
		g.first = append(g.first, uint32(len(b.block)))
		for ; step < stop; step++ {
			if to := b.node(step); to >= 0 || b.units[step] >= 0 {
				b.block = append(b.block, liveEdge{to, b.units[step]})
			}
		}
	}
	b.close(end)
	return end
}

// step adds an edge.
func (b *liveBuilder) step(m *move, unit int32) {
	for range b.g.stride {
		b.keys = append(b.keys, 0)
	}
	if m.fault == nil {
		b.s.e.lay.pack(m.next, b.keys[len(b.keys)-b.g.stride:])
	}
	b.gone = append(b.gone, m.fault != nil)
	b.units = append(b.units, unit)
}

// close keeps the edges of a block of nodes that is complete, in no more memory than they need.
func (b *liveBuilder) close(end int) {
	g := b.g
	if end%nodesInBlock != 0 && end < g.n {
		return
	}
	g.edges = append(g.edges, append(make([]liveEdge, 0, len(b.block)), b.block...))
	g.count += uint64(len(b.block))
	b.block = b.block[:0]
}

// find looks up where the steps lead.
func (b *liveBuilder) find() {
	t := b.s.e.visited
	b.slots = b.slots[:0]
	if b.g.stride == 1 && !t.hashed {
		for _, k := range b.keys {
			b.touch ^= t.slots[t.home(hash1(k))]
		}
	}
	for k := 0; k < len(b.keys); k += b.g.stride {
		slot, ok := t.find(b.keys[k : k+b.g.stride])
		if !ok || b.gone[k/b.g.stride] {
			slot = t.n
		}
		b.slots = append(b.slots, slot)
	}
	for _, slot := range b.slots {
		if slot < t.n {
			b.touch ^= uint64(b.g.number[slot])
		}
	}
}

// node gives the node a step leads to, -1 if Eval holds there.
func (b *liveBuilder) node(step int) int32 {
	g, slot := b.g, b.slots[step]
	if slot == uint64(len(g.number)) {
		return -1
	}
	switch n := g.number[slot]; {
	case n == outside:
		return -1
	case n != 0:
		return n - 1
	}
	c := b.keys[step*g.stride : (step+1)*g.stride]
	b.s.e.lay.unpack(c, b.ids)
	if b.s.e.claimBits(b.claim, b.ids)&heldBit != 0 {
		g.number[slot] = outside
		return -1
	}
	n := g.add(c, -1)
	g.number[slot] = n + 1
	return n
}

// counts says whether a move is an edge of the graph.
func (g *liveGraph) counts(m *move) bool {
	return (m.fault == nil || g.faults) && !(g.calm && m.kind == LocalStep && m.rule.flags&spontaneousFlag != 0)
}

// unit says what a move is for fairness: a label, a channel, or, if it need never happen, nothing (-1). What has duties is
// the first of them instead of nothing, and more besides.
func (e *engine) unit(m *move) (unit int32, more []int32) {
	switch {
	case m.rule == nil || m.kind == DupStep:
		return -1, nil
	case m.kind == ReceiveStep:
		unit = int32(len(e.sys.Labels) + m.ch)
	case m.rule.flags&spontaneousFlag == 0:
		unit = int32(m.rule.label)
	case m.rule.does == 0:
		return -1, nil
	default:
		does := e.duties[m.rule.does]
		return does[0], does[1:]
	}
	return unit, e.duties[m.rule.does]
}

// treated says whether a move is unit u for fairness.
func (e *engine) treated(m *move, u int32) bool {
	unit, more := e.unit(m)
	return unit == u || slices.Contains(more, u)
}

// fairness says how unit u is treated in a claim that says fair.
func (g *liveGraph) fairness(u int, fair Fairness) Fairness {
	if duty := u - (g.units - len(g.fair)); duty >= 0 {
		return g.fair[duty]
	}
	return fair
}

package after

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/store"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
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
	// units is how many things are treated fairly, by number: labels, channels, constraints, and
	// the messages of each channel, if each is treated for itself
	units int
	// fair says how each constraint is treated; the first of them is the unit constraint
	fair       []api.Fairness
	constraint int
	// messages is by channel the unit of its first message; nil if the channel is one unit
	messages []int32
	calm     bool
	faults   bool // are steps that leave the graph; otherwise none
	memory   components
}

// liveEdge is one step. To is -1 if it leaves the graph, unit -1 if nothing is
// treated fairly by it.
type liveEdge struct{ to, unit int32 }

// outside marks a configuration in which Eval holds.
const outside = -1

// conf is the configuration of a node.
func (g *liveGraph) conf(v int32) []uint64 {
	at := int(v%search.NodesInBlock) * g.stride
	return g.confs[v/search.NodesInBlock][at : at+g.stride]
}

// out gives the steps from a node.
func (g *liveGraph) out(v int32) []liveEdge {
	b := g.edges[v/search.NodesInBlock]
	if v++; int(v) == g.n || v%search.NodesInBlock == 0 {
		return b[g.first[v-1]:]
	}
	return b[g.first[v-1]:g.first[v]]
}

// bytes is the memory of the graph, with what looking for components takes.
func (g *liveGraph) bytes() uint64 {
	return uint64(len(g.number))*4 + uint64(g.n)*uint64(8*g.stride+4+4+1+componentBytes) + g.count*8
}

// LeadsTo decides claim i.
func LeadsTo(s *search.Search, i int) {
	passes := s.Passes()
	for _, faults := range passes {
		if leadsAstray(s, i, faults, len(passes) > 1 && !faults) || s.Stop.Load() {
			return
		}
	}
}

// leadsAstray looks for a violation of claim i; with faults, these are steps out of the graph,
// which a run may have to take. cut is noted of what is found.
func leadsAstray(s *search.Search, i int, faults, cut bool) bool {
	g := NewLiveGraph(s, i, faults)
	if g == nil {
		s.Halt(fmt.Sprintf("no memory to decide %q: it needs a graph of more than the memory limit",
			s.Engine.Sys.Claims[i].Name))
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
	for _, c := range FairComponents(s, g, s.Engine.Sys.Claims[i].Fair) {
		components = append(components, c)
		for _, v := range c {
			if bad[v] == 0 {
				bad[v] = int32(len(components) - 1)
			}
		}
	}
	return len(components) > 1 && !s.Stop.Load() && lasso(s, i, g, bad, components, cut)
}

// NewLiveGraph builds the graph of claim i. It returns nil if that would be too large, or if the
// search is to stop.
func NewLiveGraph(s *search.Search, i int, faults bool) *liveGraph {
	e := s.Engine
	claim := &e.Sys.Claims[i]
	g := &liveGraph{stride: e.Lay.Stride, constraint: len(e.Sys.Labels) + len(e.Chans), calm: claim.Calm,
		faults: faults}
	for i := range e.Sys.Constraints {
		g.fair = append(g.fair, e.Sys.Constraints[i].Fair)
	}
	g.units = g.constraint + len(g.fair)
	if claim.Fair == api.StrongMessages {
		for k := range e.Chans { // the search has met all messages
			g.messages = append(g.messages, int32(g.units))
			g.units += len(e.Chans[k].Messages())
		}
	}
	if most := e.Opt.MaxBytes; most > 0 && s.Bytes()+s.Visited.N*4 > most {
		return nil
	}
	g.number = make([]int32, s.Visited.N)
	ids := make([]uint32, e.Fields())
	begun := false
	s.ForEach(func(depth int, c []uint64) bool {
		if begun && claim.Kind == api.Eventually {
			return false // it is about runs from the first configuration; a depth-first search has no levels
		}
		begun = true
		e.Lay.Unpack(c, ids)
		v := e.ClaimBits(i, ids)
		if v&tables.HeldBit == 0 && (claim.Relevant == nil || v&tables.RelevantBit != 0 ||
			claim.Kind == api.Eventually) {
			slot, _ := s.Visited.Find(c)
			g.number[slot] = g.add(c, int32(depth)) + 1
		}
		return true
	})
	b := liveBuilder{s: s, g: g, claim: i, ids: ids}
	for at := 0; at < g.n; {
		at = b.expand(at, min(g.n, at+liveBatch, (at/search.NodesInBlock+1)*search.NodesInBlock))
		size := s.Bytes() + g.bytes() + uint64(cap(b.block))*8
		if most := e.Opt.MaxBytes; most > 0 && size > most || s.Stop.Load() {
			return nil
		}
		s.Peak = max(s.Peak, size)
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
	s     *search.Search
	g     *liveGraph
	claim int
	ids   []uint32
	block []liveEdge // of the last block of nodes
	keys  []uint64   // by step: where it leads, then the slot of that
	units []int32    // by step
	fault []bool     // by step: it is a fault, and leads nowhere
	ends  []int      // by node: its first step
	slots []uint64
	touch uint64 // keeps loads ahead of their use alive
}

// expand gives the nodes from at to end their edges.
func (b *liveBuilder) expand(at, end int) int {
	e, g := b.s.Engine, b.g
	b.keys, b.units, b.fault, b.ends = b.keys[:0], b.units[:0], b.fault[:0], b.ends[:0]
	for v := at; v < end; v++ {
		e.Lay.Unpack(g.conf(int32(v)), b.ids)
		stopped := true
		e.Moves(b.ids, func(m *tables.Move) bool {
			if !g.counts(m) {
				return true
			}
			unit, more := g.unitOf(e, m)
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
func (b *liveBuilder) step(m *tables.Move, unit int32) {
	for range b.g.stride {
		b.keys = append(b.keys, 0)
	}
	if m.Fault == nil {
		b.s.Engine.Lay.Pack(m.Next, b.keys[len(b.keys)-b.g.stride:])
	}
	b.fault = append(b.fault, m.Fault != nil)
	b.units = append(b.units, unit)
}

// close keeps the edges of a block of nodes that is complete, in no more memory than they need.
func (b *liveBuilder) close(end int) {
	g := b.g
	if end%search.NodesInBlock != 0 && end < g.n {
		return
	}
	g.edges = append(g.edges, append(make([]liveEdge, 0, len(b.block)), b.block...))
	g.count += uint64(len(b.block))
	b.block = b.block[:0]
}

// find looks up where the steps lead.
func (b *liveBuilder) find() {
	t := b.s.Visited
	b.slots = b.slots[:0]
	if b.g.stride == 1 && !t.Hashed {
		for _, k := range b.keys {
			b.touch ^= t.Slots[t.Home(store.Hash1(k))]
		}
	}
	for k := 0; k < len(b.keys); k += b.g.stride {
		slot, ok := t.Find(b.keys[k : k+b.g.stride])
		if !ok || b.fault[k/b.g.stride] {
			slot = t.N
		}
		b.slots = append(b.slots, slot)
	}
	for _, slot := range b.slots {
		if slot < t.N {
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
	b.s.Engine.Lay.Unpack(c, b.ids)
	if b.s.Engine.ClaimBits(b.claim, b.ids)&tables.HeldBit != 0 {
		g.number[slot] = outside
		return -1
	}
	n := g.add(c, -1)
	g.number[slot] = n + 1
	return n
}

// counts reports whether a move is an edge of the graph.
func (g *liveGraph) counts(m *tables.Move) bool {
	return (m.Fault == nil || g.faults) && !(g.calm && m.Kind == api.LocalStep &&
		m.Rule.Flags&tables.SpontaneousFlag != 0)
}

// unitOf says what a move is for fairness: a label, a channel or a message of one, or, if it need
// never happen, nothing (-1). What has constraints is the first of them instead of nothing, and more
// besides.
func (g *liveGraph) unitOf(e *tables.Engine, m *tables.Move) (unit int32, more []int32) {
	switch {
	case m.Rule == nil || m.Kind == api.DupStep:
		return -1, nil
	case m.Kind == api.ReceiveStep && g.messages != nil:
		unit = g.messages[m.Ch] + int32(e.Chans[m.Ch].Bare(m.Msg))
	case m.Kind == api.ReceiveStep:
		unit = int32(len(e.Sys.Labels) + m.Ch)
	case m.Rule.Flags&tables.SpontaneousFlag == 0:
		unit = int32(m.Rule.Label)
	case m.Rule.Does == 0:
		return -1, nil
	default:
		does := e.Constraints[m.Rule.Does]
		return does[0], does[1:]
	}
	return unit, e.Constraints[m.Rule.Does]
}

// treated reports whether a move is unit u for fairness.
func (g *liveGraph) treated(e *tables.Engine, m *tables.Move, u int32) bool {
	unit, more := g.unitOf(e, m)
	return unit == u || slices.Contains(more, u)
}

// fairness says how unit u is treated in a claim that says fair.
func (g *liveGraph) fairness(u int, fair api.Fairness) api.Fairness {
	if k := u - g.constraint; k >= 0 && k < len(g.fair) {
		return g.fair[k]
	}
	if fair == api.StrongMessages {
		return api.Strong
	}
	return fair
}

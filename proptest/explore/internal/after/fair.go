package after

import (
	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/search"
)

// Where fair runs can stay for ever: strongly connected components (Tarjan 1972), and, where strong
// fairness forbids to come back to some of their configurations, the components of what is left
// without them (Lichtenstein, Pnueli 1985).

// components is the state of Tarjan's algorithm for each node.
type components struct {
	in, index, low []int32 // in: the set a node is in; index and low as Tarjan has them
	onStack        []bool
	stack          []int32
	calls          []visit
	// by unit, for the component at hand
	enabled        []int
	taken, starved []bool
	last           []int32
	met            []int32 // the units that it has steps of
}

// componentBytes is the memory of components for each node, with the nodes to look at and the mark
// of a bad one.
const componentBytes = 4*3 + 1 + 4 + 4 + 4

// visit is one call of Tarjan's algorithm: a node and how many of its edges were followed.
type visit struct {
	v    int32
	edge int
}

// FairComponents returns the sets of nodes in which a fair run can stay for ever. If the search is
// to stop, it returns those found so far.
func FairComponents(s *search.Search, g *liveGraph, fair api.Fairness) [][]int32 {
	g.memory = components{in: make([]int32, g.n), index: make([]int32, g.n), low: make([]int32, g.n),
		onStack: make([]bool, g.n),
		enabled: make([]int, g.units), taken: make([]bool, g.units), starved: make([]bool, g.units),
		last: make([]int32, g.units)}
	in := g.memory.in // 0: in no set
	all := make([]int32, g.n)
	for i := range all {
		all[i], in[i] = int32(i), 1
	}
	set := int32(1)
	var out [][]int32
	work := [][]int32{all}
	for len(work) > 0 && !s.Stop.Load() {
		nodes := work[len(work)-1]
		work = work[:len(work)-1]
		set++
		for _, v := range nodes {
			in[v] = set
		}
		for _, c := range componentsOf(s, g, nodes, set) {
			set++
			for _, v := range c {
				in[v] = set
			}
			if rest, ok := g.runFair(c, set, fair); ok {
				out = append(out, c)
			} else if len(rest) > 0 {
				work = append(work, rest)
			}
		}
	}
	return out
}

// runFair reports whether a fair run can stay in component c (the nodes in set),
// which has a step inside. If not, rest are the nodes to look at once more without the others.
func (g *liveGraph) runFair(c []int32, set int32, fair api.Fairness) (rest []int32, ok bool) {
	if fair == api.Unfair && len(g.fair) == 0 {
		return nil, true
	}
	m := &g.memory
	in, enabled, taken, starved, last := m.in, m.enabled, m.taken, m.starved, m.last
	for _, u := range m.met { // of the component before: there may be many units, and few here
		enabled[u], taken[u], starved[u], last[u] = 0, false, false, 0
	}
	m.met = m.met[:0]
	for n, v := range c {
		for _, e := range g.out(v) {
			if e.unit < 0 {
				continue
			}
			if last[e.unit] == 0 {
				m.met = append(m.met, e.unit)
			}
			if last[e.unit] != int32(n+1) {
				last[e.unit] = int32(n + 1)
				enabled[e.unit]++
			}
			taken[e.unit] = taken[e.unit] || e.to >= 0 && in[e.to] == set
		}
	}
	bad, hopeless := false, false
	for _, u := range m.met {
		how := g.fairness(int(u), fair)
		starved[u] = !taken[u] && (how == api.Strong && enabled[u] > 0 || how == api.Weak && enabled[u] == len(c))
		bad = bad || starved[u]
		hopeless = hopeless || starved[u] && how == api.Weak // it is possible everywhere here, and so in every part
	}
	if !bad || hopeless {
		return nil, !bad
	}
	for _, v := range c {
		stays := true
		for _, e := range g.out(v) {
			stays = stays && (e.unit < 0 || !starved[e.unit])
		}
		if stays {
			rest = append(rest, v)
		}
	}
	return rest, false
}

// componentsOf gives the strongly connected components of the nodes in set that
// have a step inside, by Tarjan's algorithm without recursion; none if the search is to stop.
func componentsOf(s *search.Search, g *liveGraph, nodes []int32, set int32) (out [][]int32) {
	m := &g.memory
	for _, v := range nodes {
		m.index[v] = 0
	}
	met := int32(0)
	for _, root := range nodes {
		if m.index[root] != 0 {
			continue
		}
		m.calls = append(m.calls[:0], visit{v: root})
		for len(m.calls) > 0 {
			call := &m.calls[len(m.calls)-1]
			v := call.v
			if m.index[v] == 0 {
				met++
				if met&(1<<16-1) == 0 && s.Stop.Load() {
					return nil
				}
				m.index[v], m.low[v], m.onStack[v] = met, met, true
				m.stack = append(m.stack, v)
			}
			if next := m.follow(call, g.out(v), set); next >= 0 {
				m.calls = append(m.calls, visit{v: next})
				continue
			}
			m.calls = m.calls[:len(m.calls)-1]
			if len(m.calls) > 0 {
				u := m.calls[len(m.calls)-1].v
				m.low[u] = min(m.low[u], m.low[v])
			}
			if m.low[v] == m.index[v] {
				if c := m.pop(v); len(c) > 1 || g.loops(v) {
					out = append(out, append([]int32(nil), c...))
				}
			}
		}
	}
	return out
}

// follow looks at the edges of a call until one leads to a node not met yet, and gives that; -1 if
// there is none.
func (m *components) follow(call *visit, edges []liveEdge, set int32) int32 {
	v := call.v
	for call.edge < len(edges) {
		to := edges[call.edge].to
		call.edge++
		switch {
		case to < 0 || m.in[to] != set:
		case m.index[to] == 0:
			return to
		case m.onStack[to]:
			m.low[v] = min(m.low[v], m.index[to])
		}
	}
	return -1
}

// pop takes the component of its first node v from the stack.
func (m *components) pop(v int32) []int32 {
	at := len(m.stack) - 1
	for m.stack[at] != v {
		at--
	}
	c := m.stack[at:]
	for _, x := range c {
		m.onStack[x] = false
	}
	m.stack = m.stack[:at]
	return c
}

// loops reports whether a node has a step to itself.
func (g *liveGraph) loops(v int32) bool {
	for _, e := range g.out(v) {
		if e.to == v {
			return true
		}
	}
	return false
}

// Package layered places the boxes and edges of a directed graph in horizontal
// layers, so that diagrams can be drawn where Graphviz is not installed. It
// knows sizes and positions only: no text, no colours, no protocols. Start
// from [Graph] and [Layout].
//
// The method is the usual one: break cycles, assign layers, order each layer
// to avoid crossings (barycentres), then place the boxes of each layer by
// isotonic regression toward their neighbours. Equal input gives equal output.
package layered

import "slices"

// Graph is a graph to be laid out. Lengths are in points.
type Graph struct {
	Nodes []Node
	Edges []Edge
	// NodeSep is the least horizontal distance between boxes, LayerSep the
	// vertical one between layers. Zero values mean 28 and 26.
	NodeSep, LayerSep float64
	// W and H are set by Layout: the size of the drawing.
	W, H float64
}

// Node is a box. X and Y, its centre, are set by Layout.
type Node struct {
	W, H float64
	X, Y float64
}

// Edge is an arrow between two nodes; From == To is allowed. LabelW and LabelH
// are the size of its label, 0 for none.
type Edge struct {
	From, To       int
	LabelW, LabelH float64
	// Points are set by Layout: the ends and the places between which a smooth
	// line is to be drawn, in the direction of the arrow. For a self loop they
	// are the corners of the loop.
	Points []Point
	// LabelX and LabelY are the centre of the label, set by Layout.
	LabelX, LabelY float64
}

// Point is a place in the drawing; Y grows downward.
type Point struct{ X, Y float64 }

// vertex is a node, a bend of a long edge, or an edge's label.
type vertex struct {
	w, h  float64
	x, y  float64
	layer int
	node  int // index in Graph.Nodes, -1 for bends and labels
	up    []int
	down  []int
}

type layout struct {
	g      *Graph
	v      []vertex
	layers [][]int
	chains [][]int // by edge: vertices from the upper to the lower end
	turned []bool  // by edge: drawn against its direction
}

// Layout places all nodes, edges and labels of g. Node 0 is drawn on top.
func Layout(g *Graph) {
	if g.NodeSep == 0 {
		g.NodeSep = 28
	}
	if g.LayerSep == 0 {
		g.LayerSep = 26
	}
	if len(g.Nodes) == 0 {
		return
	}
	l := &layout{g: g, chains: make([][]int, len(g.Edges)), turned: make([]bool, len(g.Edges))}
	l.vertices()
	l.breakCycles()
	l.rank()
	l.chain()
	l.order()
	l.placeY()
	l.placeX()
	l.finish()
}

// vertices makes one vertex for each node. Room for self loops is kept to
// both sides so that the box stays in the middle.
func (l *layout) vertices() {
	loop := make([]float64, len(l.g.Nodes))
	high := make([]float64, len(l.g.Nodes))
	for _, e := range l.g.Edges {
		if e.From == e.To {
			loop[e.From] = max(loop[e.From], e.LabelW+loopRoom)
			high[e.From] += e.LabelH + loopGap
		}
	}
	for i, n := range l.g.Nodes {
		l.v = append(l.v, vertex{w: n.W + 2*loop[i], h: max(n.H, high[i]), node: i})
	}
}

const (
	loopRoom = 26 // width of a self loop beside its label
	loopGap  = 8  // between the labels of two loops of one node
)

// breakCycles turns the edges that lead back to a node on the depth-first stack.
func (l *layout) breakCycles() {
	out := make([][]int, len(l.g.Nodes))
	for i, e := range l.g.Edges {
		if e.From != e.To {
			out[e.From] = append(out[e.From], i)
		}
	}
	mark := make([]uint8, len(l.g.Nodes)) // 0 new, 1 on the stack, 2 done
	var visit func(n int)
	visit = func(n int) {
		mark[n] = 1
		for _, e := range out[n] {
			switch to := l.g.Edges[e].To; mark[to] {
			case 0:
				visit(to)
			case 1:
				l.turned[e] = true
			}
		}
		mark[n] = 2
	}
	for n := range l.g.Nodes {
		if mark[n] == 0 {
			visit(n)
		}
	}
}

// ends returns the upper and lower node of edge e.
func (l *layout) ends(e int) (top, bottom int) {
	if l.turned[e] {
		return l.g.Edges[e].To, l.g.Edges[e].From
	}
	return l.g.Edges[e].From, l.g.Edges[e].To
}

// rank assigns layers by longest paths, two layers an edge, so that a label
// has a layer of its own; then it pulls nodes down toward their successors.
func (l *layout) rank() {
	indegree := make([]int, len(l.g.Nodes))
	out := make([][]int, len(l.g.Nodes))
	for e := range l.g.Edges {
		if top, bottom := l.ends(e); top != bottom {
			indegree[bottom]++
			out[top] = append(out[top], bottom)
		}
	}
	var queue, topo []int
	for n, d := range indegree {
		if d == 0 {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		topo = append(topo, n)
		for _, m := range out[n] {
			l.v[m].layer = max(l.v[m].layer, l.v[n].layer+2)
			if indegree[m]--; indegree[m] == 0 {
				queue = append(queue, m)
			}
		}
	}
	for _, n := range slices.Backward(topo) {
		if len(out[n]) == 0 || n == 0 {
			continue
		}
		low := 1 << 30
		for _, m := range out[n] {
			low = min(low, l.v[m].layer-2)
		}
		l.v[n].layer = max(l.v[n].layer, low)
	}
}

// chain inserts a vertex for each layer an edge crosses; the one in the middle
// carries the label.
func (l *layout) chain() {
	for e := range l.g.Edges {
		top, bottom := l.ends(e)
		if top == bottom {
			continue
		}
		chain := []int{top}
		from, to := l.v[top].layer, l.v[bottom].layer
		for y := from + 1; y < to; y++ {
			b := vertex{w: 2, layer: y, node: -1}
			if y == (from+to)/2 && l.g.Edges[e].LabelW > 0 {
				b.w, b.h = l.g.Edges[e].LabelW+8, l.g.Edges[e].LabelH+4
			}
			l.v = append(l.v, b)
			chain = append(chain, len(l.v)-1)
		}
		chain = append(chain, bottom)
		for i := 1; i < len(chain); i++ {
			a, b := chain[i-1], chain[i]
			l.v[a].down = append(l.v[a].down, b)
			l.v[b].up = append(l.v[b].up, a)
		}
		l.chains[e] = chain
	}
	last := 0
	for _, v := range l.v {
		last = max(last, v.layer)
	}
	l.layers = make([][]int, last+1)
	for i, v := range l.v {
		l.layers[v.layer] = append(l.layers[v.layer], i)
	}
}

// Package layered places the boxes and edges of a directed graph in horizontal
// layers. Boxes may have others inside them. It knows sizes and positions only: no text, no
// colours, no protocols. Start from [Graph] and [Layout].
//
// The method is the usual one: break cycles, assign layers, order each layer
// to avoid crossings (barycentres), then place the boxes of each layer by
// isotonic regression toward their neighbours, and make long edges as straight as
// these allow. What is inside a box is a graph of its own, in which an edge that
// leads out ends at a port on the border. So is each part of the graph that no edge
// joins to the others; these parts are put beside or below that of the first box.
//
// A line passes a layer straight down, in a place that it shares with nothing, and moves to the side only
// between two layers. So it meets no box but those at its ends, and no label: the label has its place
// beside its line. Equal input gives equal output.
package layered

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
	// W and H are the size of the box. Layout sets them where other boxes are inside.
	W, H float64
	// HeadW and HeadH are the size of the text in the upper left corner of a box with others inside, Pad from
	// its borders. No line crosses it.
	HeadW, HeadH float64
	// In is one more than the index of the node that is around this one, 0 if none is.
	In   int
	X, Y float64
}

// Pad is the distance between the border of a box and what is inside.
const Pad = 12

// Edge is an arrow between two nodes; From == To is allowed, and so is an end that is around the other.
// LabelW and LabelH are the size of its label, 0 for none.
type Edge struct {
	From, To       int
	LabelW, LabelH float64
	// Points are set by Layout: the places between which a smooth line is to be drawn, in the direction of
	// the arrow. It is straight between two points of one X, and upright at each. For a self loop they are
	// the corners of the loop.
	Points []Point
	// LabelX and LabelY are the centre of the label, set by Layout.
	LabelX, LabelY float64
}

// Point is a place in the drawing; Y grows downward.
type Point struct{ X, Y float64 }

// vertex is something in a layer: a node, its first vertices; a bend of a long edge, or an edge's label.
type vertex struct {
	w, h     float64
	x, y     float64
	line     float64 // where the line passes, from x
	layer    int
	kind     kind
	node     int    // index in Graph.Nodes
	inner    *level // what is inside the node, nil if nothing is
	up, down []end
}

type kind uint8

const (
	node  kind = iota
	head       // the text of the node around the level
	above      // a port on its upper border
	below      // a port on its lower border
	bend       // of an edge, or its label
)

// end is what an edge leads to in the next layer.
type end struct {
	v    int
	edge int
}

// link is an edge, or the piece of it that is in this level.
type link struct {
	edge     int
	from, to int // vertices
	label    bool
	port     bool
	turned   bool  // drawn against its direction
	chain    []int // vertices from the upper to the lower end
}

// port says that an edge comes into the level through its border.
type port struct {
	edge   int
	inside int // the end that is inside
	upper  bool
	label  bool // the label is here, for the other end is the node around the level
}

// level is what is directly inside one node, or directly in the drawing.
type level struct {
	g      *Graph
	around int // node, -1 for the drawing
	only   map[int]bool
	v      []vertex
	links  []link
	loops  []int // edges from a node to itself
	layers [][]int
	top    []float64    // by layer
	bottom []float64    // by layer
	ports  map[int]int  // by edge: its port's vertex
	gate   map[int]port // by edge
	w, h   float64
	x      float64 // of the corner, at the end
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
	var levels []*level
	for _, only := range g.components() {
		levels = append(levels, newLevel(g, -1, only, nil))
	}
	pieces := make([][]piece, len(g.Edges))
	for i, at := range g.pack(levels) {
		levels[i].finish(at.X, at.Y, pieces)
	}
	for e := range g.Edges {
		g.Edges[e].join(pieces[e])
	}
}

// newLevel lays out what is inside one node; only: of the nodes there, those of the set.
func newLevel(g *Graph, around int, only map[int]bool, ports []port) *level {
	l := &level{g: g, around: around, only: only, ports: map[int]int{}, gate: map[int]port{}}
	l.members(ports)
	l.breakCycles()
	l.nest()
	l.rank()
	l.chain()
	l.order()
	l.placeX()
	l.straighten()
	l.toCorner()
	l.placeY()
	return l
}

// child returns the node directly in the level that n is or is inside of, -1 if n is not in the level.
func (l *level) child(n int) int {
	for {
		in := l.g.Nodes[n].In - 1
		if in == l.around {
			if l.only != nil && !l.only[n] {
				return -1
			}
			return n
		}
		if in < 0 {
			return -1
		}
		n = in
	}
}

// members makes a vertex for each node of the level, for the head and for the ports, and a link for each
// edge that has its way here.
func (l *level) members(ports []port) {
	vertexOf := map[int]int{}
	for n, node := range l.g.Nodes {
		if node.In-1 == l.around && (l.only == nil || l.only[n]) {
			vertexOf[n] = len(l.v)
			l.v = append(l.v, vertex{node: n})
		}
	}
	if l.around >= 0 {
		n := l.g.Nodes[l.around]
		l.v = append(l.v, vertex{w: n.HeadW, h: n.HeadH, kind: head, node: -1})
	}
	for e, edge := range l.g.Edges {
		a, b := l.child(edge.From), l.child(edge.To)
		switch {
		case a < 0 || b < 0: // it leads out of the level, or is elsewhere
		case a != b:
			l.links = append(l.links, link{edge: e, from: vertexOf[a], to: vertexOf[b], label: true})
		case edge.From == edge.To && edge.From == a:
			l.loops = append(l.loops, e)
		}
	}
	for _, p := range ports {
		at := vertexOf[l.child(p.inside)]
		k := link{edge: p.edge, from: at, to: len(l.v), port: true, label: p.label}
		v := vertex{w: 2, kind: below, node: -1}
		if p.upper {
			k.from, k.to, v.kind = k.to, k.from, above
		}
		l.ports[p.edge], l.gate[p.edge] = len(l.v), p
		l.v = append(l.v, v)
		l.links = append(l.links, k)
	}
}

// breakCycles turns the edges that lead back to a node on the depth-first stack.
func (l *level) breakCycles() {
	out := make([][]int, len(l.v))
	for i, k := range l.links {
		if !k.port {
			out[k.from] = append(out[k.from], i)
		}
	}
	mark := make([]uint8, len(l.v)) // 0 new, 1 on the stack, 2 done
	var visit func(n int)
	visit = func(n int) {
		mark[n] = 1
		for _, k := range out[n] {
			switch to := l.links[k].to; mark[to] {
			case 0:
				visit(to)
			case 1:
				l.links[k].turned = true
			}
		}
		mark[n] = 2
	}
	for n := range l.v {
		if mark[n] == 0 {
			visit(n)
		}
	}
}

// ends returns the upper and lower vertex of a link.
func (k *link) ends() (top, bottom int) {
	if k.turned {
		return k.to, k.from
	}
	return k.from, k.to
}

// nest lays out the inside of each node and so learns how large it is. Room for self loops is kept to
// both sides so that the box stays in the middle.
func (l *level) nest() {
	for i := range l.v {
		v := &l.v[i]
		if v.kind != node {
			continue
		}
		ports, full := l.portsOf(i)
		n := &l.g.Nodes[v.node]
		if full {
			v.inner = newLevel(l.g, v.node, nil, ports)
			n.W, n.H = v.inner.w+2*Pad, v.inner.h+2*Pad
		}
		loop, high := 0.0, 0.0
		for _, e := range l.loops {
			if edge := l.g.Edges[e]; edge.From == v.node {
				loop = max(loop, edge.LabelW+loopRoom)
				high += edge.LabelH + loopGap
			}
		}
		v.w, v.h = n.W+2*loop, max(n.H, high)
	}
}

const (
	loopRoom = 26 // width of a self loop beside its label
	loopGap  = 8  // between the labels of two loops of one node
)

// portsOf lists the edges that come through the border of a vertex, and reports whether anything is inside.
func (l *level) portsOf(v int) (ports []port, full bool) {
	around := l.v[v].node
	for _, n := range l.g.Nodes {
		full = full || n.In-1 == around
	}
	if !full {
		return nil, false
	}
	for i := range l.links {
		k := &l.links[i]
		top, bottom := k.ends()
		if top != v && bottom != v {
			continue
		}
		e := l.g.Edges[k.edge]
		for _, n := range []int{e.From, e.To} {
			if n != around && l.child(n) == around {
				ports = append(ports, port{edge: k.edge, inside: n, upper: bottom == v})
			}
		}
	}
	for e, edge := range l.g.Edges { // from the node to one inside, or back
		a, b := l.child(edge.From), l.child(edge.To)
		switch {
		case a != around || b != around || edge.From == edge.To:
		case edge.From == around:
			ports = append(ports, port{edge: e, inside: edge.To, upper: true, label: true})
		case edge.To == around:
			ports = append(ports, port{edge: e, inside: edge.From, upper: true, label: true})
		}
	}
	return ports, true
}

// length is how many layers a link needs: two, so that a label has a layer of its own.
func (k *link) length() int {
	if k.port && !k.label {
		return 1
	}
	return 2
}

// rank assigns layers by longest paths; then it pulls down what more edges leave than reach.
func (l *level) rank() {
	indegree := make([]int, len(l.v))
	into := make([]int, len(l.v))
	out := make([][]*link, len(l.v))
	base := 0
	for i := range l.links {
		k := &l.links[i]
		top, bottom := k.ends()
		indegree[bottom]++
		into[bottom]++
		out[top] = append(out[top], k)
	}
	for _, v := range l.v {
		if v.kind == head || v.kind == above {
			base = 1
		}
	}
	var queue, topo []int
	for n, d := range indegree {
		if l.v[n].kind == node {
			l.v[n].layer = base
		}
		if d == 0 {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		topo = append(topo, n)
		for _, k := range out[n] {
			_, m := k.ends()
			l.v[m].layer = max(l.v[m].layer, l.v[n].layer+k.length())
			if indegree[m]--; indegree[m] == 0 {
				queue = append(queue, m)
			}
		}
	}
	for i := len(topo) - 1; i >= 0; i-- {
		n := topo[i]
		if len(out[n]) <= into[n] || n == 0 && l.around < 0 || l.v[n].kind != node {
			continue
		}
		low := 1 << 30
		for _, k := range out[n] {
			if _, m := k.ends(); l.v[m].kind == node {
				low = min(low, l.v[m].layer-2)
			}
		}
		if low < 1<<30 {
			l.v[n].layer = max(l.v[n].layer, low)
		}
	}
	last := 0
	for _, v := range l.v {
		if v.kind != below {
			last = max(last, v.layer+1)
		}
	}
	for i := range l.v {
		if l.v[i].kind == below {
			l.v[i].layer = last
		}
	}
}

// chain inserts a vertex for each layer an edge crosses; the one in the middle
// carries the label.
func (l *level) chain() {
	for i := range l.links {
		k := &l.links[i]
		top, bottom := k.ends()
		k.chain = []int{top}
		from, to := l.v[top].layer, l.v[bottom].layer
		for y := from + 1; y < to; y++ {
			b := vertex{w: 2, layer: y, kind: bend, node: -1}
			if e := l.g.Edges[k.edge]; y == (from+to)/2 && k.label && e.LabelW > 0 {
				b.w, b.h = e.LabelW+2*labelGap, e.LabelH+4
				b.line = 1 - b.w/2
			}
			l.v = append(l.v, b)
			k.chain = append(k.chain, len(l.v)-1)
		}
		k.chain = append(k.chain, bottom)
		for j := 1; j < len(k.chain); j++ {
			a, b := k.chain[j-1], k.chain[j]
			l.v[a].down = append(l.v[a].down, end{b, k.edge})
			l.v[b].up = append(l.v[b].up, end{a, k.edge})
		}
	}
	last := 0
	for _, v := range l.v {
		last = max(last, v.layer)
	}
	l.layers = make([][]int, last+1)
	for i, v := range l.v {
		if v.kind == head { // on the left, where no sorting moves it
			l.layers[v.layer] = append([]int{i}, l.layers[v.layer]...)
			continue
		}
		l.layers[v.layer] = append(l.layers[v.layer], i)
	}
}

// labelGap is between a label and its line.
const labelGap = 5

package layered

import (
	"cmp"
	"slices"
)

// piece is the way of an edge through one level, from its upper to its lower end.
type piece struct {
	points []Point
	turned bool
}

// join makes the line of an edge of its pieces, which lie one below the other.
func (e *Edge) join(pieces []piece) {
	if len(pieces) == 0 {
		return // a loop
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.points[0].Y, b.points[0].Y) })
	turned := false
	e.Points = nil
	for _, p := range pieces {
		turned = turned || p.turned
		for _, at := range p.points {
			n := len(e.Points)
			if n > 0 && e.Points[n-1] == at {
				continue
			}
			if n > 1 && e.Points[n-1].X == at.X && e.Points[n-2].X == at.X {
				n--
				e.Points = e.Points[:n]
			}
			e.Points = append(e.Points, at)
		}
	}
	if turned {
		slices.Reverse(e.Points)
	}
}

// finish hands the places back to the graph; x and y are those of the level's corner.
func (l *level) finish(x, y float64, pieces [][]piece) {
	l.x = x
	for i := range l.v {
		v := &l.v[i]
		v.x, v.y = v.x+x, v.y+y
		if v.kind != node {
			continue
		}
		n := &l.g.Nodes[v.node]
		n.X, n.Y = v.x, v.y
		if v.inner != nil {
			v.inner.finish(n.X-n.W/2+Pad, n.Y-n.H/2+Pad, pieces)
		}
	}
	for i := range l.layers {
		l.top[i] += y
		l.bottom[i] += y
	}
	l.drawLoops()
	ports := l.borders()
	for i := range l.links {
		k := &l.links[i]
		pieces[k.edge] = append(pieces[k.edge], l.route(k, ports))
	}
}

// drawLoops draws self loops to the right of their node, one below the other.
func (l *level) drawLoops() {
	used, total := map[int]float64{}, map[int]float64{}
	for _, i := range l.loops {
		e := l.g.Edges[i]
		total[e.From] += e.LabelH + loopGap
	}
	for _, i := range l.loops {
		e := &l.g.Edges[i]
		n := &l.g.Nodes[e.From]
		room := max(n.H, total[e.From])
		y := n.Y - room/2 + (room-total[e.From])/2 + used[e.From] + (e.LabelH+loopGap)/2
		used[e.From] += e.LabelH + loopGap
		side := n.X + n.W/2
		low, high := n.Y-n.H/2+3, n.Y+n.H/2-3
		from, to := min(max(y-5, low), high-2), max(min(y+5, high), low+2)
		e.Points = []Point{{side, from}, {side + 20, y - 9}, {side + 20, y + 9}, {side, to}}
		e.LabelX, e.LabelY = side+loopRoom-4+e.LabelW/2, y
	}
}

// spot is one end of a line at a box.
type spot struct {
	v, edge int
	down    bool // at the lower border
}

// borders finds where lines meet the borders of boxes: near where they come from, in order, with a distance.
func (l *level) borders() map[spot]float64 {
	ports := map[spot]float64{}
	for v := range l.v {
		if l.v[v].kind != node {
			continue
		}
		for _, down := range []bool{false, true} {
			near := slices.Clone(l.v[v].up)
			if down {
				near = slices.Clone(l.v[v].down)
			}
			slices.SortStableFunc(near, func(a, b end) int { return cmp.Compare(l.at(a), l.at(b)) })
			want, weight, gap := make([]float64, len(near)), make([]float64, len(near)), make([]float64, len(near))
			width := l.g.Nodes[l.v[v].node].W * 0.8
			for i, e := range near {
				gap[i] = min(width/float64(len(near)), 24)
				reach := (width - gap[i]*float64(len(near)-1)) / 2 // so that all have room
				want[i] = min(max(l.at(e)-l.v[v].x, -reach), reach)
				weight[i] = 1
			}
			for i, x := range spread(want, weight, gap) {
				ports[spot{v, near[i].edge, down}] = l.v[v].x + min(max(x, -width/2), width/2)
			}
		}
	}
	return ports
}

// route turns a link into points from the upper to the lower border.
func (l *level) route(k *link, ports map[spot]float64) piece {
	edge := &l.g.Edges[k.edge]
	var pts []Point
	for i, v := range k.chain {
		x, from, to := l.v[v].x+l.v[v].line, l.top[l.v[v].layer], l.bottom[l.v[v].layer]
		switch l.v[v].kind {
		case above:
			from -= Pad
		case below:
			to += Pad
		case bend:
			if l.v[v].h > 0 {
				edge.LabelX, edge.LabelY = l.v[v].x+l.v[v].line+labelGap+edge.LabelW/2, l.v[v].y
			}
		case node:
			n := l.g.Nodes[l.v[v].node]
			x = ports[spot{v, k.edge, i == 0}]
			if l.v[v].inner != nil {
				if _, ok := l.v[v].inner.ports[k.edge]; ok {
					x = l.v[v].inner.v[l.v[v].inner.ports[k.edge]].x
				}
			}
			if i == 0 {
				from = n.Y + n.H/2
			} else {
				to = n.Y - n.H/2
			}
		}
		pts = append(pts, Point{x, from}, Point{x, to})
	}
	turned := k.turned
	if k.port && k.label { // the other end is around this level
		turned = l.gate[k.edge].inside == edge.From
	}
	return piece{pts, turned}
}

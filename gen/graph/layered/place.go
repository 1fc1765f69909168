package layered

import "slices"

// order sorts every layer by the mean position of its neighbours, sweeping
// down and up, and keeps the order with the fewest crossings.
func (l *layout) order() {
	best, fewest := l.copyLayers(), l.crossings()
	for sweep := range 24 {
		if fewest == 0 {
			break
		}
		pos := l.positions()
		if sweep%2 == 0 {
			for _, layer := range l.layers {
				l.sortLayer(layer, pos, func(v vertex) []int { return v.up })
			}
		} else {
			for _, layer := range slices.Backward(l.layers) {
				l.sortLayer(layer, pos, func(v vertex) []int { return v.down })
			}
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.copyLayers(), n
		}
	}
	l.layers = best
}

func (l *layout) copyLayers() [][]int {
	c := make([][]int, len(l.layers))
	for i, layer := range l.layers {
		c[i] = slices.Clone(layer)
	}
	return c
}

func (l *layout) positions() []int {
	pos := make([]int, len(l.v))
	for _, layer := range l.layers {
		for i, v := range layer {
			pos[v] = i
		}
	}
	return pos
}

func (l *layout) sortLayer(layer, pos []int, near func(vertex) []int) {
	key := make(map[int]float64, len(layer))
	for _, v := range layer {
		key[v] = float64(pos[v])
		if ns := near(l.v[v]); len(ns) > 0 {
			sum := 0.0
			for _, n := range ns {
				sum += float64(pos[n])
			}
			key[v] = sum / float64(len(ns))
		}
	}
	slices.SortStableFunc(layer, func(a, b int) int {
		switch {
		case key[a] < key[b]:
			return -1
		case key[a] > key[b]:
			return 1
		}
		return 0
	})
	for i, v := range layer {
		pos[v] = i
	}
}

// crossings counts pairs of edge pieces that cross.
func (l *layout) crossings() int {
	pos, n := l.positions(), 0
	for _, layer := range l.layers {
		var ends [][2]int
		for i, v := range layer {
			for _, d := range l.v[v].down {
				ends = append(ends, [2]int{i, pos[d]})
			}
		}
		for i, a := range ends {
			for _, b := range ends[i+1:] {
				if (a[0]-b[0])*(a[1]-b[1]) < 0 {
					n++
				}
			}
		}
	}
	return n
}

func (l *layout) placeY() {
	y := 0.0
	for _, layer := range l.layers {
		high := 0.0
		for _, v := range layer {
			high = max(high, l.v[v].h)
		}
		for _, v := range layer {
			l.v[v].y = y + high/2
		}
		y += high + l.g.LayerSep
	}
	l.g.H = y - l.g.LayerSep
}

// placeX moves each layer toward the mean of its neighbours' places, keeping
// order and distances, until things have settled.
func (l *layout) placeX() {
	for _, layer := range l.layers {
		x := 0.0
		for _, v := range layer {
			l.v[v].x = x + l.v[v].w/2
			x += l.v[v].w + l.g.NodeSep
		}
	}
	for round := range 40 {
		if round%2 == 0 {
			for _, layer := range l.layers {
				l.settle(layer)
			}
		} else {
			for _, layer := range slices.Backward(l.layers) {
				l.settle(layer)
			}
		}
	}
	left := 0.0
	for i, v := range l.v {
		if i == 0 || v.x-v.w/2 < left {
			left = v.x - v.w/2
		}
	}
	for i := range l.v {
		l.v[i].x -= left
		l.g.W = max(l.g.W, l.v[i].x+l.v[i].w/2)
	}
}

// settle is isotonic regression: places as close as possible to the wanted
// ones (least squares) with at least the needed distance between neighbours.
// Bends weigh more than boxes, so that long edges become straight.
func (l *layout) settle(layer []int) {
	type block struct {
		sum, weight float64
		count       int
	}
	var blocks []block
	shift := make([]float64, len(layer))
	for i, v := range layer {
		if i > 0 {
			p := layer[i-1]
			shift[i] = shift[i-1] + (l.v[p].w+l.v[v].w)/2 + l.g.NodeSep
		}
		want, weight := l.wanted(v)
		blocks = append(blocks, block{(want - shift[i]) * weight, weight, 1})
		for len(blocks) > 1 {
			a, b := blocks[len(blocks)-2], blocks[len(blocks)-1]
			if a.sum/a.weight <= b.sum/b.weight {
				break
			}
			blocks = append(blocks[:len(blocks)-2], block{a.sum + b.sum, a.weight + b.weight, a.count + b.count})
		}
	}
	i := 0
	for _, b := range blocks {
		for range b.count {
			l.v[layer[i]].x = b.sum/b.weight + shift[i]
			i++
		}
	}
}

func (l *layout) wanted(v int) (x, weight float64) {
	sum, n := 0.0, 0.0
	for _, near := range [][]int{l.v[v].up, l.v[v].down} {
		for _, m := range near {
			w := 1.0
			if l.v[v].node < 0 && l.v[m].node < 0 {
				w = 4
			}
			sum += l.v[m].x * w
			n += w
		}
	}
	if n == 0 {
		return l.v[v].x, 0.1
	}
	return sum / n, n
}

// finish hands the places back to the graph.
func (l *layout) finish() {
	for _, v := range l.v {
		if v.node >= 0 {
			l.g.Nodes[v.node].X, l.g.Nodes[v.node].Y = v.x, v.y
		}
	}
	l.loops()
	for e := range l.g.Edges {
		if len(l.chains[e]) > 0 {
			l.route(e)
		}
	}
}

// loops draws self loops to the right of their node, one below the other.
func (l *layout) loops() {
	used := make([]float64, len(l.g.Nodes))
	total := make([]float64, len(l.g.Nodes))
	for _, e := range l.g.Edges {
		if e.From == e.To {
			total[e.From] += e.LabelH + loopGap
		}
	}
	for i := range l.g.Edges {
		e := &l.g.Edges[i]
		if e.From != e.To {
			continue
		}
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

// route turns a chain of vertices into points from the sender's border to the
// receiver's; ends that share a border are spread along it.
func (l *layout) route(e int) {
	chain := l.chains[e]
	edge := &l.g.Edges[e]
	var pts []Point
	for i, v := range chain {
		switch i {
		case 0:
			pts = append(pts, Point{l.port(v, chain[1], true), l.v[v].y + l.g.Nodes[l.v[v].node].H/2})
		case len(chain) - 1:
			pts = append(pts, Point{l.port(v, chain[i-1], false), l.v[v].y - l.g.Nodes[l.v[v].node].H/2})
		default:
			pts = append(pts, Point{l.v[v].x, l.v[v].y})
		}
		if l.v[v].node < 0 && l.v[v].h > 0 {
			edge.LabelX, edge.LabelY = l.v[v].x, l.v[v].y
		}
	}
	if l.turned[e] {
		slices.Reverse(pts)
	}
	edge.Points = pts
}

// port is the place on v's lower (down) or upper border for the line to vertex to.
func (l *layout) port(v, to int, down bool) float64 {
	near := l.v[v].up
	if down {
		near = l.v[v].down
	}
	sorted := slices.Clone(near)
	slices.SortStableFunc(sorted, func(a, b int) int {
		switch {
		case l.v[a].x < l.v[b].x:
			return -1
		case l.v[a].x > l.v[b].x:
			return 1
		}
		return a - b
	})
	k, n := slices.Index(sorted, to), len(sorted)
	width := l.g.Nodes[l.v[v].node].W * 0.7
	step := min(width/float64(n), 36)
	return l.v[v].x + (float64(k)-float64(n-1)/2)*step
}

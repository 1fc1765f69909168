package layered

import (
	"cmp"
	"slices"
)

// order sorts every layer by the mean position of its neighbours, sweeping
// down and up, and keeps the order with the fewest crossings.
func (l *level) order() {
	best, fewest := l.copyLayers(), l.crossings()
	for sweep := range 24 {
		if fewest == 0 {
			break
		}
		pos := l.positions()
		if sweep%2 == 0 {
			for _, layer := range l.layers {
				l.sortLayer(layer, pos, func(v vertex) []end { return v.up })
			}
		} else {
			for _, layer := range slices.Backward(l.layers) {
				l.sortLayer(layer, pos, func(v vertex) []end { return v.down })
			}
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.copyLayers(), n
		}
	}
	l.layers = best
}

func (l *level) copyLayers() [][]int {
	c := make([][]int, len(l.layers))
	for i, layer := range l.layers {
		c[i] = slices.Clone(layer)
	}
	return c
}

func (l *level) positions() []int {
	pos := make([]int, len(l.v))
	for _, layer := range l.layers {
		for i, v := range layer {
			pos[v] = i
		}
	}
	return pos
}

// seat is where in its layer an end is: the number of the vertex and, of a box with others inside, how far
// from its middle the port is.
func (l *level) seat(pos []int, e end) float64 {
	at := float64(pos[e.v])
	if inner := l.v[e.v].inner; inner != nil {
		if p, ok := inner.ports[e.edge]; ok && inner.w > 0 {
			at += 0.8 * (inner.v[p].x/inner.w - 0.5)
		}
	}
	return at
}

func (l *level) sortLayer(layer, pos []int, near func(vertex) []end) {
	key := make(map[int]float64, len(layer))
	for _, v := range layer {
		key[v] = float64(pos[v])
		if ns := near(l.v[v]); len(ns) > 0 {
			sum := 0.0
			for _, n := range ns {
				sum += l.seat(pos, n)
			}
			key[v] = sum / float64(len(ns))
		}
		if l.v[v].kind == head {
			key[v] = -1
		}
	}
	slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
	for i, v := range layer {
		pos[v] = i
	}
}

// crossings counts pairs of edge pieces that cross.
func (l *level) crossings() int {
	pos, n := l.positions(), 0
	for _, layer := range l.layers {
		var ends [][2]float64
		for _, v := range layer {
			for _, d := range l.v[v].down {
				ends = append(ends, [2]float64{l.seat(pos, end{v, d.edge}), l.seat(pos, d)})
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

// placeY gives each layer its height, and lines that move far to the side more room to do so.
func (l *level) placeY() {
	l.top, l.bottom = make([]float64, len(l.layers)), make([]float64, len(l.layers))
	y := 0.0
	for i, layer := range l.layers {
		high, far := 0.0, 0.0
		for _, v := range layer {
			high = max(high, l.v[v].h)
			for _, d := range l.v[v].down {
				from, to := l.meets(end{v, d.edge}, l.at(d)), l.meets(d, l.at(end{v, d.edge}))
				far = max(far, from-to, to-from)
			}
		}
		for _, v := range layer {
			l.v[v].y = y + high/2
			if l.v[v].kind == head {
				l.v[v].y = y + l.v[v].h/2
			}
		}
		l.top[i], l.bottom[i] = y, y+high
		l.h = y + high
		y += high + l.g.LayerSep + min(far/10, 60)
	}
}

// placeX moves each layer toward the mean of its neighbours' places, keeping
// order and distances, until things have settled.
func (l *level) placeX() {
	for _, layer := range l.layers {
		x := 0.0
		for i, v := range layer {
			if i > 0 {
				x += l.apart(layer[i-1], v)
			}
			l.v[v].x = x + l.v[v].w/2
			x += l.v[v].w
		}
	}
	for round := range 100 {
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
}

// toCorner moves everything so that the level begins at 0.
func (l *level) toCorner() {
	left := 0.0
	for i, v := range l.v {
		if i == 0 || v.kind != head && v.x-v.w/2 < left {
			left = v.x - v.w/2
		}
	}
	for _, v := range l.v { // the head takes the corner, unless what is beside it is in the way
		if v.kind == head {
			left = min(left, v.x-v.w/2)
		}
	}
	for i := range l.v {
		l.v[i].x -= left
		if l.v[i].kind == head {
			l.v[i].x = l.v[i].w / 2
		}
		l.w = max(l.w, l.v[i].x+l.v[i].w/2)
	}
}

// apart is the least distance between two neighbours in a layer; lines need less than boxes.
func (l *level) apart(a, b int) float64 {
	if l.v[a].kind == node || l.v[b].kind == node {
		return l.g.NodeSep
	}
	return l.g.NodeSep / 2
}

// settle moves a layer as close as possible to the wanted places.
// Bends weigh more than boxes, so that long edges become straight.
func (l *level) settle(layer []int) {
	want, weight, gap := make([]float64, len(layer)), make([]float64, len(layer)), make([]float64, len(layer))
	for i, v := range layer {
		if i > 0 {
			p := layer[i-1]
			gap[i] = (l.v[p].w+l.v[v].w)/2 + l.apart(p, v)
		}
		want[i], weight[i] = l.wanted(v)
	}
	for i, x := range spread(want, weight, gap) {
		l.v[layer[i]].x = x
	}
}

// spread is isotonic regression: the places closest to the wanted ones (least squares) of which each is at
// least its gap behind the one before.
func spread(want, weight, gap []float64) []float64 {
	type block struct {
		sum, weight float64
		count       int
	}
	var blocks []block
	shift := make([]float64, len(want))
	for i := range want {
		if i > 0 {
			shift[i] = shift[i-1] + gap[i]
		}
		blocks = append(blocks, block{(want[i] - shift[i]) * weight[i], weight[i], 1})
		for len(blocks) > 1 {
			a, b := blocks[len(blocks)-2], blocks[len(blocks)-1]
			if a.sum/a.weight <= b.sum/b.weight {
				break
			}
			blocks = append(blocks[:len(blocks)-2], block{a.sum + b.sum, a.weight + b.weight, a.count + b.count})
		}
	}
	var places []float64
	for _, b := range blocks {
		for range b.count {
			places = append(places, b.sum/b.weight+shift[len(places)])
		}
	}
	return places
}

// at is where the line of an end is, as far as is known while places are being found: in the middle of a
// box, or at its port.
func (l *level) at(e end) float64 {
	v := &l.v[e.v]
	if v.inner != nil {
		if p, ok := v.inner.ports[e.edge]; ok {
			return v.x + v.inner.v[p].x - v.inner.x - v.inner.w/2
		}
	}
	return v.x + v.line
}

// meets is at, or of a wide box the place on its border that is near x.
func (l *level) meets(e end, x float64) float64 {
	v := &l.v[e.v]
	if v.kind != node {
		return l.at(e)
	}
	if v.inner != nil {
		if _, ok := v.inner.ports[e.edge]; ok {
			return l.at(e)
		}
	}
	reach := max(0, l.g.Nodes[v.node].W/2-60)
	return min(max(x, v.x-reach), v.x+reach)
}

func (l *level) wanted(v int) (x, weight float64) {
	sum, n := 0.0, 0.0
	for _, near := range [][]end{l.v[v].up, l.v[v].down} {
		for _, m := range near {
			w := 1.0
			if l.v[v].kind == bend && l.v[m.v].kind == bend {
				w = 8
			}
			own := l.at(end{v, m.edge})
			sum += (l.meets(m, own) - own + l.v[v].x) * w
			n += w
		}
	}
	if n == 0 {
		return l.v[v].x, 0.1
	}
	return sum / n, n
}

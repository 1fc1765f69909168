package layered

import (
	"math"
)

// straighten moves the bends of each long edge over each other, so that it goes straight down as far as the
// neighbours in its layers allow. Nothing changes its order, and all distances stay.
func (l *level) straighten() {
	at := make([]int, len(l.v)) // place in its layer
	for _, layer := range l.layers {
		for i, v := range layer {
			at[v] = i
		}
	}
	for range 4 {
		for i := range l.links {
			if k := &l.links[i]; len(k.chain) > 3 {
				l.straightenLink(k, at)
			}
		}
	}
}

// straightenLink gives the bends of a link as few different places as can be.
func (l *level) straightenLink(k *link, at []int) {
	bends := k.chain[1 : len(k.chain)-1]
	for first := 0; first < len(bends); {
		low, high, sum := math.Inf(-1), math.Inf(1), 0.0
		next := first
		for ; next < len(bends); next++ {
			from, to := l.room(bends[next], at[bends[next]])
			if max(low, from) > min(high, to) {
				break
			}
			low, high = max(low, from), min(high, to)
			sum += l.v[bends[next]].x + l.v[bends[next]].line
		}
		if next == first { // rounding
			first++
			continue
		}
		want := sum / float64(next-first)
		if first == 0 { // as near as can be to where the line leaves its box
			want = l.meets(end{k.chain[0], k.edge}, min(max(want, low), high))
		} else if next == len(bends) {
			want = l.meets(end{k.chain[len(k.chain)-1], k.edge}, min(max(want, low), high))
		}
		x := min(max(want, low), high)
		for _, b := range bends[first:next] {
			l.v[b].x = x - l.v[b].line
		}
		first = next
	}
}

// room is between which places the line of a vertex may pass, as its neighbours are now.
func (l *level) room(v, at int) (low, high float64) {
	layer, own := l.layers[l.v[v].layer], l.v[v]
	low, high = math.Inf(-1), math.Inf(1)
	if at > 0 {
		p := layer[at-1]
		low = l.v[p].x + (l.v[p].w+own.w)/2 + l.apart(p, v) + own.line
	}
	if at+1 < len(layer) {
		n := layer[at+1]
		high = l.v[n].x - (l.v[n].w+own.w)/2 - l.apart(v, n) + own.line
	}
	return low, high
}

// components are the sets of nodes not inside others that edges join; the first has node 0.
func (g *Graph) components() []map[int]bool {
	set := make([]int, len(g.Nodes))
	for i := range set {
		set[i] = i
	}
	find := func(n int) int {
		for set[n] != n {
			n = set[n]
		}
		return n
	}
	join := func(a, b int) {
		a, b = find(a), find(b)
		set[max(a, b)] = min(a, b)
	}
	for n, node := range g.Nodes {
		if node.In > 0 {
			join(n, node.In-1)
		}
	}
	for _, e := range g.Edges {
		join(e.From, e.To)
	}
	index := map[int]int{}
	var list []map[int]bool
	for n, node := range g.Nodes {
		i, ok := index[find(n)]
		if !ok {
			i = len(list)
			index[find(n)] = i
			list = append(list, map[int]bool{})
		}
		if node.In == 0 {
			list[i][n] = true
		}
	}
	return list
}

// pack puts levels beside each other, or the others below the first if that one is wide already, and sets the
// size of the drawing.
func (g *Graph) pack(levels []*level) []Point {
	const wide, apart = 1000, 36
	places := make([]Point, len(levels))
	first, column := levels[0], 0.0
	for _, l := range levels[1:] {
		column = max(column, l.w)
	}
	g.W, g.H = first.w, first.h
	x, y, high := 0.0, 0.0, 0.0
	beside := first.w+apart+column <= max(wide, 1.2*first.h)
	if !beside {
		y = first.h + apart
	} else if len(levels) > 1 {
		high := 0.0
		for _, l := range levels[1:] {
			high += l.h + apart
		}
		x = first.reach(high) + apart
	}
	for i, l := range levels {
		if i == 0 {
			continue
		}
		switch {
		case beside && y > 0 && y+l.h > first.h:
			x, y = g.W+apart, 0
		case !beside && x > 0 && x+l.w > max(first.w, wide):
			x, y, high = 0, y+high+apart, 0
		}
		places[i] = Point{x, y}
		g.W, g.H, high = max(g.W, x+l.w), max(g.H, y+l.h), max(high, l.h)
		if beside {
			y += l.h + apart
		} else {
			x += l.w + apart
		}
	}
	return places
}

// reach is how far to the right anything is in the upper part of a level, so high.
func (l *level) reach(high float64) float64 {
	x := 0.0
	for i, layer := range l.layers {
		if i > 0 && l.bottom[i-1] > high { // lines go on from the layer before
			break
		}
		for _, v := range layer {
			x = max(x, l.v[v].x+l.v[v].w/2)
		}
	}
	return x
}

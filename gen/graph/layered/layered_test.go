package layered

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func box() Node { return Node{W: 60, H: 30} }

// draw makes a random graph of up to ten boxes.
func draw(t *rapid.T) *Graph {
	g := &Graph{}
	for range rapid.IntRange(1, 10).Draw(t, "nodes") {
		n := Node{W: float64(rapid.IntRange(10, 120).Draw(t, "w")), H: 30, HeadW: 40, HeadH: 12}
		if len(g.Nodes) > 1 {
			n.In = rapid.IntRange(0, len(g.Nodes)-1).Draw(t, "in") // around it is one before it
		}
		g.Nodes = append(g.Nodes, n)
	}
	for range rapid.IntRange(0, 20).Draw(t, "edges") {
		g.Edges = append(g.Edges, Edge{
			From:   rapid.IntRange(0, len(g.Nodes)-1).Draw(t, "from"),
			To:     rapid.IntRange(0, len(g.Nodes)-1).Draw(t, "to"),
			LabelW: float64(rapid.IntRange(0, 80).Draw(t, "label")), LabelH: 12,
		})
	}
	return g
}

func overlap(a, b Node) bool {
	return math.Abs(a.X-b.X) < (a.W+b.W)/2-0.01 && math.Abs(a.Y-b.Y) < (a.H+b.H)/2-0.01
}

func TestBoxesNeverOverlapAndEdgesMeetTheirBoxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		Layout(g)
		for i, a := range g.Nodes {
			for j, b := range g.Nodes[i+1:] {
				if around(g, i, i+1+j) {
					if !overlap(a, b) || a.W < b.W+2*Pad-0.01 || a.H < b.H+2*Pad-0.01 {
						t.Fatalf("%+v is not around %+v", a, b)
					}
				} else if overlap(a, b) {
					t.Fatalf("boxes overlap: %+v %+v", a, b)
				}
			}
			if a.X-a.W/2 < -0.01 || a.X+a.W/2 > g.W+0.01 || a.Y-a.H/2 < -0.01 || a.Y+a.H/2 > g.H+0.01 {
				t.Fatalf("box %+v lies outside %v×%v", a, g.W, g.H)
			}
		}
		for _, e := range g.Edges {
			touches(t, e.Points[0], g.Nodes[e.From])
			touches(t, e.Points[len(e.Points)-1], g.Nodes[e.To])
		}
	})
}

// around reports whether n is around other.
func around(g *Graph, n, other int) bool {
	for other = g.Nodes[other].In - 1; other >= 0; other = g.Nodes[other].In - 1 {
		if other == n {
			return true
		}
	}
	return false
}

// TestLinesMeetNothing: straight stretches and the rooms in which lines move to the side are free of boxes,
// heads and labels. Of a self loop of a box with others inside nothing is said.
func TestLinesMeetNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		Layout(g)
		for i, e := range g.Edges {
			if e.From == e.To {
				continue
			}
			for k := 1; k < len(e.Points); k++ {
				a, b := e.Points[k-1], e.Points[k]
				stretch := Node{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2, W: math.Abs(a.X - b.X), H: math.Abs(a.Y - b.Y)}
				for n, box := range g.Nodes {
					end := n == e.From || n == e.To || around(g, n, e.From) || around(g, n, e.To)
					if !end && overlap(stretch, box) {
						t.Fatalf("edge %d, %d → %d, meets box %d: %+v in %+v", i, e.From, e.To, n, stretch, g)
					}
				}
				for j, l := range g.Edges {
					label := Node{X: l.LabelX, Y: l.LabelY, W: l.LabelW, H: l.LabelH}
					if l.LabelW > 0 && overlap(stretch, label) {
						t.Fatalf("edge %d, %d → %d, meets label %d: %+v, %+v", i, e.From, e.To, j, stretch, label)
					}
				}
			}
		}
	})
}

func touches(t *rapid.T, p Point, n Node) {
	dx, dy := math.Abs(p.X-n.X)-n.W/2, math.Abs(p.Y-n.Y)-n.H/2
	if math.Abs(max(dx, dy)) > 0.01 {
		t.Fatalf("the end %+v of an edge is not on the border of %+v", p, n)
	}
}

func TestSameInputSamePlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		h := &Graph{Nodes: append([]Node(nil), g.Nodes...), Edges: append([]Edge(nil), g.Edges...)}
		Layout(g)
		Layout(h)
		if !reflect.DeepEqual(g, h) {
			t.Fatal("two layouts of one graph differ")
		}
	})
}

func TestAChainIsDrawnDownwardInAStraightLine(t *testing.T) {
	g := &Graph{Nodes: []Node{box(), box(), box()}, Edges: []Edge{{From: 0, To: 1}, {From: 1, To: 2}, {From: 2, To: 0}}}
	Layout(g)
	if !(g.Nodes[0].Y < g.Nodes[1].Y && g.Nodes[1].Y < g.Nodes[2].Y) {
		t.Errorf("not downward: %+v", g.Nodes)
	}
	back := g.Edges[2]
	if back.Points[0].Y < back.Points[len(back.Points)-1].Y {
		t.Error("the edge that closes the cycle must run upward, from its sender to its receiver")
	}
}

// TestPartsAreApart: what no edge joins is laid out for itself, beside the first part or below it, and has its
// own top.
func TestPartsAreApart(t *testing.T) {
	for _, wide := range []float64{200, 1200} {
		g := &Graph{Nodes: []Node{{W: wide, H: 30}, {W: wide, H: 30}, {W: 60, H: 300}, box(), box()},
			Edges: []Edge{{From: 0, To: 1}, {From: 2, To: 3}}}
		Layout(g)
		for _, n := range []int{2, 4} {
			beside := g.Nodes[n].X-g.Nodes[n].W/2 > g.Nodes[0].X+wide/2
			below := g.Nodes[n].Y-g.Nodes[n].H/2 > g.Nodes[1].Y+15
			if beside != (wide < 1000) || below != (wide > 1000) {
				t.Errorf("%v wide: box %d is at %+v, the first part at %+v", wide, n, g.Nodes[n], g.Nodes[:2])
			}
		}
		if g.Nodes[0].Y != 15 {
			t.Errorf("the first box is at %v, although a tall one is beside it", g.Nodes[0].Y)
		}
	}
}

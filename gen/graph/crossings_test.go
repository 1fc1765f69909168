package graph

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/graph/layered"
	"github.com/parley-go/parley/gen/model"
)

// TestNothingIsCrossed draws every machine of the repository without Graphviz, and one with all that frames
// can have, and follows each line: it meets no label, not even its own, and no box but those at its ends.
// Variants are drawn, too, if tests have all the time they want.
func TestNothingIsCrossed(t *testing.T) {
	files := []string{"testdata/frames.yaml"}
	pattern := "spec.yaml"
	if os.Getenv("PARLEY_LONG") != "" {
		pattern = "*.yaml"
	}
	for _, folder := range []string{"../../specs/*/", "../../specs/library/*/"} {
		found, err := filepath.Glob(folder + pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(folder, err)
		}
		files = append(files, found...)
	}
	machines, lines, moves := 0, 0, 0
	for _, file := range files {
		p, list := compile.Load(file, compile.Options{})
		if p == nil {
			t.Logf("%s does not compile (a finding of gen/compile's tests): %v", file, list[0])
			continue
		}
		for _, m := range p.Roles {
			machines++
			l, n := followed(t, file, p, m)
			lines, moves = lines+l, moves+n
		}
	}
	if machines < len(files)/2 || lines < 5*machines {
		t.Errorf("only %d machines with %d lines", machines, lines)
	}
	// Between its first and its last stretch a line goes straight down, or moves to the side where it must.
	t.Logf("%d machines, %d lines that move %d times", machines, lines, moves)
	if 10*moves > 7*lines {
		t.Errorf("%d lines move to the side %d times: they are crooked", lines, moves)
	}
}

// followed follows the lines of one machine, and returns how many there are and how often they move to the side
// on their way.
func followed(t *testing.T, file string, p *model.Protocol, m *model.Machine) (lines, moves int) {
	d := build(m, Options{Protocol: p})
	g := layOut(d)
	for i, e := range g.Edges {
		if i >= len(d.edges)+d.starts() {
			continue
		}
		path := smooth(e.Points)
		if e.From == e.To {
			path = loop(e.Points)
		}
		places := walk(path)
		for k := 2; k+1 < len(e.Points) && e.From != e.To; k++ {
			if e.Points[k].X != e.Points[k-1].X {
				moves++
			}
		}
		for n, node := range g.Nodes {
			if node.HeadH > 0 && crosses(places, node.X-node.W/2+layered.Pad+node.HeadW/2,
				node.Y-node.H/2+layered.Pad+node.HeadH/2, node.HeadW, node.HeadH) {
				t.Errorf("%s %s: the line %d of %d → %d meets the head of %d", file, m.Name, i, e.From, e.To, n)
			}
			if !around(g, n, e.From) && !around(g, n, e.To) && crosses(places, node.X, node.Y, node.W, node.H) {
				t.Errorf("%s %s: the line %d of %d → %d meets box %d", file, m.Name, i, e.From, e.To, n)
			}
		}
		for j, l := range g.Edges {
			if l.LabelW > 8 && crosses(places, l.LabelX, l.LabelY, l.LabelW, l.LabelH) {
				own := ""
				if i == j {
					own = ", its own"
				}
				t.Errorf("%s %s: the line %d of %d → %d meets label %d%s", file, m.Name, i, e.From, e.To, j, own)
			}
		}
	}
	apart(t, file+" "+m.Name, g)
	return len(g.Edges), moves
}

// apart checks that no label lies over another one, or over a box; that it lies in the frames around both its ends
// is no fault.
func apart(t *testing.T, name string, g *layered.Graph) {
	t.Helper()
	over := func(x1, y1, w1, h1, x2, y2, w2, h2 float64) bool {
		return math.Abs(x1-x2) < (w1+w2)/2-1 && math.Abs(y1-y2) < (h1+h2)/2-1
	}
	for i, a := range g.Edges {
		if a.LabelW <= 8 {
			continue
		}
		for j, b := range g.Edges[:i] {
			if b.LabelW > 8 && over(a.LabelX, a.LabelY, a.LabelW, a.LabelH, b.LabelX, b.LabelY, b.LabelW, b.LabelH) {
				t.Errorf("%s: label %d lies over label %d", name, i, j)
			}
		}
		for n, node := range g.Nodes {
			if node.HeadH == 0 && over(a.LabelX, a.LabelY, a.LabelW, a.LabelH, node.X, node.Y, node.W, node.H) {
				t.Errorf("%s: label %d lies over box %d", name, i, n)
			}
		}
		left, top := a.LabelX-a.LabelW/2, a.LabelY-a.LabelH/2
		if left < -1 || left+a.LabelW > g.W+1 || top < -1 || top+a.LabelH > g.H+1 {
			t.Errorf("%s: label %d lies outside", name, i)
		}
	}
}

// around reports whether n is other, or other is inside it.
func around(g *layered.Graph, n, other int) bool {
	for ; n != other; other = g.Nodes[other].In - 1 {
		if other < 0 {
			return false
		}
	}
	return true
}

// crosses reports whether a line comes into the box around x, y.
func crosses(line []layered.Point, x, y, w, h float64) bool {
	for _, p := range line {
		if p.X > x-w/2+1 && p.X < x+w/2-1 && p.Y > y-h/2+1 && p.Y < y+h/2-1 {
			return true
		}
	}
	return false
}

// walk lists places on the path of an SVG, near each other.
func walk(path string) (list []layered.Point) {
	var at layered.Point
	var rest []string
	point := func(s string) layered.Point {
		x, y, _ := strings.Cut(s, ",")
		fx, err := strconv.ParseFloat(x, 64)
		fy, err2 := strconv.ParseFloat(y, 64)
		if err != nil || err2 != nil {
			panic(fmt.Sprint(s, " in ", path))
		}
		return layered.Point{X: fx, Y: fy}
	}
	rest = strings.Fields(path)
	for len(rest) > 0 {
		need := map[byte]int{'M': 1, 'L': 1, 'Q': 2, 'C': 3}[rest[0][0]]
		through := []layered.Point{at}
		for i := range need {
			through = append(through, point(strings.TrimLeft(rest[i], "MLQC")))
		}
		if rest[0][0] != 'M' {
			steps := math.Hypot(through[need].X-at.X, through[need].Y-at.Y)/3 + 4
			for i := range int(steps) + 1 {
				list = append(list, bezier(through, min(1, float64(i)/steps)))
			}
		}
		at, rest = through[need], rest[need:]
	}
	return list
}

// bezier is de Casteljau's.
func bezier(p []layered.Point, t float64) layered.Point {
	for len(p) > 1 {
		var next []layered.Point
		for i := range p[1:] {
			next = append(next, layered.Point{X: p[i].X*(1-t) + p[i+1].X*t, Y: p[i].Y*(1-t) + p[i+1].Y*t})
		}
		p = next
	}
	return p[0]
}

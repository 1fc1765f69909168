package graph

import (
	"regexp"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

// framed is a machine with states within states.
func framed(t *testing.T) *model.Machine {
	t.Helper()
	p, list := compile.Load("testdata/frames.yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	return p.Roles[0]
}

// TestFramesAreAroundTheirStates: without Graphviz, too, and no state outside lies in them.
func TestFramesAreAroundTheirStates(t *testing.T) {
	d := build(framed(t), Options{})
	g := layOut(d)
	first := 1 // behind the start mark
	for i, b := range d.boxes {
		n := g.Nodes[first+i]
		for j, f := range d.frames {
			box := g.Nodes[first+len(d.boxes)+j]
			inside := false
			for in := b.in; in != nil; in = in.in {
				inside = inside || in == f
			}
			within := n.X-n.W/2 > box.X-box.W/2 && n.X+n.W/2 < box.X+box.W/2 &&
				n.Y-n.H/2 > box.Y-box.H/2 && n.Y+n.H/2 < box.Y+box.H/2
			apart := n.X+n.W/2 < box.X-box.W/2 || n.X-n.W/2 > box.X+box.W/2 ||
				n.Y+n.H/2 < box.Y-box.H/2 || n.Y-n.H/2 > box.Y+box.H/2
			if inside && !within || !inside && !apart {
				t.Errorf("%s and the frame of %s: %+v, %+v", b.name, f.name, n, box)
			}
		}
	}
	svg := SVG(framed(t), Options{})
	wellFormed(t, svg)
	for _, want := range []string{">running</text>", ">inner</text>", ">H*</text>"} {
		if strings.Count(svg, want) != 1 {
			t.Errorf("%d times %s in\n%s", strings.Count(svg, want), want, svg)
		}
	}
	if strings.Contains(svg, "slow (in") {
		t.Error("a state says in which frame it is")
	}
}

// TestHistoryHasAMark: an edge that resumes leads to a mark in the frame, and what the composite state does
// with itself stands in its frame: no edge of Graphviz leads from a frame to what is inside.
func TestHistoryHasAMark(t *testing.T) {
	dot := DOT(framed(t), Options{})
	if !regexp.MustCompile(`s0 -> h0 \[`).MatchString(dot) || !strings.Contains(dot, `h0 [shape=circle, label="H*"`) {
		t.Errorf("no mark of history in\n%s", dot)
	}
	d := build(framed(t), Options{})
	for _, e := range d.edges {
		for in := d.boxes[e.to].in; in != nil; in = in.in {
			if e.out == in {
				t.Errorf("an edge from the frame of %s to %s, which is inside", in.name, d.boxes[e.to].name)
			}
		}
	}
	if rows := d.frames[0].rows; len(rows) == 0 || rows[len(rows)-1].text() != "again → slow" {
		t.Errorf("rows of the frame: %+v", rows)
	}
}

// TestNoStateFloats: what only a note leads to is drawn with a box for the states of the note.
func TestNoStateFloats(t *testing.T) {
	k := newSketch("n", "a", "b", "c", "d", "gone")
	k.on("a", "ONE", "", "", "b")
	k.on("b", "ONE", "", "", "c")
	k.on("c", "ONE", "", "", "d")
	k.common([]string{"a", "b", "c", "d"}, "RESET", "", "gone")
	d := build(k.m, Options{})
	if len(d.boxes) != 6 || !d.boxes[5].some || d.boxes[5].name != "in every state" ||
		d.boxes[5].rows[0].text() != "except gone" {
		t.Fatalf("boxes: %+v", d.boxes)
	}
	last := d.edges[len(d.edges)-1]
	if last.from != 5 || d.boxes[last.to].name != "gone" || last.lines[0].text() != "RESET" {
		t.Errorf("the edge: %+v", last)
	}
	if lone := d.lone(); len(lone) != 0 {
		t.Errorf("states to which nothing leads: %v", lone)
	}
}

// TestFewMovesAreEdges: what few states do alike and leads elsewhere is drawn, not said in a note.
func TestFewMovesAreEdges(t *testing.T) {
	k := newSketch("n", "a", "b", "c")
	k.common([]string{"b", "c"}, "RESET", "", "a")
	if d := build(k.m, Options{}); len(d.notes) != 0 || len(d.edges) != 2 {
		t.Errorf("%d notes and %d edges", len(d.notes), len(d.edges))
	}
	k = newSketch("n", "a", "b", "c")
	k.common([]string{"b", "c"}, "RESET", "send ONE", "")
	if d := build(k.m, Options{}); len(d.notes) != 1 || len(d.edges) != 0 {
		t.Errorf("%d notes and %d edges", len(d.notes), len(d.edges))
	}
}

// TestGuardsAreWhole: a guard that is cut says something else. It is broken into lines.
func TestGuardsAreWhole(t *testing.T) {
	k := newSketch("n", "a", "b")
	const long = "first && second && third && fourth && fifth && sixth && seventh && eighth"
	k.on("a", "ONE", long, "", "b")
	text := ""
	for _, l := range build(k.m, Options{}).edges[0].lines {
		if len(l.text()) > 44 {
			t.Errorf("a line of %d characters: %s", len(l.text()), l.text())
		}
		text += " " + strings.TrimSpace(l.text())
	}
	if text != " ONE ["+long+"]" {
		t.Error(text)
	}
}

package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/graph/layered"
	"github.com/parley-go/parley/gen/model"
)

// Sizes of the machine drawing, in points.
const (
	rowSize   = 11.0 // letters in boxes and labels
	rowStep   = 14.0 // from line to line
	nameSize  = 13.0
	nameStep  = 22.0
	boxPad    = 10.0
	margin    = 18.0
	startSize = 10.0

	historySize = 24.0
)

// SVG draws m without the help of other programs, with the same content and
// colours as [DOT].
//
// With Options.Marks the group of a state has the attribute data-state, its place in Machine.States, and
// the groups of the lines and texts of an edge or a note have data-transitions, the places of its branches
// in Machine.Transitions. Of branches that one place in the specification gives to several states, an edge
// may name one.
func SVG(m *model.Machine, o Options) string {
	d := build(m, o)
	g := layOut(d)
	top := margin + 24.0
	w := &svg{ids: d.marks}
	w.text(margin, margin+12, "start", colours[title], ` font-size="16" font-weight="bold"`, d.name)
	width := max(g.W, boldWidth(d.name, 16))
	for _, text := range d.docLines(min(docWidth, max(docWidth/2, int(g.W/6)))) {
		w.text(margin, top+4, "start", colours[faint], ` font-size="11"`, text)
		width = max(width, textWidth(text, 11))
		top += rowStep
	}
	if d.doc != "" {
		top += 4
	}
	w.f(`<g transform="translate(%s %s)">`+"\n", num(margin), num(top))
	for i := range g.Nodes {
		drawFrame(w, d, g, i)
	}
	for i, e := range g.Edges {
		switch {
		case i < len(d.edges):
			drawEdge(w, d.edges[i], d.transitions(d.edges[i].of), e)
		case i < len(d.edges)+d.starts():
			drawEdge(w, edge{tip: "start"}, "", e)
		}
	}
	for i, n := range g.Nodes {
		drawNode(w, d, i, n)
	}
	for i, e := range g.Edges {
		if i < len(d.edges) {
			w.marked(d.transitions(d.edges[i].of), d.edges[i].tip,
				func() { drawRows(w, d.edges[i].lines, e.LabelX-e.LabelW/2+4, e.LabelY-e.LabelH/2+rowSize) })
		}
	}
	w.f("</g>\n")
	y := top + g.H + 14
	bottom, x := y, margin
	for _, column := range columns(d.notes) {
		wide, at := 0.0, y
		for _, n := range column {
			wide = max(wide, noteWidth(n))
		}
		for _, n := range column {
			w.marked(d.transitions(n.of), "", func() { drawNote(w, n, x, at, wide) })
			at += noteHeight(n) + 8
		}
		bottom, x = max(bottom, at), x+wide+8
		width = max(width, x)
	}
	x, y = margin, bottom
	for _, t := range d.legend {
		w.text(x, y+12, "start", colours[t], ` font-size="11"`, "● "+d.toneName(t))
		x += textWidth("● "+d.toneName(t), rowSize) + 14
	}
	if d.hint != "" {
		w.text(x, y+12, "start", colours[faint], ` font-size="11"`, d.hint)
		x += textWidth(d.hint, rowSize)
	}
	return w.document(max(width, x)+2*margin, y+26, d.name, d.words())
}

// state is the mark of a box that is a state of the role.
func (d *diagram) state(box int) string {
	if d.marks == "" || box >= d.states {
		return ""
	}
	return fmt.Sprintf(` data-state="%d"`, box)
}

// transitions is the mark of what shows branches.
func (d *diagram) transitions(list []*model.Transition) string {
	if d.marks == "" || len(list) == 0 {
		return ""
	}
	ids := make([]string, len(list))
	for i, t := range list {
		ids[i] = strconv.Itoa(t.ID)
	}
	return fmt.Sprintf(` data-transitions="%s"`, strings.Join(ids, " "))
}

// words tells what a diagram shows.
func (d *diagram) words() string {
	var b strings.Builder
	if d.doc != "" {
		b.WriteString(d.doc + "\n")
	}
	for i, s := range d.boxes {
		fmt.Fprintf(&b, "State %s", s.name)
		if s.in != nil {
			fmt.Fprintf(&b, ", in %s", s.in.name)
		}
		if i == d.initial {
			b.WriteString(", the first")
		}
		if s.final {
			b.WriteString(", final")
		}
		b.WriteString(".\n")
		for _, e := range d.edges {
			if e.from == i && e.out == nil {
				var lines []string
				for _, l := range e.lines {
					lines = append(lines, strings.TrimSpace(l.text()))
				}
				fmt.Fprintf(&b, "  to %s: %s\n", d.boxes[e.to].name, strings.Join(lines, " "))
			}
		}
	}
	return b.String()
}

// starts counts the marks from which machines begin: that of the role, and those of monitors.
func (d *diagram) starts() int {
	n := 0
	if d.initial >= 0 {
		n++
	}
	for _, f := range d.frames {
		if f.monitor && f.initial >= 0 {
			n++
		}
	}
	return n
}

// layOut measures boxes and labels and has them placed. Nodes are the start
// mark, if there is one, the boxes, the frames, the history marks and the start marks of monitors. Edges are those
// of the diagram, then those of the start marks.
func layOut(d *diagram) *layered.Graph {
	g := &layered.Graph{}
	if d.initial >= 0 {
		g.Nodes = append(g.Nodes, layered.Node{W: startSize, H: startSize})
	}
	first := len(g.Nodes)
	around := func(f *frame) int { // what Node.In wants
		if f == nil {
			return 0
		}
		return first + len(d.boxes) + f.number + 1
	}
	for _, b := range d.boxes {
		w := max(boldWidth(b.name, nameSize)+2*boxPad, rowsWidth(b.rows)+2*boxPad, 60)
		h := nameStep + 4
		if len(b.rows) > 0 {
			h += float64(len(b.rows))*rowStep + 8
		}
		if b.final {
			w, h = w+8, h+8
		}
		g.Nodes = append(g.Nodes, layered.Node{W: w, H: h, In: around(b.in)})
	}
	for _, f := range d.frames {
		g.Nodes = append(g.Nodes, layered.Node{In: around(f.in),
			HeadW: max(boldWidth(f.name, nameSize), rowsWidth(f.rows)) + 4,
			HeadH: nameStep + float64(len(f.rows))*rowStep})
	}
	history := map[*frame]int{}
	for _, f := range d.frames {
		if f.history {
			history[f] = len(g.Nodes)
			g.Nodes = append(g.Nodes, layered.Node{W: historySize, H: historySize, In: around(f)})
		}
	}
	for _, e := range d.edges {
		from, to := e.from+first, e.to+first
		if e.out != nil {
			from = around(e.out) - 1
		}
		if e.in != nil {
			to = history[e.in]
		}
		g.Edges = append(g.Edges, layered.Edge{From: from, To: to,
			LabelW: rowsWidth(e.lines) + 8, LabelH: float64(len(e.lines))*rowStep + 4})
	}
	if d.initial >= 0 {
		g.Edges = append(g.Edges, layered.Edge{From: 0, To: d.initial + first})
	}
	for _, f := range d.frames {
		if f.monitor && f.initial >= 0 {
			g.Edges = append(g.Edges, layered.Edge{From: len(g.Nodes), To: f.initial + first})
			g.Nodes = append(g.Nodes, layered.Node{W: startSize, H: startSize, In: around(f)})
		}
	}
	for _, i := range d.lone() { // an edge that is not drawn keeps them below
		g.Edges = append(g.Edges, layered.Edge{From: max(d.initial, 0) + first, To: i + first})
	}
	layered.Layout(g)
	return g
}

func rowsWidth(rows []line) float64 {
	w := 0.0
	for _, r := range rows {
		row := 0.0
		for _, p := range r.pieces {
			if toneStyle(p.tone) == bold {
				row += boldWidth(p.text, rowSize)
			} else {
				row += textWidth(p.text, rowSize)
			}
		}
		w = max(w, row)
	}
	return w
}

func drawNode(w *svg, d *diagram, i int, n layered.Node) {
	if d.initial >= 0 {
		if i == 0 {
			drawStart(w, n)
			return
		}
		i--
	}
	if i -= len(d.boxes); i >= 0 {
		if i >= len(d.frames) && !drawHistory(w, d, i-len(d.frames), n) {
			drawStart(w, n)
		}
		return
	}
	b := d.boxes[i+len(d.boxes)]
	x, y, width, height := n.X-n.W/2, n.Y-n.H/2, n.W, n.H
	w.marked(d.state(i+len(d.boxes)), b.tip, func() {
		if b.final {
			w.f(`<rect x="%s" y="%s" width="%s" height="%s" rx="11" fill="#ffffff" stroke="%s"/>`+"\n", num(x),
				num(y), num(width), num(height), lineColour)
			x, y, width, height = x+4, y+4, width-8, height-8
		}
		dashes := ""
		if b.some {
			dashes = ` stroke-dasharray="5 3"`
		}
		w.f(`<rect x="%s" y="%s" width="%s" height="%s" rx="8" fill="#f6f8fb" stroke="%s"%s/>`+"\n", num(x),
			num(y), num(width), num(height), lineColour, dashes)
		w.f(`<text x="%s" y="%s" text-anchor="middle" font-size="13" font-weight="bold" fill="%s">%s</text>`+"\n",
			num(n.X), num(y+17), colours[title], escape(b.name))
		if len(b.rows) > 0 {
			w.f(`<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="#c8ccd4"/>`+"\n", num(x), num(y+nameStep+2),
				num(x+width), num(y+nameStep+2))
			drawRows(w, b.rows, x+boxPad, y+nameStep+6+rowSize)
		}
	})
}

// drawFrame draws the border of node i, if it is a state with states of its own, and what it says.
func drawFrame(w *svg, d *diagram, g *layered.Graph, i int) {
	n := g.Nodes[i]
	if d.initial >= 0 {
		i--
	}
	if i -= len(d.boxes); i < 0 || i >= len(d.frames) {
		return
	}
	f := d.frames[i]
	x, y := n.X-n.W/2, n.Y-n.H/2
	dashes := ""
	if f.monitor {
		dashes = dashed
	}
	w.tipped(f.tip, func() {
		w.f(`<rect x="%s" y="%s" width="%s" height="%s" rx="10" fill="#8a93a3" fill-opacity="0.06" stroke="#8a93a3"%s/>`+
			"\n", num(x), num(y), num(n.W), num(n.H), dashes)
		w.f(`<text x="%s" y="%s" font-size="13" font-weight="bold" fill="%s">%s</text>`+"\n", num(x+layered.Pad),
			num(y+layered.Pad+12), colours[title], escape(f.name))
		drawRows(w, f.rows, x+layered.Pad, y+layered.Pad+nameStep+rowSize-2)
	})
}

func drawStart(w *svg, n layered.Node) {
	w.f(`<circle cx="%s" cy="%s" r="%s" fill="#222222"/>`+"\n", num(n.X), num(n.Y), num(startSize/2))
}

// drawHistory draws the n-th history mark, if there are so many.
func drawHistory(w *svg, d *diagram, n int, at layered.Node) bool {
	for _, f := range d.frames {
		if !f.history {
			continue
		}
		if n--; n < 0 {
			w.tipped(historyTip(f), func() {
				w.f(`<circle cx="%s" cy="%s" r="%s" fill="#ffffff" stroke="%s"/>`+"\n", num(at.X), num(at.Y),
					num(at.W/2), lineColour)
				w.f(`<text x="%s" y="%s" text-anchor="middle" font-size="11" fill="%s">%s</text>`+"\n", num(at.X),
					num(at.Y+4), colours[title], historyMark)
			})
			return true
		}
	}
	return false
}

// drawRows writes lines of coloured pieces; y is the first base line.
func drawRows(w *svg, rows []line, x, y float64) {
	for i, r := range rows {
		w.f(
			`<text x="%s" y="%s" font-size="11" paint-order="stroke" stroke="#ffffff" stroke-width="3" stroke-linejoin="round" stroke-opacity="0.85" xml:space="preserve">`,
			num(x), num(y+float64(i)*rowStep))
		for _, p := range r.pieces {
			w.f(`<tspan fill="%s"%s>%s</tspan>`, colours[p.tone], toneStyle(p.tone), escape(p.text))
		}
		w.f("</text>\n")
	}
}

func toneStyle(t tone) string {
	switch t {
	case title:
		return bold
	case guard:
		return ` font-style="italic"`
	}
	return ""
}

// drawEdge draws a smooth line through the points of e.
func drawEdge(w *svg, what edge, marks string, e layered.Edge) {
	if len(e.Points) < 2 {
		return
	}
	colour := colours[what.tone]
	if what.tone == plain {
		colour = lineColour
	}
	path := smooth(e.Points)
	if e.From == e.To {
		path = loop(e.Points)
	}
	w.marked(marks, what.tip, func() {
		w.f(`<path d="%s" fill="none" stroke="%s" stroke-width="1.2" marker-end="url(#h%s)"/>`+"\n",
			path, colour, colour[1:])
	})
}

// smooth is a path through the points: straight between two of one X, else a curve that is upright at both.
func smooth(p []layered.Point) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%s,%s", num(p[0].X), num(p[0].Y))
	for i := 1; i < len(p); i++ {
		from, to := p[i-1], p[i]
		if from.X == to.X {
			fmt.Fprintf(&b, " L%s,%s", num(to.X), num(to.Y))
			continue
		}
		middle := (from.Y + to.Y) / 2
		fmt.Fprintf(&b, " C%s,%s %s,%s %s,%s", num(from.X), num(middle), num(to.X), num(middle), num(to.X), num(to.Y))
	}
	return b.String()
}

// loop is a path from a border to the same border, with the corners p[1] and p[2] rounded off.
func loop(p []layered.Point) string {
	return fmt.Sprintf("M%s,%s C%s,%s %s,%s %s,%s", num(p[0].X), num(p[0].Y), num(p[1].X), num(p[1].Y),
		num(p[2].X), num(p[2].Y), num(p[3].X), num(p[3].Y))
}

func noteHeight(n note) float64 { return float64(len(n.rows)+1)*rowStep + 12 }

func noteWidth(n note) float64 {
	return max(boldWidth(n.head, rowSize), rowsWidth(n.rows)) + 2*boxPad
}

func drawNote(w *svg, n note, x, y, width float64) {
	w.f(`<rect x="%s" y="%s" width="%s" height="%s" fill="#fff8dc" stroke="#d8cfa0"/>`+"\n", num(x), num(y),
		num(width), num(noteHeight(n)))
	w.f(`<text x="%s" y="%s" font-size="11" font-weight="bold" fill="%s">%s</text>`+"\n", num(x+boxPad),
		num(y+rowSize+5), colours[title], escape(n.head))
	drawRows(w, n.rows, x+boxPad, y+rowSize+5+rowStep)
}

package graph

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// build makes boxes, edges and notes of a machine, and of the monitors beside it.
func build(m *model.Machine, o Options) *diagram {
	o = o.withDefaults(m)
	if o.Detail != Everything {
		o.long = new([]string)
	}
	f := fold(m, o)
	d := &diagram{name: m.Name, doc: oneLine(m.Doc), initial: -1, marks: o.Marks, states: len(m.States)}
	if d.doc == "" && o.Protocol != nil {
		d.doc = oneLine(o.Protocol.Doc)
	}
	if m.Protocol != "" && m.Protocol != m.Name {
		d.name = m.Protocol + "." + m.Name
	}
	if m.External {
		d.name += " (external: somebody else's program)"
	}
	if m.Initial != nil {
		d.initial = m.Initial.Index
	}
	d.machine(m, f, o)
	d.fromNotes(m, f.common, o)
	for _, g := range f.common {
		d.notes = append(d.notes, commonNote(m, g, o))
	}
	if n, ok := partsNote(m); ok {
		d.notes = append(d.notes, n)
	}
	watched := d.monitors(m, &o)
	if o.Protocol != nil {
		d.notes = append(d.notes, protocolNotes(o.Protocol, m, o)...)
	}
	if o.long != nil && len(*o.long) > 0 {
		d.notes = append(d.notes, longNote(*o.long, o))
	}
	if !o.NoLegend {
		d.legend = legend(append(watched, m), o)
		d.watched = len(watched) > 0
		d.hint = d.hints()
	}
	return d
}

// machine adds the states and frames of a machine, and the edges between them.
func (d *diagram) machine(m *model.Machine, f folded, o Options) {
	byState := map[*model.State][]*model.Handler{}
	for _, h := range f.rest {
		s := h.Branches[0].From
		if m.External && h.Mode == model.Ignore && h.Span == s.Span {
			continue // the state does not mention it
		}
		if d.outer != nil && !says(h) {
			continue // what a monitor does not mention is nothing to it
		}
		byState[s] = append(byState[s], h)
	}
	frames := len(d.frames)
	for _, s := range m.States {
		b := stateBox(s, byState[s], o)
		b.in = d.frame(s.In)
		d.boxes = append(d.boxes, b)
		d.edges = append(d.edges, d.stateEdges(d.base+s.Index, own(byState[s], s), o)...)
	}
	for _, fr := range d.frames[frames:] {
		d.inside(m, fr, o)
	}
}

// says reports whether a handler does anything.
func says(h *model.Handler) bool {
	return slices.ContainsFunc(h.Branches, func(t *model.Transition) bool { return t.To != nil || len(t.Body) > 0 })
}

// frame returns the frame of a composite state, which it adds if it is the first to ask.
func (d *diagram) frame(c *model.Composite) *frame {
	if c == nil {
		return d.outer
	}
	outer := d.frame(c.In)
	for _, f := range d.frames {
		if f.of == c {
			return f
		}
	}
	tip := c.Name
	if c.Doc != "" {
		tip += ": " + oneLine(c.Doc)
	}
	f := &frame{name: c.Name, tip: tip + place(c.Span), in: outer, number: len(d.frames), of: c}
	d.frames = append(d.frames, f)
	return f
}

// fromNotes draws how the states are reached to which only a note leads: from a box for the states of the
// note. Without it they would stand there as if nothing led to them.
func (d *diagram) fromNotes(m *model.Machine, groups []commonGroup, o Options) {
	lone := d.lone()
	for _, g := range groups {
		var branches []*model.Transition
		for _, h := range g.handlers {
			for _, t := range h.Branches {
				if t.To != nil && slices.Contains(lone, t.To.Index) {
					branches = append(branches, t)
				}
			}
		}
		if len(branches) == 0 {
			continue
		}
		text := statesText(m, g.states)
		d.boxes = append(d.boxes, box{name: "in several states", some: true, tip: text})
		b := &d.boxes[len(d.boxes)-1]
		if rest := strings.TrimPrefix(text, "in every state"); rest != text {
			b.name, text = "in every state", strings.TrimSpace(rest)
		} else {
			text = strings.TrimPrefix(text, "in ")
		}
		b.rows = namesLines("", strings.Fields(text), o)
		d.edges = append(d.edges, d.stateEdges(len(d.boxes)-1, branches, o)...)
	}
}

// inside adds what a composite state does: rows for what leaves the machine where it is or inside, and edges
// that begin at its frame.
func (d *diagram) inside(m *model.Machine, f *frame, o Options) {
	acts := Options{Detail: max(o.Detail, Effects), flat: true}
	if list := effects(f.of.Entry, acts); len(list) > 0 {
		f.rows = append(f.rows, entryLines("entry /", list, o)...)
	}
	if list := effects(f.of.Exit, acts); len(list) > 0 {
		f.rows = append(f.rows, entryLines("exit /", list, o)...)
	}
	seen := map[diag.Span]bool{}
	var moving, back, staying []*model.Transition
	var ignored, deferred []string
	for _, t := range m.Transitions {
		if t.By != f.of || seen[t.Span] || t.Resumes != nil && t.To != t.Resumes.States[0] {
			continue
		}
		seen[t.Span] = true
		switch {
		case t.Mode == model.Ignore:
			ignored = append(ignored, t.Event.Name)
		case t.Mode == model.Defer:
			deferred = append(deferred, t.Event.Name)
		case t.To == nil:
			staying = append(staying, t)
		case within(t.To, f.of):
			back = append(back, t)
		default:
			moving = append(moving, t)
		}
	}
	for _, l := range append(labels(staying, o, false), labels(back, o, true)...) {
		f.rows = append(f.rows, l.lines(o)...)
	}
	f.rows = append(f.rows, namesLines("ignores", ignored, o)...)
	f.rows = append(f.rows, namesLines("defers", deferred, o)...)
	edges := d.stateEdges(d.base+f.of.States[0].Index, moving, o)
	for i := range edges {
		edges[i].out = f
	}
	d.edges = append(d.edges, edges...)
}

// within reports whether a composite state is around s.
func within(s *model.State, c *model.Composite) bool {
	for in := s.In; in != nil; in = in.In {
		if in == c {
			return true
		}
	}
	return false
}

// own lists the branches that lead from a state elsewhere and are drawn there. What the states around it
// say is drawn at their frames. Of branches that resume a state one is drawn.
func own(handlers []*model.Handler, s *model.State) (list []*model.Transition) {
	for _, h := range handlers {
		for _, t := range h.Branches {
			drawn := t.By == nil && (t.Resumes == nil || t.To == t.Resumes.States[0])
			if t.To != nil && t.To != s && drawn {
				list = append(list, t)
			}
		}
	}
	return list
}

// inFrames calls open and shut around what is in each frame, and box for each state, in an order in
// which frames can be written one inside the other.
func (d *diagram) inFrames(in *frame, open func(f *frame), box func(n int, b box), shut func()) {
	for i, b := range d.boxes {
		if b.in == in {
			box(i, b)
		}
	}
	for _, f := range d.frames {
		if f.in == in {
			open(f)
			d.inFrames(f, open, box, shut)
			shut()
		}
	}
}

// docWidth is the length of a line below the title, docMost how many there are.
const (
	docWidth = 100
	docMost  = 3
)

// docLines breaks the doc into lines of at most n characters. If there are too many it ends with a sentence.
func (d *diagram) docLines(n int) []string {
	lines := func(text string, n int) []string {
		var list []string
		line := ""
		for _, word := range strings.Fields(text) {
			if line != "" && utf8.RuneCountInString(line+" "+word) > n {
				list, line = append(list, line), ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		if line != "" {
			list = append(list, line)
		}
		return list
	}
	text := d.doc
	for len(lines(text, n)) > docMost {
		i := strings.LastIndex(strings.TrimSuffix(text, "."), ". ")
		if i < 0 {
			return append(lines(text, n)[:docMost-1], shorten(lines(text, n)[docMost-1]+" and more", n-1))
		}
		text = text[:i+1]
	}
	whole := len(lines(text, n))
	for n > 20 && len(lines(text, n-1)) == whole { // about equally long
		n--
	}
	return lines(text, n)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// stateBox shows what happens while a state lasts.
func stateBox(s *model.State, handlers []*model.Handler, o Options) box {
	o.Width += o.Width / 2 // a box is wider than what stands beside a line
	b := box{name: s.Name, final: s.Final, tip: stateTip(s)}
	if list := effects(s.Entry, Options{Detail: max(o.Detail, Effects)}); len(list) > 0 {
		b.rows = append(b.rows, entryLines("entry /", list, o)...)
	}
	if list := effects(s.Exit, Options{Detail: max(o.Detail, Effects)}); len(list) > 0 {
		b.rows = append(b.rows, entryLines("exit /", list, o)...)
	}
	var inside []*model.Transition
	var ignored, deferred []string
	for _, h := range handlers {
		switch {
		case h.Branches[0].By != nil: // drawn at the frame
		case h.Mode == model.Ignore:
			ignored = append(ignored, h.Event.Name)
		case h.Mode == model.Defer:
			deferred = append(deferred, h.Event.Name)
		default:
			for _, t := range h.Branches {
				begins := t.Event.Kind == model.EventStart && t.To == nil &&
					len(effects(t.Body, Options{Detail: Assignments})) == 0 // only actions
				silent := o.reports != nil && t.To == nil && len(t.Body) == 0 // of a monitor
				if (t.To == nil || t.To == s) && t.By == nil && !begins && !silent {
					inside = append(inside, t)
				}
			}
		}
	}
	for _, l := range labels(inside, o, false) {
		b.rows = append(b.rows, l.lines(o)...)
	}
	b.rows = append(b.rows, namesLines("ignores", ignored, o)...)
	b.rows = append(b.rows, namesLines("defers", deferred, o)...)
	return b
}

func stateTip(s *model.State) string {
	t := s.Name
	if s.Doc != "" {
		t += ": " + oneLine(s.Doc)
	}
	return t + place(s.Span)
}

func place(s diag.Span) string {
	if s.IsZero() {
		return ""
	}
	return fmt.Sprintf("\n%s:%d", s.File, s.Start.Line)
}

func entryLines(head string, list []string, o Options) []line {
	w := wrapper{width: o.Width}
	w.add(head, faint)
	for i, e := range list {
		if i+1 < len(list) {
			e += ","
		}
		w.add(e, plain)
	}
	return w.done()
}

// namesLines is a faint list of events, for what a state ignores or defers.
func namesLines(head string, names []string, o Options) []line {
	if len(names) == 0 {
		return nil
	}
	w := wrapper{width: o.Width}
	if head != "" {
		w.add(head, faint)
	}
	for i, n := range names {
		if head != "" && i+1 < len(names) {
			n += ","
		}
		w.add(n, faint)
	}
	return w.done()
}

// stateEdges joins the branches that lead away from a box, by target, in source order.
func (d *diagram) stateEdges(from int, branches []*model.Transition, o Options) []edge {
	type target struct {
		to *model.State
		in *frame
	}
	targets := map[target][]*model.Transition{}
	var order []target
	for _, t := range branches {
		to := target{to: t.To}
		if t.Resumes != nil {
			to.in = d.frame(t.Resumes)
			to.in.history = true
		}
		if targets[to] == nil {
			order = append(order, to)
		}
		targets[to] = append(targets[to], t)
	}
	var edges []edge
	for _, to := range order {
		e := edge{from: from, to: d.base + to.to.Index, in: to.in, tone: o.toneOf(targets[to][0].Event)}
		var tips []string
		for _, t := range targets[to] {
			if o.toneOf(t.Event) != e.tone {
				e.tone = plain
			}
			tips = append(tips, tip(t))
		}
		for _, l := range labels(targets[to], o, false) {
			e.lines = append(e.lines, l.lines(o)...)
		}
		e.tip = strings.Join(tips, "\n\n")
		if d.outer == nil {
			e.of = targets[to]
		}
		edges = append(edges, e)
	}
	return edges
}

func commonNote(m *model.Machine, g commonGroup, o Options) note {
	n := note{head: statesText(m, g.states)}
	var branches []*model.Transition
	var ignored, deferred []string
	for _, h := range g.handlers {
		switch h.Mode {
		case model.Ignore:
			ignored = append(ignored, h.Event.Name)
		case model.Defer:
			deferred = append(deferred, h.Event.Name)
		default:
			branches = append(branches, h.Branches...)
		}
	}
	n.of = branches
	// A note has room: effects are shown there even if edges have names alone.
	wide := o
	wide.Width, wide.Detail = 2*o.Width, max(o.Detail, Effects)
	for _, l := range labels(branches, wide, true) {
		n.rows = append(n.rows, l.lines(wide)...)
	}
	n.rows = append(n.rows, namesLines("ignores", ignored, wide)...)
	n.rows = append(n.rows, namesLines("defers", deferred, wide)...)
	return n
}

// partsNote lists the machines that run inside m.
func partsNote(m *model.Machine) (note, bool) {
	n := note{head: "runs inside"}
	for _, p := range m.Parts {
		name := p.Name
		if len(p.Keys) > 0 {
			keys := make([]string, len(p.Keys))
			for i, k := range p.Keys {
				keys[i] = k.Name
			}
			name = fmt.Sprintf("%s[%s] × %d", p.Name, strings.Join(keys, ", "), p.Count)
		}
		machine := p.Machine.Protocol + "." + p.Machine.Name
		if p.Machine.Protocol == m.Protocol {
			machine = p.Machine.Name
		}
		if p.To != nil {
			machine += ", peer " + model.ExprString(p.To)
		}
		n.rows = append(n.rows, line{
			pieces: []piece{{name, told}, {": " + strings.TrimPrefix(machine, "."), plain}},
			tip:    name + ": " + oneLine(p.Doc) + place(p.Span),
		})
	}
	return n, len(n.rows) > 0
}

// legend lists the kinds of event that occur.
func legend(machines []*model.Machine, o Options) []tone {
	var used [tones]bool
	for _, m := range machines {
		for _, t := range m.Transitions {
			used[o.toneOf(t.Event)] = true
		}
	}
	var list []tone
	for t := received; t <= linked; t++ {
		if used[t] {
			list = append(list, t)
		}
	}
	return list
}

// toneName explains a tone in the legend.
func (d *diagram) toneName(t tone) string {
	if t == told && d.watched {
		return "report" // of a part, or one that a monitor hears
	}
	return toneNames[t]
}

// hints explains the words in a picture that are not the author's.
func (d *diagram) hints() string {
	says := func(rows []line) bool {
		return slices.ContainsFunc(rows, func(l line) bool { return strings.Contains(l.text(), maybe) })
	}
	found := slices.ContainsFunc(d.boxes, func(b box) bool { return says(b.rows) }) ||
		slices.ContainsFunc(d.edges, func(e edge) bool { return says(e.lines) }) ||
		slices.ContainsFunc(d.notes, func(n note) bool { return says(n.rows) }) ||
		slices.ContainsFunc(d.frames, func(f *frame) bool { return says(f.rows) })
	if !found {
		return ""
	}
	return "maybe: under conditions that --full shows"
}

// columns divides notes into two columns of about the same height if there
// are many of them.
func columns(notes []note) [][]note {
	if len(notes) == 0 {
		return nil
	}
	height := func(list []note) int {
		h := 0
		for _, n := range list {
			h += len(n.rows) + 2
		}
		return h
	}
	all := height(notes)
	if len(notes) < 2 || all < 12 {
		return [][]note{notes}
	}
	cut := 1
	for cut+1 < len(notes) && 2*height(notes[:cut+1]) <= all+3 {
		cut++
	}
	return [][]note{notes[:cut], notes[cut:]}
}

// lone finds the boxes to which no edge leads: only a note says how to get
// there. They have their place below the others.
func (d *diagram) lone() []int {
	reached := make([]bool, len(d.boxes))
	if d.initial >= 0 {
		reached[d.initial] = true
	}
	for _, e := range d.edges {
		reached[e.to] = true
	}
	var list []int
	for i, r := range reached {
		if !r && !d.boxes[i].some && d.boxes[i].in == nil {
			list = append(list, i)
		}
	}
	return list
}

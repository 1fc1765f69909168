package graph

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/parley-go/parley/runtime/run"
)

// ChartSVG draws c as a sequence chart. Time runs down, so a message slants from
// the step that sends it to the step that receives it, and messages that cross
// on the way are seen to cross. The run must have passed [run.Run.Validate].
//
// Long texts are cut; pointing at one shows all of it.
func ChartSVG(c *run.Chart) string {
	_, text := drawChart(c)
	return text
}

func drawChart(c *run.Chart) (*chartLayout, string) {
	all := c
	full := withoutStubs(all)
	c = shortenedChart(full)
	l := layoutChart(c)
	w := &svg{taken: &l.taken}
	if c.Title != "" {
		w.text(16, 22, "start", colours[title], ` font-size="15" font-weight="bold"`, c.Title)
	}
	for i, name := range c.Instances {
		l.lifeline(w, i)
		l.taken.line(&segment{l.x[i], l.headY, l.x[i], l.bottom})
		l.head(w, i, name, l.headY)
		if len(c.Steps) > longChart {
			l.head(w, i, name, l.bottom)
		}
		if i < len(c.Start) && c.Start[i] != "" {
			l.state(w, i, l.headY+headHeight+8, c.Start[i])
		}
	}
	if c.LoopFrom() >= 0 {
		l.frame(w)
	}
	for _, f := range l.flights {
		tip := cut(full.Steps[f.sent].Sends[f.nth].Text, f.Text)
		w.tipped(tip, func() { l.message(w, f, tip) })
	}
	for i, s := range c.Steps {
		w.tipped(stepTip(full.Steps[i], s), func() { l.step(w, i, s) })
	}
	w.taken = nil
	for _, a := range l.texts {
		a.write(w, &l.taken, l.width)
	}
	height := l.bottom + 16
	if len(c.Steps) > longChart {
		height += headHeight
	}
	for _, line := range endLines(c.End, min(l.width-32, endWidth)) {
		w.text(16, height+10, "start", badColour, bold, line)
		height += 18
	}
	if c.End != "" {
		height += 8
	}
	for _, text := range chartLegend(c) {
		w.text(16, height+8, "start", colours[faint], ` font-size="11"`, text)
		height += 16
	}
	l.key(w, height+8)
	return l, w.document(l.width, height+18, cmp.Or(c.Title, "a run"), all.Text())
}

// longChart is the number of steps from which on the names stand below as well.
const longChart = 24

// mark is an entry of the key: what a colour means.
type mark struct {
	colour, text string
}

// marks are the colours that occur, with what they mean.
func (l *chartLayout) marks() (list []mark) {
	add := func(there bool, colour, text string) {
		if there {
			list = append(list, mark{colour, "● " + text})
		}
	}
	any := func(f func(s *run.ChartStep) bool) bool {
		for i := range l.c.Steps {
			if f(&l.c.Steps[i]) {
				return true
			}
		}
		return false
	}
	own := func(s *run.ChartStep) bool { return s.Who >= 0 && s.Receives == 0 && s.Kind != run.Unseen }
	add(any(own), colours[commanded], "program, timer or link")
	add(slices.ContainsFunc(l.flights, func(f *flight) bool { return !f.crossings }), colours[received], "message")
	add(slices.ContainsFunc(l.flights, func(f *flight) bool { return f.crossings && len(f.received) > 0 }), crossColour,
		"message that crosses one the other way")
	add(any(func(s *run.ChartStep) bool { return s.Fault != "" || faulty(s.Kind) }), badColour, "what goes wrong")
	return list
}

// keyWidth is how wide the key is.
func (l *chartLayout) keyWidth() float64 {
	x := 32.0
	for _, m := range l.marks() {
		x += textWidth(m.text, 11) + 14
	}
	return x
}

// key explains the colours.
func (l *chartLayout) key(w *svg, y float64) {
	x := 16.0
	for _, m := range l.marks() {
		w.text(x, y, "start", m.colour, ` font-size="11"`, m.text)
		x += textWidth(m.text, 11) + 14
	}
}

// lifeline draws when an instance is there: dashed where nobody is, or where it has crashed.
func (l *chartLayout) lifeline(w *svg, i int) {
	piece := func(from, to float64, away bool) {
		style := ""
		if away {
			style = ` stroke-dasharray="2 5"`
		}
		w.f(`<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="#b8bec9" stroke-width="1.5"%s/>`+"\n",
			num(l.x[i]), num(from), num(l.x[i]), num(to), style)
	}
	from, away := l.headY+headHeight, at(l.c.Away, i)
	for n, s := range l.c.Steps {
		gone := s.Kind == run.Crash || s.Kind == run.Go
		back := s.Kind == run.Come || s.Kind == run.Restart
		if s.Who == i && (gone && !away || back && away) {
			piece(from, l.y[n], away)
			from, away = l.y[n], gone
		}
	}
	piece(from, l.bottom, away)
}

// at is entry i of a list that may be shorter.
func at(list []bool, i int) bool { return i < len(list) && list[i] }

// chartLegend explains what is not seen in every chart.
func chartLegend(c *run.Chart) (list []string) {
	if slices.Contains(c.Hostile, true) {
		list = append(list, "a head with a red, dashed border: hostile, it has no machine and sends what it likes")
	}
	if slices.Contains(c.Away, true) || slices.ContainsFunc(c.Steps, func(s run.ChartStep) bool {
		return s.Kind == run.Crash || s.Kind == run.Go
	}) {
		list = append(list, "a dotted line: nobody is there, or it has crashed")
	}
	return list
}

// faulty reports whether a step is none that a machine or its program takes, but something that goes wrong.
func faulty(k run.Kind) bool {
	switch k {
	case run.Crash, run.Break, run.LinkLost, run.Partition, run.Cutoff, run.Malformed, run.Lost:
		return true
	}
	return false
}

// The longest texts of a chart, in characters.
const (
	maxLabel  = 44 // events, messages, states: what stands beside and along lines
	maxRemark = 72 // notes, faults
	maxTitle  = 120
)

// frame draws what is around the steps that are repeated for ever.
func (l *chartLayout) frame(w *svg) {
	const margin, name = 5.0, "loop: for ever"
	width := textWidth(name, 11) + 14
	w.f(`<rect x="%s" y="%s" width="%s" height="%s" rx="3" fill="none" stroke="%s"%s/>`+"\n",
		num(margin), num(l.loop), num(l.width-2*margin), num(l.bottom-l.loop), lineColour, dashed)
	w.f(`<rect x="%s" y="%s" width="%s" height="16" fill="#e8edf5" stroke="%s"/>`+"\n", num(margin), num(l.loop), num(width), lineColour)
	w.takes(margin, l.loop, width, 16)
	w.text(margin+7, l.loop+12, "start", colours[title], ` font-size="11"`, name)
}

// shortenedChart is c with texts of bounded length.
func shortenedChart(c *run.Chart) *run.Chart {
	out := *c
	out.Title = shorten(c.Title, maxTitle)
	out.Instances, out.Start = shortenAll(c.Instances, maxLabel), shortenAll(c.Start, maxLabel)
	out.Steps = slices.Clone(c.Steps)
	for i := range out.Steps {
		s := &out.Steps[i]
		s.Event, s.State, s.Fault = shorten(s.Event, maxLabel), shorten(s.State, maxLabel), shorten(s.Fault, maxRemark)
		if s.Receives != 0 { // its arrow says all of it
			s.Event, _, _ = strings.Cut(s.Event, "{")
		}
		s.Notes = slices.Clone(s.Notes)
		for k, n := range s.Notes {
			if from, to := strings.IndexByte(n, '{'), strings.LastIndexByte(n, '}'); from > 0 && from < to &&
				strings.HasPrefix(n, stillUnderWay) {
				n = n[:from] + n[to+1:] // pointing at it shows all of it
			}
			s.Notes[k] = shorten(n, maxRemark)
		}
		s.Sends = slices.Clone(s.Sends)
		for k := range s.Sends {
			s.Sends[k].Text = shorten(s.Sends[k].Text, maxLabel)
		}
	}
	return &out
}

func shortenAll(list []string, n int) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = shorten(out[i], n)
	}
	return out
}

// cut is the tip of a text: all of it if it is shown shortened, else nothing.
func cut(full, shown string) string {
	if full == shown {
		return ""
	}
	return full
}

// stepTip returns the tooltip of a step: its place, and the full text of everything that was
// shortened.
func stepTip(full, shown run.ChartStep) string {
	tips := []string{full.Where, cut(full.Event, shown.Event), cut(full.State, shown.State),
		cut(full.Fault, shown.Fault)}
	for i, n := range full.Notes {
		tips = append(tips, cut(n, shown.Notes[i]))
	}
	return strings.Join(slices.DeleteFunc(tips, func(t string) bool { return t == "" }), "\n")
}

// step draws the dot, the texts and the new state of step i.
func (l *chartLayout) step(w *svg, i int, s run.ChartStep) {
	y := l.y[i]
	if s.Who < 0 { // a lost message shows it; what else happens between machines is said in the middle
		if s.Kind == run.Clock { // it is the time of all
			w.f(`<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="#d5d9e0" stroke-dasharray="2 3"/>`+"\n", num(l.x[0]),
				num(y), num(l.x[len(l.x)-1]), num(y))
		}
		for _, n := range s.Notes {
			colour := colours[plain]
			if faulty(s.Kind) {
				colour = badColour
			}
			w.text((l.x[0]+l.x[len(l.x)-1])/2, y+4, "middle", colour, "", n)
		}
		return
	}
	x, colour := l.x[s.Who], colours[commanded]
	if s.Receives != 0 {
		colour = colours[received]
	}
	if s.Fault != "" || faulty(s.Kind) {
		colour = badColour
	}
	radius := 4.0
	if s.Kind == run.Beat {
		colour, radius = colours[faint], 2
	}
	w.f(`<circle cx="%s" cy="%s" r="%s" fill="%s"/>`+"\n", num(x), num(y), num(radius), colour)
	w.takes(x-5, y-5, 10, 10)
	anchor, tx := "start", x+12
	if l.left[i] {
		anchor, tx = "end", x-12
	}
	down := y + 4 + l.drop[i]
	lines := chartLines(s)
	if len(lines) == 0 && l.pill[i] {
		l.stateBeside(w, i, y-pillHeight/2+l.drop[i])
	}
	for n, t := range lines {
		w.text(tx, down, anchor, t.colour, t.extra, t.text)
		down += rowLine
		if n == 0 && l.pill[i] {
			l.stateBeside(w, i, down-11)
			down += pillHeight + 2
		}
	}
}

func (l *chartLayout) head(w *svg, i int, name string, y float64) {
	width := boldWidth(name, 13) + 24
	w.takes(l.x[i]-width/2, y, width, headHeight)
	border := ` stroke="` + lineColour + `"`
	if at(l.c.Hostile, i) {
		border = ` stroke="` + badColour + `"` + dashed
	}
	w.f(`<rect x="%s" y="%s" width="%s" height="%s" rx="4" fill="#e8edf5"%s/>`+"\n",
		num(l.x[i]-width/2), num(y), num(width), num(headHeight), border)
	w.f(`<text x="%s" y="%s" text-anchor="middle" font-size="13" font-weight="bold" fill="%s">%s</text>`+"\n",
		num(l.x[i]), num(y+17), colours[title], escape(name))
}

// state is a pill with a state's name on a lifeline.
func (l *chartLayout) state(w *svg, i int, y float64, name string) { l.pillAt(w, l.x[i], y, name) }

// stateBeside puts the state after a step where its texts are.
func (l *chartLayout) stateBeside(w *svg, step int, y float64) {
	s := l.c.Steps[step]
	off := 12 + pillWidth(s.State)/2
	if l.left[step] {
		off = -off
	}
	l.pillAt(w, l.x[s.Who]+off, y, s.State)
}

func pillWidth(name string) float64 { return textWidth(name, 11) + 14 }

func (l *chartLayout) pillAt(w *svg, x, y float64, name string) {
	width := pillWidth(name)
	w.takes(x-width/2, y, width, pillHeight)
	w.f(`<rect x="%s" y="%s" width="%s" height="%s" rx="9" fill="#f6f8fb" stroke="#8a93a3"/>`+"\n",
		num(x-width/2), num(y), num(width), num(pillHeight))
	w.f(`<text x="%s" y="%s" text-anchor="middle" font-size="11" fill="%s">%s</text>`+"\n",
		num(x), num(y+13), colours[plain], escape(name))
}

// message draws one arrow for each reception, or a short one for a message that
// was lost or is still under way.
func (l *chartLayout) message(w *svg, f *flight, tip string) {
	x1, y1 := l.x[f.from], l.sendY(f)
	colour := colours[received]
	if f.crossings {
		colour = crossColour
	}
	for n, step := range f.received {
		text := f.Label()
		if n > 0 {
			text += again
		}
		l.arrow(w, x1, y1, l.x[f.To], l.y[step], style{colour, "", text, f.textAt()}, tip)
	}
	switch {
	case f.lost >= 0:
		x2, y2 := x1+(l.x[f.To]-x1)*0.62, l.y[f.lost]
		l.arrow(w, x1, y1, x2, y2, style{badColour, dashed, f.Label(), f.textAt()}, tip)
		w.text(x2, y2+5, "middle", badColour, ` font-size="15" font-weight="bold"`, "✗")
		w.text(x2, y2+19, "middle", badColour, ` font-size="10"`, "lost")
	case f.underWay:
		// A short one: drawn to the end of the chart, many of them would meet there.
		text, way := f.Label()+underWay, l.x[f.To]-x1
		long := min(max(math.Abs(way)*0.55, textWidth(text, labelSize)+24), math.Abs(way)*0.85)
		l.arrow(w, x1, y1, x1+math.Copysign(long, way), y1+underWayDrop, style{lineColour, dashed, text, 0.55}, tip)
	}
}

const dashed = ` stroke-dasharray="5 3"`

// style is how an arrow looks; at says where its text is, from 0 at the sender to 1.
type style struct {
	colour, dash, text string
	at                 float64
}

// textAt is where the text of a message is looked for a place first: that of crossing ones near
// their senders.
func (f *flight) textAt() float64 {
	if f.crossings {
		return 0.27
	}
	return 0.5
}

// arrow draws a line; its text, along it or level if it is steep, gets its place when all lines are
// drawn.
func (l *chartLayout) arrow(w *svg, x1, y1, x2, y2 float64, s style, tip string) {
	if x1 == x2 { // to itself
		w.f(`<path d="M%s,%s C%s,%s %s,%s %s,%s" fill="none" stroke="%s" marker-end="url(#h%s)"/>`+"\n",
			num(x1), num(y1), num(x1+50), num(y1), num(x1+50), num(y2), num(x2+5), num(y2), s.colour, s.colour[1:])
		w.text(x1+44, (y1+y2)/2, "start", s.colour, ` font-size="11"`, s.text)
		return
	}
	gap := math.Copysign(5, x2-x1)
	x1, x2 = x1+gap, x2-gap
	w.f(`<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-width="1.4"%s marker-end="url(#h%s)"/>`+"\n",
		num(x1), num(y1), num(x2), num(y2), s.colour, s.dash, s.colour[1:])
	line := &segment{x1, y1, x2, y2}
	l.taken.line(line)
	l.texts = append(l.texts, &along{segment: line, style: s, tip: tip})
}

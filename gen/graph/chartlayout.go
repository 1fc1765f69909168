package graph

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/runtime/run"
)

const (
	chartTop   = 30.0 // above the heads
	headHeight = 26.0
	rowLine    = 15.0 // height of a line of text
	rowGap     = 16.0 // between steps
	loopHead   = 20.0 // of the frame around a loop, with its name
	pillHeight = 18.0
	sendGap    = 15.0 // between the starts of messages sent in one step
	fanGap     = 26.0 // the same if there are many, so that their arrows are about parallel to each other
	few        = 3    // messages of one step
)

// chartLayout is where everything in a chart is.
type chartLayout struct {
	c       *run.Chart
	x       []float64 // lifelines
	y       []float64 // steps: the dot
	pill    []bool    // steps: the state changed and is shown
	left    []bool    // steps: the texts stand to the left of the dot
	drop    []float64 // steps: how far below the dot they begin, below an arrow that arrives
	width   float64
	headY   float64
	bottom  float64 // end of the lifelines
	loop    float64 // top of the frame around what is repeated for ever
	flights []*flight
	taken   places
	texts   []*along // of the arrows, which get their places last
}

func layoutChart(c *run.Chart) *chartLayout {
	l := &chartLayout{c: c, flights: flights(c), headY: chartTop, taken: places{map[int][]area{}, map[int][]*segment{}}}
	if c.Title == "" {
		l.headY = 12
	}
	l.drop = make([]float64, len(c.Steps))
	l.sides()
	l.columns()
	l.rows()
	for range 2 { // with the places known, texts go where fewer arrows cross them
		l.clearSides()
		l.columns()
		l.rows()
	}
	return l
}

// rows finds the places of the steps, from top to bottom.
func (l *chartLayout) rows() {
	c := l.c
	l.y, l.pill = nil, nil
	y := l.headY + headHeight + 26
	if len(c.Start) > 0 {
		y += pillHeight + 6
	}
	state := make([]string, len(c.Instances))
	copy(state, c.Start)
	free := make([]float64, len(c.Instances)) // from where on a lifeline has place for another step
	sent := map[int]float64{}
	for i, s := range c.Steps {
		if i == c.LoopFrom() { // what comes before stands above the frame
			y = max(y, slices.Max(free))
			l.loop = y - rowGap
			y += loopHead
		}
		y = max(y, sent[s.Receives]+rowLine, sent[s.Lost]+rowLine)
		if s.Who >= 0 {
			y = max(y, free[s.Who])
		}
		l.y = append(l.y, y)
		for n, m := range s.Sends {
			sent[m.ID] = y + float64(n)*gapOf(&s)
			free[s.Who] = sent[m.ID] + rowGap + rowLine
		}
		pill := s.Who >= 0 && s.State != "" && s.State != state[s.Who]
		l.pill = append(l.pill, pill)
		below := max(0, float64(len(chartLines(s))-1)*rowLine) + l.drop[i]
		if pill {
			state[s.Who] = s.State
			below += pillHeight + 2
		}
		if s.Who == 0 || s.Who == len(c.Instances)-1 { // beside the chart texts hold up nobody else
			free[s.Who] = max(free[s.Who], y+below+rowGap+rowLine)
			below = 0
		}
		if s.Kind == run.Beat { // says little, and comes often
			y += below + rowGap
			continue
		}
		y += below + rowGap + rowLine
	}
	l.bottom = max(y, slices.Max(free)) + 4
	for _, f := range l.flights {
		if f.underWay {
			l.bottom = max(l.bottom, l.sendY(f)+underWayDrop+10)
		}
	}
}

// sides finds where the texts of steps stand: those of the first column to its left, of the last one to its
// right, of others where fewer arrows are.
func (l *chartLayout) sides() {
	right := make([]int, len(l.c.Steps)) // arrows to the right of the dot, less those to its left
	count := func(step, other int) {
		if other > l.c.Steps[step].Who {
			right[step]++
		} else {
			right[step]--
		}
	}
	for _, f := range l.flights {
		count(f.sent, f.To)
		for _, step := range f.received {
			count(step, f.from)
		}
	}
	for i, s := range l.c.Steps {
		middle := s.Who > 0 && s.Who < len(l.c.Instances)-1
		l.left = append(l.left, s.Who == 0 || middle && right[i] > 0)
	}
}

// clearSides moves the texts of steps in middle columns to that side of their dot on which fewer arrows cross
// them.
func (l *chartLayout) clearSides() {
	var arrows []segment
	for _, f := range l.flights {
		for _, step := range f.received {
			arrows = append(arrows, segment{l.x[f.from], l.sendY(f), l.x[f.To], l.y[step]})
		}
		if f.lost >= 0 {
			arrows = append(arrows, segment{l.x[f.from], l.sendY(f), l.x[f.To], l.y[f.lost]})
		} else if f.underWay {
			arrows = append(arrows, segment{l.x[f.from], l.sendY(f), l.x[f.To], l.sendY(f) + 2*underWayDrop})
		}
	}
	for i, s := range l.c.Steps {
		if s.Who <= 0 || s.Who == len(l.c.Instances)-1 {
			continue
		}
		least := -1
		best, drop := l.left[i], 0.0
		for _, at := range []struct {
			left bool
			drop float64
		}{{l.left[i], 0}, {!l.left[i], 0}, {l.left[i], dropped}, {!l.left[i], dropped}} {
			if n := l.crossed(i, at.left, at.drop, arrows); least < 0 || n < least {
				least, best, drop = n, at.left, at.drop
			}
		}
		l.left[i], l.drop[i] = best, drop
	}
}

// dropped is how far texts move down from an arrow that arrives.
const dropped = 11

// crossed counts the arrows that cross the texts of a step, if these stand to the left or right, so far down.
func (l *chartLayout) crossed(step int, left bool, drop float64, arrows []segment) (count int) {
	s := l.c.Steps[step]
	x, down := l.x[s.Who], l.y[step]-7+drop
	for n, t := range chartLines(s) {
		wide, high := t.width(), rowLine
		if n == 0 && l.pill[step] {
			wide, high = max(wide, pillWidth(s.State)), high+pillHeight+2
		}
		box := area{x + 12, down, x + 14 + wide, down + high - 4}
		if left {
			box = area{x - 14 - wide, down, x - 12, down + high - 4}
		}
		for _, a := range arrows {
			if box.crossed(a) {
				count++
			}
		}
		down += high
	}
	return count
}

// columns finds the lifelines' places.
func (l *chartLayout) columns() {
	n := len(l.c.Instances)
	l.x = nil
	texts, before := make([]float64, n), make([]float64, n) // widths to the right and to the left
	arrows := make([]float64, n)                            // widths of what goes from a column to the next, or back
	for i, name := range l.c.Instances {
		texts[i] = boldWidth(name, 13)/2 + 10
		before[i] = texts[i]
	}
	for i, s := range l.c.Steps {
		for _, t := range chartLines(s) {
			if s.Who >= 0 {
				side := texts
				if l.left[i] {
					side = before
				}
				side[s.Who] = max(side[s.Who], t.width()+16, textWidth(s.State, 11)+30)
			}
		}
	}
	for _, f := range l.flights {
		if from, to := min(f.from, f.To), max(f.from, f.To); from < to { // a text of one that goes far has room
			wide := (textWidth(f.longest(), 11) + 50) / float64(to-from)
			for i := from; i < to; i++ {
				arrows[i] = max(arrows[i], wide)
			}
		}
	}
	x := 16 + before[0]
	for i := range n {
		l.x = append(l.x, x)
		if i+1 == n {
			break
		}
		room := max(200, arrows[i], texts[i]+60)
		if i == 0 {
			room = max(200, arrows[i])
		}
		if i+2 < n { // the next one is in the middle
			room = max(room, texts[i]+before[i+1]+20)
		}
		x += room
	}
	l.width = l.x[n-1] + texts[n-1] + 16
	if n == 1 {
		l.width = l.x[0] + before[0] + 60
	}
	for _, text := range chartLegend(l.c) {
		l.width = max(l.width, textWidth(text, 11)+32)
	}
	l.width = max(l.width, l.keyWidth())
	l.width = max(l.width, boldWidth(l.c.Title, 15)+32, min(boldWidth(l.c.End, endSize), endWidth)+32)
}

// The remark below a chart: size of its letters, and the width from which on it is broken.
const (
	endSize  = 12.5
	endWidth = 640
)

// endLines breaks the remark into lines of at most width that are about equally long, and at its own line ends.
func endLines(text string, width float64) []string {
	var lines []string
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n") {
		list := broken(paragraph, width)
		for w := width - 10; w > 100 && len(broken(paragraph, w)) == len(list); w -= 10 {
			list = broken(paragraph, w)
		}
		lines = append(lines, list...)
	}
	return lines
}

// broken breaks a text between words.
func broken(text string, width float64) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && boldWidth(line+" "+word, endSize) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// noteWide is how wide notes beside a step are before they are broken.
const noteWide = 320

// chartLine is a line of text beside a step.
type chartLine struct{ text, colour, extra string }

func (t chartLine) width() float64 {
	if t.extra == bold {
		return boldWidth(t.text, 12)
	}
	return textWidth(t.text, 12)
}

func chartLines(s run.ChartStep) []chartLine {
	if s.Kind == run.Beat {
		var list []chartLine
		for _, n := range s.Notes {
			list = append(list, chartLine{n, colours[faint], ` font-size="10"`})
		}
		return list
	}
	event := chartLine{s.Event, colours[commanded], bold}
	if s.Receives != 0 {
		event.colour = colours[received]
	}
	var list []chartLine
	if faulty(s.Kind) {
		event.colour = badColour
	}
	if s.Event != "" {
		list = append(list, event)
	}
	for i, n := range s.Notes {
		l := chartLine{text: n, colour: colours[plain]}
		if i == 0 && s.Event == "" && faulty(s.Kind) {
			l.colour = badColour
		}
		if strings.HasPrefix(n, stillUnderWay) {
			l.colour, l.extra = colours[faint], ` font-size="11"`
		}
		for _, text := range broken(n, noteWide) {
			l.text = text
			list = append(list, l)
		}
	}
	for _, text := range broken(s.Fault, noteWide) {
		list = append(list, chartLine{text, badColour, bold})
	}
	if s.Where != "" {
		list = append(list, chartLine{s.Where, colours[faint], ` font-size="10"`})
	}
	return list
}

// sendY is where an arrow begins; those of one step begin below each other.
func (l *chartLayout) sendY(f *flight) float64 {
	return l.y[f.sent] + float64(f.nth)*gapOf(&l.c.Steps[f.sent])
}

// gapOf is how far apart the messages of a step begin.
func gapOf(s *run.ChartStep) float64 {
	if len(s.Sends) > few {
		return fanGap
	}
	return sendGap
}

// underWayDrop is how far the arrow of a message under way comes down, in points.
const underWayDrop = 24.0

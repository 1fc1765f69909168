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
	l.sides()
	l.columns()
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
		below := max(0, float64(len(chartLines(s))-1)*rowLine)
		if pill {
			state[s.Who] = s.State
			below += pillHeight + 2
		}
		if s.Who == 0 || s.Who == len(c.Instances)-1 { // beside the chart texts hold up nobody else
			free[s.Who] = max(free[s.Who], y+below+rowGap+rowLine)
			below = 0
		}
		y += below + rowGap + rowLine
	}
	l.bottom = max(y, slices.Max(free)) + 4
	for _, f := range l.flights {
		if f.underWay {
			l.bottom = max(l.bottom, l.sendY(f)+underWayDrop+10)
		}
	}
	return l
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

// columns finds the lifelines' places.
func (l *chartLayout) columns() {
	n := len(l.c.Instances)
	texts, before, arrows := make([]float64, n), make([]float64, n), 0.0 // widths to the right and to the left
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
		arrows = max(arrows, textWidth(f.longest(), 11))
	}
	x := 16 + before[0]
	for i := range n {
		l.x = append(l.x, x)
		if i+1 == n {
			break
		}
		room := max(220, arrows+40, texts[i]+60)
		if i == 0 {
			room = max(220, arrows+90)
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
	l.width = max(l.width, boldWidth(l.c.Title, 15)+32, min(boldWidth(l.c.End, endSize), endWidth)+32)
}

// The remark below a chart: size of its letters, and the width from which on it is broken.
const (
	endSize  = 12.5
	endWidth = 640
)

// endLines breaks the remark into lines of at most width, and at its own line ends.
func endLines(text string, width float64) []string {
	var lines []string
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && boldWidth(line+" "+word, endSize) > width {
				lines = append(lines, line)
				line = ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// chartLine is a line of text beside a step.
type chartLine struct{ text, colour, extra string }

func (t chartLine) width() float64 {
	if t.extra == bold {
		return boldWidth(t.text, 12)
	}
	return textWidth(t.text, 12)
}

func chartLines(s run.ChartStep) []chartLine {
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
		list = append(list, l)
	}
	if s.Fault != "" {
		list = append(list, chartLine{s.Fault, badColour, bold})
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

package graph

import (
	"fmt"
	"math"
)

// area is a rectangle that something takes up, in points.
type area struct{ x1, y1, x2, y2 float64 }

func (b area) meets(o area) bool { return b.x1 < o.x2 && o.x1 < b.x2 && b.y1 < o.y2 && o.y1 < b.y2 }

// crossed reports whether the line from one point to another goes through the area.
func (b area) crossed(s segment) bool {
	from, to := 0.0, 1.0
	clip := func(start, way, low, high float64) bool {
		if way == 0 {
			return low <= start && start <= high
		}
		t1, t2 := (low-start)/way, (high-start)/way
		from, to = max(from, min(t1, t2)), min(to, max(t1, t2))
		return from <= to
	}
	return clip(s.x1, s.x2-s.x1, b.x1, b.x2) && clip(s.y1, s.y2-s.y1, b.y1, b.y2)
}

// segment is the line of an arrow.
type segment struct{ x1, y1, x2, y2 float64 }

// places knows what is taken in a chart, by stretches of its height, since a chart can be long.
type places struct {
	boxes map[int][]area
	lines map[int][]*segment
}

// stretch is the height of what is looked at together, in points.
const stretch = 64.0

func stretches(y1, y2 float64, f func(int)) {
	for k := int(math.Floor(min(y1, y2) / stretch)); k <= int(math.Floor(max(y1, y2)/stretch)); k++ {
		f(k)
	}
}

func (p *places) take(b area) {
	stretches(b.y1, b.y2, func(k int) { p.boxes[k] = append(p.boxes[k], b) })
}

func (p *places) line(s *segment) {
	stretches(s.y1, s.y2, func(k int) { p.lines[k] = append(p.lines[k], s) })
}

// cost is how much is in the way of boxes: texts weigh more than lines, whose own is none.
func (p *places) cost(list []area, own *segment) (cost int) {
	for _, b := range list {
		stretches(b.y1, b.y2, func(k int) {
			for _, o := range p.boxes[k] {
				if b.meets(o) {
					cost += 100
				}
			}
			for _, s := range p.lines[k] {
				if s != own && b.crossed(*s) {
					cost++
				}
			}
		})
	}
	return cost
}

// along is a text along an arrow, waiting for a place.
type along struct {
	*segment
	style
	tip string
	put []area // what it takes up in the end
}

// spot is a place for a text: on its line, or beside it at an angle.
type spot struct {
	x, y, angle float64
	off         float64 // of the base line, down from the line
	level       bool
	side        int // of a level text beside its line: 1 to the right, -1 to the left
}

const labelSize = 11.0

// boxes returns the space that a text takes up at a spot. It is a row of small boxes, since the
// text may slant.
func (s spot) boxes(text string) []area {
	const step = 9.0
	width := textWidth(text, labelSize)
	n := max(1, math.Ceil(width/step))
	sin, cos := math.Sincos(s.angle)
	if s.level {
		sin, cos = 0, 1
	}
	middle := s.off - 4 // of the letters
	var list []area
	for i := range int(n) {
		d := (float64(i)+0.5)*width/n - width/2
		x, y := s.x+d*cos-middle*sin, s.y+d*sin+middle*cos
		half := width / n / 2
		list = append(list, area{x - half, y - 5.5, x + half, y + 5.5})
	}
	return list
}

// spots lists places for a text, the best first: near where it should be, above the line, then below; of a steep
// line, to its right, then to its left. A text is not longer than its line, if there is such a place.
func (a *along) spots() []spot {
	angle := math.Atan((a.y2 - a.y1) / (a.x2 - a.x1))
	level := math.Abs(angle) > 32*math.Pi/180
	width, long := textWidth(a.text, labelSize), math.Hypot(a.x2-a.x1, a.y2-a.y1)
	least := 0.1
	if !level {
		least = min(max(least, (width/2+4)/long), 0.5)
	}
	offs := []float64{-5, 13}
	aside, sides := []float64{0, 0}, []int{0, 0}
	if level {
		offs = []float64{4, 4}
		beside := width/2 + 5 + 6/math.Abs(math.Tan(angle))
		aside, sides = []float64{beside, -beside}, []int{1, -1}
	}
	var list []spot
	for side, off := range offs {
		for k := range 33 {
			at := a.at + 0.05*float64((k+1)/2)*float64(1-k%2*2)
			if at < least || at > 1-least {
				continue
			}
			list = append(list, spot{a.x1 + (a.x2-a.x1)*at + aside[side], a.y1 + (a.y2-a.y1)*at, angle, off, level,
				sides[side]})
		}
		if len(list) == 0 {
			list = append(list, spot{(a.x1+a.x2)/2 + aside[side], (a.y1 + a.y2) / 2, angle, off, level, sides[side]})
		}
	}
	return list
}

// border is how far texts stay from the border of the picture.
const border = 4

// write puts the text where least is in its way, in a picture of a width.
func (a *along) write(w *svg, p *places, width float64) {
	var best spot
	least := math.MaxInt
	for _, s := range a.spots() {
		boxes := s.boxes(a.text)
		cost := p.cost(boxes, a.segment)
		if boxes[0].x1 < border || boxes[len(boxes)-1].x2 > width-border || boxes[0].x2 > width-border {
			cost += 1 << 20 // it would be cut off
		}
		if cost < least {
			best, least = s, cost
		}
		if least == 0 {
			break
		}
	}
	a.put = best.boxes(a.text)
	for _, b := range a.put {
		p.take(b)
	}
	size := fmt.Sprintf(` font-size="%s"`, num(labelSize))
	if !best.level {
		size += fmt.Sprintf(` transform="rotate(%s %s %s)"`, num(best.angle*180/math.Pi), num(best.x), num(best.y))
	}
	x, anchor := best.x, "middle"
	switch half := textWidth(a.text, labelSize) / 2; best.side { // it begins at the line, however wide its letters are
	case 1:
		x, anchor = x-half, "start"
	case -1:
		x, anchor = x+half, "end"
	}
	w.tipped(a.tip, func() { w.text(x, best.y+best.off, anchor, a.colour, size, a.text) })
}

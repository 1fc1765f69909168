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

// spots lists places for a text, the best first: near where it should be, above the line, then below.
func (a *along) spots() []spot {
	angle := math.Atan((a.y2 - a.y1) / (a.x2 - a.x1))
	level := math.Abs(angle) > 32*math.Pi/180
	offs := []float64{-5, 13}
	if level {
		offs = []float64{4}
	}
	var list []spot
	for _, off := range offs {
		for k := range 33 {
			at := a.at + 0.05*float64((k+1)/2)*float64(1-k%2*2)
			if at < 0.1 || at > 0.9 {
				continue
			}
			list = append(list, spot{a.x1 + (a.x2-a.x1)*at, a.y1 + (a.y2-a.y1)*at, angle, off, level})
		}
	}
	return list
}

// write puts the text where least is in its way.
func (a *along) write(w *svg, p *places) {
	var best spot
	least := math.MaxInt
	for _, s := range a.spots() {
		if cost := p.cost(s.boxes(a.text), a.segment); cost < least {
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
	w.tipped(a.tip, func() { w.text(best.x, best.y+best.off, "middle", a.colour, size, a.text) })
}

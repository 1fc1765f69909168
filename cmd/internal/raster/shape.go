package raster

import (
	"image"
	"math"
	"strconv"
	"strings"
)

// point is a place; outline a row of places, joined by straight lines.
type (
	point   struct{ x, y float64 }
	outline []point
)

// matrix takes x, y to ax+cy+e, bx+dy+f.
type matrix struct{ a, b, c, d, e, f float64 }

func (m matrix) at(p point) point {
	return point{m.a*p.x + m.c*p.y + m.e, m.b*p.x + m.d*p.y + m.f}
}

func (m matrix) all(o outline) outline {
	out := make(outline, len(o))
	for i, p := range o {
		out[i] = m.at(p)
	}
	return out
}

// times is m after n.
func (m matrix) times(n matrix) matrix {
	return matrix{m.a*n.a + m.c*n.b, m.b*n.a + m.d*n.b, m.a*n.c + m.c*n.d, m.b*n.c + m.d*n.d,
		m.a*n.e + m.c*n.f + m.e, m.b*n.e + m.d*n.f + m.f}
}

// transform reads translate(x y) and rotate(angle x y).
func transform(text string) matrix {
	same := matrix{1, 0, 0, 1, 0, 0}
	name, rest, ok := strings.Cut(text, "(")
	if !ok {
		return same
	}
	var v [3]float64
	words := strings.FieldsFunc(strings.TrimSuffix(rest, ")"), func(r rune) bool { return r == ' ' || r == ',' })
	for i, word := range words {
		if i < len(v) {
			v[i], _ = strconv.ParseFloat(word, 64)
		}
	}
	switch name {
	case "translate":
		return matrix{1, 0, 0, 1, v[0], v[1]}
	case "rotate":
		sin, cos := math.Sincos(v[0] * math.Pi / 180)
		return matrix{1, 0, 0, 1, v[1], v[2]}.times(matrix{cos, sin, -sin, cos, 0, 0}).
			times(matrix{1, 0, 0, 1, -v[1], -v[2]})
	}
	return same
}

// pathOf reads a path of M, L and C, all absolute, with z at the end of an outline.
func pathOf(d string) (list []outline) {
	var cur outline
	var kind byte
	var through []point
	for _, word := range strings.Fields(d) {
		if c := word[0]; strings.IndexByte("MLCz", c) >= 0 {
			kind, word = c, word[1:]
		}
		if word == "" {
			continue
		}
		xs, ys, _ := strings.Cut(word, ",")
		x, _ := strconv.ParseFloat(xs, 64)
		y, _ := strconv.ParseFloat(ys, 64)
		p := point{x, y}
		switch kind {
		case 'M':
			if len(cur) > 0 {
				list = append(list, cur)
			}
			cur, kind = outline{p}, 'L'
		case 'L':
			cur = append(cur, p)
		case 'C':
			if through = append(through, p); len(through) == 3 && len(cur) > 0 {
				cur = append(cur, cubic(cur[len(cur)-1], through[0], through[1], through[2])...)
				through = nil
			}
		}
	}
	if len(cur) > 0 {
		list = append(list, cur)
	}
	return list
}

// cubic is a curve of Bézier behind its first point.
func cubic(a, b, c, d point) (list outline) {
	n := int(min(64, 6+(math.Hypot(b.x-a.x, b.y-a.y)+math.Hypot(c.x-b.x, c.y-b.y)+math.Hypot(d.x-c.x, d.y-c.y))/6))
	for i := 1; i <= n; i++ {
		t := float64(i) / float64(n)
		s := 1 - t
		list = append(list, point{s*s*s*a.x + 3*s*s*t*b.x + 3*s*t*t*c.x + t*t*t*d.x,
			s*s*s*a.y + 3*s*s*t*b.y + 3*s*t*t*c.y + t*t*t*d.y})
	}
	return list
}

func ellipse(x, y, rx, ry float64) []outline {
	const n = 32
	var o outline
	for i := range n {
		sin, cos := math.Sincos(float64(i) * 2 * math.Pi / n)
		o = append(o, point{x + rx*cos, y + ry*sin})
	}
	return []outline{o}
}

// mostDashes is how many pieces a line may have; one with more is drawn whole.
const mostDashes = 1 << 16

// dashes cuts a line into pieces, as a list such as "5 3" says.
func dashes(o outline, pattern string, scale float64) []outline {
	on, off, ok := strings.Cut(pattern, " ")
	long, err := strconv.ParseFloat(on, 64)
	gap, err2 := strconv.ParseFloat(off, 64)
	if !ok || err != nil || err2 != nil || !(long > 0 && gap > 0) {
		return []outline{o}
	}
	whole := 0.0
	for i := 1; i < len(o); i++ {
		whole += math.Hypot(o[i].x-o[i-1].x, o[i].y-o[i-1].y)
	}
	if !(whole < mostDashes*(long+gap)*scale) {
		return []outline{o}
	}
	var list []outline
	cur, drawing, left := outline{o[0]}, true, long*scale
	for i := 1; i < len(o); i++ {
		a, b := o[i-1], o[i]
		for {
			d := math.Hypot(b.x-a.x, b.y-a.y)
			if d <= left {
				left -= d
				cur = append(cur, b)
				break
			}
			a = point{a.x + (b.x-a.x)*left/d, a.y + (b.y-a.y)*left/d}
			if drawing {
				list = append(list, append(cur, a))
			}
			cur, drawing = outline{a}, !drawing
			left = gap * scale
			if drawing {
				left = long * scale
			}
		}
	}
	if drawing && len(cur) > 1 {
		list = append(list, cur)
	}
	return list
}

// turned gives all outlines one sense of turning, so that those that overlap do not take each other away.
func turned(list []outline) []outline {
	for _, o := range list {
		area := 0.0
		for i, p := range o {
			q := o[(i+1)%len(o)]
			area += p.x*q.y - q.x*p.y
		}
		if area < 0 {
			for i, j := 0, len(o)-1; i < j; i, j = i+1, j-1 {
				o[i], o[j] = o[j], o[i]
			}
		}
	}
	return list
}

// bounds is the box of pixels around outlines.
func bounds(list []outline) image.Rectangle {
	x1, y1, x2, y2 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, o := range list {
		for _, p := range o {
			x1, y1, x2, y2 = min(x1, p.x), min(y1, p.y), max(x2, p.x), max(y2, p.y)
		}
	}
	if !(x1 <= x2 && y1 <= y2) || x1 < -1<<24 || y1 < -1<<24 || x2 > 1<<24 || y2 > 1<<24 {
		return image.Rectangle{}
	}
	return image.Rect(int(math.Floor(x1))-1, int(math.Floor(y1))-1, int(math.Ceil(x2))+1, int(math.Ceil(y2))+1)
}

// clip cuts an outline to a box and one pixel around it, a side at a time (Sutherland and Hodgman, 1974). What is
// filled inside of the box stays the same. The rasterizer counts in 32 bits, which far points overflow.
func clip(o outline, box image.Rectangle) outline {
	box = box.Inset(-1)
	for _, side := range []struct{ x, y, from float64 }{{1, 0, float64(box.Min.X)}, {-1, 0, -float64(box.Max.X)},
		{0, 1, float64(box.Min.Y)}, {0, -1, -float64(box.Max.Y)}} {
		var kept outline
		for i, b := range o {
			a := o[(i+len(o)-1)%len(o)]
			in, out := side.x*b.x+side.y*b.y-side.from, side.x*a.x+side.y*a.y-side.from // at least 0: inside
			if (in >= 0) != (out >= 0) {
				f := out / (out - in)
				kept = append(kept, point{a.x + f*(b.x-a.x), a.y + f*(b.y-a.y)})
			}
			if in >= 0 {
				kept = append(kept, b)
			}
		}
		o = kept
	}
	return o
}

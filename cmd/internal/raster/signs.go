package raster

import "math"

// sign is a letter that the fonts lack, in parts of the size of letters; y grows downward from the base line.
type sign struct {
	width float64
	lines []outline
}

// signs are those that pictures use.
var signs = map[rune]sign{
	'✗': {0.8, []outline{bar(point{0.1, -0.65}, point{0.7, 0.05}, 0.11),
		bar(point{0.7, -0.65}, point{0.1, 0.05}, 0.11)}},
	'↻': {0.95, append(arc(point{0.45, -0.32}, 0.3, -40, 260, 0.09),
		outline{{0.46, -0.8}, {0.46, -0.46}, {0.74, -0.6}})},
}

// bar is a straight line of a thickness.
func bar(a, b point, thick float64) outline {
	long := math.Hypot(b.x-a.x, b.y-a.y)
	nx, ny := (b.y-a.y)/long*thick/2, (a.x-b.x)/long*thick/2
	return turned([]outline{{{a.x + nx, a.y + ny}, {b.x + nx, b.y + ny}, {b.x - nx, b.y - ny},
		{a.x - nx, a.y - ny}}})[0]
}

// arc is a part of a circle of a thickness, from one angle to another, in degrees.
func arc(at point, r, from, to, thick float64) []outline {
	var o outline
	const n = 24
	for _, side := range []float64{1, -1} {
		for i := range n + 1 {
			k := float64(i)
			if side < 0 {
				k = n - k
			}
			sin, cos := math.Sincos((from + (to-from)*k/n) * math.Pi / 180)
			o = append(o, point{at.x + (r+side*thick/2)*cos, at.y + (r+side*thick/2)*sin})
		}
	}
	return turned([]outline{o})
}

package graph

import (
	"fmt"
	"strconv"
	"strings"
)

// svg collects the elements of a drawing. Lengths are in points.
type svg struct {
	b strings.Builder
	// ids is what ids begin with.
	ids string
	// taken is told what texts take up; nil: nobody wants to know.
	taken *places
}

// takes notes that something takes up a rectangle.
func (w *svg) takes(x, y, width, height float64) {
	if w.taken != nil {
		w.taken.take(area{x, y, x + width, y + height})
	}
}

func (w *svg) f(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

// longestDesc bounds the description of a drawing, in bytes.
const longestDesc = 6000

// document puts the frame around what was drawn. Who cannot see the drawing is told its name and what desc says. It
// has a ground of its own, so that it is read on dark pages, too.
func (w *svg) document(width, height float64, name, desc string) string {
	if len(desc) > longestDesc {
		desc = strings.ToValidUTF8(desc[:longestDesc], "") + "…"
	}
	return fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="%sname" font-family="%s" font-size="12">
<title id="%sname">%s</title>
<desc>%s</desc>
<defs>%s</defs>
<rect width="100%%" height="100%%" rx="6" fill="#ffffff"/>
`, num(width), num(height), num(width), num(height), w.ids, font, w.ids, escape(name), escape(strings.TrimRight(desc, "\n")),
		arrowHeads()) + w.b.String() + "</svg>\n"
}

// arrowHeads has one head in each colour that lines have.
func arrowHeads() string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, c := range append(colours[:], lineColour, crossColour, badColour) {
		if !seen[c] {
			seen[c] = true
			fmt.Fprintf(&b,
				`<marker id="h%s" viewBox="0 0 10 8" refX="9" refY="4" markerWidth="8" markerHeight="7" orient="auto-start-reverse"><path d="M0,0 L10,4 L0,8 z" fill="%s"/></marker>`,
				c[1:], c)
		}
	}
	return b.String()
}

const (
	lineColour  = "#444444"
	crossColour = "#c2570c"
	badColour   = "#b3261e"
)

// text writes s with its anchor (start, middle, end) at x and its base line at y.
// A white rim keeps it readable on lines.
func (w *svg) text(x, y float64, anchor, colour, extra, s string) {
	width := textWidth(s, 12)
	if strings.Contains(extra, bold) {
		width = boldWidth(s, 12)
	}
	w.takes(x-width*anchors[anchor], y-10, width, 13)
	w.f(
		`<text x="%s" y="%s" text-anchor="%s" fill="%s" paint-order="stroke" stroke="#ffffff" stroke-width="3.5" stroke-linejoin="round"%s>%s</text>`+"\n",
		num(x), num(y), anchor, colour, extra, escape(s))
}

// anchors has how much of a text is to the left of its place.
var anchors = map[string]float64{"start": 0, "middle": 0.5, "end": 1}

// tipped draws what is inside with a tip that appears on pointing at it.
func (w *svg) tipped(tip string, inside func()) { w.marked("", tip, inside) }

// marked is tipped with attributes by which a page finds what is inside.
func (w *svg) marked(attributes, tip string, inside func()) {
	switch {
	case tip == "" && attributes == "":
		inside()
		return
	case tip == "":
		w.f("<g%s>\n", attributes)
	default:
		w.f("<g%s><title>%s</title>\n", attributes, escape(tip))
	}
	inside()
	w.f("</g>\n")
}

// num writes a length with at most one decimal, always the same way.
func num(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// bold is the attribute of bold letters.
const bold = ` font-weight="bold"`

// boldWidth is textWidth for bold letters, which are wider.
func boldWidth(s string, size float64) float64 { return 1.18 * textWidth(s, size) }

// textWidth estimates the width of s in points. It is meant to be rather too
// large than too small in any of the fonts that may be found.
func textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iljI|!'.,:;", r):
			w += 0.32
		case strings.ContainsRune("ftr()[]{}/ -\"", r):
			w += 0.40
		case strings.ContainsRune("=<>+~#&", r):
			w += 0.82
		case strings.ContainsRune("mwMW@%→←↻…", r):
			w += 0.95
		case r >= 'A' && r <= 'Z':
			w += 0.70
		default:
			w += 0.60
		}
	}
	return w * size
}

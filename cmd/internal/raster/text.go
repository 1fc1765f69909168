package raster

import (
	"encoding/xml"
	"errors"
	"image/color"
	"strings"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// fonts has the fonts that were needed, by whether they are bold and slanted.
type fonts struct {
	loaded [2][2]*sfnt.Font
	buf    sfnt.Buffer
}

func (f *fonts) get(bold, slanted bool) (*sfnt.Font, error) {
	b, s := number(bold), number(slanted)
	if f.loaded[b][s] != nil {
		return f.loaded[b][s], nil
	}
	font, err := sfnt.Parse([2][2][]byte{{goregular.TTF, goitalic.TTF}, {gobold.TTF, gobolditalic.TTF}}[b][s])
	f.loaded[b][s] = font
	return font, err
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// stretch is a piece of a text in one style, with its outlines, in points from where it begins.
type stretch struct {
	fill  string
	width float64
	glyph []outline
}

// text draws a text element with its pieces.
func (c *canvas) text(d *xml.Decoder, a attrs) error {
	var list []stretch
	styles := []attrs{a}
	for len(styles) > 0 {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local != "tspan" {
				return errors.New("there is " + t.Name.Local + " in a text")
			}
			own := attrsOf(t)
			for k, v := range styles[len(styles)-1] {
				if _, ok := own[k]; !ok {
					own[k] = v
				}
			}
			styles = append(styles, own)
		case xml.EndElement:
			styles = styles[:len(styles)-1]
		case xml.CharData:
			s, err := c.piece(string(t), styles[len(styles)-1])
			if err != nil {
				return err
			}
			list = append(list, s)
		}
	}
	x, width := a.num("x"), 0.0
	for _, s := range list {
		width += s.width
	}
	switch a["text-anchor"] {
	case "middle":
		x -= width / 2
	case "end":
		x -= width
	}
	m := c.here().times(transform(a["transform"]))
	rim, hasRim := colourOf(a.or("stroke", "none"), a.or("stroke-opacity", "1"))
	for pass := range 2 { // the rims of all letters are below all letters
		at := x
		for _, s := range list {
			var glyphs []outline
			for _, o := range s.glyph {
				glyphs = append(glyphs, m.times(matrix{1, 0, 0, 1, at, a.num("y")}).all(o))
			}
			ink, ok := colourOf(s.fill, "1")
			switch {
			case pass == 0 && hasRim:
				c.rim(glyphs, a.num("stroke-width")*c.scale, rim)
			case pass == 1 && ok:
				c.fill(glyphs, ink)
			}
			at += s.width
		}
	}
	return nil
}

// rim draws the outlines of letters, thick.
func (c *canvas) rim(glyphs []outline, width float64, ink color.NRGBA) {
	var parts []outline
	for _, o := range glyphs {
		if len(o) == 0 {
			continue
		}
		for _, p := range o {
			parts = append(parts, ellipse8(p, width/2))
		}
	}
	ink.A = 255 // discs overlap: what is let through once would be let through less
	c.fill(turned(parts), ink)
}

// ellipse8 is a disc with eight corners.
func ellipse8(p point, r float64) outline {
	const k = 0.7071
	return outline{{p.x + r, p.y}, {p.x + k*r, p.y + k*r}, {p.x, p.y + r}, {p.x - k*r, p.y + k*r}, {p.x - r, p.y},
		{p.x - k*r, p.y - k*r}, {p.x, p.y - r}, {p.x + k*r, p.y - k*r}}
}

// piece makes outlines of letters.
func (c *canvas) piece(text string, a attrs) (stretch, error) {
	size := 12.0
	if a["font-size"] != "" {
		size = a.num("font-size")
	}
	out := stretch{fill: a.or("fill", "#000000")}
	font, err := c.fonts.get(a["font-weight"] == "bold", a["font-style"] == "italic")
	if err != nil {
		return out, err
	}
	units := float64(font.UnitsPerEm())
	em := fixed.I(int(font.UnitsPerEm())) // so that lengths are those of the font, without hints
	if a["space"] != "preserve" {
		text = strings.Join(strings.Fields(text), " ")
	}
	for _, r := range text {
		if sign, ok := signs[r]; ok {
			for _, o := range sign.lines {
				out.glyph = append(out.glyph, matrix{size, 0, 0, size, out.width, 0}.all(o))
			}
			out.width += sign.width * size
			continue
		}
		i, err := font.GlyphIndex(&c.fonts.buf, r)
		if err != nil {
			return out, err
		}
		segments, err := font.LoadGlyph(&c.fonts.buf, i, em, nil)
		if err != nil {
			return out, err
		}
		for _, o := range glyph(segments) {
			out.glyph = append(out.glyph, matrix{size / units, 0, 0, size / units, out.width, 0}.all(o))
		}
		advance, err := font.GlyphAdvance(&c.fonts.buf, i, em, 0)
		if err != nil {
			return out, err
		}
		out.width += float64(advance) / 64 * size / units
	}
	return out, nil
}

// glyph makes outlines of the segments of a letter.
func glyph(segments sfnt.Segments) (list []outline) {
	at := func(p fixed.Point26_6) point { return point{float64(p.X) / 64, float64(p.Y) / 64} }
	var cur outline
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if len(cur) > 0 {
				list = append(list, cur)
			}
			cur = outline{at(s.Args[0])}
		case sfnt.SegmentOpLineTo:
			cur = append(cur, at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			a, b, d := cur[len(cur)-1], at(s.Args[0]), at(s.Args[1])
			for i := 1; i <= 6; i++ {
				t := float64(i) / 6
				cur = append(cur, point{(1-t)*(1-t)*a.x + 2*(1-t)*t*b.x + t*t*d.x,
					(1-t)*(1-t)*a.y + 2*(1-t)*t*b.y + t*t*d.y})
			}
		case sfnt.SegmentOpCubeTo:
			cur = append(cur, cubic(cur[len(cur)-1], at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))...)
		}
	}
	if len(cur) > 0 {
		list = append(list, cur)
	}
	return list
}

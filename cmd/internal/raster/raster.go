// Package raster makes PNG of the SVG that package graph writes, without the help of other programs. It knows
// the elements that stand there, no others: rect, circle, line, path, text and groups. Start from [PNG].
//
// Letters are those of the Go fonts, which are part of the program, so a picture is the same everywhere.
package raster

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/vector"
)

// mostPixels bounds a picture; a larger one is drawn smaller.
const mostPixels = 48 << 20

// PNG draws an SVG. Scale is how many pixels a point has; it is less in pictures that would be too large.
func PNG(svg []byte, scale float64) ([]byte, error) { return draw(svg, scale, mostPixels) }

func draw(svg []byte, scale, most float64) ([]byte, error) {
	c := &canvas{scale: scale, most: most}
	if err := c.read(svg); err != nil {
		return nil, fmt.Errorf("the SVG cannot be drawn: %w", err)
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, c.img); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// canvas is a picture being drawn.
type canvas struct {
	img   *image.RGBA
	scale float64
	most  float64 // pixels
	// groups are the transformations of the groups around, the innermost last.
	groups []matrix
	fonts  fonts
}

// attrs are the attributes of an element, by name.
type attrs map[string]string

func (a attrs) num(name string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(a[name], "pt"), 64)
	if err != nil {
		return 0
	}
	return v
}

// or returns an attribute, or what stands for one that is missing.
func (a attrs) or(name, other string) string {
	if v, ok := a[name]; ok {
		return v
	}
	return other
}

func attrsOf(e xml.StartElement) attrs {
	a := attrs{}
	for _, x := range e.Attr {
		a[x.Name.Local] = x.Value
	}
	return a
}

var errNoSVG = errors.New("it is no SVG of known size")

func (c *canvas) read(svg []byte) error {
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if c.img == nil {
				return errNoSVG
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := c.element(d, t); err != nil {
				return err
			}
		case xml.EndElement:
			if t.Name.Local == "g" && len(c.groups) > 1 {
				c.groups = c.groups[:len(c.groups)-1]
			}
		}
	}
}

// element draws an element. Groups and the document go on with what is inside.
func (c *canvas) element(d *xml.Decoder, e xml.StartElement) error {
	a := attrsOf(e)
	if c.img == nil && e.Name.Local != "svg" {
		return errNoSVG
	}
	switch e.Name.Local {
	case "svg":
		return c.begin(a)
	case "g":
		c.groups = append(c.groups, c.here().times(transform(a["transform"])))
	case "title", "desc", "defs", "style":
		return d.Skip()
	case "rect":
		c.rect(a)
	case "circle":
		c.shape(ellipse(a.num("cx"), a.num("cy"), a.num("r"), a.num("r")), true, a)
	case "line":
		c.shape([]outline{{{a.num("x1"), a.num("y1")}, {a.num("x2"), a.num("y2")}}}, false, a)
	case "path":
		c.shape(pathOf(a["d"]), false, a)
	case "text":
		return c.text(d, a)
	}
	return nil
}

func (c *canvas) begin(a attrs) error {
	if c.img != nil {
		return errors.New("there is a picture in the picture")
	}
	w, h := a.num("width"), a.num("height")
	if !(w >= 1 && h >= 1 && w < 1<<20 && h < 1<<20) {
		return errNoSVG
	}
	if n := w * h * c.scale * c.scale; n > c.most {
		c.scale *= math.Sqrt(c.most / n)
	}
	c.img = image.NewRGBA(image.Rect(0, 0, int(math.Ceil(w*c.scale)), int(math.Ceil(h*c.scale))))
	for i := range c.img.Pix {
		c.img.Pix[i] = 255
	}
	c.groups = []matrix{{c.scale, 0, 0, c.scale, 0, 0}}
	return nil
}

func (c *canvas) here() matrix { return c.groups[len(c.groups)-1] }

func (c *canvas) rect(a attrs) {
	x, y, w, h, r := a.num("x"), a.num("y"), a.num("width"), a.num("height"), a.num("rx")
	if strings.HasSuffix(a["width"], "%") { // of the whole picture
		w, h = float64(c.img.Rect.Dx())/c.scale, float64(c.img.Rect.Dy())/c.scale
	}
	r = min(r, w/2, h/2)
	if r == 0 {
		c.shape([]outline{{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}}, true, a)
		return
	}
	var list outline
	for _, corner := range []struct{ x, y, from float64 }{{x + w - r, y + r, -90}, {x + w - r, y + h - r, 0},
		{x + r, y + h - r, 90}, {x + r, y + r, 180}} {
		for k := range 9 {
			sin, cos := math.Sincos((corner.from + float64(k)*90/8) * math.Pi / 180)
			list = append(list, point{corner.x + r*cos, corner.y + r*sin})
		}
	}
	c.shape([]outline{list}, true, a)
}

// shape fills and strokes outlines as the attributes say.
func (c *canvas) shape(list []outline, closed bool, a attrs) {
	m := c.here().times(transform(a["transform"]))
	for i := range list {
		list[i] = m.all(list[i])
	}
	if ink, ok := colourOf(a.or("fill", "#000000"), a.or("fill-opacity", "1")); ok && (closed || a["fill"] != "none") {
		c.fill(list, ink)
	}
	ink, ok := colourOf(a.or("stroke", "none"), a.or("stroke-opacity", "1"))
	if !ok {
		return
	}
	width := 1.0
	if a["stroke-width"] != "" {
		width = a.num("stroke-width")
	}
	for _, o := range list {
		end := o
		if closed {
			o = append(o, o[0])
		}
		c.stroke(dashes(o, a["stroke-dasharray"], c.scale), width*c.scale, ink)
		if a["marker-end"] != "" && len(end) > 1 {
			c.arrowHead(end, ink)
		}
	}
}

// arrowHead draws the mark at the end of a line, as graph defines it: 8 points long, 5.6 wide.
func (c *canvas) arrowHead(o outline, ink color.NRGBA) {
	tip := o[len(o)-1]
	back := o[0]
	for _, p := range o { // the direction is that of the last stretch that has one
		if math.Hypot(tip.x-p.x, tip.y-p.y) > c.scale {
			back = p
		}
	}
	long := math.Hypot(tip.x-back.x, tip.y-back.y)
	if long == 0 {
		return
	}
	dx, dy := (tip.x-back.x)/long*c.scale, (tip.y-back.y)/long*c.scale
	root := point{tip.x - 7*dx, tip.y - 7*dy}
	tip = point{tip.x + 0.8*dx, tip.y + 0.8*dy}
	c.fill([]outline{{{root.x - 3.2*dy, root.y + 3.2*dx}, tip, {root.x + 3.2*dy, root.y - 3.2*dx}}}, ink)
}

// fill fills what is inside of outlines, which are in pixels.
func (c *canvas) fill(list []outline, ink color.NRGBA) {
	box := bounds(list).Intersect(c.img.Rect)
	if box.Empty() {
		return
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, o := range list {
		for i, p := range clip(o, box) {
			x, y := float32(p.x-float64(box.Min.X)), float32(p.y-float64(box.Min.Y))
			if i == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(c.img, box, image.NewUniform(ink), image.Point{})
}

// stroke draws lines of a width in pixels: a box for each stretch, and a disc at each bend.
func (c *canvas) stroke(list []outline, width float64, ink color.NRGBA) {
	half := width / 2
	for _, o := range list {
		var parts []outline
		for i := 1; i < len(o); i++ {
			a, b := o[i-1], o[i]
			long := math.Hypot(b.x-a.x, b.y-a.y)
			if long == 0 {
				continue
			}
			nx, ny := (b.y-a.y)/long*half, (a.x-b.x)/long*half
			parts = append(parts, outline{{a.x + nx, a.y + ny}, {b.x + nx, b.y + ny}, {b.x - nx, b.y - ny},
				{a.x - nx, a.y - ny}})
			if i+1 < len(o) && width > 1 {
				parts = append(parts, ellipse(b.x, b.y, half, half)...)
			}
		}
		c.fill(turned(parts), ink)
	}
}

// colourOf reads #rrggbb and an opacity; there is none for "none".
func colourOf(text, opacity string) (color.NRGBA, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 16, 32)
	if err != nil || len(text) != 7 {
		return color.NRGBA{}, false
	}
	alpha, err := strconv.ParseFloat(opacity, 64)
	if err != nil {
		alpha = 1
	}
	return color.NRGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), uint8(alpha*255 + 0.5)}, true
}

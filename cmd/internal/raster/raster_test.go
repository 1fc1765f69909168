package raster

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/runtime/run"
)

func drawn(t *testing.T, body string, scale float64) image.Image {
	t.Helper()
	data, err := PNG([]byte(`<svg width="100" height="60" font-size="12">`+body+`</svg>`), scale)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// near reports whether a pixel has about a colour.
func near(img image.Image, x, y int, want color.RGBA) bool {
	got := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
	d := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
	return d(got.R, want.R) < 40 && d(got.G, want.G) < 40 && d(got.B, want.B) < 40
}

var white, red, black = color.RGBA{255, 255, 255, 255}, color.RGBA{255, 0, 0, 255}, color.RGBA{A: 255}

// TestShapes: each element is where it should be, and nothing is around it.
func TestShapes(t *testing.T) {
	for _, x := range []struct {
		name, body string
		in, out    []image.Point // points of ink, and of paper
	}{
		{"a box", `<rect x="10" y="10" width="30" height="20" fill="#ff0000"/>`,
			[]image.Point{{11, 11}, {38, 28}}, []image.Point{{8, 8}, {42, 20}}},
		{"a round box", `<rect x="10" y="10" width="30" height="30" rx="12" fill="#ff0000"/>`,
			[]image.Point{{25, 11}, {11, 25}, {25, 25}}, []image.Point{{11, 11}, {38, 38}}},
		{"a border", `<rect x="10" y="10" width="30" height="20" fill="none" stroke="#ff0000" stroke-width="4"/>`,
			[]image.Point{{10, 20}, {25, 10}}, []image.Point{{25, 20}}},
		{"a disc", `<circle cx="30" cy="30" r="10" fill="#ff0000"/>`, []image.Point{{30, 30}, {22, 30}},
			[]image.Point{{21, 21}, {41, 30}}},
		{"a line", `<line x1="10" y1="20" x2="80" y2="20" stroke="#ff0000" stroke-width="4"/>`,
			[]image.Point{{11, 20}, {79, 20}}, []image.Point{{45, 24}, {82, 20}}},
		{"a curve", `<path d="M10,10 C10,40 70,40 70,10" fill="none" stroke="#ff0000" stroke-width="5"/>`,
			[]image.Point{{40, 32}}, []image.Point{{40, 12}, {40, 20}}},
		{"dashes", `<line x1="0" y1="20" x2="100" y2="20" stroke="#ff0000" stroke-width="4" stroke-dasharray="20 20"/>`,
			[]image.Point{{10, 20}, {50, 20}}, []image.Point{{30, 20}, {70, 20}}},
		{"an arrow", `<line x1="10" y1="20" x2="80" y2="20" stroke="#ff0000" stroke-width="1" marker-end="url(#h)"/>`,
			[]image.Point{{75, 21}, {75, 18}}, []image.Point{{60, 23}, {83, 20}}},
		{"a group", `<g transform="translate(40 0)"><rect x="10" y="10" width="10" height="10" fill="#ff0000"/></g>` +
			`<rect x="0" y="0" width="5" height="5" fill="#ff0000"/>`,
			[]image.Point{{55, 15}, {2, 2}}, []image.Point{{15, 15}, {42, 2}}},
		{"what lies over it", `<rect width="100%" height="100%" fill="#ff0000"/><rect x="10" y="10" width="30" ` +
			`height="20" fill="#ffffff"/>`, []image.Point{{2, 2}, {98, 58}}, []image.Point{{20, 20}}},
	} {
		for _, scale := range []int{1, 2} {
			img := drawn(t, x.body, float64(scale))
			for _, p := range x.in {
				if !near(img, p.X*scale, p.Y*scale, red) {
					t.Errorf("%s: nothing is at %v", x.name, p)
				}
			}
			for _, p := range x.out {
				if !near(img, p.X*scale, p.Y*scale, white) {
					t.Errorf("%s: something is at %v", x.name, p)
				}
			}
		}
	}
}

// ink is the box around what is not white.
func ink(img image.Image) (box image.Rectangle) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if !near(img, x, y, white) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// TestText: letters stand on their base line and where their anchor says; a rim is white on lines; a text
// that is turned goes down.
func TestText(t *testing.T) {
	start := ink(drawn(t, `<text x="50" y="30">wide words</text>`, 1))
	middle := ink(drawn(t, `<text x="50" y="30" text-anchor="middle">wide words</text>`, 1))
	end := ink(drawn(t, `<text x="50" y="30" text-anchor="end">wide words</text>`, 1))
	if start.Min.X < 48 || end.Max.X > 52 || middle.Min.X > 30 || middle.Max.X < 70 {
		t.Errorf("start %v, middle %v, end %v", start, middle, end)
	}
	if start.Min.Y < 18 || start.Max.Y < 29 || start.Max.Y > 32 {
		t.Errorf("the letters are at %v, the base line at 30", start)
	}
	pieces := ink(drawn(t, `<text x="50" y="30" xml:space="preserve"><tspan>wide</tspan><tspan> words</tspan></text>`, 1))
	if d := pieces.Max.X - start.Max.X; d < -1 || d > 1 {
		t.Errorf("in pieces it is %v, whole %v", pieces, start)
	}
	bolder := ink(drawn(t, `<text x="50" y="30" font-weight="bold">ide</text>`, 1))
	if bolder.Dx() <= ink(drawn(t, `<text x="50" y="30">ide</text>`, 1)).Dx() {
		t.Errorf("bold letters are not wider: %v, %v", bolder, start)
	}
	down := ink(drawn(t, `<text x="20" y="10" transform="rotate(60 20 10)">words</text>`, 1))
	if down.Dy() < 20 {
		t.Errorf("a turned text is at %v", down)
	}
	line := `<rect x="0" y="20" width="100" height="12" fill="#000000"/>`
	rim := drawn(t, line+`<text x="50" y="30" stroke="#ffffff" stroke-width="4" fill="#ffffff">l</text>`, 1)
	if !near(rim, 50, 26, white) || !near(rim, 60, 26, black) {
		t.Error("a rim does not cover the line behind a letter")
	}
	for r := range signs {
		if box := ink(drawn(t, `<text x="20" y="30">`+string(r)+`</text>`, 1)); box.Dx() < 4 || box.Dy() < 4 {
			t.Errorf("%c is %v", r, box)
		}
	}
}

// TestLargePicturesAreBounded: whatever an SVG says of itself.
func TestLargePicturesAreBounded(t *testing.T) {
	data, err := PNG([]byte(`<svg width="20000" height="20000"></svg>`), 2)
	if err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width*c.Height > mostPixels+100000 {
		t.Error(c, err)
	}
	for _, bad := range []string{"", "<svg>", "<rect/>", `<svg width="1e99" height="2"/>`, `<svg width="9" height="nan"/>`,
		`<svg width="9" height="9"><text><g/></text></svg>`, `<svg width="9" height="9"><svg width="9" height="9"/></svg>`} {
		if _, err := PNG([]byte(bad), 1); err == nil {
			t.Errorf("%s was drawn", bad)
		}
	}
}

// TestLettersAreThere: every letter that package graph writes by itself has a shape.
func TestLettersAreThere(t *testing.T) {
	var f fonts
	for _, style := range []int{0, 1, 2, 3} {
		font, err := f.get(style&1 != 0, style&2 != 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range "azAZ09[]{}()!&|<>=/→←…●×✗↻—" {
			i, err := font.GlyphIndex(&f.buf, r)
			if _, ok := signs[r]; !ok && (err != nil || i == 0) {
				t.Errorf("the font lacks %c", r)
			}
		}
	}
}

// TestFarPoints: a shape that goes far out of the picture is filled where it is inside, in small and large pictures.
func TestFarPoints(t *testing.T) {
	for _, size := range []float64{9, 900} { // the rasterizer counts in another way above 512 pixels
		half, last := math.Floor(size/2), int(size)-2
		for _, far := range []float64{1000, 30000, 123456, 8e6} {
			for _, shape := range []struct {
				name, path   string
				black, white []image.Point
			}{
				{"a triangle whose tip is in the middle of the left side",
					fmt.Sprintf(`M0,%g L%g,%g L%g,%g`, half, far*2, half-far, far*2, half+far),
					[]image.Point{{last, int(half)}}, []image.Point{{1, last}, {1, 1}}},
				{"all that is above the diagonal", fmt.Sprintf(`M%[1]g,%[1]g L%[2]g,%[2]g L%[2]g,%[1]g`, -far, size+far),
					[]image.Point{{last, 1}, {last, int(half)}}, []image.Point{{1, last}}},
			} {
				c := &canvas{scale: 1, most: 1 << 20}
				if err := c.read(fmt.Appendf(nil, `<svg width="%g" height="%[1]g"><path d="%s" fill="#000000"/></svg>`,
					size, shape.path)); err != nil {
					t.Fatal(err)
				}
				for _, p := range shape.black {
					if got := c.img.RGBAAt(p.X, p.Y); got.R != 0 {
						t.Errorf("size %g, far %g, %s: %v is %v, not black", size, far, shape.name, p, got)
					}
				}
				for _, p := range shape.white {
					if got := c.img.RGBAAt(p.X, p.Y); got.R != 255 {
						t.Errorf("size %g, far %g, %s: %v is %v, not white", size, far, shape.name, p, got)
					}
				}
			}
		}
	}
}

// FuzzPNG: whatever the SVG, there is a picture or an error.
func FuzzPNG(f *testing.F) {
	f.Add(`<svg width="9" height="9"><line x2="1e9" stroke="#000000" stroke-dasharray="1e-3 1e-3"/></svg>`)
	f.Add(graph.ChartSVG(&run.Chart{Instances: []string{"a", "b"}, Steps: []run.ChartStep{
		{Who: 0, Event: "x", Sends: []run.Sent{{ID: 1, To: 1, Text: "M"}}, State: "s"},
		{Who: 1, Event: "M", Receives: 1, Fault: "no"}, {Who: run.Nobody, Lost: 1}}}))
	f.Add(`<svg width="9" height="9"><path d="M1,1 C2,2 3 L" stroke="#000000" stroke-dasharray="1 1"/></svg>`)
	f.Add(`<svg width="9" height="9"><g transform="rotate(1e300 9 9)"><circle r="1e30" fill="#123456"/></g></svg>`)
	f.Add(`<svg width="99" height="9"><path stroke="#000000"
		d="M-9999999,0 L9999999,9 L-9999999,4 M1,2 L3e6,-3e6 L-8388608,8e6"/></svg>`)
	f.Fuzz(func(t *testing.T, text string) {
		if data, err := draw([]byte(text), 1, 1<<14); err == nil && len(data) == 0 {
			t.Error("neither a picture nor an error")
		}
	})
}

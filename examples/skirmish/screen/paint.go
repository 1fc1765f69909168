package screen

import (
	"image"
	"image/color"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// The size of a character in pictures, in pixels: twice as high as wide, so that pixels of the arena are squares.
const (
	CellWidth  = 7
	CellHeight = 14
)

// ink calls put for each pixel of a character that has its colour.
func ink(r rune, put func(x, y int)) {
	switch r {
	case ' ':
	case '▀':
		for y := range CellHeight / 2 {
			for x := range CellWidth {
				put(x, y)
			}
		}
	case '■':
		for y := range 6 {
			for x := range 6 {
				put(x, y+4)
			}
		}
	case '♥':
		for y, bits := range [...]uint8{0b1101100, 0b1111110, 0b1111110, 0b0111100, 0b0011000} {
			for x := range CellWidth {
				if bits>>(6-x)&1 != 0 {
					put(x, y+5)
				}
			}
		}
	case '▸':
		for y, n := range [...]int{1, 3, 5, 3, 1} {
			for x := range n {
				put(x+1, y+5)
			}
		}
	default:
		d := font.Drawer{Dst: pen(put), Src: image.NewUniform(color.Opaque), Face: basicfont.Face7x13,
			Dot: fixed.P(0, 11)}
		d.DrawString(string(r))
	}
}

// pen takes what a font draws, pixel by pixel.
type pen func(x, y int)

func (p pen) ColorModel() color.Model { return color.RGBAModel }
func (p pen) Bounds() image.Rectangle { return image.Rect(0, 0, CellWidth, CellHeight) }
func (p pen) At(int, int) color.Color { return color.Transparent }
func (p pen) Set(x, y int, c color.Color) {
	if _, _, _, v := c.RGBA(); v > 0x7fff && (image.Point{x, y}).In(p.Bounds()) {
		p(x, y)
	}
}

// Painting is a picture of a grid, in the colours red, green, blue and opaque for each pixel: what browsers draw.
type Painting struct {
	Pix  [Rows * CellHeight * Columns * CellWidth * 4]uint8
	last Grid
	some bool
}

// Paint draws a grid over the last one, of which it draws anew what has changed.
func (p *Painting) Paint(g *Grid) {
	const stride = Columns * CellWidth * 4
	for y := range g {
		for x, c := range g[y] {
			if p.some && c == p.last[y][x] {
				continue
			}
			at := y*CellHeight*stride + x*CellWidth*4
			put := func(x, y int, c Color) {
				copy(p.Pix[at+y*stride+x*4:], []uint8{c[0], c[1], c[2], 255})
			}
			for dy := range CellHeight {
				for dx := range CellWidth {
					put(dx, dy, c.Bg)
				}
			}
			ink(c.Rune, func(x, y int) { put(x, y, c.Fg) })
		}
	}
	p.last, p.some = *g, true
}

package screen

import (
	"image"
	"image/color"
	"image/gif"
	"io"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// The size of a character in a film, in pixels: twice as high as wide, so that pixels of the arena are squares.
const (
	cellWidth  = 7
	cellHeight = 14
)

// Film makes a moving picture of grids: a GIF of what a terminal would show.
type Film struct {
	// Delay is how long each grid is shown, in hundredths of a second.
	Delay   int
	palette color.Palette
	index   map[Color]uint8
	last    *image.Paletted
	out     gif.GIF
}

// at is the number of a colour, that of a near one if there are too many.
func (f *Film) at(c Color) uint8 {
	c = Color{c[0] &^ 7, c[1] &^ 7, c[2] &^ 7}
	if n, ok := f.index[c]; ok {
		return n
	}
	if f.index == nil {
		f.index = map[Color]uint8{}
		f.palette = color.Palette{color.Transparent}
	}
	n := uint8(len(f.palette))
	if len(f.palette) == 256 {
		n = uint8(f.palette.Index(color.RGBA{c[0], c[1], c[2], 255}))
	} else {
		f.palette = append(f.palette, color.RGBA{c[0], c[1], c[2], 255})
	}
	f.index[c] = n
	return n
}

// Add adds a grid.
func (f *Film) Add(g *Grid) {
	img := image.NewPaletted(image.Rect(0, 0, Columns*cellWidth, Rows*cellHeight), nil)
	for y := range g {
		for x := range g[y] {
			f.cell(img, x*cellWidth, y*cellHeight, g[y][x])
		}
	}
	shown := img
	if f.last != nil { // only what has changed
		shown = image.NewPaletted(img.Rect, nil)
		for i, p := range img.Pix {
			if p != f.last.Pix[i] {
				shown.Pix[i] = p
			}
		}
	}
	f.last = img
	f.out.Image = append(f.out.Image, shown)
	f.out.Delay = append(f.out.Delay, f.Delay)
	f.out.Disposal = append(f.out.Disposal, gif.DisposalNone)
}

func (f *Film) cell(img *image.Paletted, x, y int, c Cell) {
	fg, bg := f.at(c.Fg), f.at(c.Bg)
	for dy := range cellHeight {
		for dx := range cellWidth {
			p := bg
			if c.Rune == '▀' && dy < cellHeight/2 {
				p = fg
			}
			img.Pix[(y+dy)*img.Stride+x+dx] = p
		}
	}
	switch c.Rune {
	case '▀', ' ':
	case '♥':
		for dy, bits := range [...]uint8{0b1101100, 0b1111110, 0b1111110, 0b0111100, 0b0011000} {
			for dx := range cellWidth {
				if bits>>(6-dx)&1 != 0 {
					img.Pix[(y+5+dy)*img.Stride+x+dx] = fg
				}
			}
		}
	case '▸':
		for dy, n := range [...]int{1, 3, 5, 3, 1} {
			for dx := range n {
				img.Pix[(y+5+dy)*img.Stride+x+1+dx] = fg
			}
		}
	default:
		d := font.Drawer{Dst: alpha{img, fg}, Src: image.NewUniform(color.Opaque), Face: basicfont.Face7x13,
			Dot: fixed.P(x, y+11)}
		d.DrawString(string(c.Rune))
	}
}

// alpha takes what a font draws as one colour of a picture.
type alpha struct {
	*image.Paletted
	ink uint8
}

func (a alpha) Set(x, y int, c color.Color) {
	if _, _, _, v := c.RGBA(); v > 0x7fff && (image.Point{x, y}).In(a.Rect) {
		a.Pix[a.PixOffset(x, y)] = a.ink
	}
}

func (a alpha) ColorModel() color.Model { return color.RGBAModel }
func (a alpha) At(int, int) color.Color { return color.Transparent }

// Encode writes the film.
func (f *Film) Encode(w io.Writer) error {
	for _, img := range f.out.Image {
		img.Palette = f.palette
	}
	return gif.EncodeAll(w, &f.out)
}

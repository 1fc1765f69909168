package screen

import (
	"image"
	"image/color"
	"image/gif"
	"io"
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
	img := image.NewPaletted(image.Rect(0, 0, Columns*CellWidth, Rows*CellHeight), nil)
	for y := range g {
		for x := range g[y] {
			f.cell(img, x*CellWidth, y*CellHeight, g[y][x])
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
	for dy := range CellHeight {
		row := img.Pix[(y+dy)*img.Stride+x:][:CellWidth]
		for dx := range row {
			row[dx] = bg
		}
	}
	ink(c.Rune, func(dx, dy int) { img.Pix[(y+dy)*img.Stride+x+dx] = fg })
}

// Empty reports whether nothing was added.
func (f *Film) Empty() bool { return len(f.out.Image) == 0 }

// Encode writes the film.
func (f *Film) Encode(w io.Writer) error {
	for _, img := range f.out.Image {
		img.Palette = f.palette
	}
	return gif.EncodeAll(w, &f.out)
}

package screen

import (
	"fmt"
	"io"
	"strconv"
)

// Writer shows grids on a terminal with 24 bits of colour, and writes only what has changed. The zero value with
// an Out is usable.
type Writer struct {
	Out  io.Writer
	last Grid
	some bool
	buf  []byte
	size [2]int // of a terminal that is too small
}

// Begin clears the terminal and hides its cursor.
func (w *Writer) Begin() error {
	w.some = false
	_, err := io.WriteString(w.Out, "\x1b[?1049h\x1b[?25l\x1b[2J")
	return err
}

// End gives the terminal back as it was.
func (w *Writer) End() error {
	_, err := io.WriteString(w.Out, "\x1b[0m\x1b[?25h\x1b[?1049l")
	return err
}

// Fits reports whether a terminal of this size has room for a grid. If not, it says so there.
func (w *Writer) Fits(columns, rows int) bool {
	if columns >= Columns && rows >= Rows {
		if w.size != [2]int{} { // what was shown before is gone
			w.size, w.some = [2]int{}, false
		}
		return true
	}
	if size := [2]int{columns, rows}; w.size != size {
		w.size = size
		b := []byte("\x1b[0m\x1b[2J\x1b[H")
		text := fmt.Sprintf("Skirmish needs %d columns and %d lines; here are %d and %d. Make the window larger, "+
			"or the letters smaller. The match goes on; q quits.", Columns, Rows, columns, rows)
		for i, l := range wrap(text, max(1, columns-1)) {
			if i < rows {
				b = append(append(b, fmt.Sprintf("\x1b[%d;1H", i+1)...), clip(l, columns)...)
			}
		}
		w.Out.Write(b) // the next grid has the error again
	}
	return false
}

// Show shows a grid.
func (w *Writer) Show(g *Grid) error {
	b := append(w.buf[:0], "\x1b[?2026h"...) // the whole at once, where a terminal can
	var fg, bg Color
	colored := false
	for y := range g {
		at := -1 // the column in which the cursor is in this row
		for x := range g[y] {
			c := g[y][x]
			if w.some && c == w.last[y][x] {
				continue
			}
			if at != x {
				b = append(b, "\x1b["...)
				b = strconv.AppendInt(b, int64(y+1), 10)
				b = append(b, ';')
				b = strconv.AppendInt(b, int64(x+1), 10)
				b = append(b, 'H')
			}
			if !colored || c.Fg != fg {
				b = paint(b, "38", c.Fg)
			}
			if !colored || c.Bg != bg {
				b = paint(b, "48", c.Bg)
			}
			fg, bg, colored = c.Fg, c.Bg, true
			b = append(b, string(c.Rune)...)
			at = x + 1
		}
	}
	b = append(b, "\x1b[?2026l"...)
	w.last, w.some, w.buf = *g, true, b
	_, err := w.Out.Write(b)
	return err
}

func paint(b []byte, kind string, c Color) []byte {
	b = append(b, "\x1b["...)
	b = append(b, kind...)
	b = append(b, ";2"...)
	for _, v := range c {
		b = append(b, ';')
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return append(b, 'm')
}

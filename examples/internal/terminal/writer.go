package terminal

import (
	"fmt"
	"io"
	"strconv"
)

// Writer shows lines of cells on a terminal with 24 bits of colour, and writes only what has changed.
type Writer struct {
	Out           io.Writer
	Columns, Rows int    // that a view has
	Name          string // of the view, for who has too small a terminal
	Meanwhile     string // what goes on then
	last          [][]Cell
	some          bool
	buf           []byte
	size          [2]int // of a terminal that is too small
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

// Fits reports whether a terminal of this size has room for a view. If not, it says so there.
func (w *Writer) Fits(columns, rows int) bool {
	if columns >= w.Columns && rows >= w.Rows {
		if w.size != [2]int{} { // what was shown before is gone
			w.size, w.some = [2]int{}, false
		}
		return true
	}
	if size := [2]int{columns, rows}; w.size != size {
		w.size = size
		b := []byte("\x1b[0m\x1b[2J\x1b[H")
		text := fmt.Sprintf("%s needs %d columns and %d lines; here are %d and %d. Make the window larger, "+
			"or the letters smaller. %s", w.Name, w.Columns, w.Rows, columns, rows, w.Meanwhile)
		for i, l := range Wrap(text, max(1, columns-1)) {
			if i < rows {
				b = append(append(b, fmt.Sprintf("\x1b[%d;1H", i+1)...), Clip(l, columns)...)
			}
		}
		w.Out.Write(b) // the next lines have the error again
	}
	return false
}

// Show shows lines, which are as many and as long each time.
func (w *Writer) Show(g [][]Cell) error {
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
	if len(w.last) != len(g) {
		w.last = make([][]Cell, len(g))
	}
	for y := range g {
		w.last[y] = append(w.last[y][:0], g[y]...)
	}
	w.some, w.buf = true, b
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

// Package terminal is what full-screen views of the examples have in common: cells of characters with colours, a writer
// that shows them and writes only what has changed, and a line that is typed below.
//
// It knows no view, and no terminal but as bytes; package raw has that of the operating system. Start from [Writer].
package terminal

import (
	"strings"
	"unicode"
)

// Color is red, green and blue.
type Color [3]uint8

// Cell is one character.
type Cell struct {
	Rune   rune
	Fg, Bg Color
}

// Print writes a line of cells from a column on, as far as it fits. Names and talk come from strangers: what moves a
// terminal's cursor, or does not take one cell, is replaced.
func Print(line []Cell, column int, s string, fg, bg Color) {
	for _, r := range s {
		if !unicode.IsPrint(r) || unicode.Is(unicode.M, r) || wide(r) {
			r = '?'
		}
		if column >= 0 && column < len(line) {
			line[column] = Cell{r, fg, bg}
		}
		column++
	}
}

// wide reports whether a terminal gives two cells to a character.
func wide(r rune) bool {
	return r >= 0x1f000 || r >= 0xff00 && r <= 0xffef || r >= 0x3000 && r <= 0x303f ||
		unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana)
}

// Clip is the beginning of a text, at most n characters.
func Clip(s string, n int) string {
	r := []rune(s)
	return string(r[:max(0, min(n, len(r)))])
}

// Wrap breaks a text between words into lines of a width, where words are not longer.
func Wrap(s string, width int) (lines []string) {
	line := ""
	for _, w := range strings.Fields(s) {
		if line != "" && len([]rune(line))+1+len([]rune(w)) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	return append(lines, line)
}

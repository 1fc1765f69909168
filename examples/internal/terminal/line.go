package terminal

import (
	"strings"
	"unicode/utf8"
)

// Longest is how many bytes a line of talk has at most.
const Longest = 80

// Line is a line that is being typed.
type Line struct {
	Open bool
	// Said is a line that is ready. Whoever takes it empties it.
	Said string
	text []byte
}

// Text is the line so far.
func (l *Line) Text() string { return strings.ToValidUTF8(string(l.text), "") }

// Type takes a byte: Enter says the line, Escape forgets it, and Backspace takes back a character.
func (l *Line) Type(c byte) {
	switch {
	case c == '\r' || c == '\n':
		l.Said = strings.TrimSpace(l.Text())
		l.text, l.Open = nil, false
	case c == 0x1b:
		l.text, l.Open = nil, false
	case c == 0x7f || c == '\b':
		_, n := utf8.DecodeLastRune(l.text)
		l.text = l.text[:len(l.text)-n]
	case c >= ' ' && len(l.text) < Longest:
		l.text = append(l.text, c)
	}
}

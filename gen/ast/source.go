// Package ast holds specifications as they are written: trees of maps, lists
// and scalars in which every byte of every scalar knows its place in the file.
// It knows neither YAML's syntax nor what the keys mean. Start from [Node].
package ast

import (
	"bytes"
	"sort"

	"github.com/parley-go/parley/gen/diag"
)

// Source is one file.
type Source struct {
	Name  string // as the user named it, with forward slashes
	Text  []byte
	lines []int // offset of each line's first byte
}

// NewSource indexes a file's lines, which end in \n or \r\n.
func NewSource(name string, text []byte) *Source {
	s := &Source{Name: name, Text: text, lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// Pos returns the line and column of the byte at offset off; beyond the end it is the end.
func (s *Source) Pos(off int) diag.Pos {
	off = max(0, min(off, len(s.Text)))
	i := sort.SearchInts(s.lines, off+1) - 1
	return diag.Pos{Line: i + 1, Col: off - s.lines[i] + 1}
}

// Offset returns the offset of a line and a column that is counted in
// characters, both from 1. Places outside the file become its nearest place.
func (s *Source) Offset(line, char int) int {
	if line < 1 {
		return 0
	}
	if line > len(s.lines) {
		return len(s.Text)
	}
	off := s.lines[line-1]
	for ; char > 1 && off < len(s.Text) && s.Text[off] != '\n'; char-- {
		off++
		for off < len(s.Text) && s.Text[off]&0xC0 == 0x80 {
			off++
		}
	}
	return off
}

// Span returns the place of the bytes from i up to but not including j.
func (s *Source) Span(i, j int) diag.Span {
	return diag.Span{File: s.Name, Start: s.Pos(i), End: s.Pos(max(i, j))}
}

// Line returns the text of a line (from 1) without its end, "" outside the file.
func (s *Source) Line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	line := s.Text[s.lines[n-1]:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	return string(bytes.TrimSuffix(line, []byte{'\r'}))
}

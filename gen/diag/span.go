// Package diag holds what every stage of the compiler says to people: spans,
// diagnostics with stable codes, and their rendering. It knows no stage and no
// protocol. Start from [Diagnostic].
package diag

import (
	"fmt"
	"path"
)

// Pos is a place in a file: line and column from 1, column in bytes.
type Pos struct{ Line, Col int }

// Span is a stretch of a file, from Start up to but not including End. A zero
// Span means that no place is known.
type Span struct {
	File       string // as the user named it, with forward slashes
	Start, End Pos
}

// IsZero reports whether s names no place.
func (s Span) IsZero() bool { return s.File == "" && s.Start == Pos{} }

// Place is the base name of the file and the line, so that texts do not depend on where the reader
// stands; empty if s is zero.
func (s Span) Place() string {
	if s.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(s.File), s.Start.Line)
}

// String renders the beginning of s as file:line:col, or the file alone where no line is known.
func (s Span) String() string {
	if s.IsZero() {
		return "-"
	}
	if s.Start.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d:%d", s.File, s.Start.Line, s.Start.Col)
}

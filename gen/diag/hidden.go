package diag

import (
	"fmt"
	"strings"
	"unicode"
)

// Hidden reports whether a character commands a terminal, or hides, joins or turns around the text
// around it: control characters but for the line feed and the tab, line separators, marks of the
// direction of writing, and the byte order mark. Specifications have none, in whatever way they are
// written, so that no picture, page, program or terminal gets one from them.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r == 0x2028, r == 0x2029, r == 0xFEFF:
		return true
	case r == 0x061C, r == 0x200E, r == 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// Visible writes hidden characters as \u001b: for names of files and other words of a message that
// nobody has looked at.
func Visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD") // a byte alone may be a command, too
	if !strings.ContainsFunc(s, Hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

package tla

import (
	"fmt"
	"strings"
)

// token is a word of a module. col is where it stands in its line, from 1 on.
type token struct {
	kind      tokenKind
	text      string
	line, col int
}

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber
	tokString
	tokSymbol
)

// Error is what is wrong with a module, and where.
type Error struct {
	Line, Col int
	Text      string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Text) }

func (t token) fail(format string, args ...any) {
	panic(&Error{t.line, t.col, fmt.Sprintf(format, args...)})
}

// symbols are the symbols that are more than one character, the longest first.
var symbols = []string{"====", "----", "\\subseteq", "\\notin", "\\cup", "\\cap", "\\div", "\\in", "|->", "==",
	"/\\", "\\/",
	"=>", "~>", "<=", ">=", "->", "<<", ">>_", ">>", "..", ":>", "@@", "\\o", "\\X", "\\A", "\\E", "]_", "[]", "<>",
	"\\"}

// words takes a module apart. What stands behind its end is left out.
func words(text string) (out []token) {
	for n, line := range strings.Split(text, "\n") {
		for i := 0; i < len(line); {
			t := token{line: n + 1, col: i + 1}
			c := line[i]
			switch {
			case c == ' ':
				i++
				continue
			case c == '\t':
				t.fail("a tab")
			case strings.HasPrefix(line[i:], `\*`):
				i = len(line)
				continue
			case letter(c):
				j := i
				for j < len(line) && (letter(line[j]) || digit(line[j])) {
					j++
				}
				t.kind, t.text = tokName, line[i:j]
				for _, p := range []string{"WF_", "SF_"} { // WF_vars is two words
					if strings.HasPrefix(t.text, p) {
						t.kind, t.text = tokSymbol, p
					}
				}
			case digit(c):
				j := i
				for j < len(line) && digit(line[j]) {
					j++
				}
				if t.kind, t.text = tokNumber, line[i:j]; j < len(line) && letter(line[j]) {
					t.fail("a name that begins with a digit")
				}
			case c == '"':
				t.kind, t.text = tokString, stringAt(t, line[i:])
			default:
				t.kind, t.text = tokSymbol, symbolAt(t, line[i:])
			}
			out = append(out, t)
			i += width(t, line[i:])
			if t.text == "====" && t.kind == tokSymbol && n > 0 {
				return append(out, token{line: n + 1, col: i + 1})
			}
		}
	}
	return append(out, token{line: strings.Count(text, "\n") + 1, col: 1})
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// width is how many bytes a word takes in the text that begins with it.
func width(t token, rest string) int {
	if t.kind == tokString {
		i := 1
		for rest[i] != '"' {
			if rest[i] == '\\' {
				i++
			}
			i++
		}
		return i + 1
	}
	if t.text == "====" || t.text == "----" {
		return len(rest) - len(strings.TrimLeft(rest, t.text[:1]))
	}
	return len(t.text)
}

func stringAt(t token, rest string) string {
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return b.String()
		case c == '\\':
			i++
			if i == len(rest) || !strings.ContainsRune(`"\tnfr`, rune(rest[i])) {
				t.fail("no escape of a string")
			}
			b.WriteByte(rest[i])
		case c < ' ' || c > '~':
			t.fail("a character that a string cannot have")
		default:
			b.WriteByte(c)
		}
	}
	t.fail("a string without an end")
	return ""
}

func symbolAt(t token, rest string) string {
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			return s
		}
	}
	if strings.ContainsRune("()[]{},:=#<>+-*%~.'!@", rune(rest[0])) {
		return rest[:1]
	}
	t.fail("the character %q", rest[0])
	return ""
}

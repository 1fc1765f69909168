package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Scanner reads values from the text form of events that AppendEvent writes, such as `change{slot:
// 3, name: "red"}`. Generated code calls it in the order of a type's parts. After the first error
// every method returns zero.
type Scanner struct {
	text  string
	at    int
	err   error
	fresh bool // nothing stands yet in the innermost brackets
}

// NewScanner returns a scanner at the beginning of text.
func NewScanner(text string) *Scanner { return &Scanner{text: text} }

// Err returns the first error, which names its column from 1.
func (s *Scanner) Err() error { return s.err }

// Failf records an error about what was read last. Only the first error is kept.
func (s *Scanner) Failf(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("column %d of %q: %s", s.at+1, clip(s.text), fmt.Sprintf(format, args...))
		s.at = len(s.text)
	}
}

// clip shortens a long text, between two characters if it is UTF-8.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func (s *Scanner) skip() {
	for s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
	}
}

func (s *Scanner) take(c byte) bool {
	s.skip()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// Name reads a name or a number: everything up to the next punctuation. It may be empty.
func (s *Scanner) Name() string {
	s.skip()
	start := s.at
	for s.at < len(s.text) && !strings.ContainsRune(" ,:{}[]\"", rune(s.text[s.at])) {
		s.at++
	}
	return s.text[start:s.at]
}

// Open reads an opening bracket and returns s; the first field follows.
func (s *Scanner) Open(bracket byte) *Scanner {
	if !s.take(bracket) {
		s.Failf("want %q", bracket)
	}
	s.fresh = true
	return s
}

// Next reports whether another element follows, and reads the comma before it or the closing bracket.
func (s *Scanner) Next(bracket byte) bool {
	if s.err != nil || s.take(bracket) {
		s.fresh = false
		return false
	}
	if !s.fresh && !s.take(',') {
		s.Failf("want a comma or %q", bracket)
	}
	s.fresh = false
	return s.err == nil
}

// Field reads the name of a field and the colon after it, and returns s; the value follows:
// s.Field("slot").Int(0, 13). Fields come in the order of their declaration.
func (s *Scanner) Field(name string) *Scanner {
	if !s.Next('}') {
		s.Failf("the field %s is missing", name)
		return s
	}
	start := s.at
	if got := s.Name(); got != name || !s.take(':') {
		s.at = start
		s.Failf("want %q: fields are given in the order of their declaration", name+":")
	}
	return s
}

// Close reads a closing bracket.
func (s *Scanner) Close(bracket byte) {
	if s.Next(bracket) {
		s.Failf("want %q: nothing is left to be given", bracket)
	}
}

// End expects the end of the text and returns the first error, if there was one.
func (s *Scanner) End() error {
	if s.skip(); s.err == nil && s.at < len(s.text) {
		s.Failf("%q is too much", clip(s.text[s.at:]))
	}
	return s.err
}

// Int reads a number from lo to hi.
func (s *Scanner) Int(lo, hi int64) int64 {
	start := s.at
	word := s.Name()
	n, err := strconv.ParseInt(word, 0, 64)
	if s.err != nil {
		return 0
	}
	if err != nil || n < lo || n > hi {
		s.at = start
		s.Failf("want a number in %d..%d, not %q", lo, hi, word)
		return 0
	}
	return n
}

// Uint reads a number from 0 to most.
func (s *Scanner) Uint(most uint64) uint64 {
	start := s.at
	word := s.Name()
	n, err := strconv.ParseUint(word, 0, 64)
	if s.err != nil {
		return 0
	}
	if err != nil || n > most {
		s.at = start
		s.Failf("want a number up to %d, not %q", most, word)
		return 0
	}
	return n
}

// Bool reads true or false.
func (s *Scanner) Bool() bool { return s.Word("false", "true") == 1 }

// Word reads one of the names and returns its index.
func (s *Scanner) Word(names ...string) int {
	start := s.at
	word := s.Name()
	if i := slices.Index(names, word); i >= 0 && s.err == nil {
		return i
	}
	s.at = start
	s.Failf("%q is none of %s", word, list(names))
	return 0
}

// list names what there is, the first of many.
func list(names []string) string {
	const most = 12
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " …"
	}
	return strings.Join(names, ", ")
}

// None reads the word none if it comes next, and reports whether it did.
func (s *Scanner) None() bool {
	start := s.at
	if s.Name() == "none" {
		return true
	}
	s.at = start
	return false
}

// Text reads a text in quotation marks, as in Go, of at most most bytes.
func (s *Scanner) Text(most int) string {
	s.skip()
	quoted, err := strconv.QuotedPrefix(s.text[s.at:])
	if err != nil || quoted[0] == '\'' {
		s.Failf("want a text in quotation marks")
		return ""
	}
	t, err := strconv.Unquote(quoted)
	if err != nil || len(t) > most {
		s.Failf("want a text of at most %d bytes, not one of %d", most, len(t))
		return ""
	}
	s.at += len(quoted)
	return t
}

// UnknownCommand returns the error for a name that no command has.
func (s *Scanner) UnknownCommand(name string, commands ...string) error {
	s.at = 0
	if len(commands) == 0 {
		s.Failf("%q is no command; there are none", name)
	} else {
		s.Failf("%q is no command; there are %s", name, strings.Join(commands, ", "))
	}
	return s.err
}

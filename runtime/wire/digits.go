package wire

import (
	"bytes"
	"strconv"
	"strings"
)

// Numbers in digits, texts and words, with the bytes that end them.

// Digits reads a number in digits of a base, 10 or 16, and the bytes end at the beginning of b. The digits a
// to f are in lower case, and the first one is 0 only of the number 0; with loose neither matters, and the
// number has at most 20 digits. n is how many bytes all of it takes; 0 if b ends before it does, and -1 if
// no such number begins so.
func Digits(b []byte, base uint64, loose bool, end string) (v uint64, n int) {
	for n < len(b) {
		d, ok := digit(b[n], loose)
		if !ok || d >= base {
			break
		}
		if n >= 20 || n == 1 && b[0] == '0' && !loose || v > (1<<64-1-d)/base {
			return 0, -1
		}
		v = v*base + d
		n++
	}
	rest := b[n:]
	switch {
	case len(rest) == 0 && n <= 20:
		return 0, 0
	case n == 0:
		return 0, -1
	case len(rest) >= len(end) && string(rest[:len(end)]) == end:
		return v, n + len(end)
	case len(rest) < len(end) && end[:len(rest)] == string(rest):
		return 0, 0
	}
	return 0, -1
}

func digit(c byte, upper bool) (uint64, bool) {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0'), true
	case c >= 'a' && c <= 'f':
		return uint64(c-'a') + 10, true
	case upper && c >= 'A' && c <= 'F':
		return uint64(c-'A') + 10, true
	}
	return 0, false
}

// Integer is [Digits] for a decimal number of 64 bits with its sign: a minus, or nothing. The number is
// zigzagged, see [Unzigzag].
func Integer(b []byte, loose bool, end string) (v uint64, n int) {
	if len(b) == 0 || b[0] != '-' {
		v, n = Digits(b, 10, loose, end)
		if n > 0 && v > 1<<63-1 {
			return 0, -1
		}
		return Zigzag(int64(v)), n
	}
	v, n = Digits(b[1:], 10, loose, end)
	if n <= 0 {
		return 0, n
	}
	if v > 1<<63 || v == 0 && !loose {
		return 0, -1
	}
	return Zigzag(-int64(v)), n + 1
}

// AppendDigits appends a number as [Digits] reads it.
func AppendDigits(dst []byte, v uint64, base int, end string) []byte {
	return append(strconv.AppendUint(dst, v, base), end...)
}

// AppendInteger appends a zigzagged number as [Integer] reads it.
func AppendInteger(dst []byte, v uint64, end string) []byte {
	return append(strconv.AppendInt(dst, Unzigzag(v), 10), end...)
}

// Ended finds the end of a text of at most most bytes: text is its length, and n that with the end. Of the
// end CR LF, with loneLF an LF alone will do. n is 0 if b ends before the text may, and -1 if the text is
// longer.
func Ended(b []byte, end string, loneLF bool, most int) (text, n int) {
	if loneLF {
		i := bytes.IndexByte(b[:min(len(b), most+2)], '\n')
		switch {
		case i > 0 && b[i-1] == '\r':
			return i - 1, i + 1
		case i >= 0 && i <= most:
			return i, i + 1
		case i >= 0 || len(b) >= most+2:
			return 0, -1
		}
		return 0, 0
	}
	near := b[:min(len(b), most+len(end))]
	i := 0
	if len(end) == 1 {
		i = bytes.IndexByte(near, end[0])
	} else {
		i = indexOf(near, end)
	}
	switch {
	case i >= 0:
		return i, i + len(end)
	case len(near) == most+len(end):
		return 0, -1
	}
	return 0, 0
}

func indexOf(b []byte, end string) int {
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], end[0])
		if i < 0 || from+i+len(end) > len(b) {
			return -1
		}
		if string(b[from+i:from+i+len(end)]) == end {
			return from + i
		}
		from += i + 1
	}
}

// Holds reports whether a text, with its end behind it, ends there and not before.
func Holds(text []byte, end string, loneLF bool) bool {
	if loneLF {
		return bytes.IndexByte(text, '\n') < 0
	}
	if len(end) == 1 {
		return bytes.IndexByte(text, end[0]) < 0
	}
	if indexOf(text, end) >= 0 {
		return false
	}
	// The end may also begin within the text.
	for k := max(len(text)-len(end)+1, 0); k < len(text); k++ {
		if in := string(text[k:]); strings.HasPrefix(end, in) && strings.HasPrefix(end, end[len(in):]) {
			return false
		}
	}
	return true
}

// BadText is [BadEnded] for a text, in which neither CR nor LF may stand: such a byte before the end is what is
// wrong, however many bytes follow.
func BadText(message, field string, frame []byte, at, n, most int, end string) Error {
	near := frame[at:min(len(frame), at+most+len(end))]
	for i, c := range near {
		if rest := near[i:]; (c == '\r' || c == '\n') && (len(rest) >= len(end) || end[:len(rest)] != string(rest)) {
			return Error{Message: message, Field: field, Offset: at + i, Problem: Charset, Value: int64(c)}
		}
	}
	return BadEnded(message, field, frame, at, n, most)
}

// BadEnded explains what is wrong where [Ended] gave n at an offset of a frame.
func BadEnded(message, field string, frame []byte, at, n, most int) Error {
	e := Error{Message: message, Field: field, Offset: at}
	if n == 0 {
		e.Problem, e.Value, e.Limit = Short, int64(len(frame)), int64(len(frame)+1)
		return e
	}
	e.Problem, e.Value, e.Limit = Unterminated, int64(len(frame)-at), int64(most)
	return e
}

// Begins returns -1 if b begins with want, else the index of the first byte that differs, or -2 if b ends
// before one does.
func Begins(b []byte, want string) int {
	for i := range len(want) {
		if i == len(b) {
			return -2
		}
		if b[i] != want[i] {
			return i
		}
	}
	return -1
}

// Which returns which of words stands at the beginning of b, with end behind it, and how many bytes both
// take. Without an end it is the longest of those with which b begins. n is 0 if b ends before that can be
// told, and -1 if it is none of them.
func Which(b []byte, end string, words []string) (i, n int) {
	n = -1
	for k, word := range words {
		size := len(word) + len(end)
		switch {
		case len(b) >= size:
			if string(b[:len(word)]) == word && string(b[len(word):size]) == end && (n < 0 || size > n) {
				i, n = k, size
			}
		case len(b) <= len(word) && word[:len(b)] == string(b),
			len(b) > len(word) && string(b[:len(word)]) == word && end[:len(b)-len(word)] == string(b[len(word):]):
			return 0, 0
		}
	}
	return i, n
}

// Unknown is what [Named] returns if more bytes are needed.
const Unknown = -2

// Named returns which of names stands at the beginning of b, where capital letters of ASCII are as good as
// small ones; -1 if none does, and [Unknown] if b ends before that can be told.
func Named(b []byte, names []string) int {
	found := -1
	for k, name := range names {
		i := 0
		for i < len(b) && i < len(name) && lower(b[i]) == lower(name[i]) {
			i++
		}
		if i == len(name) {
			return k
		}
		if i == len(b) {
			found = Unknown
		}
	}
	return found
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Spaces returns how many blanks and tabs b begins with.
func Spaces(b []byte) int {
	n := 0
	for n < len(b) && (b[n] == ' ' || b[n] == '\t') {
		n++
	}
	return n
}

// BadWord is the error of a word at an offset of a frame, of which [Which] gave n.
func BadWord(message, field string, frame []byte, at, n int) Error {
	e := Error{Message: message, Field: field, Offset: at, Problem: NoWord}
	if n == 0 {
		e.Problem, e.Value, e.Limit = Short, int64(len(frame)), int64(len(frame)+1)
	}
	return e
}

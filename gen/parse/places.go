package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/parley-go/parley/gen/ast"
)

// walker finds the place of each byte of a scalar's decoded text by following text and source side
// by side. It relies on the library to have decoded correctly, and gives up where the two do not
// agree.
type walker struct {
	src    []byte
	text   string
	at     int // next byte of src
	done   int // bytes of text that have a place
	places []int32
	end    int
}

func (w *walker) walk(style ast.Style) bool {
	w.places = make([]int32, 0, len(w.text)+1)
	ok := false
	switch style {
	case ast.Plain:
		ok = w.flowing(0)
		w.end = w.at
	case ast.SingleQuoted:
		ok = w.quoted('\'')
	case ast.DoubleQuoted:
		ok = w.quoted('"')
	default:
		ok = w.block()
	}
	if !ok || w.done != len(w.text) {
		return false
	}
	last := w.end
	if style != ast.Plain && style < ast.Literal {
		last-- // the closing quote
	}
	w.places = append(w.places, int32(last))
	return true
}

// put gives the next n bytes of text the place at.
func (w *walker) put(n, at int) bool {
	if w.done+n > len(w.text) {
		return false
	}
	for range n {
		w.places = append(w.places, int32(at))
	}
	w.done += n
	return true
}

// copyRune follows a character that stands for itself.
func (w *walker) copyRune() bool {
	_, n := utf8.DecodeRune(w.src[w.at:])
	if !strings.HasPrefix(w.text[w.done:], string(w.src[w.at:w.at+n])) {
		return false
	}
	for i := range n {
		w.put(1, w.at+i)
	}
	w.at += n
	return true
}

func (w *walker) quoted(q byte) bool {
	if w.at >= len(w.src) || w.src[w.at] != q {
		return false
	}
	w.at++
	if !w.flowing(q) || w.at >= len(w.src) || w.src[w.at] != q {
		return false
	}
	w.at++
	w.end = w.at
	return true
}

// flowing follows plain (q is 0) and quoted text up to its end.
func (w *walker) flowing(q byte) bool {
	for w.at < len(w.src) {
		c := w.src[w.at]
		switch {
		case q == 0 && w.done == len(w.text):
			return true
		case q == '\'' && c == q && w.at+1 < len(w.src) && w.src[w.at+1] == q:
			if !w.put(1, w.at) {
				return false
			}
			w.at += 2
		case q != 0 && c == q:
			return w.done == len(w.text)
		case q == '"' && c == '\\':
			if !w.escape() {
				return false
			}
		case isBlank(c):
			if !w.fold() {
				return false
			}
		default:
			if !w.copyRune() {
				return false
			}
		}
	}
	return w.done == len(w.text)
}

// fold follows a run of blanks: within a line they stay, over line ends they become a space or
// newlines.
func (w *walker) fold() bool {
	start, breaks := w.at, 0
	for w.at < len(w.src) && isBlank(w.src[w.at]) {
		if w.src[w.at] == '\n' {
			breaks++
		}
		w.at++
	}
	switch breaks {
	case 0:
		for i := start; i < w.at; i++ {
			if w.done == len(w.text) || w.text[w.done] != w.src[i] {
				return false
			}
			w.put(1, i)
		}
		return true
	case 1:
		return strings.HasPrefix(w.text[w.done:], " ") && w.put(1, start)
	}
	return strings.HasPrefix(w.text[w.done:], strings.Repeat("\n", breaks-1)) && w.put(breaks-1, start)
}

// escape follows a backslash sequence of a double-quoted text.
func (w *walker) escape() bool {
	if w.at+1 >= len(w.src) {
		return false
	}
	start, digits := w.at, 0
	switch w.src[w.at+1] {
	case '\n', '\r':
		// A line continued: the break and the blanks around it say nothing, blank lines do.
		w.at++
		breaks := 0
		for w.at < len(w.src) && isBlank(w.src[w.at]) {
			if w.src[w.at] == '\n' {
				breaks++
			}
			w.at++
		}
		return w.put(breaks-1, start)
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	w.at += 2 + digits
	if w.at > len(w.src) || w.done >= len(w.text) {
		return false
	}
	_, n := utf8.DecodeRuneInString(w.text[w.done:])
	return w.put(n, start)
}

// block follows literal and folded scalars. An indentation stated in the
// header counts from the parent's, which is not known here; it is tried out.
func (w *walker) block() bool {
	stated := false
	for w.at < len(w.src) && w.src[w.at] != '\n' && w.src[w.at] != '#' {
		stated = stated || w.src[w.at] >= '1' && w.src[w.at] <= '9'
		w.at++
	}
	if i := bytes.IndexByte(w.src[w.at:], '\n'); i >= 0 {
		w.at += i + 1
	} else {
		w.at = len(w.src)
	}
	if !stated {
		return w.lines(-1)
	}
	for indent := 1; indent <= 2*MaxDepth; indent++ {
		try := *w
		try.places = nil
		if try.lines(indent) {
			*w = try
			return true
		}
	}
	return false
}

// lines follows a block's lines; with indent -1 the first line that has text sets the indentation.
func (w *walker) lines(indent int) bool {
	w.end = w.at
	for w.at < len(w.src) && w.done < len(w.text) {
		stop := len(w.src)
		if i := bytes.IndexByte(w.src[w.at:], '\n'); i >= 0 {
			stop = w.at + i
		}
		n := 0
		for w.at+n < stop && w.src[w.at+n] == ' ' && (indent < 0 || n < indent) {
			n++
		}
		if indent < 0 && w.at+n < stop && w.src[w.at+n] != '\r' {
			indent = n
		}
		for w.at += n; w.at < stop && w.src[w.at] != '\r'; {
			if !w.copyRune() {
				return false
			}
		}
		w.end = w.at
		w.lineEnd(stop, w.end)
		w.at = stop + 1
	}
	for w.done < len(w.text) && w.text[w.done] == '\n' {
		w.put(1, w.end)
	}
	return w.done == len(w.text)
}

// lineEnd follows the end of a line at offset at. In the text it is one newline or space at place,
// or nothing if folding removed it.
func (w *walker) lineEnd(at, place int) {
	if w.done == len(w.text) {
		return
	}
	next := at + 1
	for next < len(w.src) && w.src[next] == ' ' {
		next++
	}
	blankNext := next < len(w.src) && (w.src[next] == '\n' || w.src[next] == '\r')
	switch {
	case w.text[w.done] == '\n':
		// Before a blank line a folded text drops this break and keeps the blank's, which
		// comes to the same number of newlines only if the text goes on with one.
		if blankNext && !strings.HasPrefix(w.text[w.done+1:], "\n") && w.newlinesAhead(at) > 1 {
			return
		}
		w.put(1, place)
	case w.text[w.done] == ' ' && !blankNext:
		w.put(1, place)
	}
}

// newlinesAhead counts the line ends from at up to the next line with text.
func (w *walker) newlinesAhead(at int) int {
	n := 0
	for at < len(w.src) && isBlank(w.src[at]) {
		if w.src[at] == '\n' {
			n++
		}
		at++
	}
	return n
}

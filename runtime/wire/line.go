package wire

import (
	"bytes"
	"strings"
)

// What codecs of protocols of lines share. A frame is a line with its LF.

// LineSize returns the length of the line that begins at b[0], its LF included, or 0 if b has no LF
// yet. It fails if no line of at most most bytes can begin so.
func LineSize(b []byte, most int) (int, Error) {
	end := bytes.IndexByte(b[:min(len(b), most)], '\n')
	if end < 0 && len(b) >= most {
		return 0, Error{Problem: Long, Value: int64(len(b)), Limit: int64(most)}
	}
	return end + 1, Error{}
}

// CutLine returns one whole line without its LF, or CR and LF. If ascii is set, only the bytes 32
// to 126 are allowed.
func CutLine(b []byte, most int, ascii bool) ([]byte, Error) {
	n, e := LineSize(b, most)
	switch {
	case e.Problem != 0:
		return nil, e
	case n == 0:
		return nil, Error{Problem: Short, Value: int64(len(b)), Limit: int64(len(b)) + 1}
	case n < len(b):
		return nil, Error{Offset: n, Problem: Trailing, Value: int64(len(b) - n)}
	}
	line := bytes.TrimSuffix(b[:n-1], []byte{'\r'})
	if i := BadByte(line, "", ascii); i >= 0 {
		return nil, Error{Offset: i, Problem: Text, Value: int64(line[i])}
	}
	return line, Error{}
}

// CutCRLF is [CutLine] for lines that end with CR LF, and not with an LF alone.
func CutCRLF(b []byte, most int, ascii bool) ([]byte, Error) {
	if n, e := LineSize(b, most); e.Problem == 0 && n == len(b) && n > 0 && (n < 2 || b[n-2] != '\r') {
		return nil, Error{Offset: n - 1, Problem: Text, Value: int64(b[n-1])}
	}
	return CutLine(b, most, ascii)
}

// BadByte returns the index of the first byte that must not stand in a text of a line: LF, CR, one
// of without and, if ascii is set, any byte but 32 to 126. It returns -1 if there is none.
func BadByte(text []byte, without string, ascii bool) int {
	for i, c := range text {
		if c == '\n' || c == '\r' || ascii && (c < ' ' || c > '~') || strings.IndexByte(without, c) >= 0 {
			return i
		}
	}
	return -1
}

// Literal removes a text from the beginning of a line.
func Literal(line []byte, text string) (rest []byte, ok bool) {
	if len(line) < len(text) || string(line[:len(text)]) != text {
		return line, false
	}
	return line[len(text):], true
}

// Word cuts a line at the first stop. Without a stop the whole line is the word.
func Word(line []byte, stop byte) (word, rest []byte) {
	if i := bytes.IndexByte(line, stop); i >= 0 {
		return line[:i], line[i:]
	}
	return line, nil
}

// Decimal reads a number without sign and leading zeros. ok is false if there is none, or if it is
// above most.
func Decimal(word []byte, most uint64) (n uint64, ok bool) {
	if len(word) == 0 || len(word) > 20 || word[0] == '0' && len(word) > 1 {
		return 0, false
	}
	for _, c := range word {
		d := uint64(c - '0')
		if c < '0' || c > '9' || n > (most-min(d, most))/10 || n == 0 && d > most {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

package syntax

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/diag"
)

type kind uint8

const (
	end kind = iota
	name
	number
	str
	op
	bad
)

type token struct {
	kind     kind
	text     string // op: the operator; str: the decoded text; bad: the complaint
	value    int64
	from, to int
}

// Place gives the place of bytes i up to j of a text.
type Place func(i, j int) diag.Span

var operators = []string{
	"=>", "->", "..", "==", "!=", "<=", ">=", "&&", "||",
	"!", "-", "*", "/", "%", "+", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", ".", "?",
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// next reads the token at offset i of text.
func next(text string, i int) token {
	for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
		i++
	}
	if i == len(text) {
		return token{kind: end, from: i, to: i}
	}
	j := i
	switch c := text[i]; {
	case isLetter(c):
		for j < len(text) && (isLetter(text[j]) || isDigit(text[j])) {
			j++
		}
		return token{kind: name, text: text[i:j], from: i, to: j}
	case isDigit(c):
		return lexNumber(text, i)
	case c == '"' || c == '\'':
		return lexString(text, i)
	}
	if strings.HasPrefix(text[i:], "<<") || strings.HasPrefix(text[i:], ">>") {
		return token{kind: bad, text: "there are no shifts; multiply or divide", from: i, to: i + 2}
	}
	if strings.HasPrefix(text[i:], "<>") {
		return token{kind: bad, text: "<> is not an operator; write !=", from: i, to: i + 2}
	}
	if strings.HasPrefix(text[i:], "...") {
		return token{kind: bad, text: "a range has two dots: 0..3", from: i, to: i + 3}
	}
	for _, o := range operators {
		if strings.HasPrefix(text[i:], o) {
			return token{kind: op, text: o, from: i, to: i + len(o)}
		}
	}
	r := []rune(text[i:min(len(text), i+8)])[0]
	complaint := fmt.Sprintf("%q means nothing in an expression", r)
	switch text[i] {
	case '=':
		complaint = "= is not an operator; write =="
	case '&':
		complaint = "& is not an operator; write &&"
	case '|':
		complaint = "| is not an operator; write ||"
	}
	return token{kind: bad, text: complaint, from: i, to: min(len(text), i+len(string(r)))}
}

func lexNumber(text string, i int) token {
	j := i
	for j < len(text) && (isLetter(text[j]) || isDigit(text[j])) {
		j++
	}
	if j+1 < len(text) && text[j] == '.' && isDigit(text[j+1]) {
		for j++; j < len(text) && (isLetter(text[j]) || isDigit(text[j])); j++ {
		}
		return token{kind: bad, text: diag.Quote(text[i:j]) + " is not a whole number, and there are no others",
			from: i, to: j}
	}
	v, err := strconv.ParseInt(text[i:j], 0, 64)
	if j > i+1 && text[i] == '0' && isDigit(text[i+1]) {
		// Go would read an octal number here.
		return token{kind: bad, text: "a number does not begin with 0", from: i, to: j}
	}
	if err != nil || v > 1<<61 {
		complaint := fmt.Sprintf("%s is not a number", diag.Quote(text[i:j]))
		if ne, ok := err.(*strconv.NumError); err == nil || ok && ne.Err == strconv.ErrRange {
			complaint = "numbers go up to 1<<61"
		}
		return token{kind: bad, text: complaint, from: i, to: j}
	}
	return token{kind: number, text: text[i:j], value: v, from: i, to: j}
}

func lexString(text string, i int) token {
	q := text[i]
	j := i + 1
	var b strings.Builder
	for ; j < len(text) && text[j] != q; j++ {
		if text[j] != '\\' {
			b.WriteByte(text[j])
			continue
		}
		c, n := unescape(text[j+1:])
		if n == 0 {
			return token{kind: bad,
				text: `a backslash stands before \ " ' n r t or xNN; a backslash itself is written \\`, from: j,
				to: min(j+2, len(text))}
		}
		b.WriteByte(c)
		j += n
	}
	if j == len(text) {
		return token{kind: bad, text: "the text has no closing quote", from: i, to: j}
	}
	return token{kind: str, text: b.String(), from: i, to: j + 1}
}

// unescape reads what stands after a backslash. It returns a byte and the length of its name,
// which is 0 if there is no such byte.
func unescape(text string) (c byte, n int) {
	if text == "" {
		return 0, 0
	}
	switch text[0] {
	case '\\', '"', '\'':
		return text[0], 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'x':
		if len(text) < 3 {
			return 0, 0
		}
		v, err := strconv.ParseUint(text[1:3], 16, 8)
		if err != nil {
			return 0, 0
		}
		return byte(v), 3
	}
	return 0, 0
}

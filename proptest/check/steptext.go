package check

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/parley-go/parley/gen/interp"
)

// What is shown of the variables that a step changes, unless all is asked for.
const (
	changesWidth = 100 // runes of a line
	changesLines = 3
	valueWidth   = 40 // runes of one value
)

// changeLines tells what a step changes in lines to stand below it: `fleet[2]: none → orz; x: 1 → 2`. If that is
// much, only the first changes and what differs of long values, unless all is set.
func changeLines(list []interp.Change, all bool) []string {
	var lines []string
	for i, c := range list {
		text := changeText(c, all)
		last := len(lines) - 1
		switch {
		case last >= 0 && utf8.RuneCountInString(lines[last])+2+utf8.RuneCountInString(text) <= changesWidth:
			lines[last] += "; " + text
		case !all && len(lines) == changesLines:
			lines[last] += fmt.Sprintf("; … %d more", len(list)-i)
			return lines
		default:
			lines = append(lines, text)
		}
	}
	return lines
}

func changeText(c interp.Change, all bool) string {
	before, after := c.Before, c.After
	if !all {
		before, after = shorten(before, after), shorten(after, before)
	}
	return c.Name + ": " + before + " → " + after
}

// shorten leaves out of a long list or set the elements at its beginning and end that another has there, too, and
// what is still too much for a line.
func shorten(v, other string) string {
	x := elements(v)
	if utf8.RuneCountInString(v) <= valueWidth || len(x) == 0 {
		return v
	}
	y := elements(other)
	from, to := 0, 0
	for from < min(len(x), len(y)) && x[from] == y[from] {
		from++
	}
	for to < min(len(x), len(y))-from && x[len(x)-1-to] == y[len(y)-1-to] {
		to++
	}
	var shown []string
	if from > 0 {
		shown = append(shown, "…")
	}
	width := 0
	for i, e := range x[from : len(x)-to] {
		if width += utf8.RuneCountInString(e); i > 0 && width > changesWidth {
			shown = append(shown, "…")
			break
		}
		shown = append(shown, e)
	}
	if to > 0 && shown[len(shown)-1] != "…" {
		shown = append(shown, "…")
	}
	return "[" + strings.Join(shown, ", ") + "]"
}

// elements are the texts of the elements of a list or set; none if v is something else.
func elements(v string) []string {
	if !strings.HasPrefix(v, "[") || v == "[]" {
		return nil
	}
	var out []string
	depth, from, quoted := 0, 1, false
	for i := 1; i < len(v)-1; i++ {
		switch c := v[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			out = append(out, v[from:i])
			from = i + len(", ")
		}
	}
	return append(out, v[from:len(v)-1])
}

// readLines are the values that a claim looks at, in lines of two columns.
func readLines(list []Reading) []string {
	var lines []string
	width := 0
	for _, r := range list {
		width = max(width, utf8.RuneCountInString(r.Name))
	}
	for _, r := range list {
		lines = append(lines, r.Name+strings.Repeat(" ", width-utf8.RuneCountInString(r.Name))+"   "+r.Value)
	}
	return lines
}

package check

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Widths of what is printed of a run, in runes. A report indents it by six.
const (
	textWidth  = 124
	eventWidth = 60 // of the first column: a longer event has a line of its own
	stateWidth = 50 // of the second: a longer state stands below
	wrapIndent = 4  // of the second and later lines of what is too long for one
)

// table writes steps, numbered from first+1, and returns the last number.
func (r *Run) table(b *strings.Builder, steps []Step, first int, all bool) int {
	digits := len(fmt.Sprint(first + len(steps)))
	rows, width := columns(steps, digits+2)
	for i, row := range rows {
		head := fmt.Sprintf("%*d. ", digits, first+i+1)
		if row.above != "" {
			wrapped(b, head+row.above, 0)
			head = strings.Repeat(" ", digits+2)
		}
		line := head
		for k, c := range row.cells {
			if width[k] > 0 {
				line += c + strings.Repeat(" ", width[k]-utf8.RuneCountInString(c)) + "   "
			}
		}
		line += steps[i].place()
		if line = strings.TrimRight(line, " "); line != "" {
			b.WriteString(line + "\n")
		}
		for _, more := range slices.Concat(row.below, changeLines(steps[i].Changes, all)) {
			wrapped(b, more, digits+4)
		}
	}
	return first + len(steps)
}

// stepRow is a step in columns: what happened, the state, and the effects, as far as they have room beside each
// other; the others have lines of their own.
type stepRow struct {
	cells [3]string
	above string
	below []string
}

// columns lays out steps whose lines begin with so many runes, and gives the widths of the columns.
func columns(steps []Step, head int) (rows []stepRow, width [3]int) {
	rows = make([]stepRow, len(steps))
	places := 0
	for i := range steps {
		row := &rows[i]
		row.cells = steps[i].columns()
		places = max(places, utf8.RuneCountInString(steps[i].place()))
		if utf8.RuneCountInString(row.cells[0]) > eventWidth {
			row.above, row.cells[0] = row.cells[0], ""
		}
		if utf8.RuneCountInString(row.cells[1]) > stateWidth {
			row.below, row.cells[1] = []string{row.cells[1]}, ""
		}
		for k := range 2 {
			width[k] = max(width[k], utf8.RuneCountInString(row.cells[k]))
		}
	}
	room := textWidth - head - places
	for _, w := range width {
		if w > 0 {
			room -= w + 3
		}
	}
	for i := range rows {
		row := &rows[i]
		if n := utf8.RuneCountInString(row.cells[2]); n+3 <= room {
			width[2] = max(width[2], n)
			continue
		}
		if steps[i].Fault != "" {
			row.below = append(row.below, row.cells[2])
		} else {
			row.below = append(row.below, steps[i].Effects...)
		}
		row.cells[2] = ""
	}
	return rows, width
}

// place is where the transition stands, in parentheses; nothing if there is none.
func (s *Step) place() string {
	if s.Where == "" {
		return ""
	}
	return "(" + s.Where + ")"
}

// wrapped writes a line that begins with so many spaces; what is too long for it goes on in others, further in.
func wrapped(b *strings.Builder, line string, indent int) {
	line = strings.Repeat(" ", indent) + line
	for {
		at := breakAt(line, indent+wrapIndent)
		if at == 0 {
			b.WriteString(line + "\n")
			return
		}
		b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
		line = strings.Repeat(" ", indent+wrapIndent) + strings.TrimLeft(line[at:], " ")
	}
}

// breakAt is the index of the last space before the line is too long, or if there is none that far in, of the first
// behind; 0 if the line need not or cannot be broken. A name stays with its value: `version: 0`.
func breakAt(line string, from int) int {
	if utf8.RuneCountInString(line) <= textWidth {
		return 0
	}
	best, n := 0, 0
	for i, r := range line {
		if r == ' ' && n > from && line[i-1] != ':' {
			if n > textWidth && best > 0 {
				break
			}
			best = i
		}
		n++
	}
	return best
}

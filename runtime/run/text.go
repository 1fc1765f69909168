package run

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxTextChart is the greatest number of steps of which a chart made of letters is an overview.
const maxTextChart = 15

// Text renders the run as numbered steps in columns, what each changes below it, what is wrong at
// the end, the last configuration, what the claim reads in it, and, if the run is short, a chart of
// the messages. It has no times and is the same wherever the specification lies, so that it can be
// kept as a text to compare with.
func (r *Run) Text() string { return r.text(false) }

// TextAll returns [Run.Text] with all changes of variables in full.
func (r *Run) TextAll() string { return r.text(true) }

func (r *Run) text(all bool) string {
	var b strings.Builder
	n := r.table(&b, r.Stem(), 0, all)
	if r.Loop > 0 {
		b.WriteString("and then for ever:\n")
		r.table(&b, r.Cycle(), n, all)
	}
	if len(r.Steps) == 0 {
		b.WriteString("at the beginning\n")
	}
	b.WriteString("\n")
	if r.Problem != "" {
		for line := range strings.Lines(r.Problem) {
			wrapped(&b, strings.TrimRight(line, "\n"), 0)
		}
		b.WriteString("\n")
	}
	for _, line := range r.End {
		wrapped(&b, line, 2)
	}
	r.reads(&b, all)
	if n := len(r.Steps); n > 0 && n <= maxTextChart {
		c := r.Chart()
		c.Title, c.End = "", ""
		b.WriteString("\n" + c.Text())
	}
	return b.String()
}

// How many parts of a claim that are false, and values that it reads, are shown, unless all is
// asked for.
const (
	maxFalse = 5
	maxReads = 20
)

// reads writes what the claim looks at in the last configuration.
func (r *Run) reads(b *strings.Builder, all bool) {
	lines, head := readLines(r.Reads), "what the claim reads here:"
	if len(r.False) > 0 {
		b.WriteString("\nwhat of it is false here:\n")
		head = "what that reads:"
	}
	for i, text := range r.False {
		if i == maxFalse && !all {
			fmt.Fprintf(b, "  … %d more\n", len(r.False)-i)
			break
		}
		wrapped(b, text, 2)
	}
	if len(lines) > 0 {
		b.WriteString("\n" + head + "\n")
	}
	for i, line := range lines {
		if i == maxReads && !all {
			fmt.Fprintf(b, "  … %d more\n", len(lines)-i)
			break
		}
		wrapped(b, line, 2)
	}
}

// columns returns what happened in a step, the state, and the effects.
func (r *Run) columns(s *Step) [3]string {
	who, from := "", ""
	if i := s.Mover(); i >= 0 {
		who = r.Instances[i].Name
	}
	if s.From >= 0 && (len(r.Instances) > 2 || s.Mover() < 0) {
		from = r.from(s)
	}
	event := labelled(s.Event, s.Channel)
	what := who + ": " + s.Event
	by := ""
	if from != "" {
		by = " from " + from
	}
	switch s.Kind {
	case Message, Drop:
		what = who + " ← " + event + by
	case Copy:
		what = who + " ← " + event + by + " (a copy; it stays under way)"
	case Offer:
		what = who + " ← " + s.Event + by + " (deferred before)"
	case LinkUp, LinkLost:
		what = who + ": " + r.link(s)
	case Malformed:
		what += by
	case Break:
		what = who + " " + r.link(s)
	case Timer:
		what += " expires"
	case Clock, Partition:
		what = s.Event
	case Crash, Restart, Come, Go, Return, Cutoff, Beat:
		what = who + " " + s.Event
	case Lost:
		what = event + " is lost (" + from + ")"
		if s.Note != "" {
			what = event + " is lost: " + s.Note + " (" + from + ")"
		}
	case Swapped:
		what = s.Event + " (" + r.between(s) + ")"
	case Unseen:
		if what = who + " ← " + s.Event; s.Event == "" {
			what = who
		}
		what += " (not recorded)"
	}
	effects := strings.Join(s.Effects, ", ")
	if s.Fault != "" {
		effects = "✗ " + s.Fault
	}
	return [3]string{what, s.State, effects}
}

// Brief returns in one line how a run ends: what happens where, and after how many steps.
func (r *Run) Brief() string {
	after := fmt.Sprintf("after %d steps", len(r.Steps))
	if len(r.Steps) == 1 {
		after = "after 1 step"
	}
	if len(r.Steps) == 0 || r.Steps[len(r.Steps)-1].Fault == "" {
		return after + ": " + strings.Join(r.End, ", ")
	}
	s := &r.Steps[len(r.Steps)-1]
	text := r.columns(s)[0]
	if s.State != "" {
		text += " in " + s.State
	}
	if s.Where != "" {
		text += " (" + s.Where + ")"
	}
	return text + ", " + after + ": " + s.Fault
}

// Widths of what is printed of a run, in runes. A report indents it by six.
const (
	textWidth  = 124
	eventWidth = 60  // of the first column: a longer event has a line of its own
	stateWidth = 50  // of the second: a longer state stands below
	lineWidth  = 132 // of both and the place: where they are wider together, the longest states stand below
	wrapIndent = 4   // of the second and later lines of what is too long for one
)

// table writes steps, numbered from first+1, and returns the last number.
func (r *Run) table(b *strings.Builder, steps []Step, first int, all bool) int {
	digits := len(fmt.Sprint(first + len(steps)))
	rows, width := r.layout(steps, digits+2)
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

// stepRow is a step in columns: what happened, the state, and the effects, as far as they have room
// beside each other; the others have lines of their own.
type stepRow struct {
	cells [3]string
	above string
	below []string
}

// layout puts steps, whose lines begin with so many runes, into columns and returns their widths.
func (r *Run) layout(steps []Step, head int) (rows []stepRow, width [3]int) {
	rows = make([]stepRow, len(steps))
	places := 0
	for i := range steps {
		row := &rows[i]
		row.cells = r.columns(&steps[i])
		places = max(places, utf8.RuneCountInString(steps[i].place()))
		if utf8.RuneCountInString(row.cells[0]) > eventWidth {
			row.above, row.cells[0] = row.cells[0], ""
		}
		width[0] = max(width[0], utf8.RuneCountInString(row.cells[0]))
	}
	most := min(stateWidth, lineWidth-head-width[0]-places-6)
	for i := range rows {
		row := &rows[i]
		if utf8.RuneCountInString(row.cells[1]) > most {
			row.below, row.cells[1] = []string{row.cells[1]}, ""
		}
		width[1] = max(width[1], utf8.RuneCountInString(row.cells[1]))
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

// wrapped writes a line that begins with so many spaces; what is too long for it goes on in others,
// further in.
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

// breakAt is the index of the last space before the line is too long, or if there is none that far
// in, of the first behind; 0 if the line need not or cannot be broken. A name stays with its value:
// `version: 0`.
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

// What is shown of the variables that a step changes, unless all is asked for.
const (
	changesWidth = 100 // runes of a line
	changesLines = 3
	valueWidth   = 40 // runes of one value
)

// changeLines tells what a step changes in lines to stand below it: `fleet[2]: none → orz; x: 1 →
// 2`. If that is much, only the first changes and what differs of long values, unless all is set.
func changeLines(list []Change, all bool) []string {
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

func changeText(c Change, all bool) string {
	before, after := c.Before, c.After
	if !all {
		before, after = shorten(before, after), shorten(after, before)
	}
	return c.Name + ": " + before + " → " + after
}

// shorten leaves out of a long list or set the elements at its beginning and end that another has
// there, too, and what is still too much for a line.
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

package run

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text draws c with letters, for terminals and test output: one column for
// each instance, one row for each step, messages numbered so that both ends
// of one that is long under way can be found.
//
//	   a            b
//	1  confirm
//	   → CONFIRM1 (#1)
//	   [localOk]
//	2               ← CONFIRM1 (#1)
//
// Where that would be too wide, the arguments of messages and the like are shortened.
func (c *Chart) Text() string {
	rows := c.textRows()
	widths := c.textWidths(rows)
	for _, n := range []int{24, 16, 8} {
		if total(widths) <= maxTextWidth {
			break
		}
		rows = c.brief(n).textRows()
		widths = c.textWidths(rows)
	}
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(c.Title + "\n\n")
	}
	number := len(fmt.Sprint(len(c.Steps)))
	writeRow := func(head string, cells []string) {
		text := pad(head, number)
		for i, cell := range cells {
			over := utf8.RuneCountInString(text) + 2 + utf8.RuneCountInString(cell) - mostTextWidth
			blank := len(text) - len(strings.TrimRight(text, " ")) // only these can give way
			if cell != "" && over > 0 && over <= blank-2 {
				text = text[:len(text)-over]
			}
			text += "  " + pad(cell, widths[i])
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	writeRow("", c.Instances)
	for _, r := range rows {
		if r.wide != "" {
			b.WriteString(strings.TrimRight(pad(r.head, number)+"  "+r.wide, " ") + "\n")
			continue
		}
		writeRow(r.head, r.cells)
	}
	if c.End != "" {
		b.WriteString("\n" + c.End + "\n")
	}
	return b.String()
}

// maxTextWidth is how wide the columns of a chart made of letters should be together, in runes, and
// mostTextWidth where a line that reaches beyond its column begins further left.
const maxTextWidth, mostTextWidth = 110, 131

type textRow struct {
	head  string
	cells []string
	wide  string // instead of cells
	over  bool   // the one cell may reach into the columns behind it
}

// textWidths are the widths of the columns.
func (c *Chart) textWidths(rows []textRow) []int {
	widths := make([]int, len(c.Instances))
	for i, n := range c.Instances {
		widths[i] = utf8.RuneCountInString(n)
	}
	for _, r := range rows {
		for i, cell := range r.cells {
			if !r.over {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	return widths
}

// total is the width of a chart with columns of these widths, the number of the step included.
func total(widths []int) int {
	sum := 2
	for _, w := range widths {
		sum += 2 + w
	}
	return sum
}

// brief is c with at most n runes of what messages, events, notes and states have in braces or
// parentheses.
func (c *Chart) brief(n int) *Chart {
	out := *c
	out.Start = slices.Clone(c.Start)
	for i, s := range out.Start {
		out.Start[i] = briefly(s, n)
	}
	out.Steps = slices.Clone(c.Steps)
	for i := range out.Steps {
		s := &out.Steps[i]
		s.Event, s.State = briefly(s.Event, n), briefly(s.State, n)
		s.Notes, s.Sends = slices.Clone(s.Notes), slices.Clone(s.Sends)
		for k := range s.Notes {
			s.Notes[k] = briefly(s.Notes[k], n)
		}
		for k := range s.Sends {
			s.Sends[k].Text = briefly(s.Sends[k].Text, n)
		}
	}
	return &out
}

// briefly shortens what is in the outermost braces or parentheses of a text: `A{value: 12, …}`.
func briefly(text string, n int) string {
	from, to := strings.IndexAny(text, "{("), strings.LastIndexAny(text, "})")
	if from < 0 || to < from || utf8.RuneCountInString(text[from+1:to]) <= n {
		return text
	}
	cut := string([]rune(text[from+1 : to])[:n-1])
	if i := strings.LastIndex(cut, ", "); i > 0 {
		cut = cut[:i+2]
	} else {
		cut = strings.TrimRight(cut, " {[(")
	}
	var open []byte // what is left out closes these
	for i := range len(cut) {
		switch cut[i] {
		case '{', '(', '[':
			open = append(open, "})]"[strings.IndexByte("{([", cut[i])])
		case '}', ')', ']':
			open = open[:max(0, len(open)-1)]
		}
	}
	slices.Reverse(open)
	return text[:from+1] + cut + "…" + string(open) + text[to:]
}

func (c *Chart) textRows() []textRow {
	texts, over := map[int]string{}, map[int]string{}
	var rows []textRow
	add := func(head string, who int, text string) {
		cells := make([]string, len(c.Instances))
		cells[who] = text
		rows = append(rows, textRow{head: head, cells: cells, over: strings.HasPrefix(text, "✗ ")})
	}
	state := make([]string, len(c.Instances))
	copy(state, c.Start)
	if len(c.Start) > 0 {
		cells := make([]string, len(c.Instances))
		for i, s := range c.Start {
			if s != "" {
				cells[i] = "[" + s + "]"
			}
		}
		rows = append(rows, textRow{cells: cells})
	}
	for i, s := range c.Steps {
		if i == c.LoopFrom() {
			rows = append(rows, textRow{wide: "for ever:"})
		}
		for _, m := range s.Sends {
			texts[m.ID], over[m.ID] = m.Text, m.numbered()
		}
		head := fmt.Sprint(i + 1)
		if s.Who < 0 {
			wide := strings.Join(s.Notes, ", ")
			if s.Lost != 0 {
				wide = fmt.Sprintf("✗ %s (%s) is lost", texts[s.Lost], over[s.Lost])
			}
			rows = append(rows, textRow{head: head, wide: wide})
			continue
		}
		text := s.Event
		if text == "" {
			text = texts[s.Receives]
		}
		lines := stepLines(s, text)
		if s.State != "" && s.State != state[s.Who] {
			lines = append(lines, "["+s.State+"]")
			state[s.Who] = s.State
		}
		for n, text := range lines {
			if n > 0 {
				head = ""
			}
			add(head, s.Who, text)
		}
	}
	if from := c.LoopFrom(); from >= 0 {
		rows = append(rows, textRow{wide: fmt.Sprintf("and again from %d", from+1)})
	}
	return rows
}

// stepLines are the lines of one step, without its state; text is that of the message received.
func stepLines(s ChartStep, text string) []string {
	var list []string
	switch {
	case s.Receives != 0:
		list = append(list, fmt.Sprintf("← %s (%s)", text, (&Sent{ID: s.Receives, Channel: s.Channel}).numbered()))
	case s.Event != "":
		list = append(list, s.Event)
	}
	for _, m := range s.Sends {
		list = append(list, fmt.Sprintf("→ %s (%s)", m.Text, m.numbered()))
	}
	list = append(list, s.Notes...)
	if s.Fault != "" {
		list = append(list, "✗ "+s.Fault)
	}
	return list
}

// numbered is the number of a message, and its channel if there are several: `#3, state`.
func (m *Sent) numbered() string {
	text := fmt.Sprintf("#%d", m.ID)
	if m.Channel != "" {
		text += ", " + m.Channel
	}
	return text
}

// Label is the message with its channel, if there are several: `MOVE{n: 1} (state)`.
func (m *Sent) Label() string { return labelled(m.Text, m.Channel) }

// labelled is a text with the channel behind it; empty is none.
func labelled(text, channel string) string {
	if channel == "" {
		return text
	}
	return text + " (" + channel + ")"
}

// between says between whom something happens that is no machine's step: `a -> b`, or `a -> b, state`.
func (r *Run) between(s *Step) string {
	if s.Channel == "" {
		return r.from(s)
	}
	return r.from(s) + ", " + s.Channel
}

func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

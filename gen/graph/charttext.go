package graph

import (
	"fmt"
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
func (c *Chart) Text() string {
	rows := c.textRows()
	widths := make([]int, len(c.Instances))
	for i, n := range c.Instances {
		widths[i] = utf8.RuneCountInString(n)
	}
	for _, r := range rows {
		for i, cell := range r.cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(c.Title + "\n\n")
	}
	number := len(fmt.Sprint(len(c.Steps)))
	writeRow := func(head string, cells []string) {
		text := pad(head, number)
		for i, cell := range cells {
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

type textRow struct {
	head  string
	cells []string
	wide  string // instead of cells
}

func (c *Chart) textRows() []textRow {
	texts := map[int]string{}
	var rows []textRow
	add := func(head string, who int, text string) {
		cells := make([]string, len(c.Instances))
		cells[who] = text
		rows = append(rows, textRow{head: head, cells: cells})
	}
	state := make([]string, len(c.Instances))
	copy(state, c.Start)
	if len(c.Start) > 0 {
		cells := make([]string, len(c.Instances))
		for i, s := range c.Start {
			cells[i] = "[" + s + "]"
		}
		rows = append(rows, textRow{cells: cells})
	}
	for i, s := range c.Steps {
		for _, m := range s.Sends {
			texts[m.ID] = m.Text
		}
		head := fmt.Sprint(i + 1)
		if s.Who < 0 {
			rows = append(rows, textRow{head: head, wide: fmt.Sprintf("✗ %s (#%d) is lost", texts[s.Lost], s.Lost)})
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
	return rows
}

// stepLines are the lines of one step, without its state; text is that of the message received.
func stepLines(s ChartStep, text string) []string {
	var list []string
	switch {
	case s.Receives != 0:
		list = append(list, fmt.Sprintf("← %s (#%d)", text, s.Receives))
	case s.Event != "":
		list = append(list, s.Event)
	}
	for _, m := range s.Sends {
		list = append(list, fmt.Sprintf("→ %s (#%d)", m.Text, m.ID))
	}
	list = append(list, s.Notes...)
	if s.Fault != "" {
		list = append(list, "✗ "+s.Fault)
	}
	return list
}

func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

package graph

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// Mermaid draws m as a Mermaid stateDiagram-v2, for pages that show Mermaid,
// such as README files. It has no colours and no tips; the rest is as in [DOT].
func Mermaid(m *model.Machine, o Options) string {
	d := build(m, o)
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	indent := "    "
	var rows []string // of frames
	d.inFrames(nil, func(f *frame) {
		fmt.Fprintf(&b, "%sstate \"%s\" as c%d {\n", indent, mermaidText(f.name), f.number)
		indent += "    "
		if f.monitor && f.initial >= 0 {
			fmt.Fprintf(&b, "%s[*] --> s%d\n", indent, f.initial)
		}
		for _, r := range f.rows {
			rows = append(rows, fmt.Sprintf("    c%d : %s\n", f.number, mermaidText(strings.TrimLeft(r.text(), " "))))
		}
	}, func(i int, s box) {
		fmt.Fprintf(&b, "%sstate \"%s\" as s%d\n", indent, mermaidText(s.name), i)
		for _, r := range s.rows {
			fmt.Fprintf(&b, "%ss%d : %s\n", indent, i, mermaidText(strings.TrimLeft(r.text(), " ")))
		}
	}, func() {
		indent = indent[4:]
		fmt.Fprintf(&b, "%s}\n", indent)
	})
	for _, r := range rows {
		b.WriteString(r)
	}
	if d.initial >= 0 {
		fmt.Fprintf(&b, "    [*] --> s%d\n", d.initial)
	}
	for _, e := range d.edges {
		from, to := fmt.Sprint("s", e.from), fmt.Sprint("s", e.to)
		if e.out != nil {
			from = fmt.Sprint("c", e.out.number)
		}
		history := ""
		if e.in != nil {
			to, history = fmt.Sprint("c", e.in.number), " (history)"
		}
		fmt.Fprintf(&b, "    %s --> %s : %s%s\n", from, to, mermaidLines(e.lines), history)
	}
	for i, s := range d.boxes {
		if s.final {
			fmt.Fprintf(&b, "    s%d --> [*]\n", i)
		}
	}
	if len(d.notes) > 0 && len(d.boxes) > 0 {
		fmt.Fprintf(&b, "    note right of s%d\n", max(d.initial, 0))
		for _, n := range d.notes {
			fmt.Fprintf(&b, "        %s\n", mermaidText(n.head))
			for _, r := range n.rows {
				fmt.Fprintf(&b, "        %s\n", mermaidText(strings.TrimLeft(r.text(), " ")))
			}
		}
		b.WriteString("    end note\n")
	}
	return b.String()
}

// mermaidLines joins lines, continued ones without a break.
func mermaidLines(rows []line) string {
	var b strings.Builder
	for i, r := range rows {
		text := r.text()
		rest := strings.TrimLeft(text, " ")
		switch {
		case i > 0 && rest != text:
			b.WriteString(" ")
		case i > 0:
			b.WriteString("<br/>")
		}
		b.WriteString(mermaidText(rest))
	}
	return b.String()
}

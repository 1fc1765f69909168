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
	var rows []string // of frames: Mermaid takes no descriptions of states with states inside, but notes
	d.inFrames(nil, func(f *frame) {
		fmt.Fprintf(&b, "%sstate \"%s\" as c%d {\n", indent, stateName(f.name), f.number)
		indent += "    "
		if f.monitor && f.initial >= 0 {
			fmt.Fprintf(&b, "%s[*] --> s%d\n", indent, f.initial)
		}
		if len(f.rows) > 0 {
			rows = append(rows, fmt.Sprintf("    note right of c%d\n", f.number))
			for _, r := range f.rows {
				rows = append(rows, fmt.Sprintf("        %s\n", stateText(strings.TrimLeft(r.text(), " "))))
			}
			rows = append(rows, "    end note\n")
		}
	}, func(i int, s box) {
		fmt.Fprintf(&b, "%sstate \"%s\" as s%d\n", indent, stateName(s.name), i)
		for _, r := range s.rows {
			fmt.Fprintf(&b, "%ss%d : %s\n", indent, i, stateText(strings.TrimLeft(r.text(), " ")))
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
			fmt.Fprintf(&b, "        — %s —\n", stateText(n.head))
			for _, r := range n.rows {
				fmt.Fprintf(&b, "        %s\n", stateText(strings.TrimLeft(r.text(), " ")))
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
		b.WriteString(stateText(rest))
	}
	return b.String()
}

// stateText replaces what Mermaid would take for syntax or HTML in a state diagram. There, other than in sequence
// diagrams, it shows entities as they are written, so letters that look alike stand for what it reserves.
func stateText(s string) string {
	s = stateEscaper.Replace(s)
	var b strings.Builder
	for i, r := range s {
		b.WriteRune(r)
		if r == '<' && i+1 < len(s) && s[i+1] != ' ' && s[i+1] != '=' {
			b.WriteRune('\u200b') // so that it begins no tag
		}
		if r == ':' && (i+1 == len(s) || s[i+1] == ':') {
			b.WriteRune('\u200b') // else the line would go on, or name a class
		}
	}
	return b.String()
}

var stateEscaper = strings.NewReplacer(";", "\u037e", "\n", " ", "\r", " ", "%%", "%\u200b%")

// stateName is stateText between quotes.
func stateName(s string) string { return strings.ReplaceAll(stateText(s), `"`, "\u2033") }

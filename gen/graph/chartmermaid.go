package graph

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/runtime/run"
)

// ChartMermaid writes c as a Mermaid sequenceDiagram. Mermaid draws messages level,
// one by one: a message appears where it is received (or, if it never is, where it
// was sent), and a note marks the step that sends one received only later.
func ChartMermaid(c *run.Chart) string {
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	if c.Title != "" {
		fmt.Fprintf(&b, "    title %s\n", mermaidText(c.Title))
	}
	for i, name := range c.Instances {
		if at(c.Hostile, i) {
			name += " (hostile)"
		}
		fmt.Fprintf(&b, "    participant p%d as %s\n", i, mermaidText(name))
	}
	byID := map[int]*flight{}
	for _, f := range flights(c) {
		byID[f.ID] = f
	}
	for i, s := range c.Steps {
		if i == c.LoopFrom() {
			b.WriteString("    loop for ever\n")
		}
		if f := byID[s.Lost]; f != nil {
			fmt.Fprintf(&b, "    p%d-xp%d: %s (lost)\n", f.from, f.To, mermaidText(f.Label()))
		}
		if s.Who < 0 {
			for _, n := range s.Notes {
				fmt.Fprintf(&b, "    note over p0,p%d: %s\n", len(c.Instances)-1, mermaidText(n))
			}
			continue
		}
		if f := byID[s.Receives]; f != nil {
			fmt.Fprintf(&b, "    p%d->>p%d: %s\n", f.from, f.To, mermaidText(f.Label()))
		}
		if text := mermaidNote(i, s, byID); text != "" {
			fmt.Fprintf(&b, "    note over p%d: %s\n", s.Who, text)
		}
		for _, m := range s.Sends {
			if f := byID[m.ID]; f.underWay {
				fmt.Fprintf(&b, "    p%d--)p%d: %s (under way)\n", f.from, f.To, mermaidText(f.Label()))
			}
		}
	}
	if c.LoopFrom() >= 0 {
		b.WriteString("    end\n")
	}
	if c.End != "" && len(c.Instances) > 0 {
		fmt.Fprintf(&b, "    note over p0,p%d: %s\n", len(c.Instances)-1, mermaidText(c.End))
	}
	return b.String()
}

func mermaidNote(i int, s run.ChartStep, byID map[int]*flight) string {
	var parts []string
	if s.Receives == 0 && s.Event != "" {
		parts = append(parts, mermaidText(s.Event))
	}
	for _, m := range s.Sends {
		if f := byID[m.ID]; len(f.received) > 0 && f.received[0] > i+1 || f.lost > i+1 {
			parts = append(parts, "sends "+mermaidText(m.Label()))
		}
	}
	for _, n := range s.Notes {
		parts = append(parts, mermaidText(n))
	}
	if s.State != "" {
		parts = append(parts, "["+mermaidText(s.State)+"]")
	}
	if s.Fault != "" {
		parts = append(parts, "✗ "+mermaidText(s.Fault))
	}
	return strings.Join(parts, "<br/>")
}

// mermaidText replaces what Mermaid would take for syntax by its entities.
var mermaidEscaper = strings.NewReplacer("#", "#35;", ";", "#59;", ":", "#58;", "<", "#60;", ">", "#62;", `"`,
	"#34;", "\n", " ", "\r", " ", "%", "#37;")

func mermaidText(s string) string { return mermaidEscaper.Replace(s) }

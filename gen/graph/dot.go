package graph

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// font lists the fonts of pictures; the names after the first are tried in turn.
const font = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"

// dotFont is the one name DOT takes.
const dotFont = "Helvetica"

// DOT draws m in the language of Graphviz. States are boxes that show what is
// done without leaving them; edges are labelled `event [guard] / effects`;
// what many states do alike stands once below the picture. Pointing at
// anything shows the whole text and its place in the specification.
func DOT(m *model.Machine, o Options) string {
	d := build(m, o)
	w, compound := &dotWriter{}, ""
	if len(d.frames) > 0 {
		compound = ", compound=true"
	}
	w.f("digraph %s {\n", quote(d.name))
	w.f("\tgraph [fontname=%q, fontsize=10, labelloc=b, labeljust=l, nodesep=0.35, ranksep=0.45, pad=0.2, "+
		"bgcolor=white, tooltip=\" \"%s%s];\n",
		dotFont, compound, w.footer(d))
	w.f("\tnode [fontname=%q, fontsize=11, shape=plain];\n", dotFont)
	w.f("\tedge [fontname=%q, fontsize=9, arrowsize=0.7, color=\"#444444\"];\n", dotFont)
	w.f("\tsubgraph cluster_machine {\n\t\tpencolor=none; labelloc=t; labeljust=l; tooltip=\" \";\n"+
		"\t\tlabel=<%s>;\n", titleHTML(d))
	if d.initial >= 0 {
		w.f("\t\t{ rank=source; start; }\n")
		w.f("\t\tstart [%s];\n", startMark)
	}
	d.inFrames(nil, func(f *frame) {
		style := "rounded"
		if f.monitor {
			style = `"rounded,dashed"`
		}
		w.f("\t\tsubgraph cluster_%d {\n\t\tpencolor=\"#8a93a3\"; style=%s; labelloc=t; "+
			"labeljust=l; tooltip=%s;\n\t\tlabel=<<B>%s</B>%s>;\n", f.number, style, quote(f.tip), escape(f.name),
			br+linesHTML(f.rows))
		if f.monitor && f.initial >= 0 {
			w.f("\t\tstart%d [%s];\n\t\tstart%[1]d -> s%[3]d [tooltip=\"start\"];\n", f.number, startMark, f.initial)
		}
		if f.history {
			w.f("\t\th%d [shape=circle, label=\"%s\", fontsize=9, width=0.26, height=0.26, fixedsize=true, "+
				"tooltip=%s];\n", f.number, historyMark, quote(historyTip(f)))
		}
	}, func(i int, b box) {
		w.f("\t\ts%d [label=<%s>, tooltip=%s];\n", i, boxHTML(b), quote(b.tip))
	}, func() { w.f("\t\t}\n") })
	if lone := d.lone(); len(lone) > 0 {
		w.f("\t\t{ rank=sink;")
		for _, i := range lone {
			w.f(" s%d;", i)
		}
		w.f(" }\n")
	}
	if d.initial >= 0 {
		w.f("\t\tstart -> s%d [tooltip=\"start\"];\n", d.initial)
	}
	for _, e := range d.edges {
		tip := quote(e.tip)
		ends := ""
		if e.out != nil {
			ends += fmt.Sprintf(", ltail=cluster_%d", e.out.number)
		}
		to := fmt.Sprint("s", e.to)
		if e.in != nil {
			to = fmt.Sprint("h", e.in.number)
		}
		w.f("\t\ts%d -> %s [color=%q, label=<%s>, tooltip=%s, labeltooltip=%s%s];\n",
			e.from, to, colours[e.tone], rowsHTML(e.lines, 0), tip, tip, ends)
	}
	w.f("\t}\n}\n")
	return w.b.String()
}

// startMark is how the mark looks from which a machine begins.
const startMark = `shape=circle, style=filled, fillcolor="#222222", label="", width=0.14, height=0.14, tooltip="start"`

// historyMark is UML's sign of deep history.
const historyMark = "H*"

func historyTip(f *frame) string { return f.name + ", in the state in which it was left" }

type dotWriter struct{ b strings.Builder }

func (w *dotWriter) f(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

// footer is the graph's own label: the notes side by side, the legend below.
func (w *dotWriter) footer(d *diagram) string {
	if len(d.notes) == 0 && len(d.legend) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="4">`)
	if len(d.notes) > 0 {
		b.WriteString("<TR>")
		for _, column := range columns(d.notes) {
			b.WriteString(`<TD VALIGN="TOP">` + notesHTML(column) + `</TD>`)
		}
		b.WriteString("</TR>")
	}
	if len(d.legend) > 0 {
		fmt.Fprintf(&b, `<TR><TD ALIGN="LEFT" COLSPAN="%d">`, max(1, len(columns(d.notes))))
		for i, t := range d.legend {
			if i > 0 {
				b.WriteString(" &#160;&#160; ")
			}
			b.WriteString(coloured("● "+d.toneName(t), t))
		}
		if d.hint != "" {
			b.WriteString(" &#160;&#160; " + coloured(d.hint, faint))
		}
		b.WriteString(`</TD></TR>`)
	}
	b.WriteString(`</TABLE>`)
	return ", label=<" + b.String() + ">"
}

// notesHTML sets notes one below the other.
func notesHTML(notes []note) string {
	var b strings.Builder
	b.WriteString(`<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="4" CELLPADDING="0">`)
	for _, n := range notes {
		b.WriteString(
			`<TR><TD ALIGN="LEFT" VALIGN="TOP" BALIGN="LEFT" BGCOLOR="#fff8dc" BORDER="1" COLOR="#d8cfa0" CELLPADDING="5">`)
		b.WriteString("<B>" + escape(n.head) + "</B>" + br + linesHTML(n.rows) + `</TD></TR>`)
	}
	b.WriteString(`</TABLE>`)
	return b.String()
}

func titleHTML(d *diagram) string {
	s := `<FONT POINT-SIZE="15"><B>` + escape(d.name) + `</B></FONT>`
	for _, text := range d.docLines(docWidth) {
		s += br + coloured(text, faint)
	}
	return s + br
}

// br ends a line and sets it to the left.
const br = `<BR ALIGN="LEFT"/>`

// boxHTML is a rounded box with the state's name and what it does; a final
// state has a second border.
func boxHTML(b box) string {
	border := "1"
	if len(b.rows) == 0 {
		border = "0"
	}
	dashes := ""
	if b.some {
		dashes = ",DASHED"
	}
	var s strings.Builder
	s.WriteString(
		`<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="4" STYLE="ROUNDED` + dashes + `" COLOR="#444444" BGCOLOR="#f6f8fb">`)
	fmt.Fprintf(&s, `<TR><TD BORDER="%s" SIDES="B" COLOR="#c8ccd4"><B>%s</B></TD></TR>`, border, escape(b.name))
	if len(b.rows) > 0 {
		s.WriteString(`<TR><TD ALIGN="LEFT" BALIGN="LEFT"><FONT POINT-SIZE="9">` + linesHTML(b.rows) +
			`</FONT></TD></TR>`)
	}
	s.WriteString(`</TABLE>`)
	if !b.final {
		return s.String()
	}
	return `<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="3" CELLPADDING="0" STYLE="ROUNDED" COLOR="#444444"><TR><TD>` +
		s.String() + `</TD></TR></TABLE>`
}

// rowsHTML is a table of lines with a little air around it.
func rowsHTML(rows []line, border int) string {
	return fmt.Sprintf(
		`<TABLE BORDER="%d" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2"><TR><TD ALIGN="LEFT" BALIGN="LEFT">`,
		border) +
		linesHTML(rows) + `</TD></TR></TABLE>`
}

func linesHTML(rows []line) string {
	var b strings.Builder
	for _, r := range rows {
		for _, p := range r.pieces {
			b.WriteString(coloured(p.text, p.tone))
		}
		b.WriteString(br)
	}
	return b.String()
}

// coloured keeps the spaces that Graphviz would strip from the ends.
func coloured(text string, t tone) string {
	trimmed := strings.TrimLeft(text, " ")
	s := strings.Repeat("&#160;", len(text)-len(trimmed)) + escape(trimmed)
	switch t {
	case title:
		return "<B>" + s + "</B>"
	case guard:
		s = "<I>" + s + "</I>"
	}
	return fmt.Sprintf(`<FONT COLOR="%s">%s</FONT>`, colours[t], s)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// escape makes text safe inside HTML and SVG.
func escape(s string) string { return escaper.Replace(s) }

// quote makes a DOT string.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

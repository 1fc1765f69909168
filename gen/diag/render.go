package diag

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Render chooses how a list is written as text.
type Render struct {
	Excerpt bool // show the line and a caret below it
	Limit   int  // at most so many diagnostics; 0: all
	// More is how to see those beyond Limit: "--all shows them".
	More string
}

// WriteText writes l for people, one diagnostic after the other, with its hint
// and related places. The error is that of w.
func (l List) WriteText(w io.Writer, r Render) error {
	var b strings.Builder
	for i, d := range l {
		if r.Limit > 0 && i == r.Limit {
			fmt.Fprintf(&b, "%d more not shown", len(l)-i)
			if r.More != "" {
				b.WriteString("; " + r.More)
			}
			b.WriteByte('\n')
			break
		}
		b.WriteString(Visible(d.String()))
		b.WriteByte('\n')
		if r.Excerpt && d.Line != "" {
			writeExcerpt(&b, d)
		}
		if d.Hint != "" {
			fmt.Fprintf(&b, "    %s\n", Visible(d.Hint))
		}
		for _, rel := range d.Related {
			fmt.Fprintf(&b, "    %s\n", Visible(fmt.Sprintf("%s: %s", rel.Span, rel.Message)))
		}
	}
	var said []string
	for _, d := range l {
		if d.Then != "" && !slices.Contains(said, d.Then) {
			said = append(said, d.Then)
			fmt.Fprintf(&b, "%s\n", Visible(d.Then))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// excerptWidth bounds how much of a long line is shown.
const excerptWidth = 120

func writeExcerpt(b *strings.Builder, d Diagnostic) {
	line, col := d.Line, d.Span.Start.Col-1
	if col < 0 || col > len(line) {
		return
	}
	end := len(line)
	if d.Span.End.Line == d.Span.Start.Line {
		end = min(d.Span.End.Col-1, len(line))
	}
	from := 0
	if col > excerptWidth/2 && len(line) > excerptWidth {
		from = col - excerptWidth/2
		for from < len(line) && !utf8.RuneStart(line[from]) {
			from++
		}
	}
	to := min(len(line), from+excerptWidth)
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to++
	}
	fmt.Fprintf(b, "    %s\n    ", printable(line[from:to]))
	b.WriteString(strings.Repeat(" ", utf8.RuneCountInString(line[from:col])))
	b.WriteString(strings.Repeat("^", max(1, utf8.RuneCountInString(line[col:max(col, min(end, to))]))))
	b.WriteByte('\n')
}

// printable replaces characters that would command a terminal, or that hide or turn around the
// rest of a line. It replaces one by one, so that the mark below stays in its place.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == ' ' || unicode.IsPrint(r):
			return r
		}
		return utf8.RuneError
	}, line)
}

type jsonPlace struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	EndLine int    `json:"endLine"`
	EndCol  int    `json:"endCol"`
	Message string `json:"message,omitempty"`
}

type jsonDiagnostic struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	jsonPlace
	Hint    string      `json:"hint,omitempty"`
	Related []jsonPlace `json:"related,omitempty"`
}

func place(s Span, message string) jsonPlace {
	return jsonPlace{s.File, s.Start.Line, s.Start.Col, s.End.Line, s.End.Col, message}
}

// WriteJSON writes l as a JSON array; an empty list is []. The error is that of w.
func (l List) WriteJSON(w io.Writer) error {
	out := make([]jsonDiagnostic, 0, len(l))
	for _, d := range l {
		j := jsonDiagnostic{Code: d.Code, Severity: d.Severity.String(),
			jsonPlace: place(d.Span, d.Message), Hint: d.Hint}
		for _, r := range d.Related {
			j.Related = append(j.Related, place(r.Span, r.Message))
		}
		out = append(out, j)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
)

// maxSyntax bounds how many mistakes in the YAML of one file are reported.
const maxSyntax = 10

// reportAll reports why the library stopped, and what else it finds further down. As long as a
// mistake is in one line alone, that line and what belongs to it are taken out and the rest is
// read.
func reportAll(src *ast.Source, err error, c *diag.Collector) {
	text := slices.Clone(src.Text)
	for last := 0; err != nil; {
		rest := ast.NewSource(src.Name, text)
		found := &diag.Collector{}
		line, alone := reportYAML(rest, err, found)
		if last > 0 && (found.List()[0].Span.Start.Line <= last || c.Len() == maxSyntax) {
			return // what comes of the line that was taken out
		}
		c.Join(found)
		if !alone {
			return
		}
		last = takeOut(rest, text, line)
		if saysNothing(text) {
			return
		}
		_, err = load(text)
	}
}

// takeOut blanks a line, the lines that are indented deeper, and closing brackets in line with it.
// It returns the last line that it blanked. The rest keeps its place.
func takeOut(src *ast.Source, text []byte, line int) int {
	depth := indentOf(src.Line(line))
	count := bytes.Count(text, []byte("\n")) + 1
	last := line
	for n := line + 1; n <= count; n++ {
		here := src.Line(n)
		closes := indentOf(here) == depth && strings.Trim(here, " }],") == ""
		if says(here) && indentOf(here) <= depth && !closes {
			break
		}
		last = n
	}
	for i := src.Offset(line, 1); i < len(text) && src.Pos(i).Line <= last; i++ {
		if text[i] != '\n' && text[i] != '\r' {
			text[i] = ' '
		}
	}
	return last
}

// Package picture turns machines and runs into the bytes of files, in each format that there is. It needs no
// other program, so a picture is the same everywhere. It knows nothing of specifications. Start from [Render].
package picture

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-go/parley/cmd/internal/raster"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/run"
)

// Formats of pictures, by the name of the flag and the file's ending.
const (
	DOT     = "dot"
	SVG     = "svg"
	PNG     = "png"
	Mermaid = "mermaid"
)

// Formats in the order in which help texts name them.
var Formats = []string{DOT, SVG, PNG, Mermaid}

// Ending returns the file ending of a format, with its dot.
func Ending(format string) string {
	if format == Mermaid {
		return ".mmd"
	}
	return "." + format
}

// FormatOf returns the format that a file's name asks for, "" if none.
func FormatOf(file string) string {
	end := filepath.Ext(file)
	i := slices.IndexFunc(Formats, func(f string) bool { return Ending(f) == end })
	if i < 0 {
		return ""
	}
	return Formats[i]
}

// pixels is how many pixels a PNG has for each point.
const pixels = 2

// Render draws m.
func Render(m *model.Machine, format string, o graph.Options) ([]byte, error) {
	switch format {
	case DOT:
		return []byte(graph.DOT(m, o)), nil
	case Mermaid:
		return []byte(graph.Mermaid(m, o)), nil
	case SVG:
		return []byte(graph.SVG(m, o)), nil
	case PNG:
		return raster.PNG([]byte(graph.SVG(m, o)), pixels)
	}
	return nil, fmt.Errorf("no format is called %q; there are %s", format, strings.Join(Formats, ", "))
}

// Chart makes the PNG of a sequence chart.
func Chart(c *run.Chart) ([]byte, error) { return raster.PNG([]byte(graph.ChartSVG(c)), pixels) }

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/runtime/trace"
)

// maxRun is the largest file of a run that is read, in bytes.
const maxRun = 256 << 20

// drawRuns draws each file as a sequence chart.
func drawRuns(w *writer, files []string, o options) error {
	format, err := o.runFormat()
	if err != nil {
		return err
	}
	first, last, err := stretch(o.steps)
	if err != nil {
		return err
	}
	var list []drawing
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return usage("%v", err)
		}
		if info.Size() > maxRun {
			return usage("%s has %d bytes; at most %d are read", file, info.Size(), maxRun)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return usage("%v", err)
		}
		c, err := readRun(data, first, last)
		if err != nil {
			return &cli.Error{Code: cli.ExitFindings, Message: file + ": " + err.Error()}
		}
		base := filepath.Base(file)
		list = append(list, drawing{name: strings.TrimSuffix(base, filepath.Ext(base)), ending: runEndings[format], data: drawChart(c, format)})
	}
	return w.write(list)
}

var runEndings = map[string]string{"text": ".txt", "svg": ".svg", "mermaid": ".mmd", "json": ".json"}

func (o options) runFormat() (string, error) {
	format := o.format
	if format == "" {
		format = "text"
		for f, ending := range runEndings {
			if filepath.Ext(o.out) == ending {
				format = f
			}
		}
	}
	if runEndings[format] == "" {
		return "", usage("a chart cannot be drawn as %q; there are text, svg, mermaid, json", format)
	}
	return format, nil
}

// stretch reads the flag --steps.
func stretch(text string) (first, last int, err error) {
	if text == "" {
		return 1, 200, nil
	}
	if n, _ := fmt.Sscanf(text, "%d-%d", &first, &last); n != 2 || first < 1 || last < first {
		return 0, 0, usage("--steps %s: give the first and the last line, as 1-200", text)
	}
	return first, last, nil
}

// readRun reads a chart or a record; a record's first line says that it is one.
func readRun(data []byte, first, last int) (*graph.Chart, error) {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	var head struct{ Parley string }
	if json.Unmarshal(line, &head) == nil && head.Parley == "trace" {
		r, err := trace.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return graph.FromTrace(r, first, last)
	}
	return graph.ParseChart(data)
}

func drawChart(c *graph.Chart, format string) []byte {
	switch format {
	case "svg":
		return []byte(c.SVG())
	case "mermaid":
		return []byte(c.Mermaid())
	case "json":
		data, err := json.MarshalIndent(c, "", "  ")
		if err != nil { // a chart has nothing that JSON lacks
			panic(err)
		}
		return append(data, '\n')
	}
	return []byte(c.Text())
}

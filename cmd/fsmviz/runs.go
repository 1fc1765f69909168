package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/cmd/internal/picture"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/trace"
)

// maxRun is the largest file of a run that is read, in bytes.
const maxRun = 256 << 20

// drawRuns draws each file as a sequence chart.
func drawRuns(w *writer, names []string, o options) error {
	format, err := o.runFormat(w)
	if err != nil {
		return err
	}
	if flag := o.machineFlag(); flag != "" {
		return usage("--%s is for pictures of machines; it means nothing with --seq", flag)
	}
	first, last, err := stretch(o.steps)
	if err != nil {
		return err
	}
	var texts [][]byte
	for _, file := range names {
		data, err := readFile(file)
		if err != nil {
			return err
		}
		texts = append(texts, data)
	}
	if o.merge {
		r, err := mergeRecords(names, texts, first, last)
		if err != nil {
			return err
		}
		data, err := drawRun(r, format)
		if err != nil {
			return usage("%s: %v", strings.Join(names, ", "), err)
		}
		return w.write([]drawing{{name: "merged", ending: runEndings[format], data: data}})
	}
	var list []drawing
	for i, file := range names {
		r, err := readRun(texts[i], first, last)
		if err != nil {
			return &cli.Error{Code: cli.ExitFindings, Message: file + ": " + cli.Describe(err) + beside(file)}
		}
		if err := o.checkSteps(file, texts[i], r); err != nil {
			return err
		}
		data, err := drawRun(r, format)
		if err != nil {
			return usage("%s: %v", file, err)
		}
		base := filepath.Base(file)
		list = append(list, drawing{name: strings.TrimSuffix(base, filepath.Ext(base)),
			ending: runEndings[format], data: data})
	}
	return w.write(list)
}

func readFile(file string) ([]byte, error) {
	data, err := files.Read(file, maxRun)
	if err != nil {
		return nil, usage("%s cannot be read: %s", file, cli.Reason(err))
	}
	if r, ok := hidden(data); ok {
		return nil, &cli.Error{Code: cli.ExitFindings,
			Message: fmt.Sprintf("%s: a text in it has the control character U+%04X, which no run has", file, r)}
	}
	return data, nil
}

// hidden finds a character in the texts of JSON that would command a terminal or break a picture.
func hidden(data []byte) (rune, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		t, err := d.Token()
		if err != nil {
			return 0, false // what is no JSON is refused by its reader
		}
		if s, ok := t.(string); ok {
			if i := strings.IndexFunc(s, diag.Hidden); i >= 0 {
				r, _ := utf8.DecodeRuneInString(s[i:])
				return r, true
			}
		}
	}
}

// mergeRecords makes one run of several records.
func mergeRecords(names []string, texts [][]byte, first, last int) (*run.Run, error) {
	var list []*trace.Reader
	for i, file := range names {
		if !cli.IsRecord(texts[i]) {
			return nil, usage("--merge is for records; %s is none", file)
		}
		r, err := trace.NewReader(bytes.NewReader(texts[i]))
		if err != nil {
			return nil, &cli.Error{Code: cli.ExitFindings, Message: file + ": " + cli.Describe(err)}
		}
		list = append(list, r)
	}
	r, err := run.Merge(list, first, last)
	if err != nil {
		return nil, &cli.Error{Code: cli.ExitFindings, Message: strings.Join(names, ", ") + ": " + cli.Describe(err)}
	}
	return r, nil
}

var runEndings = map[string]string{"text": ".txt", "svg": ".svg", "png": ".png", "mermaid": ".mmd", "json": ".json"}

func (o options) runFormat(w *writer) (string, error) {
	format, err := o.chosenFormat(w)
	if err == nil && format == "png" && w.out == "" {
		return "", errPNG
	}
	return format, err
}

func (o options) chosenFormat(w *writer) (string, error) {
	format := o.format
	if format == "" {
		format = "text"
		if w.folder() {
			format = "svg" // as pictures of machines are
		}
		ending := filepath.Ext(o.out)
		known := o.out == "" || w.folder()
		for f, e := range runEndings {
			if e == ending {
				format, known = f, true
			}
		}
		if !known {
			return "", w.noFormat(" for a chart", ".txt .svg .png .mmd .json")
		}
	}
	if runEndings[format] == "" {
		return "", usage("a chart cannot be drawn as %q; there are text, svg, png, mermaid, json", format)
	}
	return format, nil
}

// machineFlag is a flag that was given and means nothing for runs, "" if there is none.
func (o options) machineFlag() string {
	for name, given := range map[string]bool{
		"role": len(o.roles) > 0, "collapse": o.collapse, "full": o.full, "unfold": o.unfold, "parts": o.parts,
		"no-legend": o.noLegend,
	} {
		if given {
			return name
		}
	}
	return ""
}

// checkSteps says why --steps chooses nothing of a run.
func (o options) checkSteps(file string, data []byte, r *run.Run) error {
	switch {
	case o.steps == "":
		return nil
	case !cli.IsRecord(data):
		return usage("--steps is for records; %s is a whole run, and is drawn as such", file)
	case len(r.Steps) == 0:
		return usage("--steps %s: the last line of %s is %d", o.steps, file,
			bytes.Count(bytes.TrimSpace(data), []byte("\n")))
	}
	return nil
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

// readRun reads a run in JSON, or a record, whose first line says that it is one.
func readRun(data []byte, first, last int) (*run.Run, error) {
	if cli.IsRecord(data) {
		r, err := trace.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return run.Merge([]*trace.Reader{r}, first, last)
	}
	return run.Parse(data)
}

// beside says what to draw instead: a specification as one, the chart of a run of which somebody
// took the text.
func beside(file string) string {
	if ending := filepath.Ext(file); ending == ".yaml" || ending == ".yml" {
		return "; a specification is drawn without --seq: fsmviz " + file
	}
	chart := strings.TrimSuffix(file, ".txt") + ".json"
	if _, err := os.Stat(chart); err != nil || !strings.HasSuffix(file, ".txt") {
		return ""
	}
	return "; this is the run as text; it is drawn from " + chart
}

func drawRun(r *run.Run, format string) ([]byte, error) {
	c := r.Chart()
	switch format {
	case "svg":
		return []byte(graph.ChartSVG(c)), nil
	case "png":
		return picture.Chart(c)
	case "mermaid":
		return []byte(graph.ChartMermaid(c)), nil
	case "json":
		data, err := json.MarshalIndent(r, "", "  ")
		return append(data, '\n'), err
	}
	return []byte(c.Text()), nil
}

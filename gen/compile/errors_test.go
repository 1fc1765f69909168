package compile

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/diag"
)

var update = flag.Bool("update", false, "rewrite expected results")

// annotation is an expected diagnostic: `# ERROR 14 FSM021: regexp` stands for one in
// column 14 of its line, `# ERROR +2:14 …` for one two lines below; WARN for warnings.
type annotation struct {
	line, col int
	code      string
	severity  diag.Severity
	match     *regexp.Regexp
}

var annotationForm = regexp.MustCompile(`# (ERROR|WARN) (?:\+(\d+):)?(\d+) (FSM\d+): (.*?)(?: # (?:ERROR|WARN)|$)`)

func annotations(t *testing.T, text []byte) []annotation {
	var out []annotation
	for i, line := range strings.Split(string(text), "\n") {
		for {
			at := strings.Index(line, "# ERROR ")
			if w := strings.Index(line, "# WARN "); at < 0 || w >= 0 && w < at {
				at = w
			}
			if at < 0 {
				break
			}
			line = line[at:]
			m := annotationForm.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("line %d: cannot read the annotation %s", i+1, line)
			}
			below, _ := strconv.Atoi(m[2])
			col, _ := strconv.Atoi(m[3])
			a := annotation{line: i + 1 + below, col: col, code: m[4], match: regexp.MustCompile(m[5])}
			if m[1] == "WARN" {
				a.severity = diag.Warning
			}
			out = append(out, a)
			line = line[1:]
		}
	}
	return out
}

// TestAnnotated compiles each file and compares what is found with its annotations,
// both ways. With -update the annotations at line ends are written anew.
func TestAnnotated(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) < 8 {
		t.Fatalf("too few files: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, found := Load(file, Options{})
			if *update {
				rewrite(t, file, text, found)
				return
			}
			compare(t, file, annotations(t, text), found)
		})
	}
}

// compare checks the main file, and every other file in which something was found.
func compare(t *testing.T, file string, want []annotation, found diag.List) {
	expected := map[string][]annotation{file: want}
	for _, d := range found {
		name := d.Span.File
		if _, known := expected[name]; known {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		expected[name] = annotations(t, text)
	}
	used := make([]bool, len(found))
	for name, list := range expected {
		for _, a := range list {
			if !take(found, used, name, a) {
				t.Errorf("%s:%d:%d: missing: %s %s", name, a.line, a.col, a.match, a.code)
			}
		}
	}
	for i, d := range found {
		if !used[i] {
			t.Errorf("not expected: %s", d)
		}
	}
}

// take marks the diagnostic that an annotation describes.
func take(found diag.List, used []bool, name string, a annotation) bool {
	for i, d := range found {
		if !used[i] && d.Span.File == name && d.Span.Start == (diag.Pos{Line: a.line, Col: a.col}) &&
			d.Code == a.code && d.Severity == a.severity && a.match.MatchString(d.Message) {
			used[i] = true
			return true
		}
	}
	return false
}

// rewrite puts what was found at the ends of the lines, except where an
// annotation that points downwards says it already.
func rewrite(t *testing.T, file string, text []byte, found diag.List) {
	lines := strings.Split(string(text), "\n")
	below := map[diag.Pos]bool{}
	for _, a := range annotations(t, text) {
		below[diag.Pos{Line: a.line, Col: a.col}] = true
	}
	strip := regexp.MustCompile(` *# (ERROR|WARN) \d.*$`)
	for i := range lines {
		if s := strip.ReplaceAllString(lines[i], ""); s != lines[i] {
			for c := range 500 {
				delete(below, diag.Pos{Line: i + 1, Col: c})
			}
			lines[i] = s
		}
	}
	for _, d := range found {
		if d.Span.File != file || below[d.Span.Start] {
			continue
		}
		lines[d.Span.Start.Line-1] += fmt.Sprintf(" # %s %d %s: %s",
			map[diag.Severity]string{diag.Error: "ERROR", diag.Warning: "WARN"}[d.Severity],
			d.Span.Start.Col, d.Code, regexp.QuoteMeta(d.Message))
	}
	out := []byte(strings.Join(lines, "\n"))
	if !bytes.Equal(out, text) {
		if err := os.WriteFile(file, out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Package coverage shows which lines of a specification its checks used: as a listing with numbers
// beside the lines, and as a page. It reads the specification's files and counts nothing itself;
// what the numbers mean is said at check.Coverage. Start from [Text] and [HTML].
package coverage

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/report"
)

// line is one line of a file with what was counted on it.
type line struct {
	No     int
	Text   string
	Class  string // "", used, partly, never
	Counts []string
	Title  string
}

// lines reads a file and lays the counts beside its lines.
func lines(c *check.Coverage, f *report.CoverFile) ([]line, error) {
	text, err := files.Read(f.File, parse.MaxBytes)
	if err != nil {
		return nil, err
	}
	at := map[int][]*check.Usage{}
	for i := range f.Places {
		at[f.Places[i].Line] = append(at[f.Places[i].Line], &f.Places[i])
	}
	var out []line
	for i, s := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		l := line{No: i + 1, Text: strings.ReplaceAll(strings.TrimSuffix(s, "\r"), "\t", "    "),
			Counts: make([]string, len(c.Checks))}
		l.fill(at[i+1], c)
		out = append(out, l)
	}
	return out, nil
}

// fill sums up what stands on a line.
func (l *line) fill(places []*check.Usage, c *check.Coverage) {
	if len(places) == 0 {
		return
	}
	used := 0
	var title []string
	for _, u := range places {
		if u.Taken+u.Faults > 0 {
			used++
		}
		title = append(title, fmt.Sprintf("%s: %s", strings.Join(u.Names, ", "), words(u, len(c.Cut) > 0)))
	}
	l.Class = "partly"
	switch used {
	case 0:
		l.Class = "never"
	case len(places):
		l.Class = "used"
	}
	l.Title = strings.Join(title, "\n")
	for i := range l.Counts {
		var taken, faults uint64
		for _, u := range places {
			taken, faults = taken+u.Checks[i].Taken, faults+u.Checks[i].Faults
		}
		l.Counts[i] = count(taken, faults, slices.Contains(c.Cut, c.Checks[i]))
	}
}

// count is how often a line was used, with the errors behind it; cut says that a search was cut
// off, which may yet use it.
func count(taken, faults uint64, cut bool) string {
	switch {
	case faults > 0 && taken > 0:
		return diag.Thousands(taken) + " ✗" + diag.Thousands(faults)
	case faults > 0:
		return "✗" + diag.Thousands(faults)
	case taken == 0 && cut:
		return "not yet"
	case taken == 0:
		return "never"
	}
	return diag.Thousands(taken)
}

func words(u *check.Usage, cut bool) string {
	text := count(u.Taken, u.Faults, cut)
	if u.Kind == "defer" && u.Taken > 0 {
		return "deferred at " + text + " values of the machine"
	}
	if u.Taken > 0 {
		return text + " steps"
	}
	return text
}

// summary says in one line what was used.
func summary(r *check.SuiteReport) string {
	c := r.Coverage
	text := fmt.Sprintf("%s: %d of %d places used, %.1f %%", r.Spec, c.Used, c.Total, c.Percent())
	if len(c.Cut) > 0 {
		text += " (until the search of " + strings.Join(c.Cut, ", ") + " was cut off)"
	}
	return text
}

// head is what is said of what no check used.
func head(c *check.Coverage) string {
	if len(c.Cut) > 0 {
		return "not used before the search was cut off"
	}
	return "never used"
}

// unused lists what no check used.
func unused(c *check.Coverage) []string {
	var out []string
	for _, f := range c.Files {
		for i := range f.Places {
			if u := &f.Places[i]; u.Taken+u.Faults == 0 {
				out = append(out, fmt.Sprintf("%s (%s:%d)", strings.Join(u.Names, ", "), f.File, u.Line))
			}
		}
	}
	return out
}

const legend = `the number of steps that used the line: each step of each configuration counts once. Where a message is deferred, which is no step: the
number of values of the machine at which it was. ~ some of what stands on the line was not used, ✗ nothing of it was; ✗3 three steps were errors there`

// Text writes the files of a specification with a column of numbers for each check.
func Text(w io.Writer, r *check.SuiteReport) error {
	c := r.Coverage
	var b strings.Builder
	b.WriteString("\n" + summary(r) + "\n")
	for _, s := range unused(c) {
		b.WriteString("  " + head(c) + ": " + s + "\n")
	}
	b.WriteString("\n  " + strings.ReplaceAll(legend, "\n", "\n  ") + "\n")
	for i := range c.Files {
		if err := file(&b, c, &c.Files[i]); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func file(b *strings.Builder, c *check.Coverage, f *report.CoverFile) error {
	list, err := lines(c, f)
	if err != nil {
		return err
	}
	width := make([]int, len(c.Checks))
	for i, name := range c.Checks {
		width[i] = utf8.RuneCountInString(name)
		for _, l := range list {
			width[i] = max(width[i], utf8.RuneCountInString(l.Counts[i]))
		}
	}
	row := func(mark string, cells []string) {
		b.WriteString(mark)
		for i, s := range cells {
			b.WriteString(" " + strings.Repeat(" ", width[i]-utf8.RuneCountInString(s)) + s)
		}
	}
	b.WriteString("\n" + f.File + "\n")
	row(" ", c.Checks)
	b.WriteString(" │\n")
	digits := len(fmt.Sprint(len(list)))
	for _, l := range list {
		mark := map[string]string{"never": "✗", "partly": "~"}[l.Class]
		if mark == "" {
			mark = " "
		}
		row(mark, l.Counts)
		b.WriteString(strings.TrimRight(fmt.Sprintf(" │ %*d  %s", digits, l.No, l.Text), " ") + "\n")
	}
	return nil
}

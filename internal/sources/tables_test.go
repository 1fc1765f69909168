package sources

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/model"
)

// mend is what to do about a difference.
const mend = "mend the page, or the specification"

var layoutColumns = []string{"id", "bytes", "body", "fields"}

var (
	capitals = regexp.MustCompile(`\b[A-Z][A-Z_0-9]+\b`)
	inTicks  = regexp.MustCompile("`([^`]+)`")
	amount   = regexp.MustCompile(`^(-?[0-9][0-9,]*)(?: (ms|s|min|h|bytes|characters|ticks))?$`)
	anyFile  = regexp.MustCompile(`[\w-]+\.yaml`)
	span     = regexp.MustCompile(`^([0-9,]+)(?: (?:to ([0-9,]+)|(and more)))?$`)
)

// number reads a number as pages write it: 46,518, 0x0a.
func number(t *testing.T, at, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 0, 64)
	if err != nil {
		t.Errorf("%s: %q is no number", at, text)
	}
	return n
}

// source returns the file that a cell is about, by its head or its words; spec.yaml if they name none.
func source(t *testing.T, f *folder, r row, cell string) *index {
	t.Helper()
	name := "spec.yaml"
	for _, text := range append([]string{cell}, r.head...) {
		if m := anyFile.FindString(text); m != "" {
			name = m
			break
		}
	}
	x := f.file(t, name)
	if x == nil {
		t.Errorf("%s: there is no %s/%s", r.at, f.dir, name)
	}
	return x
}

// TestLayouts: the tables with a column `message` have the number, the length and the fields of each message, as far
// as they have columns `id`, `bytes` (of a frame), `body` (without the header) and `fields`.
func TestLayouts(t *testing.T) {
	looked := 0
	for _, f := range all(t) {
		for _, r := range f.rows() {
			if slices.ContainsFunc(layoutColumns, func(c string) bool { return r.has("message", c) }) {
				looked += layouts(t, f, r)
			}
		}
	}
	if looked < 100 {
		t.Errorf("only %d messages were compared", looked)
	}
}

func layouts(t *testing.T, f *folder, r row) (looked int) {
	t.Helper()
	cell := r.cell("message")
	x := source(t, f, r, cell)
	if strings.Contains(cell, "`") || x == nil {
		return 0 // of another specification: TestNames
	}
	for _, name := range capitals.FindAllString(cell, -1) {
		m := x.messages[name]
		if m == nil {
			continue // TestNames
		}
		looked++
		if id := strings.Trim(r.cell("id"), "`"); id != "" {
			if n := number(t, r.at, id); n != m.id {
				t.Errorf("%s: %s has the number %d, not %d: "+mend, r.at, name, m.id, n)
			}
		}
		for column, top := range map[string]int{"bytes": 0, "body": m.top} {
			if text := r.cell(column); text != "" {
				length(t, r.at, name, text, m.least-top, m.most-top, m.empty-top)
			}
		}
		if r.has("fields") {
			if got := names(r.cell("fields")); !slices.Equal(got, m.fields) {
				t.Errorf("%s: %s has the fields %v, not %v: "+mend, r.at, name, m.fields, got)
			}
		}
	}
	return looked
}

// length compares a length: `12`, `4 to 16`, `4 and more`.
func length(t *testing.T, at, name, text string, least, most, empty int) {
	t.Helper()
	m := span.FindStringSubmatch(text)
	if m == nil {
		t.Errorf("%s: %q is no length: write `12`, `4 to 16` or `4 and more`", at, text)
		return
	}
	low := int(number(t, at, m[1]))
	high := low
	if m[2] != "" {
		high = int(number(t, at, m[2]))
	}
	if m[3] != "" && most > low {
		high = most
	}
	if (low != least || high != most) && (low != high || low != empty) {
		t.Errorf("%s: %s has %d to %d bytes, not %s: "+mend, at, name, least, most, text)
	}
}

// names returns what stands in backticks.
func names(cell string) (list []string) {
	for _, m := range inTicks.FindAllStringSubmatch(cell, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestLines: the tables with the columns `line` and `message` have the lines of the specifications, each of them once.
func TestLines(t *testing.T) {
	looked := 0
	for _, f := range all(t) {
		seen := map[string]bool{}
		for _, r := range f.rows() {
			if !r.has("line", "message") {
				continue
			}
			name := capitals.FindString(r.cell("message"))
			m := source(t, f, r, r.cell("message")).messages[name]
			if m == nil {
				t.Errorf("%s: %s is no message", r.at, name)
				continue
			}
			seen[name] = true
			looked++
			said := names(r.cell("line"))
			if len(said) != 1 && m.line != "*" || len(said) == 1 && template(said[0]) != m.line {
				t.Errorf("%s: the line of %s is `%s`, where * stands for what is filled in: "+mend, r.at, name, m.line)
			}
		}
		for name, m := range f.file(t, "spec.yaml").messages {
			if m.line != "" && len(seen) > 0 && !seen[name] {
				t.Errorf("%s/SOURCES.md: the table of lines lacks %s, `%s`", f.dir, name, m.line)
			}
		}
	}
	if looked < 30 {
		t.Errorf("only %d lines were compared", looked)
	}
}

// TestReactions: a table whose columns are `state` and events says what each state does with each of them: `–` and
// `refused` nothing, else what is sent, and `stays` or `→ where`, several with `or` between them. What it says of
// another file than the first stands behind a semicolon: `refused; coded.yaml → waiting`. The column `receives` has
// exactly the messages that a state takes, in the file that its cell or the head names.
func TestReactions(t *testing.T) {
	looked, taken := 0, 0
	for _, f := range all(t) {
		for _, r := range f.rows() {
			if len(r.head) == 0 || !strings.HasPrefix(r.head[0], "state") {
				continue
			}
			state := names(r.cells[0])
			if len(state) != 1 {
				continue
			}
			if r.has("receives") {
				taken++
				receives(t, r, source(t, f, r, r.cells[0]), state[0])
			}
			for i, head := range r.head[1:] {
				event := names(head)
				if len(event) == 1 && i+1 < len(r.cells) {
					looked += reactions(t, f, r, state[0], event[0], r.cells[i+1])
				}
			}
		}
	}
	if looked < 200 || taken < 15 {
		t.Errorf("only %d cells of tables of transitions and %d lists of messages were compared", looked, taken)
	}
}

func receives(t *testing.T, r row, x *index, state string) {
	t.Helper()
	want := capitals.FindAllString(r.cell("receives"), -1)
	slices.Sort(want)
	var got []string
	for event, reaction := range x.states[state] {
		if reaction.mode == model.Handle && x.messages[event] != nil {
			got = append(got, event)
		}
	}
	slices.Sort(got)
	if x.states[state] == nil {
		t.Errorf("%s: there is no state %s", r.at, state)
	} else if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %s takes %v, not %v: "+mend, r.at, state, got, want)
	}
}

var arrow = regexp.MustCompile(`→ \w+|stays`)

// reactions compares one cell in all files that the table is about.
func reactions(t *testing.T, f *folder, r row, state, event, cell string) (looked int) {
	t.Helper()
	cells := strings.Split(strings.ReplaceAll(cell, "*", ""), ";")
	for _, file := range []string{"documented.yaml", "spec.yaml", "coded.yaml"} {
		x := f.file(t, file)
		other := strings.Contains(r.head[0], ".yaml") && !strings.Contains(r.head[0], file)
		if x == nil || x.states[state] == nil || other {
			continue
		}
		text := strings.TrimSpace(cells[0])
		for _, other := range cells[1:] {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(other), file); ok {
				text = strings.TrimSpace(rest)
			}
		}
		looked++
		want := map[string]bool{}
		for _, m := range slices.Concat(arrow.FindAllString(text, -1), capitals.FindAllString(text, -1)) {
			want[m] = true
		}
		if len(want) == 0 && text != "–" && text != "refused" {
			t.Errorf("%s: %q says nothing about %s in %s: write `–`, `refused`, `stays` or `→ STATE`",
				r.at, text, event, state)
			continue
		}
		got := map[string]bool{}
		if re := x.states[state][event]; re != nil {
			maps.Copy(got, re.to)
			maps.Copy(got, re.sent)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: in %s/%s %s in %s is %q, not %q ([] is refused): "+mend,
				r.at, f.dir, file, event, state, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
	return looked
}

// TestValues: a table with the columns `value` and `name` has the constants, the lengths of timers, the greatest
// numbers, lengths of texts and of lists of types, and the codes of enumerations, `Ship.orz`.
func TestValues(t *testing.T) {
	looked := 0
	for _, f := range all(t) {
		for _, r := range f.rows() {
			if !r.has("value", "name") {
				continue
			}
			m := amount.FindStringSubmatch(r.cell("value"))
			if m == nil {
				t.Errorf("%s: %q is no value: write a number, with ms, s, min, h, bytes or characters behind it",
					r.at, r.cell("value"))
				continue
			}
			want := number(t, r.at, m[1])
			if ms := map[string]int64{"s": 1000, "min": 60_000, "h": 3_600_000}[m[2]]; ms > 0 {
				want *= ms
			}
			x := source(t, f, r, r.cell("name"))
			for _, name := range names(r.cell("name")) {
				looked++
				if got, ok := x.values[name]; x != nil && (!ok || got != want) {
					t.Errorf("%s: `%s` is %d, not %d (times are milliseconds): "+mend,
						r.at, name, got, want)
				}
			}
		}
	}
	if looked < 60 {
		t.Errorf("only %d values were compared", looked)
	}
}

// TestMentioned: a page speaks of each message with a layout of its specifications, and a table of messages has all of
// spec.yaml; those of extended and imported specifications are left out.
func TestMentioned(t *testing.T) {
	for _, f := range all(t) {
		words := map[string]bool{}
		for _, word := range capitals.FindAllString(strings.Join(f.page, "\n"), -1) {
			words[word] = true
		}
		listed := map[string]bool{}
		for _, r := range f.rows() {
			if r.has("message") && (r.has("id") || r.has("bytes") || r.has("body")) {
				listed[capitals.FindString(r.cell("message"))] = true
			}
		}
		for name, m := range f.file(t, "spec.yaml").messages {
			if len(listed) > 0 && !listed[name] && m.own && m.most > 0 && m.line == "" {
				t.Errorf("%s/SOURCES.md: the table of messages lacks %s", f.dir, name)
			}
		}
		for _, file := range f.order[:min(3, len(f.order))] {
			for name, m := range f.file(t, file).messages {
				if !words[name] && m.own && m.most > 0 {
					t.Errorf("%s/SOURCES.md says nothing of the message %s of %s: write a row for it",
						f.dir, name, file)
				}
			}
		}
	}
}

package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Severity tells errors from warnings.
type Severity uint8

const (
	// Error means that the specification has no meaning until this is mended.
	Error Severity = iota
	// Warning means that the specification has a meaning, but hardly the intended one.
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one finding of the compiler about a specification.
type Diagnostic struct {
	Code     string // FSM012, see [Lookup]
	Severity Severity
	Span     Span
	Message  string
	// Hint is the remedy or a near name, as a sentence; may be empty.
	Hint    string
	Related []Related
	// Then is what is looked at only once this is mended, as a sentence; may be empty. A list is rendered with those
	// of its errors behind it, each once.
	Then string
	// Line is the text of the first line of Span, without its end; the renderer
	// shows it as the excerpt.
	Line string
}

// Related is another place that a diagnostic mentions.
type Related struct {
	Span    Span
	Message string
}

// String renders d on one line: path:line:col: message [FSM012].
func (d Diagnostic) String() string {
	kind := ""
	if d.Severity == Warning {
		kind = "warning: "
	}
	return fmt.Sprintf("%s: %s%s [%s]", d.Span, kind, d.Message, d.Code)
}

// List holds the diagnostics of a run of the compiler. The zero value is an empty list.
type List []Diagnostic

// HasErrors reports whether l has a diagnostic that is not a warning.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Errors returns the diagnostics that are not warnings.
func (l List) Errors() List {
	var out List
	for _, d := range l {
		if d.Severity == Error {
			out = append(out, d)
		}
	}
	return out
}

// Error renders the list one per line, so that a List can serve as an error.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns l as an error if it has errors, else nil.
func (l List) Err() error {
	if l.HasErrors() {
		return l.Errors()
	}
	return nil
}

// Sort orders l by file, place, code and message, and drops repetitions, so that equal
// inputs give equal lists.
func (l *List) Sort() {
	slices.SortStableFunc(*l, func(a, b Diagnostic) int {
		for _, c := range []int{
			strings.Compare(a.Span.File, b.Span.File),
			a.Span.Start.compare(b.Span.Start),
			strings.Compare(a.Code, b.Code),
			strings.Compare(a.Message, b.Message),
		} {
			if c != 0 {
				return c
			}
		}
		return 0
	})
	*l = slices.CompactFunc(*l, func(a, b Diagnostic) bool {
		return a.Span == b.Span && a.Code == b.Code && a.Message == b.Message
	})
}

func (p Pos) compare(q Pos) int {
	if p.Line != q.Line {
		return p.Line - q.Line
	}
	return p.Col - q.Col
}

// Rejected is the error of who was asked to work on a specification that has errors: they are in the list.
type Rejected struct{ List List }

func (e *Rejected) Error() string { return "the specification has errors" }

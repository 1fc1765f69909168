// Package symbols holds where each name of a specification is declared and used, for editors.
// The resolver fills a [Table] along the way; the table knows neither scopes nor types, only
// places. Start from [Table].
package symbols

import (
	"cmp"
	"slices"

	"github.com/parley-go/parley/gen/diag"
)

// Kind is the kind of a declared name.
type Kind uint8

const (
	Const Kind = iota
	Type
	EnumValue
	Message
	Field
	Role
	Param
	Var
	Timer
	Command
	Report
	Part
	State
	Import
	Check
	Claim
	Instance
	Local // of a loop
	Routine
	Channel
)

// String returns the word used in messages.
func (k Kind) String() string {
	return [...]string{"constant", "type", "enumeration value", "message", "field", "role",
		"parameter", "variable", "timer",
		"command", "report", "part", "state", "import", "check", "claim", "instance",
		"loop variable", "routine", "channel"}[k]
}

// Symbol is one declared name.
type Symbol struct {
	Kind Kind
	Name string
	// Owner is what it belongs to: the role of a state, the message of a field; "" at the top.
	Owner string
	Doc   string
	// Text is what stands behind the name, on one line and cut where it is long.
	Text string
	At   diag.Span // the name
	Body diag.Span // name and all that belongs to it
}

// Path is a place that names a file.
type Path struct {
	At   diag.Span
	File string
}

// Table knows where names are declared and used. All methods may be called on nil, which keeps
// nothing.
type Table struct {
	// Files are all files read, main file first, also those that are wrong.
	Files []string
	// Paths are the places that name files.
	Paths []Path

	symbols map[diag.Span]*Symbol
	order   []*Symbol
	uses    map[diag.Span][]diag.Span // what is used at a place
	same    map[diag.Span]diag.Span   // a key of an extending file → the key below it
}

// New returns an empty table.
func New() *Table {
	return &Table{symbols: map[diag.Span]*Symbol{}, uses: map[diag.Span][]diag.Span{},
		same: map[diag.Span]diag.Span{}}
}

// Declare enters a name, the first time its place is declared.
func (t *Table) Declare(s Symbol) {
	if t == nil || s.Name == "" || t.symbols[s.At] != nil {
		return
	}
	t.symbols[s.At] = &s
	t.order = append(t.order, &s)
}

// Use notes that the name at a place means the one declared at decl.
func (t *Table) Use(at, decl diag.Span) {
	if t == nil || at == decl || at.IsZero() || decl.IsZero() || slices.Contains(t.uses[at], decl) {
		return
	}
	t.uses[at] = append(t.uses[at], decl)
}

// Same notes that a key of an extending file replaces, or adds to, a key of the extended one, or that
// a check removes a key of the one that it is like. If the key below only uses a name, so does this one.
func (t *Table) Same(over, base diag.Span) {
	if t != nil && over != base {
		t.same[over] = base
	}
}

// Link notes that a place names a file.
func (t *Table) Link(at diag.Span, file string) {
	if t != nil {
		t.Paths = append(t.Paths, Path{at, file})
	}
}

// Prune drops uses whose text is not the name: what stands for something unsaid, such as a value
// that a role has by itself. text returns what is written at a place.
func (t *Table) Prune(text func(diag.Span) string) {
	if t == nil {
		return
	}
	for over, base := range t.same {
		for _, d := range t.uses[base] {
			t.Use(over, d)
		}
	}
	for at, decls := range t.uses {
		written := text(at)
		kept := slices.DeleteFunc(decls, func(d diag.Span) bool {
			return t.symbols[d] != nil && t.symbols[d].Name != written
		})
		if t.uses[at] = kept; len(kept) == 0 {
			delete(t.uses, at)
		}
	}
}

// Root returns the first declaration of the name declared at a place: what an extending file
// declares again was declared in the extended one.
func (t *Table) Root(decl diag.Span) diag.Span {
	for range len(t.same) + 1 {
		base, ok := t.same[decl]
		if !ok {
			break
		}
		decl = base
	}
	return decl
}

// Symbol returns what is declared at a place, or nil.
func (t *Table) Symbol(decl diag.Span) *Symbol {
	if t == nil {
		return nil
	}
	return t.symbols[decl]
}

// Symbols returns all declared names, in the order declared.
func (t *Table) Symbols() []*Symbol {
	if t == nil {
		return nil
	}
	return t.order
}

// At returns the names declared or used at a position of a file, and the place they take. The
// narrowest place wins; a name in braces may mean both a field and a value.
func (t *Table) At(file string, p diag.Pos) (decls []diag.Span, at diag.Span) {
	if t == nil {
		return nil, diag.Span{}
	}
	better := func(s diag.Span) bool {
		return s.File == file && covers(s, p) && (at.IsZero() || narrower(s, at))
	}
	for s, d := range t.uses {
		if better(s) {
			at, decls = s, d
		}
	}
	for s, base := range t.same {
		if better(s) && t.symbols[t.Root(base)] != nil {
			at, decls = s, []diag.Span{base}
		}
	}
	for s := range t.symbols {
		if better(s) {
			at, decls = s, []diag.Span{s}
		}
	}
	return decls, at
}

func covers(s diag.Span, p diag.Pos) bool {
	return s.Start.Line == p.Line && s.End.Line == p.Line && s.Start.Col <= p.Col && p.Col <= s.End.Col
}

func narrower(a, b diag.Span) bool {
	return a.End.Col-a.Start.Col < b.End.Col-b.Start.Col
}

// Occurrence is one place of a name.
type Occurrence struct {
	At diag.Span
	// Declares: the name is declared here, or declared again.
	Declares bool
	// Short: in braces the name stands for a field and its value. Field says that the field is
	// the one asked for, Value that the value is.
	Short, Field, Value bool
}

// Occurrences returns all places of the name declared at decl, sorted, wherever it is declared again.
func (t *Table) Occurrences(decl diag.Span) []Occurrence {
	root := t.Root(decl)
	var out []Occurrence
	add := func(at diag.Span) { out = append(out, Occurrence{At: at, Declares: true}) }
	if t.symbols[root] != nil {
		add(root)
	}
	for over := range t.same {
		if t.Root(over) == root {
			add(over)
		}
	}
	for at, ds := range t.uses {
		i := slices.IndexFunc(ds, func(d diag.Span) bool { return t.Root(d) == root })
		if i < 0 {
			continue
		}
		o := Occurrence{At: at, Short: len(ds) == 2}
		if o.Short {
			o.Field, o.Value = t.Root(ds[0]) == root, t.Root(ds[1]) == root
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b Occurrence) int { return Compare(a.At, b.At) })
	return slices.CompactFunc(out, func(a, b Occurrence) bool { return a.At == b.At })
}

// Compare orders places by file, line and column.
func Compare(a, b diag.Span) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Start.Line, b.Start.Line),
		cmp.Compare(a.Start.Col, b.Start.Col),
		cmp.Compare(a.End.Line, b.End.Line), cmp.Compare(a.End.Col, b.End.Col))
}

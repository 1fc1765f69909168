package lsp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/gen/symbols"
)

// renaming is one change of a name in all files that mention it.
type renaming struct {
	s        *server
	old, new string
	root     diag.Span
	tables   map[string]*symbols.Table // by the file that was compiled
	places   []symbols.Occurrence      // in all files, sorted
	sources  map[string]*ast.Source
	texts    map[string]string // after the change
	after    []diag.Span       // where the name stands then
	colon    string            // between a field and its value
}

// rename changes a name everywhere, or reports what that would break. It changes the texts in
// memory and compiles them: every place must mean the same as before.
func (s *server) rename(d *document, p place) (any, error) {
	t, sym, err := s.one(d, p.Position)
	if err != nil {
		return nil, err
	}
	if complaint := complain(sym.Kind, p.NewName); complaint != "" {
		return nil, &rpcError{requestFailed, fmt.Sprintf("%q %s", p.NewName, complaint)}
	}
	root := t.a.names.Root(sym.At)
	r := &renaming{s: s, old: sym.Name, new: p.NewName, root: root,
		tables: s.dependents(d, root.File), sources: map[string]*ast.Source{}}
	r.tables[d.name] = t.a.names
	r.gather()
	if r.new == r.old {
		return workspaceEdit{map[string][]textEdit{}}, nil
	}
	// In a text without quotes a colon with a blank would end a key.
	for _, r.colon = range []string{": ", ":"} {
		r.apply()
		if err = r.verify(); err == nil {
			return r.edit(), nil
		}
	}
	return nil, err
}

func complain(k symbols.Kind, name string) string {
	switch k {
	case symbols.Check, symbols.Claim:
		return parse.DashedNameComplaint(name)
	case symbols.Type:
		return parse.TypeNameComplaint(name)
	}
	return parse.NameComplaint(name)
}

// gather collects the places of the name in all tables.
func (r *renaming) gather() {
	for _, file := range slices.Sorted(maps.Keys(r.tables)) {
		r.places = append(r.places, r.tables[file].Occurrences(r.root)...)
	}
	slices.SortFunc(r.places, func(a, b symbols.Occurrence) int { return symbols.Compare(a.At, b.At) })
	r.places = slices.CompactFunc(r.places, func(a, b symbols.Occurrence) bool { return a.At == b.At })
	for _, o := range r.places {
		if r.sources[o.At.File] == nil {
			r.sources[o.At.File] = r.s.source(o.At.File)
		}
	}
}

// replacement returns what a place becomes, and where in it the new name begins.
func (r *renaming) replacement(o symbols.Occurrence) (text string, at int) {
	switch {
	case o.Short && o.Field && !o.Value:
		return r.new + r.colon + r.old, 0
	case o.Short && o.Value && !o.Field:
		return r.old + r.colon + r.new, len(r.old + r.colon)
	}
	return r.new, 0
}

// apply changes the texts in memory and notes where the new name stands.
func (r *renaming) apply() {
	r.texts, r.after = map[string]string{}, nil
	for file, src := range r.sources {
		var b strings.Builder
		from, line, moved := 0, 0, 0
		for _, o := range inFile(r.places, file) {
			start := src.Offset(o.At.Start.Line, 1) + o.At.Start.Col - 1
			end := src.Offset(o.At.End.Line, 1) + o.At.End.Col - 1
			if o.At.Start.Line != line {
				line, moved = o.At.Start.Line, 0
			}
			text, at := r.replacement(o)
			b.Write(src.Text[from:start])
			b.WriteString(text)
			from = end
			r.after = append(r.after, shift(o.At, o.At.Start.Col+moved+at, len(r.new)))
			moved += len(text) - (end - start)
		}
		b.Write(src.Text[from:])
		r.texts[file] = b.String()
	}
	slices.SortFunc(r.after, symbols.Compare)
}

// verify compiles the changed texts: no new errors, and the new name has exactly the changed places.
func (r *renaming) verify() error {
	decl := diag.Span{}
	for i, o := range r.places {
		if o.At == r.root {
			decl = r.after[i]
		}
	}
	var found []diag.Span
	for _, file := range slices.Sorted(maps.Keys(r.tables)) {
		before, a := r.s.load(file, nil), r.s.load(file, r.texts)
		if err := newError(before.found, a.found); err != nil {
			return &rpcError{requestFailed, fmt.Sprintf("%s cannot be renamed to %s: %s", r.old,
				r.new, err.Error())}
		}
		for _, o := range a.names.Occurrences(decl) {
			found = append(found, o.At)
		}
	}
	slices.SortFunc(found, symbols.Compare)
	if !slices.Equal(slices.Compact(found), slices.Compact(r.after)) {
		return &rpcError{requestFailed,
			fmt.Sprintf("%s cannot be renamed to %s: some places would come to mean something else", r.old, r.new)}
	}
	return nil
}

// newError returns an error that was not there before.
func newError(before, after diag.List) error {
	had := map[string]int{}
	for _, d := range before.Errors() {
		had[d.Code]++
	}
	for _, d := range after.Errors() {
		if had[d.Code]--; had[d.Code] < 0 {
			return &rpcError{Message: d.Message}
		}
	}
	return nil
}

func (r *renaming) edit() workspaceEdit {
	out := workspaceEdit{map[string][]textEdit{}}
	for _, o := range r.places {
		text, _ := r.replacement(o)
		uri := r.s.uriOf(o.At.File)
		out.Changes[uri] = append(out.Changes[uri], textEdit{rangeOf(r.sources[o.At.File], o.At), text})
	}
	return out
}

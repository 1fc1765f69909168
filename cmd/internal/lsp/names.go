package lsp

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-go/parley/cmd/internal/lsp/source"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/symbols"
)

func (s *server) definition(d *document, p place) (any, error) {
	t := s.find(d, p.Position)
	out := []location{}
	pos := d.src.Pos(d.offset(p.Position))
	for _, link := range t.a.names.Paths {
		at, ok := t.here(d.name, link.At)
		if ok && at.File == d.name && at.Start.Line == pos.Line && at.Start.Col <= pos.Col && pos.Col <= at.End.Col {
			return append(out, location{URI: s.uriOf(link.File)}), nil
		}
	}
	for _, decl := range t.decls {
		if at, ok := t.here(d.name, decl); ok {
			out = append(out, s.location(at))
		}
	}
	return out, nil
}

func (s *server) references(d *document, p place) (any, error) {
	t := s.find(d, p.Position)
	out := []location{}
	var places []symbols.Occurrence
	for _, decl := range t.decls {
		root := t.a.names.Root(decl)
		places = append(places, t.a.names.Occurrences(root)...)
		for _, names := range s.dependents(d, root.File) {
			places = append(places, names.Occurrences(root)...)
		}
	}
	slices.SortFunc(places, func(a, b symbols.Occurrence) int { return symbols.Compare(a.At, b.At) })
	places = slices.CompactFunc(places, func(a, b symbols.Occurrence) bool { return a.At == b.At })
	for _, o := range places {
		if at, ok := t.here(d.name, o.At); ok && (!o.Declares || p.Context.IncludeDeclaration) {
			out = append(out, s.location(at))
		}
	}
	return out, nil
}

// Limits of the search for files that mention a name of another.
const (
	maxCandidates = 400
	maxVisited    = 20000
)

// dependents returns the names of all other documents and files that extend or import a file:
// open ones, those beside it, and those in the workspace.
func (s *server) dependents(d *document, file string) map[string]*symbols.Table {
	fsys := overlay{docs: s.docs}
	out := map[string]*symbols.Table{}
	consider := func(name string) {
		if name == d.name || out[name] != nil {
			return
		}
		if doc := s.docs[name]; doc != nil {
			if a := s.compile(doc); a.known() && slices.Contains(a.names.Files, file) {
				out[name] = a.names
			}
			return
		}
		text := source.Read(fsys, name)
		if !strings.Contains(text, "extends") && !strings.Contains(text, "import") && name != file {
			return
		}
		if a := s.load(name, nil); a.known() && slices.Contains(a.names.Files, file) {
			out[name] = a.names
		}
	}
	for name := range s.docs {
		consider(name)
	}
	for _, name := range s.candidates(d.name, file) {
		consider(name)
	}
	return out
}

// candidates lists specifications that may depend on a file.
func (s *server) candidates(files ...string) []string {
	var out []string
	add := func(name string) {
		if strings.HasSuffix(name, ".yaml") && len(out) < maxCandidates && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, f := range files {
		beside, _ := filepath.Glob(filepath.Join(escapeGlob(filepath.FromSlash(path.Dir(f))), "*.yaml"))
		for _, b := range beside {
			add(filepath.ToSlash(b))
		}
	}
	visited := 0
	for _, folder := range s.folders {
		filepath.WalkDir(filepath.FromSlash(folder), func(name string, e fs.DirEntry, err error) error {
			if visited++; visited > maxVisited || len(out) == maxCandidates {
				return filepath.SkipAll
			}
			if err == nil && e.IsDir() && name != folder &&
				(strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" ||
					e.Name() == "testdata") {
				return filepath.SkipDir
			}
			if err == nil && e.Type().IsRegular() {
				add(filepath.ToSlash(name))
			}
			return nil
		})
	}
	return out
}

func escapeGlob(dir string) string {
	return strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`).Replace(dir)
}

// one returns the only name at a position that can be renamed, or why there is none.
func (s *server) one(d *document, p position) (t target, sym *symbols.Symbol, err error) {
	t = s.find(d, p)
	switch {
	case !t.a.known() || t.moved != nil:
		return t, nil, &rpcError{requestFailed, "the text cannot be understood as it is; mend what is wrong first"}
	case len(t.decls) == 0:
		return t, nil, &rpcError{requestFailed, "there is no name here that the specification declares"}
	}
	// In braces a name may stand for a field and its value; the value is meant.
	decl := t.decls[len(t.decls)-1]
	if sym = t.a.names.Symbol(t.a.names.Root(decl)); sym == nil {
		if sym = t.a.names.Symbol(decl); sym == nil {
			return t, nil, &rpcError{requestFailed, "this name is not declared where it could be changed"}
		}
	}
	return t, sym, nil
}

func (s *server) prepareRename(d *document, p place) (any, error) {
	t, _, err := s.one(d, p.Position)
	if err != nil {
		return nil, err
	}
	return rangeOf(d.src, t.at), nil
}

// inFile are the places of a name in one file.
func inFile(all []symbols.Occurrence, file string) []symbols.Occurrence {
	var out []symbols.Occurrence
	for _, o := range all {
		if o.At.File == file {
			out = append(out, o)
		}
	}
	return out
}

// shift is a place in the same line as another one.
func shift(at diag.Span, col int, length int) diag.Span {
	at.Start.Col = col
	at.End = diag.Pos{Line: at.Start.Line, Col: col + length}
	return at
}

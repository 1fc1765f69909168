package lsp

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-go/parley/cmd/internal/lsp/source"
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/symbols"
)

// analysis holds what the compiler found in one text of a document.
type analysis struct {
	src      *ast.Source
	found    diag.List
	names    *symbols.Table
	protocol *model.Protocol // nil if there are errors
	missing  bool            // a file could not be read; it may appear
}

// known reports whether the names could be collected, for which the files must be YAML with all
// keys in place.
func (a *analysis) known() bool { return a != nil && len(a.names.Symbols()) > 0 }

// compile looks at a document again if something changed.
func (s *server) compile(d *document) *analysis {
	if !d.stale && d.now != nil {
		return d.now
	}
	d.stale = false
	d.now = s.load(d.name, nil)
	d.now.src = d.src
	if d.now.known() {
		protocol := d.now.protocol
		if protocol == nil && d.good != nil {
			protocol = d.good.protocol // better the last one than none
		}
		d.good = &analysis{d.src, d.now.found, d.now.names, protocol, false}
	}
	return d.now
}

// load compiles a file. The texts in other lie on top of the documents.
func (s *server) load(name string, other map[string]string) *analysis {
	a := &analysis{names: symbols.New()}
	a.protocol, a.found = compile.Load(name, compile.Options{FS: overlay{s.docs, other},
		Symbols: a.names, More: s.o.More})
	a.missing = slices.ContainsFunc(a.found, func(x diag.Diagnostic) bool { return x.Code == "FSM001" })
	return a
}

// publish compiles what changed and tells the client what was found.
func (s *server) publish() {
	names := make([]string, 0, len(s.docs))
	for name := range s.docs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		d := s.docs[name]
		if !d.stale {
			continue
		}
		p := publishParams{URI: d.uri, Version: &d.version, Diagnostics: s.diagnose(d)}
		s.send(notification{"2.0", "textDocument/publishDiagnostics", p})
	}
}

// specLine is in every text that is, or is about to be, a specification.
var specLine = regexp.MustCompile(`(?m)^(\{ *)?["']?protocol["']? *:`)

// diagnose compiles a document and turns the findings into the client's form.
func (s *server) diagnose(d *document) (out []lspDiagnostic) {
	defer func() {
		// A fault of the compiler is shown, and the session goes on.
		if r := recover(); r != nil {
			out = []lspDiagnostic{{Severity: 1, Source: "fsmgen",
				Message: "the compiler failed on this text; please report it"}}
		}
	}()
	out = []lspDiagnostic{}
	if d.tooLong {
		d.stale, d.now = false, &analysis{src: d.src, names: symbols.New()}
		return append(out, lspDiagnostic{Severity: 1, Code: "FSM002", Source: "fsmgen",
			Message: "the text has more than 1 MB, the most a specification may have"})
	}
	if !specLine.Match(d.src.Text) {
		// Some other YAML file that the editor shows us too.
		d.stale, d.now = false, &analysis{src: d.src, names: symbols.New()}
		return out
	}
	for _, f := range s.compile(d).found {
		out = append(out, s.diagnostic(d, f))
	}
	return out
}

func (s *server) diagnostic(d *document, f diag.Diagnostic) lspDiagnostic {
	out := lspDiagnostic{Severity: 1, Code: f.Code, Source: "fsmgen", Message: f.Message}
	if f.Severity == diag.Warning {
		out.Severity = 2
	}
	if f.Hint != "" {
		out.Message += "\n" + f.Hint
	}
	if f.Span.File == d.name || f.Span.File == "" {
		out.Range = rangeOf(d.src, f.Span)
	} else {
		// In another file: shown where this one names it, and linked.
		out.Message = path.Base(f.Span.File) + ": " + out.Message
		out.Related = append(out.Related, related{s.location(f.Span), "here"})
		for _, p := range d.now.names.Paths {
			if p.At.File == d.name && (p.File == f.Span.File || out.Range == textRange{}) {
				out.Range = rangeOf(d.src, p.At)
			}
		}
	}
	for _, r := range f.Related {
		if !r.Span.IsZero() {
			out.Related = append(out.Related, related{s.location(r.Span), r.Message})
		}
	}
	return out
}

// location turns a place in any file into the client's form.
func (s *server) location(at diag.Span) location {
	return location{s.uriOf(at.File), rangeOf(s.source(at.File), at)}
}

// source returns a file's text with its lines.
func (s *server) source(name string) *ast.Source {
	if d := s.docs[name]; d != nil {
		return d.src
	}
	return ast.NewSource(name, []byte(source.Read(overlay{docs: s.docs}, name)))
}

// target holds what a position of a document means.
type target struct {
	a     *analysis
	decls []diag.Span
	at    diag.Span // in the newest text; zero if only the word is known
	moved *moved    // not nil if a is of an older text
}

// find returns the names at a position. While the text cannot be understood, it asks the last one
// that could about the same line, or else about the same word.
func (s *server) find(d *document, p position) target {
	a := s.compile(d)
	pos := d.src.Pos(d.offset(p))
	if a.known() {
		t := target{a: a}
		t.decls, t.at = a.names.At(d.name, pos)
		return t
	}
	if d.good == nil {
		return target{a: a}
	}
	m := newMoved(d.good.src, d.src)
	t := target{a: d.good, moved: m}
	if line := m.back(pos.Line); line > 0 {
		t.decls, t.at = d.good.names.At(d.name, diag.Pos{Line: line, Col: pos.Col})
		t.at.Start.Line, t.at.End.Line = pos.Line, pos.Line
		return t
	}
	word, _ := source.WordAt(d.src, d.offset(p))
	for _, sym := range d.good.names.Symbols() {
		if sym.Name == word && word != "" {
			t.decls = append(t.decls, sym.At)
		}
	}
	return t
}

// moved relates the lines of an older text to those of the newest, as far as they agree at the
// beginning and at the end.
type moved struct{ same, oldLines, newLines, tail int }

func newMoved(old, new_ *ast.Source) *moved {
	a, b := strings.Split(string(old.Text), "\n"), strings.Split(string(new_.Text), "\n")
	m := &moved{oldLines: len(a), newLines: len(b)}
	for m.same < min(len(a), len(b)) && a[m.same] == b[m.same] {
		m.same++
	}
	for m.tail < min(len(a), len(b))-m.same && a[len(a)-1-m.tail] == b[len(b)-1-m.tail] {
		m.tail++
	}
	return m
}

// back returns the older line of a newest one, or 0 if it changed.
func (m *moved) back(line int) int {
	switch {
	case line <= m.same:
		return line
	case line > m.newLines-m.tail:
		return line - m.newLines + m.oldLines
	}
	return 0
}

// forth returns the newest line of an older one, or 0 if it changed.
func (m *moved) forth(line int) int {
	switch {
	case line <= m.same:
		return line
	case line > m.oldLines-m.tail:
		return line - m.oldLines + m.newLines
	}
	return 0
}

// here turns a place of t's analysis into one of the newest text; ok is false if it is gone.
func (t *target) here(name string, at diag.Span) (diag.Span, bool) {
	if t.moved == nil || at.File != name {
		return at, true
	}
	from, to := t.moved.forth(at.Start.Line), t.moved.forth(at.End.Line)
	at.Start.Line, at.End.Line = from, to
	return at, from > 0 && to > 0
}

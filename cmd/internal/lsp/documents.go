package lsp

import (
	"bytes"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/parse"
)

// document is one that the client has open. Its text is the client's, whatever the file has.
type document struct {
	name, uri string
	version   int
	text      string // what the client has
	src       *ast.Source
	tooLong   bool // beyond the compiler's limit; then src is empty

	stale bool      // something changed since now was made
	now   *analysis // of the newest text
	good  *analysis // the newest in which the names are known
	shown []documentSymbol
}

func (d *document) set(text string) {
	d.text = text
	if d.tooLong = len(text) > parse.MaxBytes; d.tooLong {
		text = ""
	}
	d.src = ast.NewSource(d.name, []byte(text))
	d.stale = true
}

func (s *server) open(name string, t textDocument) {
	d := &document{name: name, uri: t.URI, version: t.Version}
	d.set(t.Text)
	s.docs[name] = d
	s.touch(name)
}

func (s *server) changed(d *document, c change) {
	d.version = c.Document.Version
	for _, ch := range c.Changes {
		text := ch.Text
		if ch.Range != nil {
			from, to := offsetOf(d.text, ch.Range.Start), offsetOf(d.text, ch.Range.End)
			text = d.text[:from] + ch.Text + d.text[max(from, to):]
		}
		d.set(text)
	}
	s.touch(d.name)
}

func (s *server) closed(name string) {
	d := s.docs[name]
	if d == nil {
		return
	}
	delete(s.docs, name)
	s.send(notification{"2.0", "textDocument/publishDiagnostics",
		publishParams{URI: d.uri, Diagnostics: []lspDiagnostic{}}})
	s.touch(name)
}

// touch marks the documents that depend on a file.
func (s *server) touch(name string) {
	for _, d := range s.docs {
		if d.name == name || d.now == nil || slices.Contains(d.now.names.Files, name) || d.now.missing {
			d.stale = true
		}
	}
}

func (s *server) touchAll() {
	for _, d := range s.docs {
		d.stale = true
	}
}

// overlay is the file system with the open documents on top of it.
type overlay struct {
	docs  map[string]*document
	other map[string]string // texts that are laid over all; may be nil
}

// Open opens a document or a file; name is a path of the operating system with forward slashes.
func (o overlay) Open(name string) (fs.File, error) {
	if text, ok := o.other[name]; ok {
		return &memFile{name, bytes.NewReader([]byte(text))}, nil
	}
	if d := o.docs[name]; d != nil && !d.tooLong {
		return &memFile{name, bytes.NewReader(d.src.Text)}, nil
	}
	return files.Open(filepath.FromSlash(name))
}

// memFile is a text as a file.
type memFile struct {
	name string
	*bytes.Reader
}

func (f *memFile) Stat() (fs.FileInfo, error) { return f, nil }

func (f *memFile) Close() error { return nil }

func (f *memFile) Name() string { return filepath.Base(f.name) }

func (f *memFile) Mode() fs.FileMode { return 0o444 }

func (f *memFile) ModTime() time.Time { return time.Time{} }

func (f *memFile) IsDir() bool { return false }

func (f *memFile) Sys() any { return nil }

// nameOf turns a client's URI into the name under which the compiler reads it: a path with
// forward slashes, or the URI itself where it is no file.
func nameOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	p := u.Path
	if len(p) > 2 && p[0] == '/' && p[2] == ':' { // /c:/folder
		p = p[1:]
	}
	return p
}

// uriOf is the way back.
func (s *server) uriOf(name string) string {
	if d := s.docs[name]; d != nil {
		return d.uri
	}
	if !strings.HasPrefix(name, "/") && len(name) > 1 && name[1] == ':' {
		name = "/" + name
	}
	if !strings.HasPrefix(name, "/") {
		return name
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}

// offset turns a client's position into an offset in the text; places outside become the nearest.
func (d *document) offset(p position) int { return offsetIn(d.src, p) }

// offsetOf is offset for the place of a change. There lines end as the protocol says, by \n, \r\n
// or \r, whatever the language makes of them.
func offsetOf(text string, p position) int {
	off := 0
	for range max(0, p.Line) {
		i := strings.IndexAny(text[off:], "\r\n")
		if i < 0 {
			return len(text)
		}
		off += i + 1
		if text[off-1] == '\r' && off < len(text) && text[off] == '\n' {
			off++
		}
	}
	line := text[off:]
	if i := strings.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	return off + byteColumn(line, p.Character)
}

func offsetIn(src *ast.Source, p position) int {
	if p.Line < 0 {
		return 0
	}
	off := src.Offset(p.Line+1, 1)
	line := src.Line(p.Line + 1)
	return off + byteColumn(line, p.Character)
}

// byteColumn turns a column in UTF-16 units into one in bytes, both from 0.
func byteColumn(line string, units int) int {
	i := 0
	for i < len(line) && units > 0 {
		r, n := utf8.DecodeRuneInString(line[i:])
		units -= max(1, utf16.RuneLen(r))
		i += n
	}
	return i
}

// unitColumn turns a column in bytes into one in UTF-16 units, both from 0.
func unitColumn(line string, col int) int {
	units := 0
	for i, r := range line {
		if i >= col {
			break
		}
		units += max(1, utf16.RuneLen(r))
	}
	return units
}

// rangeOf turns a place into a client's range.
func rangeOf(src *ast.Source, at diag.Span) textRange {
	return textRange{positionOf(src, at.Start), positionOf(src, at.End)}
}

func positionOf(src *ast.Source, p diag.Pos) position {
	if p.Line < 1 {
		return position{}
	}
	return position{p.Line - 1, unitColumn(src.Line(p.Line), p.Col-1)}
}

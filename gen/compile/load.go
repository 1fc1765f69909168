package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/gen/resolve"
)

// maxFiles bounds how many files one specification may consist of.
const maxFiles = 64

// Load compiles the specification in the file at path. The protocol is nil if there is any error;
// with warnings alone it is not. All errors of a stage come at once, sorted.
//
// With o.Check the model is specialised for that check and has no other. Without it, it has all
// checks, and the expressions of those with constants or domains of their own refer to models that
// are specialised for them.
func Load(path string, o Options) (*model.Protocol, diag.List) {
	l := &loader{o: o, sources: map[string]*ast.Source{}, parsed: map[string]*ast.Node{},
		units: map[string]*resolve.Unit{}}
	u := l.unit(filepath.ToSlash(path), diag.Span{}, nil)
	var p *model.Protocol
	then := "names, types, states and checks are looked at once this is mended"
	if u != nil && !l.HasErrors() {
		u.Files, u.Hash, u.Text = l.order, machines(u), l.all()
		then = "warnings, and errors in checks with constants or domains of their own, come once this is mended"
		var found diag.List
		p, found = resolve.Protocol(u, resolve.Config{Check: o.Check, Consts: o.Consts, Parties: o.Parties,
			Symbols: o.Symbols})
		for i := range found {
			l.Add(found[i])
		}
		if p != nil && !found.HasErrors() {
			begin(&l.Collector, p)
		}
	}
	list := l.List()
	if o.Symbols != nil {
		o.Symbols.Files = l.order
		o.Symbols.Prune(l.text)
	}
	if p != nil && o.More != nil && !list.HasErrors() {
		list = append(list, o.More(p)...)
	}
	list.Sort()
	for i, d := range list {
		if src := l.sources[d.Span.File]; src != nil {
			list[i].Line = src.Line(d.Span.Start.Line)
			if d.Severity == diag.Error {
				list[i].Then = then
			}
		}
	}
	if list.HasErrors() {
		return nil, list
	}
	return p, list
}

// LoadAll is Load for all checks, of which some may not fit o.Consts: a group may then have too few members. If
// it fails with these constants, p is the specification with its own, if that has no errors; list has those with
// o.Consts.
func LoadAll(path string, o Options) (p *model.Protocol, list diag.List) {
	o.Check = ""
	if p, list = Load(path, o); p != nil || len(o.Consts) == 0 {
		return p, list
	}
	o.Consts = nil
	p, _ = Load(path, o)
	return p, list
}

// loader reads the files of one specification.
type loader struct {
	diag.Collector
	o       Options
	sources map[string]*ast.Source
	parsed  map[string]*ast.Node // nil where a file is missing or wrong
	roots   []*ast.Node          // of all files read, in the order of order
	order   []string
	units   map[string]*resolve.Unit // finished imports, nil if they failed
}

// file reads and parses one file, once; at is the place that names it.
func (l *loader) file(name string, at diag.Span) *ast.Node {
	if root, done := l.parsed[name]; done {
		return root
	}
	root := l.readFile(name, at)
	l.parsed[name] = root
	return root
}

func (l *loader) readFile(name string, at diag.Span) *ast.Node {
	if len(l.order) == maxFiles {
		l.Errorf("FSM001", at, "a specification has at most %d files", maxFiles)
		return nil
	}
	if unprintable(name) {
		if at.IsZero() {
			at = diag.Span{File: strings.ReplaceAll(diag.Visible(name), "\n", `\n`)}
		}
		l.Errorf("FSM001", at, "the name has a line feed, a control character or what is no UTF-8").
			With("every message and the generated code name the file: rename it, or the folder it is in")
		return nil
	}
	data, err := l.read(name)
	if err != nil {
		who := name
		if at.IsZero() {
			at, who = diag.Span{File: name}, "it" // the place says the name
		}
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		if errors.As(err, new(*files.TooLong)) {
			if who == "it" {
				who = "the file"
			}
			l.Errorf("FSM002", at, "%s has more than %d MB", who, parse.MaxBytes>>20).
				With("what several files have in common can be imported or extended")
			return nil
		}
		d := l.Errorf("FSM001", at, "%s cannot be read: %v", who, err)
		if errors.Is(err, files.ErrFolder) {
			d.With("name the file in it: " + path.Join(name, "spec.yaml"))
		}
		return nil
	}
	root, found := parse.File(name, data)
	for _, d := range found {
		l.Add(d)
	}
	l.order = append(l.order, name)
	l.sources[name] = ast.NewSource(name, data)
	if root == nil || found.HasErrors() || root.Kind != ast.Map {
		return nil
	}
	l.roots = append(l.roots, root)
	return root
}

// unprintable reports whether the name of a file commands a terminal, or breaks the line it is in.
func unprintable(name string) bool {
	return !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return r == '\n' || r == '\t' || diag.Hidden(r)
	})
}

func (l *loader) read(name string) ([]byte, error) {
	var f fs.File
	var err error
	if l.o.FS != nil {
		f, err = l.o.FS.Open(path.Clean(name))
	} else {
		f, err = files.Open(filepath.FromSlash(name))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, files.ErrFolder
	}
	return files.ReadFrom(f, parse.MaxBytes)
}

// unit loads a file, what it extends, and its imports. stack holds the files that are
// being imported, outermost first.
func (l *loader) unit(name string, at diag.Span, stack []string) *resolve.Unit {
	if u, done := l.units[name]; done {
		return u
	}
	for _, s := range stack {
		if s == name {
			l.Errorf("FSM013", at, "%s imports itself: %s", name,
				strings.Join(append(stack, name), " → "))
			return nil
		}
	}
	root := l.merged(name, at, nil)
	if root == nil {
		l.units[name] = nil
		return nil
	}
	u := &resolve.Unit{Path: name, Root: root, Imports: map[string]*resolve.Unit{}}
	if n := root.Get("import"); n != nil {
		for _, e := range n.Entries {
			l.o.Symbols.Link(e.Value.Span(), relative(e.Value))
			u.Imports[e.Key.Text] = l.unit(relative(e.Value), e.Value.Span(), append(stack, name))
		}
	}
	l.units[name] = u
	return u
}

// relative resolves a path written in a file against that file's folder.
func relative(n *ast.Node) string {
	p := filepath.ToSlash(n.Text)
	if path.IsAbs(p) {
		return p
	}
	return path.Join(path.Dir(n.Src.Name), p)
}

// merged reads a file and lays it over what it extends. stack holds the files that
// extend this one.
func (l *loader) merged(name string, at diag.Span, stack []string) *ast.Node {
	for _, s := range stack {
		if s == name {
			l.Errorf("FSM013", at, "%s extends itself: %s", name,
				strings.Join(append(stack, name), " → "))
			return nil
		}
	}
	root := l.file(name, at)
	if root == nil {
		return nil
	}
	ext := root.Get("extends")
	if ext == nil {
		root = l.like(root, nil)
		for _, d := range parse.Bare(root) {
			l.Add(d)
		}
		return root
	}
	l.o.Symbols.Link(ext.Span(), relative(ext))
	base := l.merged(relative(ext), ext.Span(), append(stack, name))
	if base == nil {
		return nil
	}
	root = l.like(root, base)
	out, found := parse.Merge(base, root, func(over, base *ast.Node) {
		l.o.Symbols.Same(over.Span(), base.Span())
	})
	for _, d := range found {
		l.Add(d)
	}
	return out
}

// like writes out the checks that are like others.
func (l *loader) like(root, base *ast.Node) *ast.Node {
	out, found := parse.Like(root, base, l.o.Symbols.Use, func(over, base *ast.Node) {
		l.o.Symbols.Same(over.Span(), base.Span())
	})
	for _, d := range found {
		l.Add(d)
	}
	return out
}

// text returns what is written at a place.
func (l *loader) text(at diag.Span) string {
	src := l.sources[at.File]
	if src == nil || at.Start.Line < 1 {
		return ""
	}
	from := src.Offset(at.Start.Line, 1) + at.Start.Col - 1
	to := src.Offset(at.End.Line, 1) + at.End.Col - 1
	if from > to || to > len(src.Text) {
		return ""
	}
	return strings.Trim(string(src.Text[from:to]), `"'`)
}

// machines is the hash over what the machines of u depend on, see [parse.Machines], those
// of its imports included.
func machines(u *resolve.Unit) string {
	h := sha256.New()
	parse.Machines(h, u.Root)
	for _, e := range u.Root.Get("import").Keys() {
		if in := u.Imports[e]; in != nil {
			io.WriteString(h, machines(in))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// all is the hash over what all files say, not over their names, layout or comments.
func (l *loader) all() string {
	h := sha256.New()
	for _, root := range l.roots {
		root.Canonical(h, map[string]bool{"extends": true, "import": true})
	}
	return hex.EncodeToString(h.Sum(nil))
}

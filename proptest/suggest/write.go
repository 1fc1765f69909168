package suggest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/parse"
)

// texts are those of a specification: its file and those that it extends.
type texts struct {
	names []string
	roots []*ast.Node
}

func readFiles(name string, from fs.FS) (*texts, error) {
	f := &texts{}
	name = path.Clean(filepath.ToSlash(name))
	for !slices.Contains(f.names, name) {
		file, err := overlay{base: from}.Open(path.Clean(name))
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(file, parse.MaxBytes))
		file.Close()
		if err != nil {
			return nil, err
		}
		root, list := parse.Tree(name, text)
		if root == nil || list.HasErrors() {
			return nil, &diag.Rejected{List: list}
		}
		f.names, f.roots = append(f.names, name), append(f.roots, root)
		ext := root.Get("extends")
		if ext == nil {
			break
		}
		name = path.Join(path.Dir(name), filepath.ToSlash(ext.Text))
	}
	return f, nil
}

// splice is a change of a text: the bytes from i up to j become text.
type splice struct {
	i, j int
	text string
}

// write gives the new texts of the files that the edits change.
func (f *texts) write(p *model.Protocol, edits []edit) (map[string][]byte, error) {
	all := map[*ast.Source][]splice{}
	for _, e := range edits {
		if e.precise() {
			if err := f.words(p, e, all); err != nil {
				return nil, err
			}
			continue
		}
		src, s, err := f.splice(p, e)
		if err != nil {
			return nil, err
		}
		all[src] = append(all[src], s)
	}
	out := map[string][]byte{}
	for src, list := range all {
		slices.SortStableFunc(list, func(a, b splice) int { return cmp.Compare(b.i, a.i) })
		text := slices.Clone(src.Text)
		for n, s := range list {
			if n > 0 && s.j > list[n-1].i {
				return nil, errors.New("the edits touch the same text")
			}
			text = slices.Concat(text[:s.i], []byte(s.text), text[s.j:])
		}
		out[src.Name] = text
	}
	return out, nil
}

// changes pairs the old texts with the new.
func (f *texts) changes(changed map[string][]byte) []Change {
	var out []Change
	for i, name := range f.names {
		if text, ok := changed[name]; ok {
			out = append(out, Change{File: name, Old: f.roots[i].Src.Text, New: text})
		}
	}
	return out
}

// state finds where a state of a role is written, the file itself before those it extends. With an
// event: where that stands in it.
func (f *texts) state(role, state, event string) (*ast.Node, *ast.Entry) {
	for _, root := range f.roots {
		states, e := stateIn(root.Get("roles").Get(role).Get("states"), state)
		if e == nil {
			continue
		}
		if event == "" {
			return states, e
		}
		if h := e.Value.Entry(event); h != nil && e.Value.Kind == ast.Map {
			return e.Value, h
		}
	}
	return nil, nil
}

// stateIn finds a state in a section `states`, or inside one of its states.
func stateIn(states *ast.Node, name string) (*ast.Node, *ast.Entry) {
	if e := states.Entry(name); e != nil || states == nil {
		return states, e
	}
	for _, e := range states.Entries {
		if in, found := stateIn(e.Value.Get("states"), name); found != nil {
			return in, found
		}
	}
	return nil, nil
}

func (f *texts) splice(p *model.Protocol, e edit) (*ast.Source, splice, error) {
	m := p.Roles[e.role]
	if e.kind == holdMore {
		return f.bound(m.Name, e.to)
	}
	st, ev := m.States[e.state], m.Events[e.event]
	if e.adds() {
		text, err := f.handler(p, e)
		if err != nil {
			return nil, splice{}, err
		}
		states, entry := f.state(m.Name, st.Name, "")
		if entry == nil {
			return nil, splice{}, fmt.Errorf("state %s is written nowhere", st.Name)
		}
		return states.Src, insert(states, entry, ev.Name+": "+text), nil
	}
	in, entry := f.state(m.Name, st.Name, ev.Name)
	h := st.Handlers[e.event]
	if entry == nil || entry.Key.Span().Start != h.Span.Start {
		return nil, splice{}, errors.New("the handler is common to several states")
	}
	node := entry.Value
	if node.Kind == ast.List {
		node = node.Items[e.branch]
	}
	if e.kind == dropBranch {
		if len(h.Branches) == 1 {
			return in.Src, remove(in, entry.Key.Start, entry.Value.End), nil
		}
		return in.Src, remove(entry.Value, node.Start, node.End), nil
	}
	undo := e.apply(p)
	text, err := branch(h.Branches[e.branch], node)
	undo()
	return in.Src, splice{node.Start, node.End, text}, err
}

// words changes single words of a handler, where they stand.
func (f *texts) words(p *model.Protocol, e edit, all map[*ast.Source][]splice) error {
	h := p.Roles[e.role].States[e.state].Handlers[e.event]
	var err error
	put := func(was model.Expr, now func(text string) string) {
		at := was.Pos()
		k := slices.Index(f.names, at.File)
		if k < 0 || at.Start.Line < 1 {
			err = errors.New("it is written in another file")
			return
		}
		src := f.roots[k].Src
		i := src.Offset(at.Start.Line, 1) + at.Start.Col - 1
		j := src.Offset(at.End.Line, 1) + at.End.Col - 1
		if i >= j || j > len(src.Text) {
			err = errors.New("its place is not known")
			return
		}
		text := string(src.Text[i:j])
		other := now(text)
		if other == "" {
			err = fmt.Errorf("%q is written in another way", text)
			return
		}
		if s := (splice{i, j, other}); !slices.Contains(all[src], s) {
			all[src] = append(all[src], s)
		}
	}
	if e.kind == setValue {
		was := changed(p.Roles[e.role].States[e.state], e).(*model.Set).Value
		put(was, func(text string) string {
			if strings.Trim(text, `"'`) != model.ExprString(was) {
				return ""
			}
			return e.with
		})
		return err
	}
	for _, t := range h.Branches {
		eachComparison(t.When, func(b *model.Binary) {
			if model.ExprString(b) != e.with {
				return
			}
			put(b, func(text string) string {
				if strings.Count(text, "==")+strings.Count(text, "!=") != 1 {
					return ""
				}
				return strings.NewReplacer("==", "!=", "!=", "==").Replace(text)
			})
		})
	}
	return err
}

// bound writes how many deferred messages a role may hold: in place of the number that is there, or
// before its initial state.
func (f *texts) bound(role string, most int) (*ast.Source, splice, error) {
	for _, root := range f.roots {
		if v := root.Get("roles").Get(role).Get("deferred"); v != nil {
			return v.Src, splice{v.Start, v.End, strconv.Itoa(most)}, nil
		}
	}
	for _, root := range f.roots {
		in := root.Get("roles").Get(role)
		if e := in.Entry("initial"); e != nil {
			gap := ", "
			if !in.Flow {
				gap = "\n" + strings.Repeat(" ", e.Key.Src.Pos(e.Key.Start).Col-1)
			}
			return in.Src, splice{e.Key.Start, e.Key.Start, "deferred: " + strconv.Itoa(most) + gap}, nil
		}
	}
	return nil, splice{}, fmt.Errorf("role %s is written nowhere", role)
}

// handler returns the state's new line.
func (f *texts) handler(p *model.Protocol, e edit) (string, error) {
	m := p.Roles[e.role]
	switch e.kind {
	case addIgnore:
		return "ignore", nil
	case addDefer:
		return "defer", nil
	case addLike:
		if in, entry := f.state(m.Name, m.States[e.to].Name, m.Events[e.event].Name); in != nil {
			v := entry.Value
			text := string(v.Src.Text[v.Start:v.End])
			if strings.Contains(text, "\n") {
				return "", errors.New("the handler has several lines")
			}
			return text, nil
		}
		return "", errors.New("the handler is common to several states")
	}
	undo := e.apply(p)
	defer undo()
	return branch(m.States[e.state].Handlers[e.event].Branches[0], nil)
}

// insert adds a line to a state: below its last one, or before its closing brace.
func insert(states *ast.Node, entry *ast.Entry, line string) splice {
	v := entry.Value
	switch {
	case v.Kind != ast.Map: // nothing is said about the state
		return splice{v.Start, v.End, pad(v) + "{" + line + "}"}
	case v.Flow && len(v.Entries) == 0:
		return splice{v.Start, v.End, "{" + line + "}"}
	case v.Flow:
		at := v.Entries[len(v.Entries)-1].Value.End
		return splice{at, at, ", " + line}
	}
	first, last := v.Entries[0].Key, v.Entries[len(v.Entries)-1].Value
	indent := strings.Repeat(" ", first.Src.Pos(first.Start).Col-1)
	at := lineEnd(v.Src.Text, max(last.End, v.Entries[len(v.Entries)-1].Key.End))
	return splice{at, at, "\n" + indent + line}
}

// pad is the space between a key and what is put behind it.
func pad(v *ast.Node) string {
	if v.Start > 0 && v.Src.Text[v.Start-1] == ':' {
		return " "
	}
	return ""
}

// lineEnd is the end of the line that has the byte before at.
func lineEnd(text []byte, at int) int {
	if at > 0 && text[at-1] == '\n' {
		return at - 1
	}
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// remove takes a piece out of a map or list, with its line or its comma.
func remove(in *ast.Node, i, j int) splice {
	text := in.Src.Text
	if !in.Flow {
		i = bytes.LastIndexByte(text[:i], '\n') + 1
		return splice{i, min(lineEnd(text, j)+1, len(text)), ""}
	}
	rest := text[j:]
	if trimmed := bytes.TrimLeft(rest, " "); len(trimmed) > 0 && trimmed[0] == ',' {
		trimmed = bytes.TrimLeft(trimmed[1:], " ")
		return splice{i, len(text) - len(trimmed), ""}
	}
	for i > 0 && (text[i-1] == ' ' || text[i-1] == ',') {
		i--
	}
	return splice{i, j, ""}
}

// branch writes a branch as one flow map. Its doc is kept from where it stood.
func branch(t *model.Transition, old *ast.Node) (string, error) {
	var parts []string
	if old != nil && old.Kind == ast.Map {
		for _, key := range []string{"doc", "when"} {
			if v := old.Get(key); v != nil {
				text := string(v.Src.Text[v.Start:v.End])
				if strings.Contains(text, "\n") {
					return "", errors.New("the branch has a text of several lines")
				}
				parts = append(parts, key+": "+text)
			}
		}
	}
	keys := map[string]bool{}
	var stmts []string
	for _, s := range t.Body {
		text, key, err := statement(s)
		if err != nil {
			return "", err
		}
		stmts = append(stmts, text)
		keys[key] = true
	}
	if len(keys) == len(stmts) {
		parts = append(parts, stmts...)
	} else {
		parts = append(parts, "do: [{"+strings.Join(stmts, "}, {")+"}]")
	}
	if t.To != nil {
		parts = append(parts, "goto: "+t.To.Name)
	}
	return "{" + strings.Join(parts, ", ") + "}", nil
}

// statement writes a statement, in quotes where YAML needs them.
func statement(s model.Stmt) (text, key string, err error) {
	value := ""
	switch s := s.(type) {
	case *model.Send:
		if s.Dest != model.ToPeer {
			whole := model.SendString(s)
			i := strings.LastIndex(whole, ", to: ")
			return "send: " + quoted(whole[:i]) + ", to: " + quoted(whole[i+len(", to: "):]), "send", nil
		}
		key, value = "send", model.SendString(s)
	case *model.ReportStmt:
		key, value = "report", model.ReportString(s)
	case *model.Run:
		key, value = "run", model.RunString(s)
	case *model.StartTimer:
		if s.Ticks != nil {
			return "start: " + quoted(model.TimerString(s)) + ", ticks: " +
				quoted(model.ExprString(s.Ticks)), "start", nil
		}
		key, value = "start", model.TimerString(s)
	case *model.StopTimer:
		key, value = "stop", model.TimerString(s)
	case *model.Set:
		place, v, _ := strings.Cut(model.SetString(s), " = ")
		return "set: {" + quoted(place) + ": " + quoted(v) + "}", "set", nil
	default:
		return "", "", fmt.Errorf("a statement like %q is not written anew", model.StmtString(s))
	}
	return key + ": " + quoted(value), key, nil
}

// quoted puts a text in quotes if YAML would not read it as it is inside braces.
func quoted(s string) string {
	if strings.ContainsAny(s, "{}[],:#&*!|>'\"%@`") || s == "" {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	}
	return s
}

// overlay is a file system with some files replaced; base nil is the operating system's, which takes any path.
type overlay struct {
	base    fs.FS
	changed map[string][]byte
}

func (o overlay) Open(name string) (fs.File, error) {
	if text, ok := o.changed[name]; ok {
		return &memory{Reader: bytes.NewReader(text), name: path.Base(name)}, nil
	}
	if o.base != nil {
		return o.base.Open(name)
	}
	return files.Open(filepath.FromSlash(name))
}

// memory is a file that lies nowhere.
type memory struct {
	*bytes.Reader
	name string
}

func (m *memory) Stat() (fs.FileInfo, error) { return m, nil }
func (m *memory) Close() error               { return nil }
func (m *memory) Name() string               { return m.name }
func (m *memory) Mode() fs.FileMode          { return 0o444 }
func (m *memory) ModTime() time.Time         { return time.Time{} }
func (m *memory) IsDir() bool                { return false }
func (m *memory) Sys() any                   { return nil }

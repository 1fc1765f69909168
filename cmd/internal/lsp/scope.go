package lsp

import (
	"path"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/gen/symbols"
)

// declared are the names that a file and those it extends declare, found without the resolver.
type declared struct {
	list    []*symbols.Symbol
	imports map[string]*declared
	roots   []*ast.Node // the file's tree, then those it extends
}

// maxDepth bounds how deep files lead to others.
const maxDepth = 4

// declared reads the names of a tree, of what it extends, and of what it imports.
func (s *server) declared(name string, root *ast.Node, depth int) *declared {
	out := &declared{imports: map[string]*declared{}}
	for ; root != nil && depth < maxDepth; depth++ {
		names := symbols.New()
		names.Declarations(root)
		out.list = append(out.list, names.Symbols()...)
		out.roots = append(out.roots, root)
		if imports := root.Get("import"); imports != nil {
			for _, e := range imports.Entries {
				file := relative(name, e.Value.Text)
				if out.imports[e.Key.Text] == nil {
					out.imports[e.Key.Text] = s.declared(file, s.tree(file), depth+1)
				}
			}
		}
		ext := root.Get("extends")
		if ext == nil {
			break
		}
		name = relative(name, ext.Text)
		root = s.tree(name)
	}
	return out
}

func relative(from, to string) string {
	if path.IsAbs(to) {
		return to
	}
	return path.Join(path.Dir(from), to)
}

func (s *server) tree(name string) *ast.Node {
	text := overlay{docs: s.docs}.text(name)
	if text == "" {
		return nil
	}
	root, _ := parse.Tree(name, []byte(text))
	return root
}

// get looks for a path of keys in the trees, outermost first.
func (d *declared) get(keys ...string) *ast.Node {
	if d == nil {
		return nil
	}
	for _, n := range d.roots {
		for _, k := range keys {
			n = n.Get(k)
		}
		if n != nil {
			return n
		}
	}
	return nil
}

// machine is a role and the names among which it is declared.
type machine struct {
	names *declared
	role  string
}

// part finds the machine of a part.
func (d *declared) part(role, name string) machine {
	n := d.get("roles", role, "parts", name, "machine")
	if n == nil {
		return machine{}
	}
	imp, r, imported := strings.Cut(n.Text, ".")
	if !imported {
		return machine{d, imp} // a role of this file
	}
	return machine{d.imports[imp], r}
}

// target completes what is sent, reported or run: a name, or within braces its fields.
func (k *completer) target(verb string) {
	role := k.role()
	if head, inside, ok := strings.Cut(k.before, "{"); ok {
		if !strings.HasSuffix(strings.TrimSpace(inside), ":") {
			owner := head[strings.LastIndexByte(head, '.')+1:]
			in := k.names
			if verb == "run" {
				in = k.names.part(role, identBefore(head, '.')).names
			}
			k.declared(in, owner, symbols.Field)
		}
		k.expression()
		return
	}
	switch verb {
	case "send":
		k.declared(k.names, "", symbols.Message)
	case "report":
		k.declared(k.names, role, symbols.Report)
	case "call":
		k.declared(k.names, role, symbols.Routine)
	case "run":
		if strings.HasSuffix(k.before, ".") {
			p := k.names.part(role, identBefore(k.before, '.'))
			k.declared(p.names, "", symbols.Message)
			k.declared(p.names, p.role, symbols.Command)
			return
		}
		k.declared(k.names, role, symbols.Part)
	}
}

// identBefore is the name before the first of a separator, without an index.
func identBefore(text string, sep byte) string {
	head, _, _ := strings.Cut(text, string(sep))
	head, _, _ = strings.Cut(head, "[")
	return strings.TrimSpace(head)
}

func (k *completer) machines() {
	if imp, ok := strings.CutSuffix(k.before, "."); ok {
		k.declared(k.names.imports[imp], "", symbols.Role)
		return
	}
	k.declared(k.names, "", symbols.Import)
	k.declared(k.names, "", symbols.Role)
}

var functions = []string{"len", "min", "max", "append", "tail", "first", "contains", "with", "without", "union", "minus", "intersect", "if", "all", "some", "count"}

// expression completes a name within an expression.
func (k *completer) expression() {
	if k.behindDot() {
		return
	}
	if role := k.role(); role != "" {
		k.eventFields(role)
		k.declared(k.names, role, symbols.Var, symbols.Param, symbols.Part, symbols.Timer, symbols.State)
	}
	if k.at(0) == "checks" {
		k.declared(k.names, k.at(1), symbols.Instance)
		k.add(completeFunction, "function", "", "empty")
		if k.at(2) == "environment" {
			k.declared(k.names, "", symbols.Var, symbols.Param, symbols.State, symbols.Message)
			k.declared(k.names, k.at(3), symbols.Field)
			k.add(completeKeyword, "channel", "", "out", "in")
		}
	}
	k.declared(k.names, "", symbols.Const, symbols.EnumValue, symbols.Type)
	k.add(completeFunction, "function", "", functions...)
	k.add(completeKeyword, "", "", "true", "false", "none")
}

// eventFields adds the fields of the event whose handler the place is in.
func (k *completer) eventFields(role string) {
	event := ""
	switch {
	case k.at(2) == "states" && len(k.c.path) > 4:
		event = k.at(4)
	case k.at(2) == "common" && k.at(4) == "on":
		event = k.at(5)
	case k.at(2) == "routines":
		event = k.at(3)
	}
	event, _, _ = strings.Cut(event, ",") // of several the first: what is used all have
	part, rest, dotted := strings.Cut(event, ".")
	if dotted {
		p := k.names.part(role, part)
		k.declared(p.names, rest, symbols.Field)
		event = part // the keys
	}
	k.declared(k.names, event, symbols.Field)
}

// behindDot completes what comes behind a dot, and reports whether there is one.
func (k *completer) behindDot() bool {
	text, ok := strings.CutSuffix(k.before, ".")
	if !ok {
		return false
	}
	var chain []string
	for {
		text = withoutIndex(text)
		i := len(text)
		for i > 0 && isWord(text[i-1]) {
			i--
		}
		if i == len(text) {
			break
		}
		chain = append([]string{text[i:]}, chain...)
		if text, ok = strings.CutSuffix(text[:i], "."); !ok {
			break
		}
	}
	if len(chain) > 0 {
		k.inside(chain)
	}
	return true
}

// withoutIndex cuts an index in brackets from the end.
func withoutIndex(text string) string {
	if !strings.HasSuffix(text, "]") {
		return text
	}
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

// inside adds what is inside a machine, a type or a record.
func (k *completer) inside(chain []string) {
	m := machine{k.names, k.role()}
	if k.at(0) == "checks" {
		if n := k.names.get("checks", k.at(1), "instances", chain[0]); n != nil {
			role, _, _ := strings.Cut(n.Text, "(")
			m, chain = machine{k.names, strings.TrimSpace(role)}, chain[1:]
			if len(chain) == 0 {
				k.declared(m.names, m.role, symbols.State, symbols.Var, symbols.Param, symbols.Part, symbols.Timer)
				return
			}
		}
	}
	for i, name := range chain {
		if p := m.names.part(m.role, name); p.names != nil {
			m = p
			if i == len(chain)-1 {
				k.declared(m.names, m.role, symbols.State, symbols.Var, symbols.Param, symbols.Part, symbols.Timer)
			}
			continue
		}
		if i == len(chain)-1 {
			k.declared(m.names, name, symbols.EnumValue)
			k.recordFields(m, name)
		}
		return
	}
}

// recordFields adds the fields of the record that a variable's type mentions.
func (k *completer) recordFields(m machine, name string) {
	for _, x := range m.names.list {
		if x.Name != name || x.Kind != symbols.Var && x.Kind != symbols.Param && x.Kind != symbols.Field {
			continue
		}
		for _, t := range m.names.list {
			if t.Kind == symbols.Type && mentions(x.Text, t.Name) {
				k.declared(m.names, t.Name, symbols.Field)
			}
		}
	}
}

// mentions reports whether a text has a name as a whole word.
func mentions(text, name string) bool {
	for i := strings.Index(text, name); i >= 0; {
		end := i + len(name)
		if (i == 0 || !isWord(text[i-1])) && (end == len(text) || !isWord(text[end])) {
			return true
		}
		next := strings.Index(text[end:], name)
		if next < 0 {
			break
		}
		i = end + next
	}
	return false
}

package complete

import (
	"io/fs"
	"path"
	"strings"

	"github.com/parley-go/parley/cmd/internal/lsp/source"
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

// readDeclared reads the names of a tree, of what it extends, and of what it imports.
func readDeclared(fsys fs.FS, name string, root *ast.Node, depth int) *declared {
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
					out.imports[e.Key.Text] = readDeclared(fsys, file, treeOf(fsys, file), depth+1)
				}
			}
		}
		ext := root.Get("extends")
		if ext == nil {
			break
		}
		name = relative(name, ext.Text)
		root = treeOf(fsys, name)
	}
	return out
}

// relative returns the name of a file that another one mentions.
func relative(from, to string) string {
	if path.IsAbs(to) {
		return to
	}
	return path.Join(path.Dir(from), to)
}

// treeOf reads a file as a tree, or returns nil if it is none.
func treeOf(fsys fs.FS, name string) *ast.Node {
	text := source.Read(fsys, name)
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

// field finds the type of a field among others.
func (d *declared) field(fields *ast.Node, path string) *ast.Node {
	name, rest, more := strings.Cut(path, ".")
	n := fields.Get(name)
	if more {
		return d.field(d.written(n).Get("record"), rest)
	}
	return n
}

// written follows the name of a type to where it is written out, and returns nil if that is nowhere.
func (d *declared) written(n *ast.Node) *ast.Node {
	for range maxTypes {
		switch {
		case n == nil:
			return nil
		case n.Kind == ast.Map && n.Get("type") != nil:
			n = n.Get("type")
		case n.Kind == ast.Map:
			return n
		default:
			n = d.get("types", n.Text)
		}
	}
	return nil
}

// elements finds the type of the elements of a list or array, written out if it is a record.
func (d *declared) elements(n *ast.Node) *ast.Node {
	n = d.written(n)
	for _, key := range []string{"list", "queue", "of"} {
		if elem := n.Get(key); elem != nil {
			if record := d.written(elem); record != nil {
				return record
			}
			return elem
		}
	}
	return nil
}

// maxTypes bounds how many names of types are followed to one that is written out.
const maxTypes = 16

package lsp

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
)

// maxTypes bounds how many names of types are followed to one that is written out.
const maxTypes = 16

// wireItems adds what an item of a message's wire may begin with: the message's fields, within `each` those of the
// elements, behind `record.` those of the record.
func (k *completer) wireItems() {
	fields := k.names.get("messages", k.at(1), "fields")
	for _, step := range k.c.path[3:] {
		if list, is := strings.CutPrefix(step, "each "); is {
			elem := k.names.elements(k.names.field(fields, list))
			if fields = elem.Get("record"); elem != nil && fields == nil {
				k.add(completeKeyword, "the element", "", "item")
			}
		}
	}
	name := k.before[strings.LastIndexByte(k.before, ' ')+1:]
	for step, rest, more := strings.Cut(name, "."); more; step, rest, more = strings.Cut(rest, ".") {
		fields = k.names.written(k.names.field(fields, step)).Get("record")
	}
	if fields != nil && fields.Kind == ast.Map {
		for _, e := range fields.Entries {
			doc, t := "", e.Value
			if n := t.Get("doc"); n != nil {
				doc = n.Text
			}
			if n := t.Get("type"); n != nil {
				t = n
			}
			k.add(completeField, strings.TrimSpace("field "+t.Text), doc, e.Key.Text)
		}
	}
	if name == "" && !strings.Contains(k.before, " ") {
		k.add(completeKeyword, "wire item", "", "pad", "const", "align", "count", "each")
	}
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

// written follows the name of a type to where it is written out; nil if that is nowhere.
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

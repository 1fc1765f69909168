package parse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SchemaURL is where the shipped schema can be read by editors.
const SchemaURL = "https://raw.githubusercontent.com/parley-go/parley/main/docs/parley.schema.json"

// Schema returns the JSON Schema (draft 7) of specifications. It is made from the tables with
// which the parser checks keys. The parser refuses everything that the schema refuses; what names
// and expressions mean is beyond a schema.
func Schema() []byte {
	g := &schemaWriter{names: map[*shape]string{}, defs: map[string]any{}}
	root := g.object(&specShape)
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["$id"] = SchemaURL
	root["title"] = "Parley specification"
	root["required"] = []string{"protocol"}
	root["definitions"] = g.defs
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(root); err != nil {
		panic(err) // maps of texts and numbers can be written
	}
	return b.Bytes()
}

type schemaWriter struct {
	names map[*shape]string
	defs  map[string]any
}

type object = map[string]any

// of returns the schema of a place. It is a reference if the shape has an inside.
func (g *schemaWriter) of(s *shape) object {
	if !s.isMap() && s.list == nil {
		return g.forms(s)
	}
	name, done := g.names[s]
	if !done {
		name = strings.Map(func(r rune) rune {
			if r == ' ' || r == '\'' || r == '(' || r == ')' {
				return '-'
			}
			return r
		}, s.what)
		for i := 2; g.defs[name] != nil; i++ {
			name = fmt.Sprintf("%s-%d", strings.TrimRight(name, "-0123456789"), i)
		}
		g.names[s] = name
		g.defs[name] = object{} // taken, in case the shape contains itself
		g.defs[name] = g.forms(s)
	}
	return object{"$ref": "#/definitions/" + name}
}

// forms joins the forms a place may have.
func (g *schemaWriter) forms(s *shape) object {
	var all []object
	if s.scalar != nil {
		all = append(all, s.scalar.schema())
	}
	if s.list != nil {
		all = append(all, object{"type": "array", "items": g.of(s.list)})
	}
	if s.isMap() {
		all = append(all, g.object(s))
	}
	if s.null {
		all = append(all, object{"type": "null"})
	}
	if len(all) == 1 {
		return all[0]
	}
	return object{"anyOf": all}
}

func (g *schemaWriter) object(s *shape) object {
	o := object{"type": "object", "additionalProperties": false}
	if s.oneOnly {
		o["minProperties"], o["maxProperties"] = 1, 1
	}
	props := object{}
	for _, k := range s.keys {
		props[k.name] = g.entry(s, k.s, s.doc(k.name))
	}
	if len(props) > 0 {
		o["properties"] = props
	}
	if s.open != nil {
		n := s.openKeys()
		o["additionalProperties"] = g.entry(s, s.open, "")
		form := object{"pattern": n.pattern}
		if len(n.but) > 0 {
			form["not"] = object{"enum": slices.Sorted(maps.Keys(n.but))}
		}
		if len(props) > 0 {
			form = object{"anyOf": []object{{"enum": slices.Sorted(maps.Keys(props))}, form}}
		}
		o["propertyNames"] = form
	}
	return o
}

// entry is the schema of a key's value. Where files are merged key by key, null removes.
func (g *schemaWriter) entry(owner, s *shape, doc string) object {
	o := g.of(s)
	if owner.merge && !s.null {
		o = object{"anyOf": []object{o, {"type": "null"}}}
	}
	if doc != "" {
		o = maps.Clone(o)
		o["description"] = doc
	}
	return o
}

func (f *scalar) schema() object {
	switch {
	case f.boolean:
		return object{"type": "boolean"}
	case len(f.words) > 0:
		// Where a word looks like a truth value, YAML readers take it for one.
		words := make([]any, len(f.words))
		for i, w := range f.words {
			words[i] = w
			if w == "true" || w == "false" {
				words[i] = w == "true"
			}
		}
		return object{"enum": words}
	case len(f.but) > 0:
		return object{"type": "string", "pattern": f.pattern,
			"not": object{"enum": slices.Sorted(maps.Keys(f.but))}}
	case f.pattern != "":
		return object{"type": "string", "pattern": f.pattern}
	}
	return object{"type": []string{"string", "number", "boolean"}}
}

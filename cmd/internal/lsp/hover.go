package lsp

import (
	"cmp"
	"strings"

	"github.com/parley-go/parley/cmd/internal/lsp/explain"
)

// hover explains the name at a position, or the key of the language.
func (s *server) hover(d *document, p place) (any, error) {
	t := s.find(d, p.Position)
	var parts []string
	for _, decl := range t.decls {
		sym := t.a.names.Symbol(decl)
		if sym == nil {
			sym = t.a.names.Symbol(t.a.names.Root(decl))
		}
		if sym != nil {
			parts = append(parts, explain.Name(t.a.protocol, sym))
		}
	}
	h := hover{Contents: markup{Kind: "markdown"}}
	if len(parts) > 0 && !t.at.IsZero() {
		r := rangeOf(d.src, t.at)
		h.Range = &r
	}
	if len(parts) == 0 {
		off := d.offset(p.Position)
		if text := cmp.Or(explain.Key(d.src, off), explain.Builtin(d.src, off)); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	h.Contents.Value = strings.Join(parts, "\n\n---\n\n")
	return h, nil
}

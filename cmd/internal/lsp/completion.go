package lsp

import (
	"fmt"

	"github.com/parley-go/parley/cmd/internal/lsp/complete"
	"github.com/parley-go/parley/cmd/internal/lsp/source"
)

// completion lists what could stand at a position.
func (s *server) completion(d *document, p place) (any, error) {
	off := d.offset(p.Position)
	items, key := complete.At(overlay{docs: s.docs}, d.src, off)
	behind := ""
	if key {
		behind = ": "
	}
	word, from := source.WordAt(d.src, off)
	r := rangeOf(d.src, d.src.Span(from, from+len(word)))
	out := completionList{Items: []completionItem{}}
	for i, it := range items {
		out.Items = append(out.Items, completionItem{
			Label: it.Label, Kind: it.Kind, Detail: it.Detail, Doc: it.Doc,
			Sort: fmt.Sprintf("%04d", i), TextEdit: &textEdit{r, it.Label + behind},
		})
	}
	return out, nil
}

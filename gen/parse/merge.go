package parse

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
)

// Merge lays the tree of an extending file over the one it extends and returns the
// result; neither is changed. Both must have passed [File]. Maps that the
// language merges are merged key by key; all else is replaced; a written-out
// null removes.
func Merge(base, over *ast.Node) (*ast.Node, diag.List) {
	c := &diag.Collector{}
	n := merge(base, over, &specShape, c)
	return n, c.List()
}

// Bare reports the nulls of a file that extends nothing, where there is
// nothing to remove.
func Bare(root *ast.Node) diag.List {
	c := &diag.Collector{}
	merge(&ast.Node{Kind: ast.Map, Src: root.Src}, root, &specShape, c)
	return c.List()
}

func merge(base, over *ast.Node, s *shape, c *diag.Collector) *ast.Node {
	out := *over
	out.Entries = nil
	at := map[string]int{}
	for _, e := range base.Entries {
		if s == &specShape && e.Key.Text == "extends" {
			continue
		}
		at[e.Key.Text] = len(out.Entries)
		out.Entries = append(out.Entries, e)
	}
	for _, e := range over.Entries {
		i, has := at[e.Key.Text]
		sub, known := s.lookup(e.Key.Text)
		if !known {
			sub = s.open
		}
		switch {
		case e.Value.Removes() && (!has || out.Entries[i].Value == nil):
			if sub.null && base.Entries == nil {
				out.Entries = append(out.Entries, e)
				break
			}
			c.Errorf("FSM012", e.Key.Span(), "null removes, but there is no %s to remove", diag.Quote(e.Key.Text)).
				With(diag.DidYouMean(e.Key.Text, base.Keys()))
		case e.Value.Removes():
			out.Entries[i].Value = nil
		case has && sub.merge && e.Value.Kind == ast.Map && out.Entries[i].Value != nil && out.Entries[i].Value.Kind == ast.Map:
			out.Entries[i] = ast.Entry{Key: e.Key, Value: merge(out.Entries[i].Value, e.Value, sub, c)}
		default:
			// What is new still has to lose its own nulls.
			if sub.merge && e.Value.Kind == ast.Map {
				e.Value = merge(&ast.Node{Kind: ast.Map, Src: over.Src}, e.Value, sub, c)
			}
			if has {
				out.Entries[i] = e
			} else {
				at[e.Key.Text] = len(out.Entries)
				out.Entries = append(out.Entries, e)
			}
		}
	}
	kept := out.Entries[:0]
	for _, e := range out.Entries {
		if e.Value != nil {
			kept = append(kept, e)
		}
	}
	out.Entries = kept
	return &out
}

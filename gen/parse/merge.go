package parse

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
)

// Merge lays the tree of an extending file over the one that it extends and returns the result.
// Neither is changed; both must have passed [File]. Maps that the language merges are merged key
// by key, and everything else is replaced. A null that is written out removes.
//
// If met is not nil, it is called with each key of the extending file that meets one below it.
func Merge(base, over *ast.Node, met func(over, base *ast.Node)) (*ast.Node, diag.List) {
	m := &merger{c: &diag.Collector{}, met: met}
	n := m.merge(base, over, &specShape)
	return n, m.c.List()
}

type merger struct {
	c   *diag.Collector
	met func(over, base *ast.Node)
	// removed is called with each key whose null removes, and the key below it; it may be nil.
	removed func(over, base *ast.Node)
}

// Bare reports the nulls of a file that extends nothing, where there is
// nothing to remove.
func Bare(root *ast.Node) diag.List {
	m := &merger{c: &diag.Collector{}}
	m.merge(&ast.Node{Kind: ast.Map, Src: root.Src}, root, &specShape)
	return m.c.List()
}

func (m *merger) merge(base, over *ast.Node, s *shape) *ast.Node {
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
		if has && m.met != nil && out.Entries[i].Key.Src != e.Key.Src {
			m.met(e.Key, out.Entries[i].Key)
		}
		switch {
		case e.Value.Removes() && (!has || out.Entries[i].Value == nil):
			if sub.null && base.Entries == nil {
				out.Entries = append(out.Entries, e)
				break
			}
			m.c.Errorf("FSM012", e.Key.Span(), "null removes, but there is no %s to remove",
				diag.Quote(e.Key.Text)).
				With(diag.DidYouMean(e.Key.Text, base.Keys()))
		case e.Value.Removes():
			if m.removed != nil {
				m.removed(e.Key, out.Entries[i].Key)
			}
			out.Entries[i].Value = nil
		case has && sub.merge && e.Value.Kind == ast.Map && out.Entries[i].Value != nil &&
			out.Entries[i].Value.Kind == ast.Map:
			out.Entries[i] = ast.Entry{Key: e.Key, Value: m.merge(out.Entries[i].Value, e.Value, sub)}
		default:
			// What is new still has to lose its own nulls.
			if sub.merge && e.Value.Kind == ast.Map {
				e.Value = m.merge(&ast.Node{Kind: ast.Map, Src: over.Src}, e.Value, sub)
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

package lsp

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/parse"
)

// cursor is where an offset stands in a tree.
type cursor struct {
	path []string    // of keys from the top, parse.Item for lists; for a key the path of its map
	maps []*ast.Node // the nodes along the path, outermost first
	node *ast.Node   // the scalar
	key  bool        // the scalar is a key
}

// locate finds the scalar that has an offset inside or at its end.
func locate(root *ast.Node, off int) (cursor, bool) {
	c := cursor{}
	n := root
	for n != nil {
		c.maps = append(c.maps, n)
		var next *ast.Node
		switch n.Kind {
		case ast.Scalar:
			c.maps = c.maps[:len(c.maps)-1]
			c.node = n
			return c, n.Start <= off && off <= n.End
		case ast.Map:
			for _, e := range n.Entries {
				if e.Key.Start <= off && off <= e.Key.End {
					c.node, c.key = e.Key, true
					return c, true
				}
				if e.Value.Start <= off && off <= e.Value.End {
					next = e.Value
					c.path = append(c.path, e.Key.Text)
					break
				}
			}
		case ast.List:
			for _, it := range n.Items {
				if it.Start <= off && off <= it.End {
					next = it
					c.path = append(c.path, parse.Item)
					break
				}
			}
		}
		n = next
	}
	return c, false
}

// marker stands for what is being written while the text around it is parsed.
const marker = "zzCursorzz"

// unmarked puts the word that is being written back where a text quotes the marker, which may have been cut off at its end.
func unmarked(text, word string) string {
	text = strings.ReplaceAll(text, marker, word)
	if head, cut := strings.CutSuffix(text, "…"); cut {
		for n := len(marker) - 1; n > 1; n-- {
			if strings.HasSuffix(head, marker[:n]) {
				return head[:len(head)-n] + "…"
			}
		}
	}
	return text
}

// atMarker parses a text in which the word before off is replaced by the marker, in the
// ways that could make it YAML, and finds the marker.
func atMarker(src *ast.Source, off int) (c cursor, root *ast.Node, before string, ok bool) {
	from := off
	for from > 0 && isWord(src.Text[from-1]) {
		from--
	}
	to := off
	for to < len(src.Text) && isWord(src.Text[to]) {
		to++
	}
	head, tail := string(src.Text[:from]), string(src.Text[to:])
	line := head[strings.LastIndexByte(head, '\n')+1:]
	rest, _, _ := strings.Cut(tail, "\n")
	below := tail[len(rest):]
	closers := closing(line)
	for _, text := range []string{
		head + marker + tail,
		head + marker + ":" + tail,
		head + marker + closers + below,
		head + marker + ":" + closers + below,
		head + marker + closers,
		head + marker + ":" + closers,
	} {
		root, _ = parse.Tree(src.Name, []byte(text))
		if root == nil {
			continue
		}
		c, ok = locate(root, from+len(marker)/2)
		if ok && !c.key {
			// Behind a key that needs a map on its next lines a key is meant, not a value.
			g, known := parse.Look(c.path)
			ok = !known || g.Scalar || strings.TrimSpace(line) != ""
		}
		if ok && strings.Contains(c.node.Text, marker) {
			before, _, _ = strings.Cut(c.node.Text, marker)
			return c, root, before, true
		}
	}
	return cursor{}, nil, "", false
}

// closing returns what closes the brackets and quotes that a line leaves open.
func closing(line string) string {
	var open []byte
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case quote != 0:
			if ch == '\\' && quote == '"' {
				i++
			} else if ch == quote {
				quote = 0
			}
		case ch == '#' && (i == 0 || line[i-1] == ' '):
			i = len(line)
		case ch == '"' || ch == '\'' && (i == 0 || !isWord(line[i-1])):
			quote = ch
		case ch == '{':
			open = append(open, '}')
		case ch == '[':
			open = append(open, ']')
		case (ch == '}' || ch == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	var b strings.Builder
	if quote != 0 {
		b.WriteByte(quote)
	}
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteByte(open[i])
	}
	return b.String()
}

// Package source finds words in the text of a specification, and where an offset stands in its tree,
// even while the text is half written. Start from [Locate] and [AtMarker].
package source

import (
	"io"
	"io/fs"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/parse"
)

// Cursor is where an offset stands in a tree.
type Cursor struct {
	Path []string    // of keys from the top, parse.Item for lists; for a key the path of its map
	Maps []*ast.Node // the nodes along the path, outermost first
	Node *ast.Node   // the scalar
	Key  bool        // the scalar is a key
}

// Locate finds the scalar that has an offset inside or at its end.
func Locate(root *ast.Node, off int) (Cursor, bool) {
	c := Cursor{}
	n := root
	for n != nil {
		c.Maps = append(c.Maps, n)
		var next *ast.Node
		switch n.Kind {
		case ast.Scalar:
			c.Maps = c.Maps[:len(c.Maps)-1]
			c.Node = n
			return c, n.Start <= off && off <= n.End
		case ast.Map:
			for _, e := range n.Entries {
				if e.Key.Start <= off && off <= e.Key.End {
					c.Node, c.Key = e.Key, true
					return c, true
				}
				if e.Value.Start <= off && off <= e.Value.End {
					next = e.Value
					c.Path = append(c.Path, e.Key.Text)
					break
				}
			}
		case ast.List:
			for _, it := range n.Items {
				if it.Start <= off && off <= it.End {
					next = it
					c.Path = append(c.Path, parse.Item)
					break
				}
			}
		}
		n = next
	}
	return c, false
}

// Marker stands for what is being written while the text around it is parsed.
const Marker = "zzCursorzz"

// Unmarked puts the word that is being written back where a text quotes the marker. The marker may be
// cut off at the text's end.
func Unmarked(text, word string) string {
	text = strings.ReplaceAll(text, Marker, word)
	if head, cut := strings.CutSuffix(text, "…"); cut {
		for n := len(Marker) - 1; n > 1; n-- {
			if strings.HasSuffix(head, Marker[:n]) {
				return head[:len(head)-n] + "…"
			}
		}
	}
	return text
}

// AtMarker parses a text in which the word before off is replaced by the marker, in the
// ways that could make it YAML, and finds the marker.
func AtMarker(src *ast.Source, off int) (c Cursor, root *ast.Node, before string, ok bool) {
	word, from := WordAt(src, off)
	to := from + len(word)
	head, tail := string(src.Text[:from]), string(src.Text[to:])
	line := head[strings.LastIndexByte(head, '\n')+1:]
	rest, _, _ := strings.Cut(tail, "\n")
	below := tail[len(rest):]
	closers := closing(line)
	for _, text := range []string{
		head + Marker + tail,
		head + Marker + ":" + tail,
		head + Marker + closers + below,
		head + Marker + ":" + closers + below,
		head + Marker + closers,
		head + Marker + ":" + closers,
	} {
		root, _ = parse.Tree(src.Name, []byte(text))
		if root == nil {
			continue
		}
		c, ok = Locate(root, from+len(Marker)/2)
		if ok && !c.Key {
			// Behind a key that needs a map on its next lines a key is meant, not a value.
			g, known := parse.Look(c.Path)
			ok = !known || g.Scalar || strings.TrimSpace(line) != ""
		}
		if ok && strings.Contains(c.Node.Text, Marker) {
			before, _, _ = strings.Cut(c.Node.Text, Marker)
			return c, root, before, true
		}
	}
	return Cursor{}, nil, "", false
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
		case ch == '"' || ch == '\'' && (i == 0 || !IsWord(line[i-1])):
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

// WordAt returns the name around an offset and where it begins.
func WordAt(src *ast.Source, off int) (string, int) {
	from, to := off, off
	for from > 0 && IsWord(src.Text[from-1]) {
		from--
	}
	for to < len(src.Text) && IsWord(src.Text[to]) {
		to++
	}
	return string(src.Text[from:to]), from
}

// IsWord reports whether a byte can stand in a name.
func IsWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Read returns a file's text, or "" if it cannot be read or is longer than a specification may be.
func Read(fsys fs.FS, name string) string {
	f, err := fsys.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, parse.MaxBytes+1))
	if err != nil || len(b) > parse.MaxBytes {
		return ""
	}
	return string(b)
}

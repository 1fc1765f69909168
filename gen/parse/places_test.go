package parse

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-go/parley/gen/ast"
)

// checkPlaces compares each byte of each scalar with the source where it is said to stand.
func checkPlaces(t *testing.T, n *ast.Node) int {
	count := 0
	var scalars []*ast.Node
	gather(n, &scalars)
	for _, s := range scalars {
		for i := 0; i < len(s.Text); i++ {
			c, off := s.Text[i], s.Offset(i)
			count++
			if off < s.Start || off > s.End || off == s.End && c != '\n' {
				t.Errorf("%s: byte %d of %.40q stands outside", s.Span(), i, s.Text)
				break
			}
			if c == '\n' || c == ' ' {
				continue // may stand for a line's end
			}
			if src := s.Src.Text[off]; src != c && src != '\\' {
				t.Errorf("%s: byte %d of %.40q is %q, the source has %q", s.Span(), i, s.Text, c, src)
				break
			}
		}
	}
	return count
}

func TestPlacesInFiles(t *testing.T) {
	count := 0
	for _, pattern := range []string{"../../specs/*/*.yaml", "../compile/testdata/*/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if root, _ := Tree(f, text); root != nil {
				count += checkPlaces(t, root)
			}
		}
	}
	if count < 10000 {
		t.Errorf("only %d bytes were compared", count)
	}
}

// TestPlaces follows every style of scalar: each @ of the text must stand at an @ of the source.
func TestPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		src, text string
		at        [][2]int // line and column of each @
	}{
		"plain":             {"k: a@b@", "a@b@", [][2]int{{1, 5}, {1, 7}}},
		"plain, lines":      {"k: a@\n  b\n\n   c@", "a@ b\nc@", [][2]int{{1, 5}, {4, 5}}},
		"single":            {"k: 'it''s @'", "it's @", [][2]int{{1, 11}}},
		"single, lines":     {"k: 'a''\n\n\n  b @'", "a'\n\nb @", [][2]int{{4, 5}}},
		"double":            {`k: "\t\x41\u00e9\\@"`, "\tAé\\@", [][2]int{{1, 19}}},
		"double, continued": {"k: \"a \\\n   b @\\\n  c@\"", "a b @c@", [][2]int{{2, 6}, {3, 4}}},
		"double, lines":     {"k: \"a\n\n  é @\"", "a\né @", [][2]int{{3, 6}}},
		"literal": {"k: |\n  a@\n   b@\n\n  c@\n", "a@\n b@\n\nc@\n",
			[][2]int{{2, 4}, {3, 5}, {5, 4}}},
		"literal, stripped": {"k: |-  # why\n     é@\n", "é@", [][2]int{{2, 8}}},
		"literal, kept":     {"k: |+\n  a@\n\n\nm: 1", "a@\n\n\n", [][2]int{{2, 4}}},
		"literal, stated":   {"k: |2\n   a@\n  b@\n", " a@\nb@\n", [][2]int{{2, 5}, {3, 4}}},
		"folded": {"k: >\n  a@\n  b@\n\n  c@\n", "a@ b@\nc@\n",
			[][2]int{{2, 4}, {3, 4}, {5, 4}}},
		"folded, deeper": {"k: >-\n  a@\n    b@\n    c@\n  d@\n", "a@\n  b@\n  c@\nd@",
			[][2]int{{2, 4}, {3, 6}, {4, 6}, {5, 4}}},
		"folded, blank lines": {"k: >\n\n  a@\n\n\n  b@\n", "\na@\n\nb@\n", [][2]int{{3, 4}, {6, 4}}},
		"folded, blank deeper": {"k: >\n  a@\n\n    b@\n\n  c@\n", "a@\n\n  b@\n\nc@\n",
			[][2]int{{2, 4}, {4, 6}, {6, 4}}},
		"carriage returns":    {"k: |\r\n  a@\r\n  b@\r\n", "a@\nb@\n", [][2]int{{2, 4}, {3, 4}}},
		"behind wide letters": {"é: {ü: ö@}", "ö@", [][2]int{{1, 12}}},
	} {
		t.Run(name, func(t *testing.T) {
			root, l := Tree("x", []byte(c.src))
			if root == nil {
				t.Fatal(l.Error())
			}
			checkPlaces(t, root)
			n := root.Entries[0].Value
			for n.Kind == ast.Map {
				n = n.Entries[0].Value
			}
			if n.Text != c.text {
				t.Fatalf("the text is %q", n.Text)
			}
			next := 0
			for i := 0; i < len(n.Text); i++ {
				if n.Text[i] != '@' {
					continue
				}
				if p := n.Part(i, i+1).Start; p.Line != c.at[next][0] || p.Col != c.at[next][1] {
					t.Errorf("@ %d is at %v, want %v", next, p, c.at[next])
				}
				next++
			}
		})
	}
}

package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
)

// Format brings a specification into its canonical form: two spaces for each level,
// one space inside flow maps and lists, quotes only where they are needed and then
// double ones where possible, at most one blank line, comments at line ends
// aligned over neighbouring lines. Which maps and lists are written with
// brackets, where those are broken, the order of keys and all comments
// stay as they are. A text that is not YAML comes back with its diagnostics.
func Format(name string, text []byte) ([]byte, diag.List) {
	root, found := Tree(name, text)
	if found.HasErrors() {
		return nil, found
	}
	for _, keepQuotes := range []bool{false, true} {
		p := newPrinter(root)
		p.keepQuotes = keepQuotes
		p.value(root, 0)
		p.flush(len(root.Src.Text), 0, 1)
		out := p.bytes()
		again, broken := Tree(name, out)
		if p.ok && !broken.HasErrors() && same(root, again) &&
			slices.Equal(commentTexts(p.comments), commentTexts(findComments(again))) {
			return out, nil
		}
	}
	c := &diag.Collector{}
	c.Errorf("FSM003", root.Span(), "this is written in a way that cannot be formatted without a change of meaning")
	return nil, c.List()
}

// comment is one comment of the source.
type comment struct {
	text      string // from the #, without blanks at the end
	start     int    // offset of the #
	line, col int
	own       bool // alone on its line
}

func commentTexts(cs []comment) []string {
	var out []string
	for _, c := range cs {
		out = append(out, c.text)
	}
	return out
}

// findComments finds the comments between the scalars of a tree.
func findComments(root *ast.Node) []comment {
	src := root.Src
	var scalars []*ast.Node
	gather(root, &scalars)
	var out []comment
	next := 0
	for i := 0; i < len(src.Text); i++ {
		for next < len(scalars) && scalars[next].End <= i {
			next++
		}
		if next < len(scalars) && i >= scalars[next].Start {
			i = scalars[next].End - 1
			continue
		}
		if src.Text[i] != '#' || i > 0 && !isBlank(src.Text[i-1]) {
			continue
		}
		end := len(src.Text)
		if j := bytes.IndexByte(src.Text[i:], '\n'); j >= 0 {
			end = i + j
		}
		pos := src.Pos(i)
		before := src.Text[i-(pos.Col-1) : i]
		out = append(out, comment{
			text: strings.TrimRight(string(src.Text[i:end]), " \t\r"), start: i, line: pos.Line,
			col: pos.Col,
			own: len(bytes.TrimSpace(before)) == 0,
		})
		i = end - 1
	}
	return out
}

// gather lists the scalars that are not empty, in order.
func gather(n *ast.Node, out *[]*ast.Node) {
	if n.Kind == ast.Scalar && n.End > n.Start {
		*out = append(*out, n)
	}
	for _, e := range n.Entries {
		gather(e.Key, out)
		gather(e.Value, out)
	}
	for _, it := range n.Items {
		gather(it, out)
	}
}

// same reports whether two trees mean the same.
func same(a, b *ast.Node) bool {
	if a.Kind != b.Kind || a.Text != b.Text || a.IsNull() != b.IsNull() || isBool(a) != isBool(b) ||
		len(a.Entries) != len(b.Entries) || len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Entries {
		if !same(a.Entries[i].Key, b.Entries[i].Key) || !same(a.Entries[i].Value, b.Entries[i].Value) {
			return false
		}
	}
	for i := range a.Items {
		if !same(a.Items[i], b.Items[i]) {
			return false
		}
	}
	return true
}

// quoted writes a scalar on one line in its canonical style.
func quoted(n *ast.Node, flow bool) string {
	t := n.Text
	switch {
	case n.Style == ast.Plain && (t == "" || !strings.ContainsAny(t, "\n")):
		return t
	case plainSafe(t, flow):
		return t
	case strings.ContainsAny(t, "\n\r\t") || hasControl(t):
		return doubleQuoted(t)
	case !strings.ContainsAny(t, `"\`):
		return `"` + t + `"`
	}
	return "'" + strings.ReplaceAll(t, "'", "''") + "'"
}

func hasControl(t string) bool {
	return strings.ContainsFunc(t, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff
	})
}

func doubleQuoted(t string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range t {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case hasControl(string(r)):
			const hex = "0123456789abcdef"
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(hex[r>>shift&15])
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plainSafe reports whether a text that was quoted means the same without quotes.
func plainSafe(t string, flow bool) bool {
	if t == "" || t != strings.TrimSpace(t) || hasControl(t) || strings.Contains(t, ": ") ||
		strings.Contains(t, " #") || strings.HasSuffix(t, ":") {
		return false
	}
	if strings.ContainsRune("-?:,[]{}#&*!|>'\"%@`", rune(t[0])) || strings.HasPrefix(t, "...") ||
		strings.HasPrefix(t, "=") || strings.HasPrefix(t, "<<") {
		return false
	}
	if flow && strings.ContainsAny(t, ",[]{}:?") {
		return false
	}
	switch strings.ToLower(t) {
	case "null", "~", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	// Numbers, dates and the like stay quoted.
	return !(t[0] >= '0' && t[0] <= '9' || t[0] == '+' || t[0] == '.')
}

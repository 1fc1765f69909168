package parse

import (
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
)

// builder turns nodes of the library into ours.
type builder struct {
	src *ast.Source
	c   *diag.Collector
}

func (b *builder) node(y *yaml.Node, depth int) *ast.Node {
	n := &ast.Node{Src: b.src, Start: b.src.Offset(y.Line, y.Column), Flow: y.Style&yaml.FlowStyle != 0}
	n.End = n.Start
	switch {
	case depth > MaxDepth:
		b.c.Errorf("FSM004", n.Span(), "nested deeper than %d levels", MaxDepth)
		return n
	case y.Kind == yaml.AliasNode || y.Anchor != "":
		b.c.Errorf("FSM005", n.Span(), "YAML anchors and aliases are not part of the language").
			With("`common`, `import` and `extends` say things once")
		return n
	case y.Style&yaml.TaggedStyle != 0:
		b.c.Errorf("FSM005", n.Span(), "YAML tags are not part of the language")
		return n
	}
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = ast.Map
		b.entries(n, y, depth)
	case yaml.SequenceNode:
		n.Kind = ast.List
		for _, c := range y.Content {
			it := b.node(c, depth+1)
			n.Items = append(n.Items, it)
			n.End = max(n.End, it.End)
		}
	default:
		b.scalar(n, y)
		return n
	}
	b.close(n)
	return n
}

func (b *builder) entries(n *ast.Node, y *yaml.Node, depth int) {
	seen := map[string]ast.Entry{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := b.node(y.Content[i], depth+1), b.node(y.Content[i+1], depth+1)
		n.End = max(n.End, v.End, k.End)
		if k.Kind != ast.Scalar {
			b.c.Errorf("FSM003", k.Span(), "a key must be a name, not %s", k.Kind)
			continue
		}
		if first, is := seen[k.Text]; is {
			b.c.Errorf("FSM006", k.Span(), "%s is here twice", diag.Quote(k.Text)).
				See(first.Key.Span(), "first here").With(both(k, first.Value, v))
			continue
		}
		seen[k.Text] = ast.Entry{Key: k, Value: v}
		n.Entries = append(n.Entries, ast.Entry{Key: k, Value: v})
	}
}

// both returns how two things can be done of which a map can name one: its keys are there once.
func both(k, first, second *ast.Node) string {
	if first.Kind != ast.Scalar || second.Kind != ast.Scalar || first.Text == "" || second.Text == "" {
		return ""
	}
	a, b := string(first.Src.Text[first.Start:first.End]), string(second.Src.Text[second.Start:second.End])
	if len(a)+len(b) > 80 || strings.Contains(a+b, "\n") {
		a, b = "…", "…"
	}
	switch k.Text {
	case "send", "report", "run", "call", "start", "stop", "restart":
		return "both are done by `do: [{" + k.Text + ": " + a + "}, {" + k.Text + ": " + b + "}]`"
	case "when":
		if first.Style == ast.Plain && second.Style == ast.Plain {
			return "one condition has both: `when: " + a + " && " + b + "`"
		}
		return "join both conditions by &&"
	}
	return ""
}

// close moves the end of a bracketed collection behind its bracket.
func (b *builder) close(n *ast.Node) {
	text := b.src.Text
	if !n.Flow || n.Start >= len(text) {
		return
	}
	want := byte('}')
	if n.Kind == ast.List {
		want = ']'
	}
	if text[n.Start] != '{' && text[n.Start] != '[' {
		return // a pair inside a list's brackets
	}
	i := max(n.End, n.Start+1)
	for i < len(text) && text[i] != want {
		if text[i] == '#' && isBlank(text[i-1]) {
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		}
		if !isBlank(text[i]) && text[i] != ',' && text[i] != '\n' && text[i] != '\r' && text[i] != ':' &&
			text[i] != '?' {
			return
		}
		i++
	}
	if i < len(text) {
		n.End = i + 1
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (b *builder) scalar(n *ast.Node, y *yaml.Node) {
	b.follow(n, y)
	for _, r := range n.Text {
		if diag.Hidden(r) {
			b.c.Errorf("FSM002", n.Span(), "the control character U+%04X", r).
				With("texts of a specification reach terminals and pictures; leave out the escape that stands for it")
			return
		}
	}
}

// follow finds the place of each byte of a scalar.
func (b *builder) follow(n *ast.Node, y *yaml.Node) {
	n.Text = y.Value
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		n.Style = ast.DoubleQuoted
	case y.Style&yaml.SingleQuotedStyle != 0:
		n.Style = ast.SingleQuoted
	case y.Style&yaml.LiteralStyle != 0:
		n.Style = ast.Literal
	case y.Style&yaml.FoldedStyle != 0:
		n.Style = ast.Folded
	}
	if n.Style == ast.Plain && strings.HasPrefix(string(b.src.Text[n.Start:min(len(b.src.Text),
		n.Start+len(n.Text))]), n.Text) {
		n.End = n.Start + len(n.Text)
		return
	}
	w := &walker{src: b.src.Text, text: n.Text, at: n.Start}
	if !w.walk(n.Style) {
		// The text cannot be followed, so all of it gets the place where it begins.
		n.Places = make([]int32, len(n.Text)+1)
		for i := range n.Places {
			n.Places[i] = int32(n.Start)
		}
		return
	}
	n.Places, n.End = w.places, w.end
}

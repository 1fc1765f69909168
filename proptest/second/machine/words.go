package machine

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/syntax"
)

// Named adds the texts that an expression names to those that are known. What is no expression names none.
func Named(n *ast.Node, known []Text) []Text {
	if n != nil && n.Kind == ast.List {
		for _, it := range n.Items {
			known = Named(it, known)
		}
	}
	if n == nil || n.Kind != ast.Scalar || !strings.ContainsAny(n.Text, "'\"") {
		return known
	}
	x, err := syntax.Parse(n.Text, n.Part)
	if err != nil {
		return known
	}
	return NamedIn(x, known)
}

// NamedIn is the same for an expression that is parsed.
func NamedIn(x syntax.Node, known []Text) []Text {
	if s, ok := x.(*syntax.String); ok && s.Value != "" && !slices.Contains(known, Text(s.Value)) {
		known = append(known, Text(s.Value))
	}
	for _, k := range Children(x) {
		known = NamedIn(k, known)
	}
	return known
}

// Carries reports whether a field of a message can have a text in a frame, apart from its type.
func (u *Unit) Carries(message *ast.Node, field, text string) bool {
	wire := u.Root.Get("wire")
	if wire == nil {
		return true
	}
	if wire.Get("lines") == nil {
		plain := !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
		if item := message.Get("wire"); !plain && item != nil && endsTexts(item) {
			panic(Unsupported("a hostile instance and texts that end with certain bytes"))
		}
		return true
	}
	if c := wire.Get("charset"); c != nil && c.Text == "ascii" &&
		strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return false
	}
	line := message.Get("line").Text
	if place := regexp.MustCompile(`\{` + field + `\}([^{]?)`).FindStringSubmatch(line); place == nil {
		panic(Unsupported("a hostile instance and texts in records of a line"))
	} else if strings.ContainsAny(text, "\r\n"+place[1]) {
		return false
	}
	if line != "{"+field+"}" {
		return true
	}
	for _, e := range Entries(u.Root.Get("messages")) {
		begin, _, _ := strings.Cut(e.Value.Get("line").Text, "{")
		if e.Value != message && strings.HasPrefix(text, begin) {
			panic(Unsupported("a hostile instance and a text that may be another line"))
		}
	}
	return true
}

// endsTexts reports whether items of a frame have texts that certain bytes end.
func endsTexts(n *ast.Node) bool {
	return n.Text == "nul" || n.Text == "domain" || slices.ContainsFunc(n.Items, endsTexts) ||
		slices.ContainsFunc(n.Entries, func(e ast.Entry) bool {
			return e.Key.Text == "end" || endsTexts(e.Value)
		})
}

// Package parse turns the text of a specification into a tree in which each byte knows its place.
// It refuses YAML beyond the plain kind that specifications need, and checks that each key stands
// where it may. It does not know what names mean. It is the only importer of YAML. Start from
// [File].
package parse

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
)

// Limits of one file.
const (
	MaxBytes = 1 << 20
	MaxDepth = 64
)

// File parses one file; name is how the user named it. The tree is nil if the file is not YAML at
// all. With other errors there is a tree, but it must not be used.
func File(name string, data []byte) (*ast.Node, diag.List) {
	src := ast.NewSource(name, data)
	c := &diag.Collector{}
	if !checkText(src, c) {
		return nil, c.List()
	}
	root := tree(src, c)
	switch {
	case root == nil || !onlyTwice(c):
	case root.Kind != ast.Map:
		c.Errorf("FSM008", root.Span(), "a specification is a map, not %s", root.Kind).
			With("it starts with `protocol: name`")
	default:
		checkShape(root, &specShape, c)
	}
	return root, c.List()
}

// onlyTwice reports whether all that is wrong is keys that stand twice. The rest of the tree can
// still be looked at then.
func onlyTwice(c *diag.Collector) bool {
	for _, d := range c.List() {
		if d.Code != "FSM006" {
			return false
		}
	}
	return true
}

// Tree parses one file without looking at the keys: what a formatter needs.
func Tree(name string, data []byte) (*ast.Node, diag.List) {
	src := ast.NewSource(name, data)
	c := &diag.Collector{}
	if !checkText(src, c) {
		return nil, c.List()
	}
	root := tree(src, c)
	return root, c.List()
}

// byteOrderMark is the remedy for one, which cannot be seen.
const byteOrderMark = `it is invisible; save the file as UTF-8 without one, or: sed -i '1s/^\xEF\xBB\xBF//' FILE`

// checkText reports what would make lines and columns doubtful.
func checkText(src *ast.Source, c *diag.Collector) bool {
	if len(src.Text) > MaxBytes {
		c.Errorf("FSM002", diag.Span{File: src.Name}, "the file has more than %d MB", MaxBytes>>20).
			With("what several files have in common can be imported or extended")
		return false
	}
	for i := 0; i < len(src.Text); {
		r, n := utf8.DecodeRune(src.Text[i:])
		bad, hint := "", "specifications are UTF-8 text with lines that end in \\n or \\r\\n"
		switch {
		case r == utf8.RuneError && n == 1:
			bad = "the file is not UTF-8 here"
		case r == '\r' && (i+1 == len(src.Text) || src.Text[i+1] != '\n'):
			bad = "a carriage return that ends no line"
		case r == 0x85 || r == 0x2028 || r == 0x2029:
			bad = fmt.Sprintf("the line separator U+%04X", r)
		case r == 0xFEFF:
			bad, hint = "a byte order mark", byteOrderMark
		case r != '\r' && diag.Hidden(r):
			bad = fmt.Sprintf("the control character U+%04X", r)
		}
		if bad != "" {
			c.Errorf("FSM002", src.Span(i, i+n), "%s", bad).With(hint)
			return false
		}
		i += n
	}
	return true
}

// depthLimit is a plugin of the YAML library that stops deep nesting while it is read. Aliases are
// not expanded that early.
type depthLimit struct{}

var errDepth = errors.New("nested too deeply")

func (depthLimit) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > MaxDepth {
		return errDepth
	}
	return nil
}

func (depthLimit) CheckAlias(int, int) error { return nil }

func tree(src *ast.Source, c *diag.Collector) *ast.Node {
	if saysNothing(src.Text) {
		c.Errorf("FSM003", src.Span(0, 0), "the file is empty").
			With("a specification starts with `protocol: name`")
		return nil
	}
	doc, err := load(src.Text)
	if err != nil {
		reportAll(src, err, c)
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		c.Errorf("FSM003", src.Span(0, 0), "the file says nothing").
			With("a specification starts with `protocol: name`")
		return nil
	}
	b := &builder{src: src, c: c}
	return b.node(doc.Content[0], 0)
}

// saysNothing reports whether a text is blank but for comments.
func saysNothing(text []byte) bool {
	for line := range bytes.Lines(text) {
		if says(string(line)) {
			return false
		}
	}
	return true
}

// load calls the library and turns its panics on strange input into errors.
func load(text []byte) (doc yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("not understood by the YAML reader: %v", r)
		}
	}()
	err = yaml.Load(text, &doc, yaml.WithPlugin(depthLimit{}))
	return doc, err
}

// reportYAML reports why the library stopped. It returns the line to blame, and whether the
// mistake is in this line alone.
func reportYAML(src *ast.Source, err error, c *diag.Collector) (line int, alone bool) {
	what := complained(src, err)
	at, text := what.at, what.text
	switch {
	case strings.Contains(text, errDepth.Error()), strings.Contains(text, "max depth"):
		c.Errorf("FSM004", src.Span(at, at), "nested deeper than %d levels", MaxDepth)
		return 0, false
	case strings.Contains(text, "multiple"):
		at = max(0, bytes.Index(src.Text, []byte("\n---"))+1)
		c.Errorf("FSM003", src.Span(at, at), "a specification is one YAML document")
		return 0, false
	case strings.Contains(text, "unknown anchor"):
		c.Errorf("FSM005", src.Span(at, at), "YAML aliases are not part of the language")
		return 0, false
	}
	if s, alone := findSlip(src, what); s != nil {
		c.Errorf("FSM003", src.Span(s.at, s.end), "%s", s.message).With(s.hint)
		return src.Pos(s.at).Line, alone
	}
	if what.reading != "" {
		text += ", " + what.reading
	}
	d := c.Errorf("FSM003", src.Span(at, at), "not YAML: %s", text)
	if what.from >= 0 && what.from != at {
		d.See(src.Span(what.from, what.from), "what is being read begins here")
	}
	here := src.Line(src.Pos(at).Line)
	if strings.Contains(what.reading, "flow") && strings.ContainsAny(here, "{[") {
		d.With("inside braces, texts that contain { } [ ] , or \": \" must be quoted: {send: \"CHANGE{value}\"}")
		return src.Pos(at).Line, true
	}
	return 0, false
}

// complained takes the library's error apart.
func complained(src *ast.Source, err error) complaint {
	var one *yaml.LoadError
	var many *yaml.LoadErrors
	if errors.As(err, &many) && len(many.Errors) > 0 {
		one = many.Errors[0]
	} else if !errors.As(err, &one) {
		return complaint{text: strings.TrimPrefix(err.Error(), "yaml: "), from: -1}
	}
	out := complaint{text: strings.TrimPrefix(one.Message, "yaml: "), reading: one.ContextMsg,
		at: src.Offset(one.Mark.Line, one.Mark.Column), from: -1}
	if one.ContextMsg != "" && one.ContextMark.Line > 0 {
		out.from = src.Offset(one.ContextMark.Line, one.ContextMark.Column)
	}
	return out
}

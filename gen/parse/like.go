package parse

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
)

// maxLike bounds how many claims those checks of one file have that say `like`.
const maxLike = 4096

// Like writes out the checks of a tree that say `like: name`: it lays each one over the check of
// that name. That check may stand in the file that this one extends, which is base, already
// written out, or nil. Neither tree is changed; both must have passed [File]. If use is not nil,
// it is called with each name and where it is declared. If removed is not nil, it is called with
// each key whose null removes, and with the key that it removes.
func Like(root, base *ast.Node, use func(at, decl diag.Span), removed func(over, base *ast.Node)) (*ast.Node,
	diag.List) {
	own := root.Get("checks")
	any := false
	for _, e := range checksOf(root) {
		any = any || e.Value.Get("like") != nil
	}
	if !any {
		return root, nil
	}
	l := &likes{own: root, base: base, use: use, removed: removed, done: map[string]*ast.Node{}}
	checks := *own
	checks.Entries = nil
	for _, e := range own.Entries {
		if e.Value.Get("like") != nil {
			e.Value = l.check(e.Key.Text)
		}
		if e.Value != nil {
			checks.Entries = append(checks.Entries, e)
		}
	}
	out := *root
	out.Entries = nil
	for _, e := range root.Entries {
		if e.Key.Text == "checks" {
			e.Value = &checks
		}
		out.Entries = append(out.Entries, e)
	}
	return &out, l.c.List()
}

type likes struct {
	c         diag.Collector
	own, base *ast.Node
	use       func(at, decl diag.Span)
	removed   func(over, base *ast.Node)
	done      map[string]*ast.Node // nil while it is being written out, and where that failed
	claims    int
}

func checksOf(root *ast.Node) []ast.Entry {
	if n := root.Get("checks"); n != nil && n.Kind == ast.Map {
		return n.Entries
	}
	return nil
}

func checkNamed(root *ast.Node, name string) (ast.Entry, bool) {
	for _, e := range checksOf(root) {
		if e.Key.Text == name && e.Value.Kind == ast.Map {
			return e, true
		}
	}
	return ast.Entry{}, false
}

// check returns a check in full, as others that are like it begin. It is nil if something is
// wrong.
func (l *likes) check(name string) *ast.Node {
	if n, done := l.done[name]; done {
		return n
	}
	l.done[name] = nil
	var below *ast.Node
	if e, ok := checkNamed(l.base, name); ok {
		below = e.Value
	}
	e, ok := checkNamed(l.own, name)
	if !ok {
		l.done[name] = below
		return below
	}
	like := e.Value.Get("like")
	c := &diag.Collector{}
	if like != nil {
		if below = l.named(name, like); below == nil {
			return nil
		}
		c = &l.c
	}
	over := without(e.Value, "like")
	if below == nil {
		below = &ast.Node{Kind: ast.Map, Src: over.Src}
	}
	// Wrong nulls in a check without `like` are reported when the files are merged.
	n := (&merger{c: c, removed: l.removed}).merge(below, over, &oneCheck)
	if like != nil {
		if l.claims += len(n.Get("claims").Keys()); l.claims > maxLike {
			l.c.Errorf("FSM042", like.Span(), "the checks that are like others have more than %d claims", maxLike)
			return nil
		}
	}
	l.done[name] = n
	return n
}

// named finds the check after `like`.
func (l *likes) named(name string, like *ast.Node) *ast.Node {
	if n, begun := l.done[like.Text]; begun && n == nil {
		if _, ok := checkNamed(l.own, like.Text); ok {
			l.c.Errorf("FSM085", like.Span(), "the check %s is like %s, which is like it or has an error",
				diag.Quote(name), diag.Quote(like.Text))
			return nil
		}
	}
	var known []string
	for _, root := range []*ast.Node{l.own, l.base} {
		for _, e := range checksOf(root) {
			known = append(known, e.Key.Text)
		}
		if e, ok := checkNamed(root, like.Text); ok && l.use != nil {
			l.use(like.Span(), e.Key.Span())
			break
		}
	}
	n := l.check(like.Text)
	if _, ok := checkNamed(l.own, like.Text); n == nil && !ok {
		l.c.Errorf("FSM085", like.Span(), "there is no check %s", diag.Quote(like.Text)).
			With(diag.DidYouMean(like.Text, known))
	}
	return n
}

func without(n *ast.Node, key string) *ast.Node {
	out := *n
	out.Entries = nil
	for _, e := range n.Entries {
		if e.Key.Text != key {
			out.Entries = append(out.Entries, e)
		}
	}
	return &out
}

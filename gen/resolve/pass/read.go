package pass

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/syntax"
)

// Parse reads the expression in a node; lists of YAML are lists of the language.
func (r *Pass) Parse(n *ast.Node) syntax.Node {
	switch n.Kind {
	case ast.Scalar:
		x, done := r.parsed[n]
		if !done {
			x.Node, x.err = syntax.Parse(n.Text, n.Part)
			r.parsed[n] = x
		}
		if x.err != nil {
			r.SyntaxError(x.err)
			return nil
		}
		return x.Node
	case ast.List:
		var elems []syntax.Node
		for _, it := range n.Items {
			x := r.Parse(it)
			if x == nil {
				return nil
			}
			elems = append(elems, x)
		}
		return syntax.At(n.Span(), elems)
	}
	r.Errorf("FSM008", n.Span(), "an expression is %s, not %s", ast.Scalar, n.Kind).
		With("a literal goes into quotes: \"NAME{field: value}\"")
	return nil
}

// SyntaxError reports an error in the text of an expression or type.
func (r *Pass) SyntaxError(err *syntax.Error) {
	r.Errorf("FSM020", err.Span, "%s", err.Message).With(err.Hint)
}

// Unknown reports that the name in a node means nothing.
func (r *Pass) Unknown(code string, n *ast.Node, what string, candidates []string) {
	r.UnknownAt(code, n.Span(), n.Text, what, candidates)
}

// UnknownAt reports that a name means nothing, and which name of the candidates is near.
func (r *Pass) UnknownAt(code string, at diag.Span, name, what string, candidates []string) *diag.Diagnostic {
	d := r.Errorf(code, at, "there is no %s %s", what, diag.Quote(name))
	candidates = distinct(candidates)
	if hint := diag.DidYouMean(name, candidates); hint != "" {
		d.With(hint)
	} else if len(candidates) > 0 && len(candidates) <= 8 {
		d.With("there " + map[bool]string{true: "is",
			false: "are"}[len(candidates) == 1] + " " + diag.QuoteAll(candidates))
	}
	return d
}

// distinct returns the texts of a list without those that an earlier one repeats.
func distinct(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range list {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}

// NameTaken reports a name that has another meaning already, which was declared first.
func (r *Pass) NameTaken(at diag.Span, name, what string, first diag.Span) {
	r.Errorf("FSM040", at, "%s is already the name of %s", diag.Quote(name), diag.Article(what)).
		See(first, "declared here")
}

// SetBroken remembers a declaration whose fields could not be resolved, so that nothing is
// reported where it is used.
func (r *Pass) SetBroken(at diag.Span) { r.broken[at] = true }

// IsBroken reports whether the fields of a declaration could not be resolved.
func (r *Pass) IsBroken(at diag.Span) bool { return r.broken[at] }

// TextOf returns the text under a key, or "" if there is none.
func TextOf(n *ast.Node, key string) string {
	if v := n.Get(key); v != nil && v.Kind == ast.Scalar && !v.IsNull() {
		return v.Text
	}
	return ""
}

// IsTrue reports whether a node says true.
func IsTrue(n *ast.Node) bool { return n != nil && n.Text == "true" }

// Scalars returns the items of a list, or the node itself where one stands for a list.
func Scalars(n *ast.Node) []*ast.Node {
	switch {
	case n == nil || n.IsNull():
		return nil
	case n.Kind == ast.List:
		return n.Items
	}
	return []*ast.Node{n}
}

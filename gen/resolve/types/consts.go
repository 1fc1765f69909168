package types

import (
	"maps"
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/syntax"
)

// constant is a named integer. It is evaluated when it is first needed.
type constant struct {
	m     *model.Const
	value *ast.Node
	state progress
}

// progress tells how far a declaration is that is resolved when it is first needed.
type progress uint8

const (
	untouched progress = iota
	busy
	done
	failed
)

// DeclareConsts enters and evaluates the constants of the section `consts`.
func (r *Table) DeclareConsts() {
	n := r.Root.Get("consts")
	if n != nil {
		for _, e := range n.Entries {
			c := &constant{m: &model.Const{Name: e.Key.Text, Span: e.Key.Span()}, value: e.Value}
			if e.Value.Kind == ast.Map {
				c.value, c.m.Doc = e.Value.Get("value"), pass.TextOf(e.Value, "doc")
				if c.value == nil {
					r.Errorf("FSM009", e.Key.Span(), "constant %s has no `value`", diag.Quote(e.Key.Text))
					c.state = failed
				}
			}
			r.consts[e.Key.Text] = c
			r.Protocol.Consts = append(r.Protocol.Consts, c.m)
		}
	}
	r.replaceConsts()
	for _, m := range r.Protocol.Consts {
		r.constValue(r.consts[m.Name])
	}
}

// replaceConsts applies the constants of the check and of the configuration.
func (r *Table) replaceConsts() {
	if cs := r.Check.Get("consts"); cs != nil {
		for _, e := range cs.Entries {
			c := r.consts[e.Key.Text]
			if c == nil {
				r.Unknown("FSM021", e.Key, "constant", r.Root.Get("consts").Keys())
				continue
			}
			c.value = e.Value
			r.Refer(e.Key.Span(), c.m.Span)
			r.Use(c.m.Span)
		}
	}
	for _, m := range r.Protocol.Consts {
		if v, ok := r.Config.Consts[m.Name]; ok {
			c := r.consts[m.Name]
			c.m.Value, c.state = v, done
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Config.Consts)) {
		if r.consts[name] == nil {
			r.Errorf("FSM086", r.Root.Src.Span(0, 0), "there is no constant %s to replace",
				diag.Quote(name)).
				With(diag.DidYouMean(name, r.Root.Get("consts").Keys()))
		}
	}
}

// ConstNamed returns the value of a constant and notes that it is mentioned at a place. known is
// false if there is no such constant, and ok is false if it has an error.
func (r *Table) ConstNamed(name string, at diag.Span) (v int64, known, ok bool) {
	c := r.consts[name]
	if c == nil {
		return 0, false, false
	}
	r.Use(c.m.Span)
	r.Refer(at, c.m.Span)
	before := len(r.mentions)
	v, ok = r.constValue(c)
	r.mentions = append(r.mentions[:before], at) // and not what its own value mentions
	if !slices.Contains(c.m.Uses, at) {
		c.m.Uses = append(c.m.Uses, at)
	}
	return v, true, ok
}

// ConstAt returns where a constant is declared.
func (r *Table) ConstAt(name string) (at diag.Span, known bool) {
	c := r.consts[name]
	if c == nil {
		return diag.Span{}, false
	}
	return c.m.Span, true
}

// constValue evaluates a constant when it is first needed.
func (r *Table) constValue(c *constant) (int64, bool) {
	switch c.state {
	case done:
		return c.m.Value, true
	case failed:
		return 0, false
	case busy:
		r.Errorf("FSM043", c.m.Span, "constant %s depends on itself", diag.Quote(c.m.Name))
		c.state = failed
		return 0, false
	}
	c.state = busy
	v, ok := r.ConstIn(c.value, -model.MaxConst, model.MaxConst, "constant "+diag.Quote(c.m.Name))
	if c.state == failed || !ok {
		c.state = failed
		return 0, false
	}
	c.m.Value, c.state = v, done
	return v, true
}

// ConstIn evaluates a constant integer and checks that it lies within lo and hi. Errors call it by
// the word in what.
func (r *Table) ConstIn(n *ast.Node, lo, hi int64, what string) (int64, bool) {
	x := r.Parse(n)
	if x == nil {
		return 0, false
	}
	return r.ConstNode(x, lo, hi, what)
}

// ConstMentions does what [Table.ConstIn] does, and lists the places of the constants that n mentions.
func (r *Table) ConstMentions(n *ast.Node, lo, hi int64, what string) (v int64, at []diag.Span, ok bool) {
	before := len(r.mentions)
	v, ok = r.ConstIn(n, lo, hi, what)
	return v, slices.Clone(r.mentions[before:]), ok
}

// ConstNode does for an expression what [Table.ConstIn] does for a node.
func (r *Table) ConstNode(x syntax.Node, lo, hi int64, what string) (int64, bool) {
	e := r.eval(r, x)
	if e == nil {
		return 0, false
	}
	v, ok := Constant(e)
	if !ok || e.Type() == nil || e.Type().Kind != model.KindInt {
		r.Errorf("FSM025", x.Pos(), "%s must be a constant number", what)
		return 0, false
	}
	if v < lo || v > hi {
		r.Errorf("FSM014", x.Pos(), "%s is %d, not within %d..%d", what, v, lo, hi)
		return 0, false
	}
	return v, true
}

package body

import (
	"slices"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// over names what a quantifier goes through.
func over(values *model.Type, list model.Expr) string {
	switch e := list.(type) {
	case *model.VarRef:
		return base.GoName(e.Var.Name)
	case *model.FieldRef:
		return base.GoName(e.Field.Name)
	case *model.LocalRef:
		return base.GoName(e.Local.Name)
	}
	if values != nil && values.Name != "" {
		return base.GoName(values.Name)
	}
	return ""
}

// function makes a method of an expression that needs a loop, and composes its call; nil if the
// expression can refuse. what says what the value is.
func (c *body) function(e model.Expr, name, what string, result gotree.Expr, compose func(*body)) gotree.Expr {
	f := c.g.newBody(c.r)
	f.refuse = func(bool) gotree.Stmt { return gotree.Returns() }
	f.scope = slices.Clone(c.scope)
	model.Walk(e, func(e model.Expr) {
		if l, ok := e.(*model.LocalRef); ok {
			v, known := c.locals[l.Local]
			if !known {
				return // a variable of the expression's own
			}
			f.locals[l.Local] = v
			if n, ok := v.x.(gotree.Name); ok && !slices.ContainsFunc(f.scope, func(h gotree.Param) bool { return h.Name == n.Name }) {
				f.scope = append(f.scope, gotree.Param{Name: n.Name, Type: c.goType(v.t)})
			}
		}
	})
	for _, v := range f.scope {
		f.names.Take(v.Name)
	}
	compose(f)
	if f.f.Refuses {
		return nil
	}
	p := f.proc("", f.out.List)
	p.fn.Results = []gotree.Param{{Type: result}}
	for _, old := range c.g.tests[c.r] {
		if gotree.Equal(old.Body, p.fn.Body) && gotree.Equal(old.Params, p.fn.Params) {
			return gotree.X("m.$1($2)", old.Name, p.args)
		}
	}
	p.fn.Name = c.r.Calls.Take(name)
	p.fn.Doc = base.Comment(p.fn.Name, what+" "+base.Sentence(model.ExprString(e)))
	c.r.Methods = append(c.r.Methods, p.fn)
	c.g.tests[c.r] = append(c.g.tests[c.r], p.fn)
	return gotree.X("m.$1($2)", p.fn.Name, p.args)
}

// succeed ends the statements of a function that reports whether they worked.
func succeed(code []gotree.Stmt) []gotree.Stmt {
	no, yes := gotree.Returns(gotree.X("false")), gotree.Returns(gotree.X("true"))
	if n := len(code) - 1; n >= 0 {
		if last, ok := code[n].(*gotree.If); ok && len(last.Else) == 0 && gotree.Equal(last.Then, []gotree.Stmt{no}) {
			return append(code[:n:n], gotree.Returns(gotree.Not(last.Cond)))
		}
	}
	return append(code[:len(code):len(code)], yes)
}

// proc makes a method of statements; what it needs of the variables around becomes its parameters.
func (c *body) proc(name string, code []gotree.Stmt) *proc {
	p := &proc{fn: &gotree.Func{Name: name, Recv: &gotree.Param{Name: "m", Type: gotree.X("*$1", c.r.Typ)}, Body: code}, facts: *c.f}
	for _, v := range c.scope {
		if gotree.Uses(code, v.Name) {
			p.fn.Params, p.args = append(p.fn.Params, v), append(p.args, gotree.Name{Name: v.Name})
		}
	}
	if c.f.Refuses {
		p.fn.Results = []gotree.Param{{Type: gotree.X("bool")}}
		p.fn.Body = succeed(code)
	}
	return p
}

// proc is a function made of statements that several places share.
type proc struct {
	fn    *gotree.Func
	facts types.Facts
	args  []gotree.Expr
}

// entryOf is the entry of a state.
type entryOf struct {
	r *types.Machine
	s *model.State
}

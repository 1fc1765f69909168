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

// readIn lists endings that tell quantifiers over the same values apart: what they look at.
func readIn(e model.Expr) []string {
	var out []string
	model.Walk(e, func(e model.Expr) {
		if v, ok := e.(*model.VarRef); ok {
			name := "By"
			for _, s := range v.Path {
				name += base.GoName(s.Part.Name)
			}
			out = append(out, name+base.GoName(v.Var.Name))
		}
	})
	return out
}

// function makes a method of an expression that needs a loop, and composes its call; nil if the
// expression can refuse. what says what the value is. Expressions that differ in which instance of a
// part they look at share one.
func function[E model.Expr](c *body, e E, name, what string, result gotree.Expr, compose func(*body, E)) gotree.Expr {
	f := c.g.newBody(c.r)
	f.refuse = func(bool) gotree.Stmt { return gotree.Returns() }
	f.scope = slices.Clone(c.scope)
	given := map[string]gotree.Expr{}
	if general, params := generalised(e); c.g.variants(c.r)[model.ExprString(general)] > 1 {
		for _, p := range params {
			name := f.names.Local(p.local.Name)
			f.locals[p.local], given[name] = local(name, p.local.Type), c.cast(c.literal(p.local.Type, p.value), p.local.Type)
			f.scope = append(f.scope, gotree.Param{Name: name, Type: c.goType(p.local.Type)})
		}
		e = general.(E)
	}
	model.Walk(e, func(e model.Expr) {
		if l, ok := e.(*model.LocalRef); ok {
			v, known := c.locals[l.Local]
			if !known {
				return // a variable of the expression's own
			}
			f.locals[l.Local] = v
			if n, ok := v.x.(gotree.Name); ok && !c.g.Top.Scope[n.Name] && !slices.ContainsFunc(f.scope,
				func(h gotree.Param) bool { return h.Name == n.Name }) {
				f.scope = append(f.scope, gotree.Param{Name: n.Name, Type: c.goType(v.t)})
			}
		}
	})
	for _, v := range f.scope {
		f.names.Take(v.Name)
	}
	compose(f, e)
	if f.f.Refuses {
		return nil
	}
	p := f.proc(f.out.List, result)
	for i, a := range p.fn.Params {
		if x, ok := given[a.Name]; ok {
			p.args[i] = x
		}
	}
	if c.dry {
		return gotree.X("m.$1($2)", name, p.args)
	}
	for _, old := range c.g.tests[c.r] {
		if gotree.Equal(old.Body, p.fn.Body) && gotree.Equal(old.Params, p.fn.Params) {
			return gotree.X("m.$1($2)", old.Name, p.args)
		}
	}
	p.fn.Name = c.r.Calls.First(name, readIn(e)...)
	c.g.shared[p.fn] = true
	p.fn.Doc = base.Comment(p.fn.Name, what+" "+base.Sentence(model.ExprString(e)))
	c.r.Methods = append(c.r.Methods, p.fn)
	c.g.tests[c.r] = append(c.g.tests[c.r], p.fn)
	return gotree.X("m.$1($2)", p.fn.Name, p.args)
}

// param is a constant that selects an instance of a part, as a parameter.
type param struct {
	local *model.Local
	value int64
}

// generalised copies an expression with parameters in the place of constants that select instances
// of parts. The parameters have the names of the keys.
func generalised(e model.Expr) (model.Expr, []param) {
	var params []param
	var copied func(model.Expr) model.Expr
	path := func(p model.Path) model.Path {
		p = slices.Clone(p)
		for i, s := range p {
			p[i].Keys = slices.Clone(s.Keys)
			for j, k := range s.Keys {
				if lit, ok := k.(*model.Lit); ok {
					l := &model.Local{Name: s.Part.Keys[j].Name, Type: s.Part.Keys[j].Type}
					params = append(params, param{l, lit.Value})
					p[i].Keys[j] = &model.LocalRef{ExprBase: model.ExprBase{T: l.Type, Span: lit.Span}, Local: l}
				}
			}
		}
		return p
	}
	copied = func(e model.Expr) model.Expr {
		switch e := model.Rewrite(e, copied).(type) {
		case *model.VarRef:
			e.Path = path(e.Path)
			return e
		case *model.StateTest:
			e.Path = path(e.Path)
			return e
		case *model.TimerTest:
			e.Path = path(e.Path)
			return e
		default:
			return e
		}
	}
	return copied(e), params
}

// variants counts, for each loop among the guards of a machine in its general form, how many
// different ones there are.
func (g *Funcs) variants(r *types.Machine) map[string]int {
	if n := g.counts[r]; n != nil {
		return n
	}
	counts, seen := map[string]int{}, map[string]bool{}
	for _, t := range r.M.Transitions {
		model.Walk(t.When, func(e model.Expr) {
			switch e.(type) {
			case *model.Quantified, *model.Find:
				if general, params := generalised(e); len(params) > 0 && !seen[model.ExprString(e)] {
					seen[model.ExprString(e)] = true
					counts[model.ExprString(general)]++
				}
			}
		})
	}
	g.counts[r] = counts
	return counts
}

// proc makes a method of statements; what it needs of the variables around becomes its parameters.
// Without a type for its result it returns whether it worked, if it can refuse.
func (c *body) proc(code []gotree.Stmt, result gotree.Expr) *proc {
	p := &proc{fn: &gotree.Func{Recv: &gotree.Param{Name: "m", Type: gotree.X("*$1", c.r.Typ)}, Body: code}, facts: *c.f, changes: slices.Clone(c.changes)}
	for _, v := range c.scope {
		if gotree.Uses(code, v.Name) {
			p.fn.Params, p.args = append(p.fn.Params, v), append(p.args, gotree.Name{Name: v.Name})
		}
	}
	switch {
	case result != nil:
		p.fn.Results = []gotree.Param{{Type: result}}
	case c.f.Refuses:
		p.fn.Results = []gotree.Param{{Type: gotree.X("bool")}}
		p.fn.Body = append(code[:len(code):len(code)], gotree.Returns(gotree.X("true")))
	}
	p.fn.Tidy()
	return p
}

// proc is a function made of statements that several places share.
type proc struct {
	fn    *gotree.Func
	facts types.Facts
	args  []gotree.Expr
	// changes lists the members that it may change, as body.changes does.
	changes []string
}

// refusal is what a comment says of the result.
func (p *proc) refusal() string {
	if p.facts.Refuses {
		return " It returns false if the step is refused."
	}
	return ""
}

// entryOf is the entry of a state.
type entryOf struct {
	r *types.Machine
	s *model.State
}

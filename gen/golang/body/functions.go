package body

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// over returns a name for what a fold goes over.
func over(e *core.Fold) string {
	switch e := e.Over.(type) {
	case *core.Read:
		if e.What == core.ReadVar {
			return base.GoName(e.Var.Name)
		}
	case *core.Field:
		if e.Field != nil {
			return base.GoName(e.Field.Name)
		}
	case *core.Local:
		if e.Local != nil {
			return base.GoName(e.Local.Name)
		}
	}
	if e.Values != nil && e.Values.Name != "" {
		return base.GoName(e.Values.Name)
	}
	return ""
}

// endings returns endings for the names of folds over the same values: the variables that they read
// and the values that they are given, one by one and then two by two.
func endings(e *core.Fold) []string {
	own := []*model.Local{e.Local}
	var read, given []string
	core.Walk(e, func(e core.Expr) {
		switch e := e.(type) {
		case *core.Fold:
			own = append(own, e.Local)
		case *core.Read:
			if e.What == core.ReadVar {
				name := ""
				for _, s := range e.Path {
					name += base.GoName(s.Part.Name)
				}
				read = append(read, name+base.GoName(e.Var.Name))
			}
		case *core.Local:
			if e.Local == nil {
				given = append(given, "Sender")
			} else if !slices.Contains(own, e.Local) {
				given = append(given, base.GoName(e.Local.Name))
			}
		}
	})
	var all, out []string
	for _, name := range append(read, given...) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, name := range all {
		out = append(out, "By"+name)
	}
	for i := range all {
		for _, other := range all[i+1:] {
			out = append(out, "By"+all[i]+other)
		}
	}
	return out
}

// function makes a method of a fold and composes its call. It returns nil if the fold can refuse the
// step. what begins the method's comment. Folds share a method if they differ only in the instance of a
// part that they look at.
func function(c *body, e *core.Fold, name, what string, result gotree.Expr,
	compose func(*body, *core.Fold)) gotree.Expr {
	f := c.g.newBody(c.r)
	f.refuse = func(bool) gotree.Stmt { return gotree.Returns() }
	f.scope = slices.Clone(c.scope)
	given := map[string]gotree.Expr{}
	text := model.ExprString(e.From)
	if general, all, params := generalised(e); c.g.variants(c.r)[all] > 1 {
		for _, p := range params {
			name := f.names.Local(p.local.Name)
			typ := p.local.Type
			f.locals[p.local] = local(name, typ)
			given[name] = c.cast(c.literal(typ, p.value), typ)
			f.scope = append(f.scope, gotree.Param{Name: name, Type: c.goType(typ)})
		}
		e, text = general, all
	}
	core.Walk(e, func(e core.Expr) {
		if l, ok := e.(*core.Local); ok {
			v, known := c.locals[l.Local]
			if !known {
				return // a variable of the expression's own, or the sender
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
		if gotree.Alike(old, p.fn) {
			return gotree.X("m.$1($2)", old.Name, p.args)
		}
	}
	p.fn.Name = c.r.Calls.First(name, endings(e)...)
	c.g.shared[p.fn] = true
	p.fn.Doc = base.Comment(p.fn.Name, what+" "+base.Sentence(text))
	c.r.Methods = append(c.r.Methods, p.fn)
	c.g.tests[c.r] = append(c.g.tests[c.r], p.fn)
	return gotree.X("m.$1($2)", p.fn.Name, p.args)
}

// param is a parameter in place of a constant that selects an instance of a part.
type param struct {
	local *model.Local
	value int64
}

// generalised copies a fold and replaces the constants that select instances of parts by parameters.
// The parameters are named after the keys, also in text.
func generalised(e *core.Fold) (general *core.Fold, text string, params []param) {
	names := map[*model.Lit]string{}
	var copied func(core.Expr) core.Expr
	copied = func(e core.Expr) core.Expr {
		r, ok := e.(*core.Read)
		if !ok {
			return core.Rewrite(e, copied)
		}
		var keys []*model.Field // of the way to the part, whose values come first
		for _, s := range r.Path {
			keys = append(keys, s.Part.Keys...)
		}
		return core.Rewrite(e, func(x core.Expr) core.Expr {
			c, ok := x.(*core.Const)
			if !ok || len(keys) == 0 {
				keys = keys[min(1, len(keys)):]
				return copied(x)
			}
			k := keys[0]
			keys = keys[1:]
			l := &model.Local{Name: k.Name, Type: k.Type}
			params = append(params, param{l, c.Value})
			if from, ok := c.From.(*model.Lit); ok {
				names[from] = l.Name
			}
			return core.Of(&model.LocalRef{ExprBase: model.ExprBase{T: l.Type, Span: c.Pos()}, Local: l})
		})
	}
	general = copied(e).(*core.Fold)
	return general, model.ExprWith(e.From, names), params
}

// variants counts how many different folds among the guards of a machine have the same general form. The
// key is the text of that form.
func (g *Funcs) variants(r *types.Machine) map[string]int {
	if n := g.counts[r]; n != nil {
		return n
	}
	counts, seen := map[string]int{}, map[string]bool{}
	for _, t := range r.Core.Transitions {
		core.Walk(t.When, func(e core.Expr) {
			f, ok := e.(*core.Fold)
			if !ok || f.How == core.List || f.How == core.Set || f.How == core.Array {
				return
			}
			if _, text, params := generalised(f); len(params) > 0 && !seen[model.ExprString(f.From)] {
				seen[model.ExprString(f.From)] = true
				counts[text]++
			}
		})
	}
	g.counts[r] = counts
	return counts
}

// proc makes a method of statements. The variables of the caller that the statements use become its
// parameters. If result is nil and the statements can refuse the step, the method returns false then.
func (c *body) proc(code []gotree.Stmt, result gotree.Expr) *proc {
	receiver := &gotree.Param{Name: "m", Type: gotree.X("*$1", c.r.Typ)}
	p := &proc{
		fn:      &gotree.Func{Recv: receiver, Body: code},
		facts:   *c.f,
		changes: slices.Clone(c.changes),
	}
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

// proc is a method that several places call.
type proc struct {
	fn    *gotree.Func
	facts types.Facts
	args  []gotree.Expr
	// changes lists the members that it may change, as body.changes does.
	changes []string
}

// refusal returns the sentence about the result for the method's comment.
func (p *proc) refusal() string {
	if p.facts.Refuses {
		return " It returns false if the step is refused."
	}
	return ""
}

// entryOf identifies the entry actions of a state.
type entryOf struct {
	r *types.Machine
	s *core.State
}

package body

import (
	"fmt"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// Params returns the parameters of the functions that make a machine. It takes their names from scope.
func (g *Funcs) Params(r *types.Machine, scope base.LocalScope) []gotree.Param {
	var out []gotree.Param
	for _, p := range r.M.Params {
		out = append(out, gotree.Param{Name: scope.Local(p.Name), Type: g.Typ(p.Type, "").X})
	}
	return out
}

// Constructor composes the function that makes a machine. If that can fail, the function has an error
// as second result.
func (g *Funcs) Constructor(r *types.Machine) *gotree.Func {
	c := g.newStmts(r)
	fn := &gotree.Func{Name: g.creator(r), Params: g.Params(r, c.names)}
	fail := func(text string) gotree.Stmt {
		return gotree.Returns(gotree.X("m"), gotree.X("errors.New($1)", gotree.Str(text)))
	}
	var fields []gotree.Elem
	var checks gotree.Block
	if r.M.Initial.Index != 0 {
		fields = append(fields, gotree.Field("State", gotree.Name{Name: r.States[r.M.Initial.Index]}))
	}
	for i, p := range r.M.Params {
		n := gotree.Name{Name: fn.Params[i].Name}
		fields = append(fields, gotree.Field(r.Params[i], n))
		if v := g.Invalid(p.Type, n); v != nil && r.Part == nil {
			checks.When(v, fail(fmt.Sprintf("%s: parameter %s is no %s", r.M.Name, p.Name, model.TypeString(p.Type))))
		}
	}
	c.refuse = func(bool) gotree.Stmt { return fail(r.M.Name + ": a value of a part is outside its range") }
	for i, v := range r.M.Vars {
		if init := r.Core.Inits[i]; init != nil {
			if !zero(init) {
				c.out.P("m.$1 = $2", r.Vars[i], c.store(init, v.Type))
			}
		} else if z := g.Zero(v.Type); z != nil {
			c.out.P("m.$1 = $2", r.Vars[i], z)
		}
	}
	for _, p := range r.Parts {
		c.create(p, gotree.X("m.$1", r.Member(p)), map[*model.Local]val{}, 0)
	}
	if c.f.Refuses && r.Part != nil {
		g.Fail(r.Part.Span, "a part whose parameters can be outside their range is not supported in generated code")
	}
	result, doc := gotree.X("m"), "makes a "+r.Typ+" in its initial state."
	made := gotree.Struct(gotree.Name{Name: r.Typ}, fields...)
	code := append(checks.List, c.out.List...)
	fn.Results = []gotree.Param{{Type: gotree.Name{Name: r.Typ}}}
	if c.f.Refuses || len(checks.List) > 0 {
		doc += " The error says which parameter is wrong."
		fn.Results = append(fn.Results, gotree.Param{Type: gotree.X("error")})
		fn.Body = gotree.S("m := $1\n$2\nreturn m, nil", made, code)
	} else if len(code) == 0 {
		fn.Body, fn.Short = gotree.S("return $1", made), true
	} else {
		fn.Body = gotree.S("m := $1\n$2\nreturn $3", made, code, result)
	}
	fn.Doc = base.Comment(fn.Name, doc+SetsDoc(r))
	return fn
}

// SetsDoc says how parameters that are sets are written, in sentences for the comment of a
// constructor; empty if there is none.
func SetsDoc(r *types.Machine) string {
	text := ""
	for _, p := range r.M.Params {
		if t := p.Type; t.Kind == model.KindSet {
			element := "k"
			if low := t.Elem.Lowest(); low != 0 {
				element = fmt.Sprintf("%d + k", low)
			}
			text += " The set " + p.Name + " is written in bits: bit k says that " + element +
				" is in it; 1<<1 | 1<<2 has the two with k = 1 and k = 2."
		}
	}
	return text
}

// create composes the creation of all instances of a part.
func (c *stmts) create(p *types.Machine, at gotree.Expr, keys map[*model.Local]val, level int) {
	if level < len(p.Part.Keys) {
		c.loopOver(p, level, func(key val) {
			keys[p.Part.KeyLocals[level]] = key
			c.create(p, gotree.X("$1[$2]", at, c.g.index(key, key.t)), keys, level+1)
		})
		return
	}
	if c.g.plain(p) {
		return
	}
	outer := c.locals
	c.locals = keys
	c.out.P("$1 = $2", at, c.creation(p))
	c.locals = outer
	if c.f.Refuses && c.r.Part != nil { // the function that makes a part has no way to refuse
		c.g.Fail(p.Part.Span, "a part inside a part, whose parameters can be outside their range, is not supported "+
			"in generated code")
	}
}

// plain reports whether Go's zero value is the initial value of a part.
func (g *Funcs) plain(r *types.Machine) bool {
	if r.M.Initial.Index != 0 || len(r.M.Params) > 0 {
		return false
	}
	for i, v := range r.M.Vars {
		if init := r.Core.Inits[i]; init != nil && !zero(init) || init == nil && g.Zero(v.Type) != nil {
			return false
		}
	}
	for _, p := range r.Parts {
		if !g.plain(p) {
			return false
		}
	}
	return true
}

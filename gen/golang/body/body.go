// Package body composes what machines do: the step of a role, the methods of its parts, and the
// statements and expressions inside. It must not declare types or write files. Start from [Funcs].
package body

import (
	"maps"
	"strconv"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// Funcs composes the functions of the machines.
type Funcs struct {
	*types.Gen
	entries map[entryOf]*proc
	fits    []*fit                                             // conversions between types
	tests   map[*types.Machine][]*gotree.Func                  // methods of quantifiers
	called  map[*types.Machine]map[string][]*model.RoutineCall // the calls of each routine; see calls
	procs   map[*types.Machine][]*proc                         // routines
	counts  map[*types.Machine]map[string]int                  // of loops; see variants
	shared  map[*gotree.Func]bool                              // functions that several places call
}

// New starts the composition of functions.
func New(g *types.Gen) *Funcs {
	return &Funcs{
		Gen:     g,
		entries: map[entryOf]*proc{},
		tests:   map[*types.Machine][]*gotree.Func{},
		called:  map[*types.Machine]map[string][]*model.RoutineCall{},
		procs:   map[*types.Machine][]*proc{},
		counts:  map[*types.Machine]map[string]int{},
		shared:  map[*gotree.Func]bool{},
	}
}

// body composes the statements of one function. An expression can need statements of its own, such as
// a check that refuses the step. They go to out, before the statement that uses the expression.
type body struct {
	g      *Funcs
	r      *types.Machine // whose members the receiver m has
	out    *gotree.Block
	names  base.LocalScope
	scope  []gotree.Param // what functions that are called from here can be given
	locals map[*model.Local]val
	hint   string // the name of a variable that needs one
	dry    bool   // what is composed is only looked at, so that it makes no functions
	// refuse gives the statement that ends the function when the step is
	// refused; dirty reports whether something has changed by then.
	refuse func(dirty bool) gotree.Stmt
	dirty  bool
	known  known
	// changes lists the members that have changed so far; "" stands for all of them.
	changes []string
	f       *types.Facts
}

// newBody starts the composition of a function of machine r.
func (g *Funcs) newBody(r *types.Machine, extra ...string) *body {
	c := &body{g: g, r: r, out: &gotree.Block{}, names: g.Locals(), locals: map[*model.Local]val{}, f: &types.Facts{}}
	for _, k := range r.Keys {
		c.names.Take(k.Name)
	}
	for _, n := range extra {
		c.names.Take(n)
	}
	return c
}

// fault returns the statement that refuses the step at this point.
func (c *body) fault() gotree.Stmt {
	c.f.Refuses = true
	if c.dirty {
		c.f.RefusesDirty = true
	}
	return c.refuse(c.dirty)
}

// never appends a refusal without a condition, and a comment that says why.
func (c *body) never(why string) {
	c.out.Add(c.fault(), &gotree.Comment{Text: "// " + why, Behind: true})
}

// check appends an if statement that refuses under a condition. It appends nothing if the condition is
// known to be false.
func (c *body) check(cond gotree.Expr) {
	if c.knows(gotree.Not(cond)) {
		return
	}
	c.out.When(cond, c.fault())
	c.learn(gotree.Not(cond))
}

// checkf is like check; the condition is a template.
func (c *body) checkf(template string, args ...any) { c.check(gotree.X(template, args...)) }

// changed notes which members of the machine may have changed: "" stands for all of them. Without
// members only the effects have changed.
func (c *body) changed(members ...string) {
	c.dirty, c.f.Changes = true, true
	c.changes = append(c.changes, members...)
}

// inner returns the statements that compose appends, instead of appending them.
func (c *body) inner(compose func()) []gotree.Stmt {
	outer, before := c.out, c.known
	c.out = &gotree.Block{}
	compose()
	list := c.out.List
	c.out, c.known = outer, before // it may be skipped
	return list
}

// block is inner for statements in braces of their own. The names that they declare are free again
// afterwards.
func (c *body) block(compose func()) []gotree.Stmt {
	names := maps.Clone(c.names.Scope)
	list := c.inner(compose)
	c.names.Scope = names
	return list
}

// release frees the name of a loop's variable after the loop.
func (c *body) release(name string) { delete(c.names.Scope, name) }

// val is a Go expression, and what is known about it.
type val struct {
	x    gotree.Expr
	t    *model.Type
	wide bool // an int64, whatever t is
	lit  bool // an untyped constant
	// stable values are addressable, cheap to mention twice, and unchanged until the statement is done.
	stable bool
	// own is a variable that was made for this expression alone.
	own bool
	// decl is the declaration of that variable, if it stands in a statement of its own.
	decl *gotree.Assign
	// implied are facts that hold if this truth value does, besides itself.
	implied []gotree.Expr
	// narrow is the same value modulo the width of the type of.
	narrow gotree.Expr
	of     *model.Type
}

// holds returns what is known wherever v is true.
func (v val) holds() []gotree.Expr { return append([]gotree.Expr{v.x}, v.implied...) }

// variable returns the value of a local variable, or of another place that the statement does not
// change.
func variable(x gotree.Expr, t *model.Type) val { return val{x: x, t: t, stable: true} }

// local returns the value of a local variable.
func local(name string, t *model.Type) val { return variable(gotree.Name{Name: name}, t) }

// truth returns a truth value.
func truth(x gotree.Expr, t *model.Type) val { return val{x: x, t: t} }

// hoist appends the declaration of a variable for a value.
func (c *body) hoist(v val, hint string) val {
	if hint == "" {
		hint = "value"
	}
	name := c.names.Local(hint)
	x := v.x
	if v.lit {
		x = gotree.Conv(c.goType(v.t), x)
	}
	c.out.P("$1 := $2", name, x)
	return val{x: gotree.Name{Name: name}, t: v.t, wide: v.wide, stable: true}
}

// steady returns v in a form that can be written twice: it is cheap and does not change.
func (c *body) steady(v val) val { return c.steadyAs(v, c.hint) }

// named runs compose; variables that it needs are named after the thing that the value goes to.
func (c *body) named(name string, compose func()) {
	before := c.hint
	c.hint = name
	compose()
	c.hint = before
}

// steadyAs is like steady; the variable, if it takes one, has the given name.
func (c *body) steadyAs(v val, name string) val {
	if v.lit || v.stable {
		return v
	}
	return c.hoist(v, name)
}

// addressable returns v in a form whose address can be taken, so that its methods can be called.
func (c *body) addressable(v val) val {
	if v.stable {
		return v
	}
	return c.hoist(v, "list")
}

// wide converts v to int64.
func (c *body) wide(v val) val {
	if v.wide || v.lit {
		return v
	}
	x := v.x
	if v.t.Kind == model.KindBool {
		x = c.g.ordinal(x)
	}
	return val{x: gotree.X("int64($1)", x), t: v.t, wide: true}
}

// ordinal converts a truth value to 0 or 1.
func (g *Funcs) ordinal(x gotree.Expr) gotree.Expr {
	g.Helpers["ordinal"] = true
	return gotree.X("ordinal($1)", x)
}

func (c *body) goType(t *model.Type) gotree.Expr { return c.g.Typ(t, "").X }

// sameGo reports whether both types have the same Go type. Their ranges may differ.
func (c *body) sameGo(t, u *model.Type) bool { return c.g.Typ(t, "").Name == c.g.Typ(u, "").Name }

// literal returns the constant n of type t.
func (c *body) literal(t *model.Type, n int64) val {
	switch t.Kind {
	case model.KindBool:
		return variable(gotree.Name{Name: strconv.FormatBool(n != 0)}, t)
	case model.KindEnum:
		return local(c.g.EnumNames(c.g.Typ(t, ""))[n], t)
	case model.KindOpaque, model.KindSet:
		return val{x: gotree.Int(uint64(n)), t: t, lit: true}
	}
	return val{x: gotree.Int(n), t: t, lit: true}
}

// value composes an expression. It does not convert the value to the type of a place; see store.
func (c *body) value(e core.Expr) val {
	switch e := e.(type) {
	case *core.Const:
		return c.constant(e)
	case *core.Local:
		if e.Local == nil {
			return variable(gotree.X("fx.from"), e.T)
		}
		v, ok := c.locals[e.Local]
		if !ok {
			c.g.Fail(e.Pos(), "the generator knows no value for %s here", e.Local.Name)
		}
		return v
	case *core.Read:
		return c.read(e)
	case *core.Field:
		if e.Field == nil {
			x := c.steady(c.value(e.X))
			c.checkf("!$1.Present", x.x)
			return val{x: gotree.X("$1.Value", x.x), t: e.T, stable: x.stable}
		}
		x := c.value(e.X)
		return val{x: gotree.X("$1.$2", x.x, c.fieldName(e)), t: e.T, stable: x.stable}
	case *core.Index:
		return c.element(c.addressable(c.value(e.X)), e.X.Node().T, e.I)
	case *core.Apply:
		return c.apply(e)
	case *core.If:
		if e.Form == core.FormIf {
			return c.choose(e)
		}
		return c.lazy(e)
	case *core.Make:
		return c.made(e, e.T)
	case *core.Fold:
		return c.fold(e)
	case *core.Fit:
		return c.fit(e)
	}
	c.g.Fail(e.Node().Pos(), "the generator does not know this kind of expression here: %s",
		model.ExprString(e.Node().From))
	return val{}
}

// constant composes a constant. It uses the constant's name if the author did.
func (c *body) constant(e *core.Const) val {
	switch {
	case e.IsText:
		return val{x: c.text(e, e.T), t: e.T}
	case e.T.Kind == model.KindOptional:
		return val{x: gotree.Struct(c.goType(e.T)), t: e.T}
	}
	v := c.literal(e.T, e.Value)
	if lit, ok := e.From.(*model.Lit); ok && v.lit && lit.Const != "" {
		if name := c.g.Constant(lit.Const, e.Value); name != "" {
			v.x = gotree.Named(name, uint64(e.Value))
		}
	}
	return v
}

// read composes a read of the machine, or of one of its parts.
func (c *body) read(e *core.Read) val {
	r, at := c.path(e.Path)
	switch e.What {
	case core.ReadVar:
		return variable(gotree.X("$1.$2", at, r.VarName(e.Var)), e.T)
	case core.ReadState:
		tests := make([]gotree.Expr, len(e.Is))
		for i, s := range e.Is {
			tests[i] = gotree.X("$1.State == $2", at, r.States[s.Index])
		}
		return truth(gotree.Or(tests...), e.T)
	case core.ReadTimer:
		at = gotree.X("$1.$2", at, r.Timers[e.Timer.Index])
		if len(e.Keys) > 0 {
			index, _ := c.timerIndex(e.Timer, e.Keys)
			at = gotree.X("$1[$2]", at, index)
		}
		return variable(at, e.T)
	}
	c.g.Fail(e.Pos(), "a machine cannot ask %s", model.ExprString(e.From))
	return val{}
}

// fieldName returns the Go name of the record's field that e reads.
func (c *body) fieldName(e *core.Field) string {
	return c.g.Typ(e.X.Node().T, "").Fields[e.Field.Index]
}

// path returns the machine that a path leads to, and the expression for it.
func (c *body) path(p []core.Step) (*types.Machine, gotree.Expr) {
	r, at := c.r, gotree.X("m")
	for _, s := range p {
		sub := r.SubPart(s.Part)
		at = gotree.X("$1.$2", at, r.Member(sub))
		for i, k := range s.Part.Keys {
			at = gotree.X("$1[$2]", at, c.key(s.Keys[i], k.Type))
		}
		r = sub
	}
	return r, at
}

// key composes an index into an array that has one element for each value of t.
func (c *body) key(e core.Expr, t *model.Type) gotree.Expr {
	return c.g.index(c.inside(c.value(e), c.bounds(e), t), t)
}

// inside refuses the step if the number v, which lies in the interval in, is outside t.
func (c *body) inside(v val, in interval.Interval, t *model.Type) val {
	d := interval.Of(t)
	if in.In(d) {
		return v
	}
	v = c.steady(v)
	c.rangeCheck(v, in, d)
	if v.lit {
		v.x = gotree.Int(0) // not reached
	}
	return v
}

// index converts a value of t to an index, which counts from 0. The value must be in t's range.
func (g *Funcs) index(v val, t *model.Type) gotree.Expr {
	switch {
	case t.Kind == model.KindBool:
		return g.ordinal(v.x)
	case t.Lowest() == 0:
		return v.x
	case v.lit, v.wide:
		return gotree.Plus(v.x, -t.Lowest())
	}
	return gotree.Plus(gotree.X("int64($1)", v.x), -t.Lowest())
}

// rangeCheck refuses the step if v is outside d. It leaves out a bound that in does not exceed.
func (c *body) rangeCheck(v val, in, d interval.Interval) {
	if v.lit {
		c.never("always outside")
		return
	}
	w := v
	if !v.wide && !(types.Fits(v.t, d.Lo) && types.Fits(v.t, d.Hi)) {
		w = c.wide(v)
	}
	var tests []gotree.Expr
	if in.Lo < d.Lo {
		tests = append(tests, gotree.X("$1 < $2", w.x, d.Lo))
	}
	if in.Hi > d.Hi {
		tests = append(tests, gotree.X("$1 > $2", w.x, d.Hi))
	}
	if len(tests) > 0 {
		c.check(gotree.Or(tests...))
	}
}

// element composes an element of an array or list, with its check.
func (c *body) element(x val, t *model.Type, i core.Expr) val {
	if t.Kind == model.KindArray {
		return val{x: gotree.X("$1[$2]", x.x, c.key(i, t.Index)), t: t.Elem, stable: x.stable}
	}
	n := c.steady(c.value(i))
	w := c.wide(n)
	test := gotree.X("$1 >= int64($2.Len)", w.x, x.x)
	if c.bounds(i).Lo < 0 {
		test = gotree.Or(gotree.X("$1 < 0", w.x), test)
	}
	c.check(test)
	return val{x: gotree.X("$1.Items[$2]", x.x, n.x), t: t.Elem, stable: x.stable}
}

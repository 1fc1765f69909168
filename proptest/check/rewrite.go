package check

import (
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// rewrite copies e with its operands replaced by f, which is given each in turn.
func rewrite(e model.Expr, f func(model.Expr) model.Expr) model.Expr {
	with := replacement(f)
	switch e := e.(type) {
	case *model.Some:
		c := *e
		c.X = f(e.X)
		return &c
	case *model.Unwrap:
		c := *e
		c.X = f(e.X)
		return &c
	case *model.VarRef:
		c := *e
		c.Path = with.path(e.Path)
		return &c
	case *model.StateTest:
		c := *e
		c.Path = with.path(e.Path)
		return &c
	case *model.TimerTest:
		c := *e
		c.Path, c.Keys = with.path(e.Path), with.all(e.Keys)
		return &c
	case *model.FieldRef:
		c := *e
		c.X = f(e.X)
		return &c
	case *model.Index:
		c := *e
		c.X, c.I = f(e.X), f(e.I)
		return &c
	case *model.Unary:
		c := *e
		c.X = f(e.X)
		return &c
	case *model.Binary:
		c := *e
		c.X, c.Y = f(e.X), f(e.Y)
		return &c
	case *model.Call:
		c := *e
		c.Args = with.all(e.Args)
		return &c
	case *model.RecordLit:
		c := *e
		c.Fields = with.all(e.Fields)
		return &c
	case *model.ListLit:
		c := *e
		c.Elems = with.all(e.Elems)
		return &c
	case *model.Build:
		c := *e
		c.Over, c.If, c.Elem = with.maybe(e.Over), with.maybe(e.If), f(e.Elem)
		return &c
	case *model.Find:
		c := *e
		c.Over, c.X = with.maybe(e.Over), f(e.X)
		return &c
	case *model.Quantified:
		c := *e
		c.Over, c.X = with.maybe(e.Over), f(e.X)
		return &c
	}
	return e
}

// replacement is what operands become.
type replacement func(model.Expr) model.Expr

func (f replacement) all(list []model.Expr) []model.Expr {
	out := slices.Clone(list)
	for i := range out {
		out[i] = f(out[i])
	}
	return out
}

// maybe is for operands that may be missing.
func (f replacement) maybe(e model.Expr) model.Expr {
	if e == nil {
		return nil
	}
	return f(e)
}

func (f replacement) path(p model.Path) model.Path {
	out := slices.Clone(p)
	for i := range out {
		out[i].Keys = f.all(out[i].Keys)
	}
	return out
}

// maxUnroll is how many values a quantifier may run over to be written out.
const maxUnroll = 256

// unroll writes out all(x in T: ...), some(x in T: ...) over types of one slot
// that look at several instances, so that what each instance contributes no longer
// depends on x. budget bounds the number of copies.
func unroll(e model.Expr, budget *int) model.Expr {
	q, ok := e.(*model.Quantified)
	if !ok || q.Values == nil || q.Values.Slots() != 1 || q.Values.Count() > int64(*budget) || len(instances(q.X)) < 2 {
		return rewrite(e, func(c model.Expr) model.Expr { return unroll(c, budget) })
	}
	op := model.OpOr
	if q.All {
		op = model.OpAnd
	}
	var out model.Expr
	v := make([]int64, 1)
	for interp.Zero(q.Values, v); ; {
		*budget--
		x := unroll(substitute(q.X, q.Local, v[0]), budget)
		if out == nil {
			out = x
		} else {
			out = &model.Binary{ExprBase: q.ExprBase, Op: op, X: out, Y: x}
		}
		if !interp.Next(q.Values, v) {
			return out
		}
	}
}

// substitute puts a number in place of a local.
func substitute(e model.Expr, l *model.Local, v int64) model.Expr {
	if r, ok := e.(*model.LocalRef); ok && r.Local == l {
		return &model.Lit{ExprBase: r.ExprBase, Value: v}
	}
	return rewrite(e, func(c model.Expr) model.Expr { return substitute(c, l, v) })
}

// instances lists the instances that e looks at, without channels.
func instances(e model.Expr) []*model.Instance {
	var out []*model.Instance
	walk(e, func(e model.Expr) {
		var i *model.Instance
		switch e := e.(type) {
		case *model.VarRef:
			i = e.Inst
		case *model.StateTest:
			i = e.Inst
		case *model.TimerTest:
			i = e.Inst
		case *model.Down:
			i = e.Inst
		}
		if i != nil && !slices.Contains(out, i) {
			out = append(out, i)
		}
	})
	return out
}

// looksAtChannels says whether e depends on channels.
func looksAtChannels(e model.Expr) bool {
	found := false
	walk(e, func(e model.Expr) {
		_, is := e.(*model.ChanLen)
		found = found || is
	})
	return found
}

// free lists the locals that e uses and does not bind.
func free(e model.Expr) []*model.Local {
	var bound, out []*model.Local
	walk(e, func(e model.Expr) {
		switch e := e.(type) {
		case *model.Build:
			bound = append(bound, e.Local)
		case *model.Find:
			bound = append(bound, e.Local)
		case *model.Quantified:
			bound = append(bound, e.Local)
		}
	})
	walk(e, func(e model.Expr) {
		if r, ok := e.(*model.LocalRef); ok && !slices.Contains(bound, r.Local) {
			out = append(out, r.Local)
		}
	})
	return out
}

// conjuncts splits e at &&.
func conjuncts(e model.Expr) []model.Expr {
	if b, ok := e.(*model.Binary); ok && b.Op == model.OpAnd {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	if e == nil {
		return nil
	}
	return []model.Expr{e}
}

// frameEnd is the first slot behind all locals of e.
func frameEnd(e model.Expr) int {
	end := 0
	walk(e, func(e model.Expr) {
		switch e := e.(type) {
		case *model.Build:
			end = max(end, e.Local.Offset+e.Local.Type.Slots())
		case *model.Find:
			end = max(end, e.Local.Offset+e.Local.Type.Slots())
		case *model.Quantified:
			end = max(end, e.Local.Offset+e.Local.Type.Slots())
		case *model.LocalRef:
			end = max(end, e.Local.Offset+e.Local.Type.Slots())
		}
	})
	return end
}

package system

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// MaxUnroll is how many values a quantifier may run over to be written out.
const MaxUnroll = 256

// Unroll writes out all(x in T: ...), some(x in T: ...) over types of one slot
// that look at several instances, so that what each instance contributes no longer
// depends on x. budget bounds the number of copies.
func Unroll(e model.Expr, budget *int) model.Expr {
	q, ok := e.(*model.Quantified)
	if !ok || q.Values == nil || q.Values.Slots() != 1 || q.Values.Count() > int64(*budget) || len(instances(q.X)) < 2 {
		return model.Rewrite(e, func(c model.Expr) model.Expr { return Unroll(c, budget) })
	}
	op := model.OpOr
	if q.All {
		op = model.OpAnd
	}
	var out model.Expr
	v := make([]int64, 1)
	for interp.Zero(q.Values, v); ; {
		*budget--
		x := Unroll(Substitute(q.X, q.Local, v[0]), budget)
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

// Substitute puts a number in place of a local.
func Substitute(e model.Expr, l *model.Local, v int64) model.Expr {
	if r, ok := e.(*model.LocalRef); ok && r.Local == l {
		return &model.Lit{ExprBase: r.ExprBase, Value: v}
	}
	return model.Rewrite(e, func(c model.Expr) model.Expr { return Substitute(c, l, v) })
}

// instances lists the instances that e looks at, without channels.
func instances(e model.Expr) []*model.Instance {
	var out []*model.Instance
	model.Walk(e, func(e model.Expr) {
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

// looksAtChannels reports whether e depends on channels.
func looksAtChannels(e model.Expr) bool {
	found := false
	model.Walk(e, func(e model.Expr) {
		_, is := e.(*model.ChanLen)
		found = found || is
	})
	return found
}

// Free lists the locals that e uses and does not bind.
func Free(e model.Expr) []*model.Local {
	var bound, out []*model.Local
	model.Walk(e, func(e model.Expr) {
		switch e := e.(type) {
		case *model.Build:
			bound = append(bound, e.Local)
		case *model.Find:
			bound = append(bound, e.Local)
		case *model.Quantified:
			bound = append(bound, e.Local)
		}
	})
	model.Walk(e, func(e model.Expr) {
		if r, ok := e.(*model.LocalRef); ok && !slices.Contains(bound, r.Local) {
			out = append(out, r.Local)
		}
	})
	return out
}

// Conjuncts splits e at &&.
func Conjuncts(e model.Expr) []model.Expr {
	if b, ok := e.(*model.Binary); ok && b.Op == model.OpAnd {
		return append(Conjuncts(b.X), Conjuncts(b.Y)...)
	}
	if e == nil {
		return nil
	}
	return []model.Expr{e}
}

// frameEnd is the first slot behind all locals of e.
func frameEnd(e model.Expr) int {
	end := 0
	model.Walk(e, func(e model.Expr) {
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

// Equalities says that all values of an agree claim are equal.
func Equalities(c *model.Claim) model.Expr {
	var all model.Expr
	for _, x := range c.Exprs[1:] {
		base := model.ExprBase{T: &model.Type{Kind: model.KindBool}, Span: x.Pos()}
		eq := model.Expr(&model.Binary{ExprBase: base, Op: model.OpEq, X: c.Exprs[0], Y: x})
		if all != nil {
			eq = &model.Binary{ExprBase: base, Op: model.OpAnd, X: all, Y: eq}
		}
		all = eq
	}
	return all
}

// ComparedWithZero returns the channel length that e asks only to be zero or not.
func ComparedWithZero(e model.Expr) *model.ChanLen {
	b, ok := e.(*model.Binary)
	if !ok {
		return nil
	}
	x, y, op := b.X, b.Y, b.Op
	if _, ok := y.(*model.ChanLen); ok {
		x, y = y, x
		if op == model.OpLt {
			op = model.OpGt
		} else if op != model.OpEq && op != model.OpNe {
			return nil
		}
	}
	l, isLen := x.(*model.ChanLen)
	z, isLit := y.(*model.Lit)
	if isLen && isLit && z.Value == 0 && (op == model.OpEq || op == model.OpNe || op == model.OpGt) {
		return l
	}
	return nil
}

// faultText says how an expression faulted, with a place that does not depend
// on where the reader stands.
func faultText(err error) string {
	var e *interp.EvalError
	if errors.As(err, &e) {
		return e.Reason + " (" + e.Span.Place() + ")"
	}
	return err.Error()
}

// DutyNames lists the commands of which one will do.
func DutyNames(env *model.EnvRule) string {
	names := env.Command.Name
	for i, ev := range env.Or {
		if names += ", "; i == len(env.Or)-1 {
			names = strings.TrimSuffix(names, ", ") + " or "
		}
		names += ev.Name
	}
	return names
}

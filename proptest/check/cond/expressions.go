package cond

import (
	"errors"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// MaxUnroll is how many values a quantifier may run over to be written out.
const MaxUnroll = 256

// unroll writes out all(x in T: ...), some(x in T: ...) over types of one slot
// that look at several instances, so that what each instance contributes no longer
// depends on x. budget bounds the number of copies.
func unroll(e core.Expr, budget *int) core.Expr {
	if !Spreads(e, *budget) {
		return core.Rewrite(e, func(c core.Expr) core.Expr { return unroll(c, budget) })
	}
	f := e.(*core.Fold)
	form := core.FormOr
	if f.How == core.All {
		form = core.FormAnd
	}
	var out core.Expr
	v := make([]int64, 1)
	for interp.Zero(f.Values, v); ; {
		*budget--
		x := unroll(core.Substitute(f.Where, f.Local, v[0]), budget)
		if out == nil {
			out = x
		} else {
			out = core.Join(form, out, x, f.From)
		}
		if !interp.Next(f.Values, v) {
			return out
		}
	}
}

// Spreads reports whether an expression is all(x in T: ...) or some(x in T: ...) that looks at several
// instances for each of at most budget values.
func Spreads(e core.Expr, budget int) bool {
	f, ok := e.(*core.Fold)
	return ok && (f.How == core.All || f.How == core.Some) && f.Values != nil && f.Values.Slots() == 1 &&
		f.Values.Count() <= int64(budget) && len(instances(f.Where)) > 1
}

// instances lists the instances that e looks at, without channels.
func instances(e core.Expr) []*model.Instance {
	return slices.DeleteFunc(core.Observes(e), func(i *model.Instance) bool { return i == nil })
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
func ComparedWithZero(e core.Expr) *core.Observe {
	a, ok := e.(*core.Apply)
	if !ok || len(a.Args) != 2 {
		return nil
	}
	x, y, op := a.Args[0], a.Args[1], a.Op
	if _, ok := y.(*core.Observe); ok {
		x, y = y, x
		if op == core.Lt {
			op = core.Gt
		} else if op != core.Eq && op != core.Ne {
			return nil
		}
	}
	l, isLen := x.(*core.Observe)
	z, isConst := y.(*core.Const)
	if isLen && isConst && z.Value == 0 && (op == core.Eq || op == core.Ne || op == core.Gt) {
		return l
	}
	return nil
}

// FaultText says how an expression faulted, with a place that does not depend
// on where the reader stands.
func FaultText(err error) string {
	var e *interp.EvalError
	if errors.As(err, &e) {
		return e.Reason + " (" + e.Span.Place() + ")"
	}
	return err.Error()
}

package mutate

import (
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// rewrite returns e with parts of it replaced, and shares the rest. f is asked for each expression, the outermost
// first; nil keeps it, and f is asked for what is inside.
func rewrite(e model.Expr, f func(model.Expr) model.Expr) model.Expr {
	if e == nil {
		return nil
	}
	if r := f(e); r != nil {
		return r
	}
	one := func(x *model.Expr) bool {
		y := rewrite(*x, f)
		changed := y != *x
		*x = y
		return changed
	}
	list := func(x *[]model.Expr) bool {
		y := rewriteAll(*x, f)
		changed := !slices.Equal(y, *x)
		*x = y
		return changed
	}
	switch x := e.(type) {
	case *model.Some:
		if c := *x; one(&c.X) {
			return &c
		}
	case *model.Unwrap:
		if c := *x; one(&c.X) {
			return &c
		}
	case *model.FieldRef:
		if c := *x; one(&c.X) {
			return &c
		}
	case *model.Index:
		c := *x
		if a, b := one(&c.X), one(&c.I); a || b {
			return &c
		}
	case *model.Unary:
		if c := *x; one(&c.X) {
			return &c
		}
	case *model.Binary:
		c := *x
		if a, b := one(&c.X), one(&c.Y); a || b {
			return &c
		}
	case *model.Call:
		if c := *x; list(&c.Args) {
			return &c
		}
	case *model.RecordLit:
		if c := *x; list(&c.Fields) {
			return &c
		}
	case *model.ListLit:
		if c := *x; list(&c.Elems) {
			return &c
		}
	case *model.Build:
		c := *x
		if a, b, d := one(&c.Over), one(&c.If), one(&c.Elem); a || b || d {
			return &c
		}
	case *model.Find:
		c := *x
		if a, b := one(&c.Over), one(&c.X); a || b {
			return &c
		}
	case *model.Quantified:
		c := *x
		if a, b := one(&c.Over), one(&c.X); a || b {
			return &c
		}
	}
	return e
}

func rewriteAll(list []model.Expr, f func(model.Expr) model.Expr) []model.Expr {
	out := list
	for i, e := range list {
		if r := rewrite(e, f); r != e {
			if &out[0] == &list[0] {
				out = slices.Clone(list)
			}
			out[i] = r
		}
	}
	return out
}

// rewriteStmts returns a list of statements with some replaced by others. f is asked for each, the outermost first;
// ok says that the result replaces it, which may be nothing. Expressions are for g.
func rewriteStmts(list []model.Stmt, f func(model.Stmt) (repl []model.Stmt, ok bool),
	g func(model.Expr) model.Expr) (out []model.Stmt, changed bool) {
	for _, s := range list {
		if repl, ok := f(s); ok {
			out, changed = append(out, repl...), true
			continue
		}
		c, same := inside(s, f, g)
		out, changed = append(out, c), changed || !same
	}
	if !changed {
		return list, false
	}
	return out, true
}

// inside rewrites what is in a statement. same says that it is the statement itself.
func inside(s model.Stmt, f func(model.Stmt) ([]model.Stmt, bool),
	g func(model.Expr) model.Expr) (out model.Stmt, same bool) {
	expr := func(x *model.Expr) bool {
		y := rewrite(*x, g)
		changed := y != *x
		*x = y
		return changed
	}
	list := func(x *[]model.Expr) bool {
		y := rewriteAll(*x, g)
		changed := !slices.Equal(y, *x)
		*x = y
		return changed
	}
	body := func(x *[]model.Stmt) (changed bool) {
		*x, changed = rewriteStmts(*x, f, g)
		return changed
	}
	switch x := s.(type) {
	case *model.Set:
		c := *x
		changed := expr(&c.Value)
		for i, sel := range c.Select {
			if y := rewrite(sel.Index, g); y != sel.Index {
				c.Select = slices.Clone(c.Select)
				c.Select[i].Index, changed = y, true
			}
		}
		return &c, !changed
	case *model.Send:
		c := *x
		a, b := list(&c.Fields), expr(&c.To)
		return &c, !a && !b
	case *model.ReportStmt:
		c := *x
		return &c, !list(&c.Fields)
	case *model.Run:
		c := *x
		a, b := list(&c.Keys), list(&c.Args)
		return &c, !a && !b
	case *model.Restart:
		c := *x
		return &c, !list(&c.Keys)
	case *model.StartTimer:
		c := *x
		a, b := list(&c.Keys), expr(&c.Ticks)
		return &c, !a && !b
	case *model.StopTimer:
		c := *x
		return &c, !list(&c.Keys)
	case *model.If:
		c := *x
		a, b, d := expr(&c.Cond), body(&c.Then), body(&c.Else)
		return &c, !a && !b && !d
	case *model.Each:
		c := *x
		a, b := expr(&c.Over), body(&c.Body)
		return &c, !a && !b
	case *model.Close:
		c := *x
		return &c, !expr(&c.To)
	}
	return s, true
}

package machine

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/types"
)

// noting gives the statements that note what happens; field gives the values of its fields.
type noting func(h convert.Happening, base model.StmtBase, field func(i int) model.Expr) []model.Stmt

// behind adds to a list of statements what notes its reports. Seen are those that it has been in.
func behind(body []model.Stmt, note noting, seen map[model.Stmt]bool) []model.Stmt {
	var out []model.Stmt
	for _, st := range body {
		out = append(out, st)
		switch st := st.(type) {
		case *model.ReportStmt:
			said := func(i int) model.Expr { return st.Fields[i] }
			out = append(out, note(convert.Happening{Report: st.Report}, st.StmtBase, said)...)
		case *model.If:
			if !seen[st] {
				seen[st] = true
				st.Then, st.Else = behind(st.Then, note, seen), behind(st.Else, note, seen)
			}
		case *model.Each:
			if !seen[st] {
				seen[st] = true
				st.Body = behind(st.Body, note, seen)
			}
		}
	}
	return out
}

// sets are the statements that set ghosts when something happens, of which field gives the fields.
func sets(list []*convert.Ghost, h convert.Happening, base model.StmtBase,
	field func(i int) model.Expr) []model.Stmt {
	var out []model.Stmt
	for _, g := range list {
		eb := model.ExprBase{T: g.Var.Type, Span: base.Span}
		lit := func(v int64) model.Expr { return &model.Lit{ExprBase: eb, Value: v} }
		var x model.Expr
		switch {
		case slices.Contains(g.Ends, h):
			x = lit(0)
		case g.Of != h:
			continue
		case len(g.Ends) > 0:
			x = lit(1)
		case g.Field != nil:
			if x = field(g.Field.Index); x.Type() == nil || x.Type().Kind != model.KindOptional {
				x = &model.Some{ExprBase: eb, X: x}
			}
		default:
			x = more(g.Var, eb)
		}
		out = append(out, &model.Set{StmtBase: base, Var: g.Var, Value: x})
	}
	return out
}

// more is a counter plus 1, or the most that it counts to.
func more(v *model.Var, eb model.ExprBase) model.Expr {
	now := &model.VarRef{ExprBase: eb, Var: v}
	lo, hi := types.Bounds(core.Add, v.Type, types.Int(1, 1))
	one := &model.Lit{ExprBase: model.ExprBase{T: types.Int(1, 1), Span: eb.Span}, Value: 1}
	base := model.ExprBase{T: types.Int(lo, hi), Span: eb.Span}
	next := &model.Binary{ExprBase: base, Op: model.OpAdd, X: now, Y: one}
	return expr.Clamped(next, v.Type)
}

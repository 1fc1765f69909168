package machine

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/types"
)

// Remember adds the ghosts of a check to the roles of the pass, and the statements that set them:
// those of a command before all that its branch does, those of a report behind it.
func (r *Set) Remember(g *convert.Ghosts) {
	placed := map[*Role]bool{}
	for _, m := range r.Protocol.Roles {
		ro := r.Roles[m.Name]
		if list := g.Of(ro.Names); len(list) > 0 {
			ro.remember(list)
		}
	}
	for _, m := range r.Protocol.Roles {
		r.Roles[m.Name].replace(placed)
	}
}

// replace lays a role out anew, after the roles that its parts run.
func (ro *Role) replace(done map[*Role]bool) {
	if done[ro] {
		return
	}
	done[ro] = true
	for _, p := range ro.Machine.Parts {
		if child := ro.children[p]; child != nil && ro.r.Roles[child.Machine.Name] == child {
			child.replace(done)
		}
	}
	ro.place()
}

// remember adds ghosts to a role.
func (ro *Role) remember(list []*convert.Ghost) {
	for _, g := range list {
		ro.Machine.Vars = append(ro.Machine.Vars, g.Var)
	}
	ro.observed(func(h convert.Happening, base model.StmtBase, field func(i int) model.Expr) []model.Stmt {
		return sets(list, h, base, field)
	})
}

// noting gives the statements that note what happens; field gives the values of its fields.
type noting func(h convert.Happening, base model.StmtBase, field func(i int) model.Expr) []model.Stmt

// observed adds to a role what notes its commands and reports.
func (ro *Role) observed(note noting) {
	m := ro.Machine
	seen := map[model.Stmt]bool{}
	for _, t := range m.Transitions {
		if t.Mode != model.Handle {
			continue
		}
		t.Body = behind(t.Body, note, seen)
		if t.Event.Kind == model.EventCommand {
			given := func(i int) model.Expr {
				l := t.Params[i]
				return &model.LocalRef{ExprBase: model.ExprBase{T: l.Type, Span: t.Span}, Local: l}
			}
			base := model.StmtBase{Span: t.Span}
			t.Body = append(note(convert.Happening{Command: t.Event}, base, given), t.Body...)
		}
	}
	for _, st := range m.States {
		st.Entry = behind(st.Entry, note, seen)
	}
}

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

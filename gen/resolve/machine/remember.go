package machine

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
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

package export

import (
	"github.com/parley-go/parley/gen/model"
)

// eachExpr calls note for the expressions of the machines of a check.
func eachExpr(c *model.Check, note func(model.Expr)) {
	seen := map[*model.Machine]bool{}
	var visit func(m *model.Machine)
	visit = func(m *model.Machine) {
		if seen[m] {
			return
		}
		seen[m] = true
		for _, v := range m.Vars {
			model.Walk(v.Init, note)
		}
		for _, st := range m.States {
			visitStmts(st.Entry, note)
		}
		for _, t := range m.Transitions {
			model.Walk(t.When, note)
			visitStmts(t.Body, note)
		}
		for _, p := range m.Parts {
			for _, a := range p.Args {
				model.Walk(a, note)
			}
			model.Walk(p.To, note)
			for _, ps := range p.Sends {
				if ps != nil {
					visitStmts([]model.Stmt{ps.Send}, note)
				}
			}
			visit(p.Machine)
		}
	}
	for _, in := range c.Instances {
		for _, a := range in.Args {
			model.Walk(a, note)
		}
		visit(in.Role)
	}
}

// visitStmts calls f for the expressions of statements.
func visitStmts(list []model.Stmt, f func(model.Expr)) {
	all := func(exprs ...model.Expr) {
		for _, e := range exprs {
			model.Walk(e, f)
		}
	}
	for _, x := range list {
		switch x := x.(type) {
		case *model.Set:
			all(x.Value)
			for _, sel := range x.Select {
				all(sel.Index)
			}
		case *model.Send:
			all(x.Fields...)
			all(x.To)
		case *model.ReportStmt:
			all(x.Fields...)
		case *model.Run:
			all(x.Keys...)
			all(x.Args...)
		case *model.Restart:
			all(x.Keys...)
		case *model.StartTimer:
			all(x.Keys...)
			all(x.Ticks)
		case *model.StopTimer:
			all(x.Keys...)
		case *model.If:
			all(x.Cond)
			visitStmts(x.Then, f)
			visitStmts(x.Else, f)
		case *model.Each:
			all(x.Over)
			visitStmts(x.Body, f)
		}
	}
}
